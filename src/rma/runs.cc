// SPDX-License-Identifier: BSD-3-Clause
// Ranges checked against a part, and cut into runs; bounds hold for whatever a peer sends.
#include "rma/runs.h"

#include <sys/uio.h>

#include <algorithm>
#include <cinttypes>

namespace vicinity::rma {
namespace {

// Where the data of `count` elements begins and ends, in bytes from the first element.
struct Span {
  __int128 from, to;
};
Span span_of(MPI_Count count, const Datatype& type) {
  const __int128 last = static_cast<__int128>(count - 1) * type.extent;
  const __int128 low = std::min<__int128>(last, 0), high = std::max<__int128>(last, 0);
  return {low + type.true_lb, high + type.true_lb + type.true_extent};
}

// Whether `next` goes on where `run` ends, as one more piece at its stride.
bool continues(Run& run, const Run& next) {
  if (next.bytes != run.bytes || run.count == UINT32_MAX) return false;
  const int64_t expected = run.at + static_cast<int64_t>(run.count) * run.stride;
  if (run.count == 1) {
    run.stride = next.at - run.at;
  } else if (next.at != expected) {
    return false;
  }
  ++run.count;
  return true;
}

// The next piece of at most `most` bytes; 0 when there is no room for a whole step.
uint64_t next_piece(object::PackCursor& target, uint32_t step, bool split, uint64_t most, Run* run) {
  most -= most % step;
  if (most == 0) return 0;
  iovec pieces[4];
  const size_t used = split ? target.pieces(pieces, 4, step) : target.pieces(pieces, 1, most);
  if (used == 0) return 0;
  *run = Run{.at = static_cast<int64_t>(reinterpret_cast<uintptr_t>(pieces[0].iov_base)),
             .bytes = split ? step : pieces[0].iov_len,
             .count = 1};
  return run->bytes;
}

}  // namespace

Status check_range(const Peer& peer, MPI_Aint disp, MPI_Count count, const Datatype& type, Range* range) {
  __int128 bytes = static_cast<__int128>(count) * type.size;
  if (bytes > INT64_MAX)
    return fail(MPI_ERR_COUNT, "%lld elements of %lld bytes are more than 2^63 bytes",
                static_cast<long long>(count), static_cast<long long>(type.size));
  *range = Range{.bytes = static_cast<uint64_t>(bytes)};
  if (peer.window->dynamic()) {  // the target knows what is attached
    range->at = disp;
    return kOk;
  }
  if (disp < 0)
    return fail(MPI_ERR_DISP, "argument `target_disp` is %lld, it must not be negative",
                static_cast<long long>(disp));
  if (bytes == 0) return kOk;
  const __int128 at = static_cast<__int128>(disp) * peer.unit;
  const Span span = span_of(count, type);
  if (at + span.from < 0 || at + span.to > static_cast<__int128>(peer.size))
    return fail(MPI_ERR_RMA_RANGE,
                "displacement %lld (in units of %lld bytes) and %lld elements reach from byte %lld to %lld, "
                "rank %d's part of the window has %" PRIu64 " bytes",
                static_cast<long long>(disp), static_cast<long long>(peer.unit),
                static_cast<long long>(count), static_cast<long long>(at + span.from),
                static_cast<long long>(at + span.to), peer.rank, peer.size);
  range->at = static_cast<int64_t>(at);
  return kOk;
}

Status check_attached(const Peer& peer, const Range& range, MPI_Count count, const Datatype& type) {
  if (!peer.window->dynamic() || range.bytes == 0) return kOk;
  // As another target would look at it: piece by piece.
  object::PackCursor target(reinterpret_cast<void*>(range.at), count, type);
  iovec pieces[16];
  for (uint64_t left = range.bytes; left != 0;) {
    const size_t used = target.pieces(pieces, 16, left);
    if (used == 0) break;
    for (size_t i = 0; i < used; ++i) {
      const auto at = static_cast<int64_t>(reinterpret_cast<uintptr_t>(pieces[i].iov_base));
      if (!inside(*peer.window, at, pieces[i].iov_len))
        return refused(peer, {MPI_ERR_RMA_RANGE, 0, at, pieces[i].iov_len});
      left -= pieces[i].iov_len;
    }
  }
  return kOk;
}

Status check_amounts(MPI_Count count, const Datatype& type, uint64_t target_bytes, const char* side) {
  const __int128 bytes = static_cast<__int128>(count) * type.size;
  if (bytes == static_cast<__int128>(target_bytes)) return kOk;
  return fail(MPI_ERR_TRUNCATE,
              "the %s buffer has %lld bytes of data, the target buffer %" PRIu64 "; they must be the same",
              side, static_cast<long long>(std::min<__int128>(bytes, INT64_MAX)), target_bytes);
}

uint64_t take_runs(object::PackCursor& target, uint32_t step, bool split, size_t room, bool with_data,
                   uint64_t most, std::vector<Run>& runs) {
  runs.clear();
  uint64_t bytes = 0;
  for (;;) {
    // A piece may need a run of its own.
    const size_t used = (runs.size() + 1) * sizeof(Run) + (with_data ? bytes : 0);
    if (used >= room) break;
    const uint64_t fits = with_data ? std::min<uint64_t>(room - used, most - bytes) : most - bytes;
    Run next{};
    const uint64_t here = next_piece(target, step, split, fits, &next);
    if (here == 0) break;
    bytes += here;
    if (runs.empty() || !continues(runs.back(), next)) runs.push_back(next);
  }
  return bytes;
}

bool total_of(const Run* runs, uint32_t count, uint64_t* bytes) {
  *bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t here;
    if (runs[i].count == 0 || runs[i].bytes == 0) return false;
    if (__builtin_mul_overflow(runs[i].bytes, uint64_t{runs[i].count}, &here)) return false;
    if (__builtin_add_overflow(*bytes, here, bytes)) return false;
  }
  return true;
}

const Run* outside(const Window& window, const Run* runs, uint32_t count, uint64_t beyond) {
  for (uint32_t i = 0; i < count; ++i) {
    const Run& run = runs[i];
    // Of a regular run first and last piece say all; in a dynamic window there may be gaps between.
    const uint32_t step = window.dynamic() || run.count < 2 ? 1 : run.count - 1;
    for (uint64_t k = 0; k < run.count; k += step) {
      int64_t at;
      if (__builtin_mul_overflow(run.stride, static_cast<int64_t>(k), &at) ||
          __builtin_add_overflow(at, run.at, &at) || !inside(window, at, run.bytes + beyond))
        return &run;
    }
  }
  return nullptr;
}

}  // namespace vicinity::rma
