// SPDX-License-Identifier: BSD-3-Clause
// The direct path: scans. Each rank combines all short inputs below its own by itself. Long vectors go up
// from rank to rank in pieces: nothing is combined twice, and less memory is moved.
#include <algorithm>

#include "coll/direct.h"
#include "coll/scratch.h"

namespace vicinity::coll {

namespace {

// Up to so many bytes each rank combines the inputs itself: with two ranks, with more.
constexpr uint64_t kMostFoldedByPair = 32 << 10, kMostFolded = 64 << 10;

// What a rank does with a piece: `in` is its own, `lower` what the ranks below have combined (nullptr: there
// are none), `higher` is for those above (nullptr: none). `in` and `out` may be one buffer.
class Prefix {
 public:
  Prefix(bool exclusive, const Op& op, Datatype& type)
      : exclusive_(exclusive), op_(op), kernel_(type.dense ? object::kernel(op, type.basic) : nullptr) {}
  // For types that have gaps.
  Status prepare(MPI_Count most, Datatype& type) {
    if (kernel_) return object::kOk;
    VICINITY_TRY(lower_.make(most, type));
    return sum_.make(most, type);
  }
  void combine(const std::byte* lower, const Typed& in, const Typed& out, std::byte* higher) const {
    if (!exclusive_) {
      copy_own(in, out);
      if (lower) reduce(lower, out);
      if (higher) put(higher, out);
      return;
    }
    if (higher) {
      const Typed sum = kernel_ ? Typed{higher, in.count, in.type} : sum_.typed.part(0, in.count);
      if (kernel_) {
        put(higher, in);
      } else {
        copy_own(in, sum);
      }
      if (lower) reduce(lower, sum);
      if (!kernel_) put(higher, sum);
    }
    if (lower) get(lower, out);
  }

 private:
  void reduce(const std::byte* lower, const Typed& inout) const {
    if (kernel_)
      return kernel_(lower, object::data_start(inout.at, *inout.type), static_cast<size_t>(inout.count));
    const Typed operand = lower_.typed.part(0, inout.count);
    get(lower, operand);
    object::reduce_local(operand.at, inout.at, inout.count, *inout.type, op_);
  }
  const bool exclusive_;
  const Op& op_;
  const object::Kernel kernel_;
  Scratch lower_, sum_;
};

}  // namespace

Status Direct::scan(Kind kind, const Reduction& r, const Op& op) {
  const Turn turn = begin(kind, kNoRoot, &op);
  const uint64_t bytes = r.input().bytes();
  const int high = kind == Kind::kExscan ? rank_ : rank_ + 1;
  Status status;
  if (bytes > kMostFolded || (size_ == 2 && bytes > kMostFoldedByPair && op.predefined())) {
    status = scan_long(turn, r, op);
  } else {
    status = show_input(turn, space_of(bytes), r);
    if (status.ok() && high > 0) status = fold_range(turn, r, op, 0, high);
  }
  return status.ok() ? status : give_up(turn, status);
}

// Where a rank's pieces are, round and round. Only its successor reads them.
struct Direct::ScanArea {
  Direct& direct;
  const Turn& turn;
  Turn before;    // an earlier scan
  uint32_t left;  // pieces of it, of which the last may still be there
  std::byte* place(int rank, uint32_t index) const {
    return direct.member(rank).board + region::kBoardLarge + index % kPieces * kPieceBytes;
  }
  // Waits until piece `index` may be written.
  Status room(uint32_t index) const {
    if (index >= kPieces) return wait_for_reader(turn, index - kPieces);
    if (left == 0) return object::kOk;
    // Beyond the earlier scan's there may be pieces of the one before, which is over for who is in this one.
    return wait_for_reader(before, index < left ? index + (left - 1 - index) / kPieces * kPieces : 0);
  }
  Status wait_for_reader(const Turn& call, uint32_t index) const {
    const int reader = direct.rank_ + 1;
    return direct.wait(turn, reader, reader + 1,
                       [&](int rank) { return direct.passed(rank, call, index + 1); });
  }
};

// Of what was there before an earlier scan nobody reads anything any more; what others have written there
// since must be over for everybody.
Status Direct::make_room_for_scan(const Turn& turn, uint32_t pieces, ScanArea* area) {
  VICINITY_TRY(room(turn, Space::kLine));
  const uint32_t last = static_cast<int32_t>(wide_ - narrow_) > 0 ? wide_ : narrow_;
  if (scan_pieces_ > 0 && last == scan_) {
    area->before.number = scan_;
    area->left = scan_pieces_;
  } else if (turn.number - safe_ >= turn.number - last) {
    VICINITY_TRY(wait_until_near(turn, turn.number - last));
  }
  wide_ = narrow_ = scan_ = turn.number;
  scan_pieces_ = pieces;
  return object::kOk;
}

// Ranks that are ahead by some pieces, or by a call, do not wait.
Status Direct::scan_long(const Turn& turn, const Reduction& r, const Op& op) {
  const bool first = rank_ == 0, last = rank_ + 1 == size_, exclusive = turn.kind == Kind::kExscan;
  const MPI_Count most = kPieceBytes / r.type->size;
  const auto pieces = static_cast<uint32_t>((r.count + most - 1) / most);
  Prefix prefix(exclusive, op, *r.type);
  VICINITY_TRY(prefix.prepare(most, *r.type));
  ScanArea area{*this, turn, turn, 0};
  if (!last) {
    VICINITY_TRY(make_room_for_scan(turn, pieces, &area));
    show(turn, told(r.input().bytes()));
  }
  if (!first) {
    VICINITY_TRY(wait_for_parts(turn, rank_ - 1, rank_));
    VICINITY_TRY(check(turn, rank_ - 1, told(r.input().bytes())));
  }
  for (uint32_t index = 0; index < pieces; ++index) {
    const MPI_Count begin = index * most, end = std::min(r.count, begin + most);
    if (!first) VICINITY_TRY(wait_for_units(turn, rank_ - 1, rank_, index + 1));
    if (!last) VICINITY_TRY(area.room(index));
    const std::byte* lower = first ? nullptr : area.place(rank_ - 1, index);
    std::byte* higher = last ? nullptr : area.place(rank_, index);
    // Chunks of types without gaps, which alone may have kernels, begin at so many bytes.
    const MPI_Count chunk = std::max<MPI_Count>(kFoldBytes / r.type->size, 1);
    for (MPI_Count at = begin; at < end; at += chunk) {
      const MPI_Count now = std::min(chunk, end - at), skip = (at - begin) * r.type->size;
      prefix.combine(lower ? lower + skip : nullptr, r.input().part(at, now),
                     first && exclusive ? Typed() : r.output().part(at, now),
                     higher ? higher + skip : nullptr);
    }
    pass(turn, index + 1, std::max(rank_ - 1, 0), std::min(rank_ + 2, size_));
  }
  return object::kOk;
}

}  // namespace vicinity::coll
