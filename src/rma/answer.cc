// SPDX-License-Identifier: BSD-3-Clause
// The target's side of operations by messages. Every access is done the moment it comes; only its answer may
// have to wait for room in the channel.
#include "rma/answer.h"

#include <cstring>
#include <memory>
#include <new>

#include "rma/combine.h"
#include "rma/runs.h"

namespace vicinity::rma {
namespace {

struct Parcel : peer::Pending {
  std::unique_ptr<char[]> body;
};

void send(const Peer& peer, const Envelope& head, const void* body, size_t bytes) {
  peer::VirtualConnection& connection = peer::connection(peer.proc);
  if (connection.try_send(head, body, bytes) != channel::Answer::kRetry) return;
  auto* parcel = new (std::nothrow) Parcel;
  if (parcel) parcel->body.reset(new (std::nothrow) char[bytes]);
  if (!parcel || !parcel->body) {  // the origin would wait for ever
    delete parcel;
    connection.lose("no memory for an answer to it");
    return;
  }
  std::memcpy(parcel->body.get(), body, bytes);
  parcel->envelope = head;
  parcel->data = parcel->body.get();
  parcel->bytes = bytes;
  parcel->sent = [](peer::Pending* self, base::Status) { delete static_cast<Parcel*>(self); };
  connection.queue(parcel);
}

struct Demand {
  AccessHead head;
  const Run* runs;
  const char* data;
  size_t data_bytes;
  uint64_t total;  // bytes of all runs
};

// Calls visit(address, bytes) for each piece.
template <class Visit>
bool each_piece(const Window& window, const Demand& access, Visit&& visit) {
  const auto base = reinterpret_cast<uintptr_t>(window.dynamic() ? nullptr : window.base);
  for (uint32_t i = 0; i < access.head.runs; ++i) {
    const Run& run = access.runs[i];
    uintptr_t at = base + static_cast<uintptr_t>(run.at);
    for (uint32_t k = 0; k < run.count; ++k, at += static_cast<uintptr_t>(run.stride))
      if (!visit(reinterpret_cast<char*>(at), run.bytes)) return false;
  }
  return true;
}

const char* check(const Demand& access, size_t largest) {
  uint64_t expected = access.total;
  const bool nothing = access.head.op == reinterpret_cast<uintptr_t>(MPI_NO_OP);
  const bool answered = access.head.what != What::kPut && access.head.what != What::kAccumulate;
  switch (access.head.what) {
    case What::kPut:
    case What::kAccumulate:
      break;
    case What::kFetch:
      expected = nothing ? 0 : access.total;
      break;
    case What::kGet:
      expected = 0;
      break;
    case What::kSwap:
      if (access.head.runs != 1 || access.runs[0].count != 1 || access.total > 16 ||
          (access.total & (access.total - 1)) != 0)
        return "a compare-and-swap is not of one element";
      expected = 2 * access.total;
      break;
    default:
      return "an access to a window is of an unknown kind";
  }
  if (expected != access.data_bytes) return "an access to a window has not the data that it announces";
  if (answered && access.total > largest - sizeof(AnswerHead))
    return "it asks for more than an answer can carry";
  return nullptr;
}

bool fold_of(const AccessHead& head, Fold* fold) {
  const Op* op = object::lookup<Op>(reinterpret_cast<MPI_Op>(uintptr_t{head.op}));
  return op && head.basic <= static_cast<uint8_t>(Basic::kTwoInteger) &&
         make_fold(*op, static_cast<Basic>(head.basic), fold);
}

// Does the access; what was there goes to `old` where it is wanted.
int perform(Peer& peer, const Demand& access, const Fold& fold, char* old) {
  Window& window = *peer.window;
  const char* in = access.data;
  bool done = true;
  switch (access.head.what) {
    case What::kPut:
      done = each_piece(window, access, [&](char* at, uint64_t bytes) {
        std::memcpy(at, in, bytes);
        in += bytes;
        return true;
      });
      break;
    case What::kGet:
      done = each_piece(window, access, [&](char* at, uint64_t bytes) {
        std::memcpy(old, at, bytes);
        old += bytes;
        return true;
      });
      break;
    case What::kAccumulate:
    case What::kFetch:
      done = each_piece(window, access, [&](char* at, uint64_t bytes) {
        if (!combine(window.self(), fold, at, access.data_bytes ? in : nullptr, old, bytes / fold.packed,
                     From::kProgress))
          return false;
        in += bytes;
        if (old) old += bytes;
        return true;
      });
      break;
    case What::kSwap:
      done = each_piece(window, access, [&](char* at, uint64_t bytes) {
        return swap(window.self(), at, in, in + bytes, old, bytes, From::kProgress);
      });
      break;
  }
  return done ? MPI_SUCCESS : MPI_ERR_PROC_ABORTED;
}

const char* dissect(const char* body, size_t bytes, Demand* access) {
  if (bytes < sizeof(AccessHead)) return "an access to a window is too short";
  std::memcpy(&access->head, body, sizeof(AccessHead));
  bytes -= sizeof(AccessHead);
  const uint64_t runs = uint64_t{access->head.runs} * sizeof(Run);
  if (runs > bytes || access->head.runs == 0) return "an access to a window is shorter than its runs";
  access->runs = reinterpret_cast<const Run*>(body + sizeof(AccessHead));
  access->data = body + sizeof(AccessHead) + runs;
  access->data_bytes = bytes - runs;
  if (!total_of(access->runs, access->head.runs, &access->total)) return "a run of bytes is empty or endless";
  return nullptr;
}

}  // namespace

const char* on_access(Peer& peer, uint32_t id, const char* body, size_t bytes) {
  static std::vector<char> spare;  // a channel may deliver more to us while it takes our answer
  std::vector<char> answer = std::exchange(spare, {});
  Demand access{};
  if (const char* lie = dissect(body, bytes, &access)) return lie;
  if (const char* lie = check(access, peer::connection(peer.proc).widest())) return lie;
  const bool folds = access.head.what == What::kAccumulate || access.head.what == What::kFetch;
  Fold fold;
  if (folds && !fold_of(access.head, &fold)) return "an operation is not defined for its elements";
  if (folds)
    for (uint32_t i = 0; i < access.head.runs; ++i)
      if (access.runs[i].bytes % fold.packed != 0) return "a run has a part of an element";
  const bool answered = access.head.what != What::kPut && access.head.what != What::kAccumulate;
  Refusal refusal{};
  const uint64_t beyond = folds && fold.split() ? uint64_t{fold.extent} - fold.packed : 0;
  if (const Run* bad = outside(*peer.window, access.runs, access.head.runs, beyond))
    refusal = {MPI_ERR_RMA_RANGE, 0, bad->at, bad->bytes};
  answer.resize(sizeof(AnswerHead) + (answered ? access.total : 0));
  if (refusal.code == MPI_SUCCESS)
    refusal.code = perform(peer, access, fold, answered ? answer.data() + sizeof(AnswerHead) : nullptr);
  if (!answered) {
    if (peer.refusal.code == MPI_SUCCESS) peer.refusal = refusal;
    return nullptr;
  }
  if (id == 0) return "an access that has an answer names no operation";
  const AnswerHead head{access.head.position, access.total, refusal};
  std::memcpy(answer.data(), &head, sizeof head);
  if (refusal.code != MPI_SUCCESS) answer.resize(sizeof head);
  send(peer, envelope(Packet::kAnswer, peer.window->comm->context, id), answer.data(), answer.size());
  spare = std::move(answer);
  return nullptr;
}

}  // namespace vicinity::rma
