// SPDX-License-Identifier: BSD-3-Clause
// The direct path: collectives that compute.
//
// Every element of a result is computed by one rank, or by all of them through the same expression: from the
// part of the highest rank down to the lowest, a_0 op (a_1 op (... op a_n-1)). This keeps the order of ranks.
#include <algorithm>

#include "coll/direct.h"
#include "coll/halving.h"

namespace vicinity::coll {

namespace {

// Private memory laid out as `count` elements of `type`: what user functions and types with gaps need.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { give_temporary(memory_); }
  Status make(MPI_Count count, Datatype& type) {
    const MPI_Count last = (count - 1) * type.extent;
    const MPI_Count low = std::min<MPI_Count>(0, last) + type.true_lb;
    const MPI_Count high = std::max<MPI_Count>(0, last) + type.true_lb + type.true_extent;
    memory_ = take_temporary(static_cast<size_t>(high - low));
    if (!memory_.memory)
      return object::fail(MPI_ERR_NO_MEM, "a reduction needs %lld bytes of temporary memory; malloc refused",
                          static_cast<long long>(high - low));
    typed = {shift(memory_.memory, -low), count, &type};
    return object::kOk;
  }
  Typed typed;

 private:
  Temporary memory_;
};

// Up to this much arithmetic (bytes of the operands, of all ranks but two) everybody computes everything:
// that saves a second meeting.
constexpr uint64_t kMostRepeated = 16 << 10;

}  // namespace

// Where the operands are: `count` elements from byte `offset` on of each part.
struct Direct::Folding {
  const Direct& direct;
  const Turn& turn;
  const Op& op;
  Space space;
  uint64_t offset = 0;
  bool in_pieces = false;
  uint32_t index = 0;
  const std::byte* operand(int rank) const {
    return (in_pieces ? direct.piece(rank, index) : direct.part(rank, turn, space)) + offset;
  }
};

// out = the operands of ranks low..high-1, combined.
Status Direct::fold(const Folding& f, int low, int high, const Typed& out) const {
  if (out.count == 0) return object::kOk;
  get(f.operand(high - 1), out);
  if (high - low < 2) return object::kOk;
  const object::Kernel kernel = out.type->dense ? object::kernel(f.op, out.type->basic) : nullptr;
  if (kernel) [[likely]] {
    void* inout = object::data_start(out.at, *out.type);
    for (int rank = high - 2; rank >= low; --rank)
      kernel(f.operand(rank), inout, static_cast<size_t>(out.count));
    return object::kOk;
  }
  Scratch in;
  VICINITY_TRY(in.make(out.count, *out.type));
  for (int rank = high - 2; rank >= low; --rank) {
    get(f.operand(rank), in.typed);
    object::reduce_local(in.typed.at, out.at, out.count, *out.type, f.op);
  }
  return object::kOk;
}

Status Direct::show_input(const Turn& turn, Space space, const Reduction& r) {
  VICINITY_TRY(room(turn, space));
  put(part(rank_, turn, space), r.input());
  show(turn, r.input().bytes());
  return object::kOk;
}

// Waits for the whole inputs of ranks low..high-1 and combines them in r.recv.
Status Direct::fold_range(const Turn& turn, const Reduction& r, const Op& op, int low, int high) {
  const uint64_t bytes = r.input().bytes();
  VICINITY_TRY(wait_for_parts(turn, low, high));
  if (low == 0 && high == size_) all_seen(turn);
  VICINITY_TRY(check_all(turn, low, high, bytes));
  return fold(Folding{*this, turn, op, space_of(bytes)}, low, high, r.output());
}

Status Direct::reduce(const Reduction& r, const Op& op, int root) {
  const Turn turn = begin(Kind::kReduce, root, &op);
  const Space space = space_of(r.input().bytes());
  Status status;
  if (rank_ != root) {
    status = show_input(turn, space, r);
  } else if (status = room(turn, space); status.ok()) {
    put(part(rank_, turn, space), r.input());
    status = fold_range(turn, r, op, 0, size_);
  }
  return status.ok() ? status : give_up(turn, status);
}

Status Direct::allreduce(const Reduction& r, const Op& op) {
  const Turn turn = begin(Kind::kAllreduce, kNoRoot, &op);
  const uint64_t bytes = r.input().bytes();
  Status status;
  if (bytes > region::kLargeSlotBytes) {
    status = allreduce_large(turn, r, op);
  } else if (status = show_input(turn, space_of(bytes), r); status.ok()) {
    status = bytes * static_cast<uint64_t>(size_ - 2) > kMostRepeated
                 ? fold_slices(turn, space_of(bytes), r, op)
                 : fold_range(turn, r, op, 0, size_);
  }
  return status.ok() ? status : give_up(turn, status);
}

// Each rank combines one slice of all inputs, puts it where its own input was, and all collect the slices.
Status Direct::fold_slices(const Turn& turn, Space space, const Reduction& r, const Op& op) {
  const Slices slices(r.count, size_);
  const auto each = static_cast<uint64_t>(r.type->size);
  const auto at = [&](int rank) { return static_cast<uint64_t>(slices.first(rank)) * each; };
  VICINITY_TRY(wait_for_parts(turn, 0, size_));
  VICINITY_TRY(check_all(turn, 0, size_, r.input().bytes()));
  const Typed mine = slices.part(r.output(), rank_);
  VICINITY_TRY(fold(Folding{*this, turn, op, space, at(rank_)}, 0, size_, mine));
  put(part(rank_, turn, space) + at(rank_), mine);
  pass(turn, 1);
  for (int step = 1; step < size_; ++step) {
    const int rank = (rank_ + step) % size_;
    VICINITY_TRY(wait_for_units(turn, rank, rank + 1, 1));
    get(part(rank, turn, space) + at(rank), slices.part(r.output(), rank));
  }
  all_seen(turn);
  return object::kOk;
}

// Piece by piece through kPieces places: in step s all inputs of piece s are there, and so are the slices of
// the result of piece s - 1. Whoever has passed s + 1 steps does not need piece s - 2 any more.
Status Direct::allreduce_large(const Turn& turn, const Reduction& r, const Op& op) {
  const MPI_Count most = kPieceBytes / r.type->size;
  const auto pieces = static_cast<uint32_t>((r.count + most - 1) / most);
  const auto each = static_cast<uint64_t>(r.type->size);
  const auto range = [&](const Typed& all, uint32_t index) {
    return all.part(index * most, std::min(most, r.count - index * most));
  };
  const auto at = [&](const Slices& slices, int rank) {
    return static_cast<uint64_t>(slices.first(rank)) * each;
  };
  VICINITY_TRY(room_for_pieces(turn));
  put(piece(rank_, 0), range(r.input(), 0));
  show(turn, r.input().bytes());
  VICINITY_TRY(wait_for_parts(turn, 0, size_));
  VICINITY_TRY(check_all(turn, 0, size_, r.input().bytes()));
  for (uint32_t step = 0; step <= pieces; ++step) {
    if (step > 0) VICINITY_TRY(wait_for_units(turn, 0, size_, step + 1));
    if (step > 0) {
      const Typed result = range(r.output(), step - 1);
      const Slices slices(result.count, size_);
      for (int other = 1; other < size_; ++other) {
        const int rank = (rank_ + other) % size_;
        get(piece(rank, step - 1) + at(slices, rank), slices.part(result, rank));
      }
    }
    if (step == pieces) break;
    const Typed result = range(r.output(), step);
    const Slices slices(result.count, size_);
    const Typed mine = slices.part(result, rank_);
    const Folding folding{*this, turn, op, Space::kLarge, at(slices, rank_), true, step};
    // Our own operand of the next piece goes out before our output can touch it: they may be one buffer.
    VICINITY_TRY(fold(folding, 0, size_, mine));
    put(piece(rank_, step) + at(slices, rank_), mine);
    if (step + 1 < pieces) put(piece(rank_, step + 1), range(r.input(), step + 1));
    pass(turn, step + 2);
  }
  return object::kOk;
}

// The same expression as in an allreduce, for the own block only.
Status Direct::reduce_scatter(Kind kind, const Reduction& r, const Pieces& pieces, const Op& op) {
  const Turn turn = begin(kind, kNoRoot, &op);
  const uint64_t bytes = r.input().bytes();
  const Space space = space_of(bytes);
  Status status = show_input(turn, space, r);
  if (status.ok()) status = wait_for_parts(turn, 0, size_);
  if (status.ok()) status = check_all(turn, 0, size_, bytes);
  if (status.ok()) {
    all_seen(turn);
    const auto offset = static_cast<uint64_t>(pieces.first(rank_)) * static_cast<uint64_t>(r.type->size);
    status = fold(Folding{*this, turn, op, space, offset}, 0, size_,
                  Typed{r.recv, pieces.count(rank_), r.type});
  }
  return status.ok() ? status : give_up(turn, status);
}

Status Direct::scan(Kind kind, const Reduction& r, const Op& op) {
  const Turn turn = begin(kind, kNoRoot, &op);
  const int high = kind == Kind::kExscan ? rank_ : rank_ + 1;
  Status status = show_input(turn, space_of(r.input().bytes()), r);
  if (status.ok() && high > 0) status = fold_range(turn, r, op, 0, high);
  return status.ok() ? status : give_up(turn, status);
}

}  // namespace vicinity::coll
