// SPDX-License-Identifier: BSD-3-Clause
// MINLOC and MAXLOC on value and index pairs (MPI 5.0, 6.9.4): the C structure { value; index; }, one
// after the other at the distance sizeof. Of equal values the smaller index wins. Padding is not written.
#include <cstring>

#include "object/op_kernels.h"

namespace vicinity::object {
namespace {

template <class V, class I, bool kMin>
void locate(const void* in, void* inout, size_t count) {
  struct Pair {
    V value;
    I index;
  };
  const char* from = static_cast<const char*>(in);
  char* to = static_cast<char*>(inout);
  for (size_t i = 0; i < count; i++, from += sizeof(Pair), to += sizeof(Pair)) {
    V mine, theirs;
    I my_index, their_index;
    std::memcpy(&theirs, from, sizeof(V));
    std::memcpy(&their_index, from + offsetof(Pair, index), sizeof(I));
    std::memcpy(&mine, to, sizeof(V));
    std::memcpy(&my_index, to + offsetof(Pair, index), sizeof(I));
    const bool better = kMin ? theirs < mine : theirs > mine;
    if (better || (theirs == mine && their_index < my_index)) {
      std::memcpy(to, from, sizeof(V));
      std::memcpy(to + offsetof(Pair, index), from + offsetof(Pair, index), sizeof(I));
    }
  }
}

template <class V, class I>
Kernel pair(bool min) {
  return min ? locate<V, I, true> : locate<V, I, false>;
}

}  // namespace

Kernel kernel_pair(Fold fold, Basic basic) {
  if (fold != Fold::kMinloc && fold != Fold::kMaxloc) return nullptr;
  const bool min = fold == Fold::kMinloc;
  switch (basic) {
    case Basic::kFloatInt:
      return pair<float, int>(min);
    case Basic::kDoubleInt:
      return pair<double, int>(min);
    case Basic::kLongInt:
      return pair<long, int>(min);
    case Basic::kTwoInteger:
    case Basic::kIntInt:
      return pair<int, int>(min);
    case Basic::kShortInt:
      return pair<short, int>(min);
    case Basic::kLongDoubleInt:
      return pair<long double, int>(min);
    case Basic::kTwoReal:
      return pair<float, float>(min);
    case Basic::kTwoDouble:
      return pair<double, double>(min);
    default:
      return nullptr;
  }
}

}  // namespace vicinity::object
