// SPDX-License-Identifier: BSD-3-Clause
// Freelists of transfers, arrivals and payload. Last in, first out: what is taken is warm.
// Transfers and arrivals are never given back to the system, so that a stale handle is readable.
#include <cstdlib>
#include <new>

#include "p2p/transfer.h"

namespace vicinity::p2p {
namespace {

constexpr size_t kSmallestPayload = 256;
constexpr int kPayloadClasses = 10;         // 256 bytes to 128 KiB
constexpr size_t kKeptPerClass = 4u << 20;  // bytes kept in one class before memory goes back

struct FreePayload {
  FreePayload* next;
};
struct PayloadClass {
  FreePayload* first = nullptr;
  size_t kept = 0;
};

base::List<Transfer, &Transfer::place> free_transfers;
base::List<Arrival, &Arrival::by_order> free_arrivals;
PayloadClass payloads[kPayloadClasses];

int payload_class(size_t bytes) {
  if (bytes <= kSmallestPayload) return 0;
  return 64 - __builtin_clzll(bytes - 1) - 8;
}

template <class T>
T* allocate() {
  void* memory = nullptr;
  if (posix_memalign(&memory, 64, (sizeof(T) + 63) / 64 * 64) != 0) return nullptr;
  return new (memory) T;
}

}  // namespace

Transfer* take_transfer() {
  Transfer* transfer = free_transfers.pop_front();
  if (!transfer) {
    transfer = allocate<Transfer>();
    if (!transfer) return nullptr;
    transfer->handle = reinterpret_cast<uintptr_t>(transfer);
  }
  transfer->kind = object::Kind::kRequest;
  transfer->references.store(1, std::memory_order_relaxed);
  transfer->complete = transfer->persistent = transfer->user_freed = false;
  transfer->active = true;
  transfer->error = MPI_SUCCESS;
  transfer->status = object::empty_status();
  transfer->stage = Stage::kIdle;
  transfer->cancel_asked = false;
  transfer->id = 0;
  transfer->staged = nullptr;
  transfer->done = nullptr;
  return transfer;
}

void give_transfer(Transfer* transfer) {
  transfer->kind = object::Kind::kDead;
  free_transfers.push_front(transfer);
}

Arrival* take_arrival() {
  Arrival* arrival = free_arrivals.pop_front();
  if (!arrival) {
    arrival = allocate<Arrival>();
    if (!arrival) return nullptr;
    arrival->handle = reinterpret_cast<uintptr_t>(arrival);
  }
  arrival->transfer = nullptr;
  arrival->part = nullptr;
  arrival->comm = nullptr;
  arrival->data = nullptr;
  arrival->offer = nullptr;
  arrival->data_bytes = 0;
  arrival->error = MPI_SUCCESS;
  return arrival;
}

void give_arrival(Arrival* arrival) {
  arrival->kind = object::Kind::kDead;
  if (arrival->data_bytes > 0) give_payload(arrival->data, arrival->data_bytes);
  if (arrival->comm) object::release(arrival->comm);
  if (arrival->offer) peer::connection(arrival->from).refuse(arrival->offer, arrival->length);
  free_arrivals.push_front(arrival);
}

char* take_payload(size_t bytes) {
  const int index = payload_class(bytes);
  if (index >= kPayloadClasses) return static_cast<char*>(std::malloc(bytes));
  PayloadClass& c = payloads[index];
  if (!c.first) return static_cast<char*>(std::malloc(kSmallestPayload << index));
  FreePayload* payload = c.first;
  c.first = payload->next;
  c.kept -= kSmallestPayload << index;
  return reinterpret_cast<char*>(payload);
}

void give_payload(char* payload, size_t bytes) {
  const int index = payload_class(bytes);
  if (index >= kPayloadClasses || payloads[index].kept >= kKeptPerClass) return std::free(payload);
  PayloadClass& c = payloads[index];
  c.first = new (payload) FreePayload{c.first};
  c.kept += kSmallestPayload << index;
}

}  // namespace vicinity::p2p
