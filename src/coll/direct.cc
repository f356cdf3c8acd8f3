// SPDX-License-Identifier: BSD-3-Clause
// What the collectives of the direct path share: waiting, room, and what to say when ranks disagree.
#include "coll/direct.h"

#include <mpi-ext.h>

#include <algorithm>

#include "base/clock.h"
#include "coll/choice.h"
#include "coll/mismatch.h"
#include "p2p/p2p.h"

namespace vicinity::coll {

namespace {

constexpr uint32_t kLooks = 64;            // between two polls of everything, with a core of one's own
constexpr uint32_t kSharedLooks = 16;      // while other threads may want the engine lock
constexpr int kSpins = 2, kMostSize = 16;  // when ranks outnumber cores
constexpr int64_t kSpin_ns = 10'000;

// With several threads only one polls, and what it polls are channels. What the others wait for on
// boards it has to look at as well.
class Attention final : public base::Poller {
 public:
  base::List<Doubt, &Doubt::link> doubts;
  int poll() override {
    int events = 0;
    for (Doubt* doubt = doubts.front(); doubt; doubt = doubts.after(doubt)) {
      if (doubt->noticed || !doubt->ready()) continue;
      doubt->noticed = true;
      ++events;
    }
    return events;
  }
};
Attention attention;

bool is_later(uint32_t number, uint32_t than) { return static_cast<int32_t>(number - than) > 0; }

}  // namespace

Direct::Direct(Communicator& comm, std::unique_ptr<Member[]> members, uint32_t life, uint32_t number,
               bool fence)
    : comm_(comm),
      state_(*comm.coll),
      members_(std::move(members)),
      rank_(comm.rank),
      size_(comm.size()),
      life_(life),
      board_(number),
      fence_(fence),
      first_(comm.coll->sequence),
      safe_(comm.coll->sequence),
      wide_(comm.coll->sequence - region::kLargeSlots),
      narrow_(wide_) {
  for (uint8_t kind = 0; kind < kKinds; ++kind) limit_[kind] = direct_limit(static_cast<Kind>(kind), size_);
}

Doubt::Doubt(const Direct& direct, const Turn& turn, bool (*ready)(void*), void* self)
    : direct_(direct), turn_(turn), ready_(ready), self_(self) {
  looks_ = base::crowded() ? 1 : base::threads_multiple() ? kSharedLooks : kLooks;
  if (!base::threads_multiple()) [[likely]] {
    if (base::crowded() && direct.size() <= kMostSize) spins_ = kSpins;
    return;
  }
  static bool attentive = false;
  if (!attentive) base::add_poller(&attention);
  attentive = true;
  attention.doubts.push_back(this);
}

Doubt::~Doubt() {
  if (link.linked()) link.unlink();
}

bool Doubt::spin() {
  --spins_;
  const int64_t end = base::now_ns() + kSpin_ns;
  do {
    for (uint32_t look = 0; look < kSharedLooks; ++look) {
      if (ready()) return true;
      base::cpu_relax();
    }
  } while (base::now_ns() < end);
  return false;
}

Status Doubt::p2p_alive() const { return p2p::all_alive(direct_.comm_); }

// The rank may have called another collective, may have failed in this one, or may have gone on.
bool Doubt::time_to_suspect(int rank) {
  const int64_t now = base::now_ns();
  if (look_at_ns_ == 0) look_at_ns_ = now + patience_ns();
  if (now < look_at_ns_) return false;
  look_at_ns_ = now + patience_ns();
  status_ = direct_.suspect_all(turn_.tag);
  if (!status_.ok()) return true;
  const region::Presence* theirs = direct_.member(rank).presence();
  const uint64_t gave_up = __atomic_load_n(&theirs->gave_up, __ATOMIC_ACQUIRE);
  const uint64_t begun = __atomic_load_n(&theirs->begun, __ATOMIC_ACQUIRE);
  if (gave_up == turn_.sequence) {
    status_ = object::fail(MPI_ERR_OTHER, "%s failed on rank %d", mpi_name(turn_.kind).text, rank);
  } else if (begun >> 32 == direct_.life_ && is_later(static_cast<uint32_t>(begun), turn_.number)) {
    status_ = object::fail(
        MPI_ERR_OTHER,
        "ranks called different collectives: this rank waits in %s for rank %d, which has gone on, %u calls "
        "later",
        mpi_name(turn_.kind).text, rank, static_cast<uint32_t>(begun) - turn_.number);
  }
  return !status_.ok();
}

Status Direct::suspect_all(uint32_t tag) const {
  const region::Presence* own = member(rank_).presence();
  const uint64_t sequence = __atomic_load_n(&own->begun, __ATOMIC_RELAXED);
  const uint64_t ours = __atomic_load_n(&own->doing, __ATOMIC_RELAXED);
  if (static_cast<uint32_t>(ours) != tag) return object::kOk;  // a nonblocking call has begun meanwhile
  for (int rank = 0; rank < size_; ++rank) {
    const region::Presence* theirs = member(rank).presence();
    if (__atomic_load_n(&theirs->begun, __ATOMIC_ACQUIRE) != sequence) continue;
    const uint64_t doing = __atomic_load_n(&theirs->doing, __ATOMIC_ACQUIRE);
    const int other = static_cast<int>(static_cast<uint32_t>(doing));
    if (doing == ours || coll::sequence_of(other) != coll::sequence_of(static_cast<int>(tag))) continue;
    const Kind kind = kind_of(static_cast<int>(tag));
    if (static_cast<uint32_t>(doing) != tag)
      return differ(kind, Form::kBlocking, Side::kOwn, rank, other, "is in");
    return object::fail(MPI_ERR_COUNT,
                        "ranks called %s with different counts or types: rank %d gave others than this rank",
                        mpi_name(kind).text, rank);
  }
  return object::kOk;
}

// Of a loss or a revocation the others learn by themselves, and say the same.
Status Direct::give_up(const Turn& turn, Status why) {
  if (why.code() == MPI_ERR_PROC_ABORTED || why.code() == MPIX_ERR_REVOKED) return why;
  __atomic_store_n(&member(rank_).presence()->gave_up, turn.sequence, __ATOMIC_RELEASE);
  return why;
}

Status Direct::refuse(Kind kind, int root, Status why) { return give_up(begin(kind, root), why); }

void Direct::leave() const {
  // SYNC POINT LEFT (release): our last read of the others' boards is over.
  __atomic_store_n(&member(rank_).presence()->left, life_, __ATOMIC_RELEASE);
}

// How many calls a member is behind, as far as we know.
uint32_t Direct::lag(int rank, const Turn& turn) const {
  // SYNC POINT BEGUN (acquire): what it read in earlier calls may be overwritten.
  const uint64_t begun = __atomic_load_n(&member(rank).presence()->begun, __ATOMIC_ACQUIRE);
  if (begun >> 32 != life_) return turn.number - first_ + 1;
  const uint32_t behind = turn.number - static_cast<uint32_t>(begun);
  return static_cast<int32_t>(behind) < 0 ? 0 : behind;
}

Status Direct::wait_until_near(const Turn& turn, uint32_t depth) {
  VICINITY_TRY(wait(turn, 0, size_, [&](int rank) { return lag(rank, turn) < depth; }));
  uint32_t most = 0;
  for (int rank = 0; rank < size_; ++rank)
    if (rank != rank_) most = std::max(most, lag(rank, turn));
  safe_ = turn.number - most;
  return object::kOk;
}

// Slots and halves are the same memory: a call that used it in the other way must be over for everybody.
Status Direct::make_room(const Turn& turn, Space space) {
  uint32_t depth = depth_of(space);
  if (space == Space::kLarge) {
    depth = std::min(depth, turn.number - wide_);
    narrow_ = turn.number;
  } else if (space == Space::kHalf) {
    depth = std::min(depth, turn.number - narrow_);
    wide_ = turn.number;
  }
  return turn.number - safe_ < depth ? object::kOk : wait_until_near(turn, depth);
}

Status Direct::room_for_pieces(const Turn& turn) {
  wide_ = narrow_ = turn.number;
  return wait_until_near(turn, 1);
}

void Direct::ring_bells(int first, int last) const {
  // SYNC POINT PARK (channel/ring/line.h): what we show has been stored, then the states are read.
  if (fence_) [[unlikely]]
    channel::ring::full_fence();
  asm volatile("" ::: "memory");
  for (int rank = first; rank < last; ++rank) {
    const channel::ring::Bell& bell = member(rank).bell;
    const uint32_t seen = __atomic_load_n(bell.state, __ATOMIC_RELAXED);
    if (seen != region::kAwake && rank != rank_) [[unlikely]]
      bell.ring(seen);
  }
}

Status Direct::differs(const Turn& turn, int rank, uint64_t signature, uint64_t bytes) const {
  const auto tag = static_cast<uint32_t>(signature);
  if (tag != turn.tag)
    return differ(turn.kind, Form::kBlocking, Side::kOwn, rank, static_cast<int>(tag), "sent for");
  return wrong_size(mpi_name(turn.kind), Side::kOwn, rank, signature >> 32, bytes);
}

}  // namespace vicinity::coll
