// SPDX-License-Identifier: BSD-3-Clause
// Combining elements in a window so that each element changes as a whole (MPI 5.0, 12.7.1).
//
// Two ways: by atomic instructions, which is possible for elements of 1, 2, 4 or 8 bytes at addresses that
// are multiples of their size; or plainly, which excludes everybody else meanwhile. Who goes which way:
// combine.h.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "object/datatype.h"
#include "object/op.h"

namespace vicinity::rma {

using object::Basic;
using object::Op;

// What is done to each element. From kAdd on the processor has an instruction for integers; kernels do the
// rest, but sums of real numbers, which are common, are written out for single words.
enum class How : uint8_t { kKernel, kSumOfReals, kReplace, kNothing, kAdd, kAnd, kOr, kXor };

// What does not depend on the kernel, which Fortran may change (set_logical_values).
struct FoldKind {
  How how = How::kNothing;
  Basic basic = Basic::kNone;
  uint8_t packed = 0;  // bytes of one element without holes, as data travels
  uint8_t extent = 0;  // bytes from one element to the next in memory
};
static_assert(sizeof(FoldKind) == 4);

struct Fold : FoldKind {
  const Op* op = nullptr;
  object::Kernel kernel() const { return object::kernel(*op, basic); }
  bool split() const { return basic == Basic::kShortInt; }  // its bytes are not one run in memory
};

namespace detail {
inline constexpr size_t kOps = 64, kBasics = static_cast<size_t>(Basic::kTwoInteger) + 1;
// Filled when first needed, maybe by several threads: nothing there yet where `packed` is 0.
extern std::atomic<uint32_t> fold_kinds[kOps][kBasics];
bool find_fold_kind(const Op& op, Basic basic, FoldKind* kind);
}  // namespace detail

// False when the operation is not defined for elements of this kind.
inline bool make_fold(const Op& op, Basic basic, Fold* fold) {
  FoldKind kind;
  if (op.handle < detail::kOps) [[likely]]
    kind = std::bit_cast<FoldKind>(
        detail::fold_kinds[op.handle][static_cast<size_t>(basic)].load(std::memory_order_relaxed));
  if (kind.packed == 0 && !detail::find_fold_kind(op, basic, &kind)) [[unlikely]]
    return false;
  static_cast<FoldKind&>(*fold) = kind;
  fold->op = &op;
  return true;
}

inline bool by_processor(const Fold& fold, const void* at) {
  return fold.packed <= 8 && (fold.packed & (fold.packed - 1)) == 0 && fold.packed == fold.extent &&
         reinterpret_cast<uintptr_t>(at) % fold.packed == 0;
}

// `count` elements in a row at `at` are combined with the packed operands `in` (not read by kNothing); what
// was there before goes to `old`, packed, unless nullptr. The first REQUIRES by_processor().
void fold_atomically(const Fold& fold, void* at, const void* in, void* old, size_t count);
void fold_plainly(const Fold& fold, void* at, const void* in, void* old, size_t count);
// The same for one element that is by_processor().
void fold_word_atomically(const Fold& fold, void* at, const void* in, void* old);
void fold_word_plainly(const Fold& fold, void* at, const void* in, void* old);

// Writes `desired` where `compare` is; `old` gets what was there. One element of `bytes` bytes.
void swap_atomically(void* at, const void* compare, const void* desired, void* old, size_t bytes);
void swap_plainly(void* at, const void* compare, const void* desired, void* old, size_t bytes);

}  // namespace vicinity::rma
