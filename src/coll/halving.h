// SPDX-License-Identifier: BSD-3-Clause
// Recursive halving: 2^n ranks reduce a vector so that each ends with one slice of the result. It is
// the first half of the large allreduce and reduce.
//
// The distance between partners doubles from round to round, so every group that has combined its
// inputs is a range of ranks: the order of ranks is kept, for non-commutative operations too. The
// price is that the slice of a place is its number with the bits reversed.
#pragma once

#include <algorithm>

#include "coll/accumulator.h"

namespace vicinity::coll {

struct Slices {
  Slices(MPI_Count count, int power) : total(count), power(power) {}
  // Slice i starts at element first(i); slices differ by at most one element.
  MPI_Count first(int i) const { return total / power * i + std::min<MPI_Count>(i, total % power); }
  MPI_Count count(int i) const { return first(i + 1) - first(i); }
  Typed part(const Typed& all, int i) const { return all.part(first(i), count(i)); }
  Typed range(const Typed& all, int low, int high) const {
    return all.part(first(low), first(high) - first(low));
  }
  int of_place(int place) const {
    int slice = 0;
    for (int bit = 1; bit < power; bit *= 2) slice = slice * 2 + ((place & bit) ? 1 : 0);
    return slice;
  }
  MPI_Count total;
  int power;
};

// Plans the reduction of r.send over all ranks into slices of `all`; returns the slice that this rank
// has in the end, -1 on ranks that gave their input away. `all` may be the user's input (MPI_IN_PLACE).
int halve(Plan& plan, const Reduction& r, const Typed& all, const Fold& fold, const Slices& slices);

// The way back: from one slice each to the whole vector everywhere.
void spread(Plan& plan, const Typed& all, const Fold& fold, const Slices& slices);

}  // namespace vicinity::coll
