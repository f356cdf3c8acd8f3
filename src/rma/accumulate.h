// SPDX-License-Identifier: BSD-3-Clause
// Combining elements in a window so that each element changes as a whole (MPI 5.0, 12.7.1).
//
// Two ways: by atomic instructions, which is possible for elements of 1, 2, 4 or 8 bytes at addresses that
// are multiples of their size; or plainly, which excludes everybody else meanwhile. Who goes which way:
// combine.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "object/datatype.h"
#include "object/op.h"

namespace vicinity::rma {

using object::Basic;
using object::Op;

// What is done to each element; `kernel` does what the processor has no instruction for.
enum class How : uint8_t { kKernel, kReplace, kNothing, kAdd, kAnd, kOr, kXor };

struct Fold {
  How how = How::kNothing;
  Basic basic = Basic::kNone;
  uint8_t packed = 0;  // bytes of one element without holes, as data travels
  uint8_t extent = 0;  // bytes from one element to the next in memory
  object::Kernel kernel = nullptr;
  bool split() const { return basic == Basic::kShortInt; }  // its bytes are not one run in memory
};

// False when the operation is not defined for elements of this kind.
bool make_fold(const Op& op, Basic basic, Fold* fold);

inline bool by_processor(const Fold& fold, const void* at) {
  return fold.packed <= 8 && (fold.packed & (fold.packed - 1)) == 0 && fold.packed == fold.extent &&
         reinterpret_cast<uintptr_t>(at) % fold.packed == 0;
}

// `count` elements in a row at `at` are combined with the packed operands `in` (not read by kNothing); what
// was there before goes to `old`, packed, unless nullptr. The first REQUIRES by_processor().
void fold_atomically(const Fold& fold, void* at, const void* in, void* old, size_t count);
void fold_plainly(const Fold& fold, void* at, const void* in, void* old, size_t count);

// Writes `desired` where `compare` is; `old` gets what was there. One element of `bytes` bytes.
void swap_atomically(void* at, const void* compare, const void* desired, void* old, size_t bytes);
void swap_plainly(void* at, const void* compare, const void* desired, void* old, size_t bytes);

}  // namespace vicinity::rma
