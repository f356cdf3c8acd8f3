// SPDX-License-Identifier: BSD-3-Clause
// The direct path: collectives that compute.
//
// Every element of a result is computed by one rank, or by all of them through the same expression: from the
// part of the highest rank down to the lowest, a_0 op (a_1 op (... op a_n-1)). This keeps the order of ranks.
#include <algorithm>

#include "coll/direct.h"
#include "coll/halving.h"
#include "coll/scratch.h"

namespace vicinity::coll {

namespace {

// Up to this much arithmetic (bytes of the operands, of all ranks but two) everybody computes everything:
// that saves a second meeting.
constexpr uint64_t kMostRepeated = 16 << 10;
// The same for two ranks: bytes of one of them.
constexpr uint64_t kMostWhole = 4 << 10;

}  // namespace

// Where the operands are: `count` elements from byte `offset` on of each part.
struct Direct::Folding {
  const Direct& direct;
  const Turn& turn;
  const Op& op;
  Space space;
  MPI_Count offset = 0;
  const std::byte* area = nullptr;  // where our part is, if not where its space says
  const std::byte* operand(int rank) const {
    if (!area) return direct.part(rank, turn, space) + offset;
    return direct.member(rank).board + (area - direct.member(direct.rank_).board) + offset;
  }
};

// out = the operands of ranks low..high-1, combined.
Status Direct::fold(const Folding& f, int low, int high, const Typed& out) const {
  if (out.count == 0) return object::kOk;
  const object::Kernel kernel = out.type->dense ? object::kernel(f.op, out.type->basic) : nullptr;
  if (kernel) [[likely]] {
    const MPI_Count each = out.type->size, most = std::max<MPI_Count>(kFoldBytes / each, 1);
    for (MPI_Count done = 0; done < out.count; done += most) {
      const Typed now = out.part(done, std::min(most, out.count - done));
      get(f.operand(high - 1) + done * each, now);
      for (int rank = high - 2; rank >= low; --rank)
        kernel(f.operand(rank) + done * each, object::data_start(now.at, *now.type),
               static_cast<size_t>(now.count));
    }
    return object::kOk;
  }
  get(f.operand(high - 1), out);
  if (high - low < 2) return object::kOk;
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
  if (r.input().bytes() > region::kLargeSlotBytes) {
    status = combine_large(turn, r, op, root);
  } else if (rank_ != root) {
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
    status = combine_large(turn, r, op, kNoRoot);
  } else if (size_ == 2 && bytes > kMostWhole && object::kernel(op, r.type->basic) && r.type->dense) {
    status = fold_halves(turn, r, op);
  } else if (status = show_input(turn, space_of(bytes), r); status.ok()) {
    status = bytes * static_cast<uint64_t>(size_ - 2) > kMostRepeated
                 ? fold_slices(turn, space_of(bytes), r, op)
                 : fold_range(turn, r, op, 0, size_);
  }
  return status.ok() ? status : give_up(turn, status);
}

// Two ranks: each shows only the half that the other combines.
Status Direct::fold_halves(const Turn& turn, const Reduction& r, const Op& op) {
  const Slices halves(r.count, 2);
  const int other = 1 - rank_;
  const object::Kernel kernel = object::kernel(op, r.type->basic);
  const Space space = space_of(r.input().bytes());
  const auto at = [&](int rank) { return halves.first(rank) * r.type->size; };
  VICINITY_TRY(room(turn, space));
  std::byte* const own = part(rank_, turn, space);
  const std::byte* const theirs = part(other, turn, space);
  put(own + at(other), halves.part(r.input(), other));
  show(turn, r.input().bytes());
  const Typed in = halves.part(r.input(), rank_), out = halves.part(r.output(), rank_);
  VICINITY_TRY(wait_for_parts(turn, other, other + 1));
  VICINITY_TRY(check(turn, other, r.input().bytes()));
  const MPI_Count each = r.type->size, most = std::max<MPI_Count>(kFoldBytes / each, 1);
  for (MPI_Count done = 0; done < in.count; done += most) {
    const MPI_Count now = std::min(most, in.count - done), skip = at(rank_) + done * each;
    const Typed result = out.part(done, now);
    copy_own(in.part(done, now), result);
    kernel(theirs + skip, object::data_start(result.at, *result.type), static_cast<size_t>(now));
    put(own + skip, result);
  }
  pass(turn, 1);
  VICINITY_TRY(wait_for_units(turn, other, other + 1, 1));
  get(theirs + at(other), halves.part(r.output(), other));
  all_seen(turn);
  return object::kOk;
}

// Each rank combines one slice of all inputs, puts it where its own input was, and all collect the slices.
Status Direct::fold_slices(const Turn& turn, Space space, const Reduction& r, const Op& op) {
  const Slices slices(r.count, size_);
  const auto at = [&](int rank) { return slices.first(rank) * r.type->size; };
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

// Piece by piece through some places: in step s all inputs of piece s are there, and so are the slices of
// the result of piece s - 1. Whoever has passed s + 1 steps does not need piece s - 2 any more. Each step
// waits for everybody, so with more than two ranks, which may share cores, steps are few. `root` alone wants
// the result, or all do.
Status Direct::combine_large(const Turn& turn, const Reduction& r, const Op& op, int root) {
  const uint32_t places = size_ == 2 ? kPieces : kLongPieces;
  const uint32_t piece_bytes = kAreaBytes / places;
  const MPI_Count most = piece_bytes / r.type->size;
  const auto pieces = static_cast<uint32_t>((r.count + most - 1) / most);
  const auto piece = [&](int rank, uint32_t index) {
    return member(rank).board + region::kBoardLarge + index % places * piece_bytes;
  };
  const auto range = [&](const Typed& all, uint32_t index) {
    return all.part(index * most, std::min(most, r.count - index * most));
  };
  const auto at = [&](const Slices& slices, int rank) { return slices.first(rank) * r.type->size; };
  const bool wanted = root == kNoRoot || root == rank_;
  Scratch scratch;
  if (!wanted) VICINITY_TRY(scratch.make(most / size_ + 1, *r.type));
  VICINITY_TRY(room_for_pieces(turn));
  put(piece(rank_, 0), range(r.input(), 0));
  show(turn, r.input().bytes());
  VICINITY_TRY(wait_for_parts(turn, 0, size_));
  VICINITY_TRY(check_all(turn, 0, size_, r.input().bytes()));
  for (uint32_t step = 0; step < pieces + wanted; ++step) {
    if (step > 0) VICINITY_TRY(wait_for_units(turn, 0, size_, step + 1));
    if (step > 0 && wanted) {
      const Typed result = range(r.output(), step - 1);
      const Slices slices(result.count, size_);
      for (int other = 1; other < size_; ++other) {
        const int rank = (rank_ + other) % size_;
        get(piece(rank, step - 1) + at(slices, rank), slices.part(result, rank));
      }
    }
    if (step == pieces) break;
    const Typed input = range(r.input(), step);
    const Slices slices(input.count, size_);
    const Typed mine = wanted ? slices.part(range(r.output(), step), rank_)
                              : scratch.typed.part(0, slices.part(input, rank_).count);
    const Folding folding{*this, turn, op, Space::kLarge, at(slices, rank_), piece(rank_, step)};
    // Our own operand of the next piece goes out before our output can touch it: they may be one buffer.
    VICINITY_TRY(fold(folding, 0, size_, mine));
    put(piece(rank_, step) + at(slices, rank_), mine);
    if (step + 1 < pieces) put(piece(rank_, step + 1), range(r.input(), step + 1));
    pass(turn, step + 2);
  }
  return object::kOk;
}

// A slice holds as much of each rank's block. What it writes to a result in place has been shown before.
Status Direct::reduce_scatter_slices(Kind kind, const Reduction& r, const Pieces& pieces, const Op& op) {
  const MPI_Count each = r.type->size, slice = static_cast<MPI_Count>(slice_for_each()) / each;
  MPI_Count most = 0;
  for (int rank = 0; rank < size_; ++rank) most = std::max(most, pieces.count(rank));
  const auto rest = [&](int rank, MPI_Count done) {
    return std::clamp<MPI_Count>(pieces.count(rank) - done, 0, slice);
  };
  return in_slices(kind, kNoRoot, &op, static_cast<uint64_t>(most), static_cast<uint64_t>(slice),
                   [&](const Turn& turn, uint64_t from) {
                     const auto done = static_cast<MPI_Count>(from);
                     VICINITY_TRY(room(turn, Space::kHalf));
                     MPI_Count first = 0;
                     for (int rank = 0; rank < size_; first += pieces.count(rank++))
                       if (rest(rank, done) > 0)
                         put(part(rank_, turn, Space::kHalf) + rank * slice * each,
                             r.input().part(first + done, rest(rank, done)));
                     show(turn, r.input().bytes());
                     VICINITY_TRY(wait_for_parts(turn, 0, size_));
                     all_seen(turn);
                     VICINITY_TRY(check_all(turn, 0, size_, r.input().bytes()));
                     const Folding folding{*this, turn, op, Space::kHalf, rank_ * slice * each};
                     return fold(folding, 0, size_,
                                 Typed{r.recv, pieces.count(rank_), r.type}.part(done, rest(rank_, done)));
                   });
}

// The same expression as in an allreduce, for the own block only.
Status Direct::reduce_scatter(Kind kind, const Reduction& r, const Pieces& pieces, const Op& op) {
  if (r.input().bytes() > region::kLargeSlotBytes) return reduce_scatter_slices(kind, r, pieces, op);
  const Turn turn = begin(kind, kNoRoot, &op);
  const uint64_t bytes = r.input().bytes();
  const Space space = space_of(bytes);
  Status status = show_input(turn, space, r);
  if (status.ok()) status = wait_for_parts(turn, 0, size_);
  if (status.ok()) status = check_all(turn, 0, size_, bytes);
  if (status.ok()) {
    all_seen(turn);
    const MPI_Count offset = pieces.first(rank_) * r.type->size;
    status =
        fold(Folding{*this, turn, op, space, offset}, 0, size_, Typed{r.recv, pieces.count(rank_), r.type});
  }
  return status.ok() ? status : give_up(turn, status);
}

}  // namespace vicinity::coll
