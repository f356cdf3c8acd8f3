// SPDX-License-Identifier: BSD-3-Clause
// Making a window and taking it apart (MPI 5.0, 12.2).
//
// All members tell each other their sizes and units. Those who are co-resident then try to get memory that
// all of them map: first a Pact and one Control for each, then, for MPI_Win_allocate and its sibling, the
// parts of the window. What does not work out is left to messages, except that MPI_Win_allocate_shared must
// work.
#include <cstdlib>
#include <cstring>

#include "coll/coll.h"
#include "object/pool.h"
#include "rma/hints.h"
#include "rma/memory.h"
#include "rma/rma.h"
#include "rma/sink.h"

namespace vicinity::rma {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kLeastAlignment = 64;

// What each member tells all others.
struct Declaration {
  uint64_t size;
  int64_t unit;
  uint64_t alignment;
  int64_t apart;  // alloc_shared_noncontig
};
static_assert(sizeof(Declaration) == 32);

struct Making {
  Window& window;
  const Plan& plan;
  std::vector<Declaration> all;
  std::vector<int> ranks;         // co-resident
  std::vector<uint64_t> offsets;  // of their parts in shared memory, in the order of `ranks`
  uint64_t bytes = 0;             // of shared memory

  bool allocates() const {
    return plan.flavor == MPI_WIN_FLAVOR_ALLOCATE || plan.flavor == MPI_WIN_FLAVOR_SHARED;
  }
};

bool round_up(uint64_t* value, uint64_t to) {
  return !__builtin_add_overflow(*value, (to - *value % to) % to, value);
}

Status exchange(Making& making) {
  Window& window = making.window;
  const Declaration mine{static_cast<uint64_t>(making.plan.size), making.plan.disp_unit,
                         wanted_alignment(making.plan.info), wants_parts_apart(making.plan.info)};
  making.all.resize(static_cast<size_t>(window.count));
  Datatype& type = object::builtin(MPI_BYTE);
  return coll::allgather(&mine, sizeof mine, type, making.all.data(), sizeof mine, type, *window.comm);
}

// One number from all: the greatest.
Status greatest(Communicator& comm, int64_t mine, int64_t* all) {
  const object::Op& maximum = *object::lookup<object::Op>(MPI_MAX);
  return coll::allreduce(&mine, all, 1, object::builtin(MPI_INT64_T), maximum, comm);
}

// Parts follow each other without gaps in MPI_Win_allocate_shared, unless asked for otherwise (12.2.3).
Status plan_memory(Making& making) {
  making.bytes = sizeof(Pact) + making.ranks.size() * sizeof(Control);
  making.offsets.resize(making.ranks.size());
  if (!making.allocates()) return kOk;
  bool fits = round_up(&making.bytes, kPage);
  const bool apart = making.plan.flavor == MPI_WIN_FLAVOR_ALLOCATE || making.all[0].apart;
  for (size_t i = 0; i < making.ranks.size(); ++i) {
    const Declaration& part = making.all[static_cast<size_t>(making.ranks[i])];
    if (apart || i == 0) fits = fits && round_up(&making.bytes, std::max(part.alignment, kLeastAlignment));
    making.offsets[i] = making.bytes;
    fits = fits && !__builtin_add_overflow(making.bytes, part.size, &making.bytes);
  }
  if (fits && making.bytes <= INT64_MAX) return kOk;
  return fail(MPI_ERR_SIZE, "the parts of the window are together larger than memory can be");
}

void use_shared(Making& making) {
  Window& window = making.window;
  if (making.allocates()) {
    window.pact = window.mapping.at<Pact>(0);
    window.sharers = static_cast<uint32_t>(making.ranks.size());
    window.in_turn = window.all_in_turn = false;
  }
  for (size_t i = 0; i < making.ranks.size(); ++i) {
    Peer& peer = window.peer(making.ranks[i]);
    peer.control = window.mapping.at<Control>(sizeof(Pact) + i * sizeof(Control));
    if (!making.allocates()) continue;
    peer.base = window.mapping.at<char>(making.offsets[i], peer.size);
    peer.mapped = peer.direct = true;
  }
}

// Memory of our own: all of it, or what shared memory did not bring.
Status use_own(Making& making) {
  Window& window = making.window;
  Peer& self = window.self();
  if (!self.control) {
    window.own_control = std::make_unique<Control>();
    std::memset(window.own_control.get(), 0, sizeof(Control));
    self.control = window.own_control.get();
  }
  if (self.direct) return kOk;
  if (making.allocates()) {
    const uint64_t alignment = std::max(wanted_alignment(making.plan.info), kLeastAlignment);
    const size_t bytes = std::max<size_t>(self.size, 1);
    if (posix_memalign(&window.owned, alignment, bytes) != 0)
      return fail(MPI_ERR_NO_MEM, "no memory for a window of %zu bytes", bytes);
    self.base = static_cast<char*>(window.owned);
  } else {
    self.base = static_cast<char*>(making.plan.base);
  }
  self.direct = true;
  self.mapped = !window.dynamic();
  return kOk;
}

Status find_memory(Making& making) {
  Window& window = making.window;
  making.ranks = co_resident_ranks(*window.comm);
  const bool everybody = static_cast<int>(making.ranks.size()) == window.count;
  if (making.plan.flavor == MPI_WIN_FLAVOR_SHARED && !everybody)
    return fail(MPI_ERR_RMA_SHARED,
                "only %zu of the %d ranks share memory with this one; split the communicator with "
                "MPI_COMM_TYPE_SHARED first",
                making.ranks.size(), window.count);
  VICINITY_TRY(plan_memory(making));
  if (making.ranks.size() > 1) {
    VICINITY_TRY(share_memory(*window.comm, making.ranks, making.bytes, &window.mapping));
    if (window.mapping) use_shared(making);
    if (!window.mapping && making.plan.flavor == MPI_WIN_FLAVOR_SHARED)
      return fail(MPI_ERR_RMA_SHARED,
                  "no shared memory of %llu bytes could be had; VICINITY_LOG=info tells why",
                  static_cast<unsigned long long>(making.bytes));
  }
  return use_own(making);
}

void introduce_peers(Making& making) {
  Window& window = making.window;
  window.peers = std::make_unique<Peer[]>(static_cast<size_t>(window.count));
  for (int rank = 0; rank < window.count; ++rank) {
    Peer& peer = window.peer(rank);
    const Declaration& part = making.all[static_cast<size_t>(rank)];
    peer.proc = window.comm->proc(rank);
    peer.rank = rank;
    peer.window = &window;
    peer.size = part.size;
    peer.unit = part.unit;
  }
}

Window* make_window(Communicator& comm, const Plan& plan) {
  auto* window = object::make<Window>();
  if (!window) return nullptr;
  window->comm = &comm;
  window->count = comm.size();
  window->rank = comm.rank;
  window->errhandler = object::lookup<object::Errhandler>(MPI_ERRORS_ARE_FATAL);
  window->flavor = plan.flavor;
  window->size = plan.size;
  window->disp_unit = static_cast<int>(plan.disp_unit);
  window->info = object::copy_info(nullptr);
  return window;
}

void unmake(Window* window) {
  window->comm = nullptr;  // stays with the caller
  Window::finish(window);
}

}  // namespace

void Window::finish(Window* window) {
  std::free(window->owned);
  if (window->info) object::release(window->info);
  if (window->comm) object::release(window->comm);
  object::release(window->errhandler);
  object::destroy(window);
}

Status check_plan(const Plan& plan) {
  if (plan.size < 0)
    return fail(MPI_ERR_SIZE, "argument `size` is %lld, it must not be negative",
                static_cast<long long>(plan.size));
  if (plan.disp_unit <= 0)
    return fail(MPI_ERR_DISP, "argument `disp_unit` is %lld, it must be positive",
                static_cast<long long>(plan.disp_unit));
  if (plan.flavor == MPI_WIN_FLAVOR_CREATE && !plan.base && plan.size > 0)
    return fail(MPI_ERR_BASE, "argument `base` is a null pointer, but `size` is %lld",
                static_cast<long long>(plan.size));
  return check_window_hints(plan.info);
}

Result<object::Window*> create(Communicator& comm, const Plan& plan) {
  Window* window = make_window(comm, plan);
  if (!window || !window->info) return fail(MPI_ERR_NO_MEM, "no memory for a window");
  Making making{*window, plan};
  Status status = exchange(making);
  if (status.ok()) {
    introduce_peers(making);
    status = find_memory(making);
  }
  window->base = window->peers ? window->self().base : nullptr;
  accept_hints(*window, plan.info);
  // Before anybody hears that all is well, so that no message comes too early.
  enroll(*window);
  int64_t worst = 0;
  const Status heard = greatest(comm, status.code(), &worst);
  if (status.ok()) status = heard;
  if (status.ok() && worst != 0)
    status = fail(static_cast<int>(worst), "the window could not be made on another rank");
  if (!status.ok()) {
    dismiss(*window);
    unmake(window);
    return status;
  }
  for (int rank = 0; rank < window->count; ++rank) window->by_messages |= !window->peer(rank).direct;
  return static_cast<object::Window*>(window);
}

}  // namespace vicinity::rma
