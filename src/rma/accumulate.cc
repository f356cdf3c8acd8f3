// SPDX-License-Identifier: BSD-3-Clause
// The atomic operations on elements.
#include "rma/accumulate.h"

#include <cstring>

namespace vicinity::rma {
namespace {

struct Bytes {
  uint8_t packed = 0, extent = 0;
};

Bytes bytes_of(Basic basic) {
  switch (basic) {
    case Basic::kNone:
      return {};
    case Basic::kBytes:
    case Basic::kChar:
    case Basic::kI8:
    case Basic::kU8:
    case Basic::kBool8:
    case Basic::kLogical8:
      return {1, 1};
    case Basic::kI16:
    case Basic::kU16:
    case Basic::kF16:
    case Basic::kLogical16:
      return {2, 2};
    case Basic::kWchar:
    case Basic::kI32:
    case Basic::kU32:
    case Basic::kF32:
    case Basic::kC16:
    case Basic::kLogical32:
      return {4, 4};
    case Basic::kI64:
    case Basic::kU64:
    case Basic::kF64:
    case Basic::kC32:
    case Basic::kLogical64:
    case Basic::kFloatInt:
    case Basic::kIntInt:
    case Basic::kTwoReal:
    case Basic::kTwoInteger:
      return {8, 8};
    case Basic::kI128:
    case Basic::kF80:
    case Basic::kF128:
    case Basic::kC64:
    case Basic::kLogical128:
    case Basic::kTwoDouble:
      return {16, 16};
    case Basic::kC80:
    case Basic::kC128:
      return {32, 32};
    case Basic::kDoubleInt:
    case Basic::kLongInt:
      return {12, 16};
    case Basic::kShortInt:
      return {6, 8};
    case Basic::kLongDoubleInt:
      return {20, 32};
  }
  return {};
}

bool integer(Basic basic) { return basic >= Basic::kI8 && basic <= Basic::kU64; }

// The processor's own instruction, where there is one.
How instruction(const Op& op, Basic basic) {
  const MPI_Op handle = object::handle_of(op);
  if (handle == MPI_SUM && integer(basic)) return How::kAdd;
  if (handle == MPI_SUM && (basic == Basic::kF64 || basic == Basic::kF32)) return How::kSumOfReals;
  if (handle == MPI_BAND) return How::kAnd;
  if (handle == MPI_BOR) return How::kOr;
  if (handle == MPI_BXOR) return How::kXor;
  return How::kKernel;
}

template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T, class Real>
T sum_of_reals(T word, const char* in) {
  if constexpr (sizeof(T) != sizeof(Real)) {
    return word;  // does not happen
  } else {
    return std::bit_cast<T>(load<Real>(in) + std::bit_cast<Real>(word));
  }
}

// What a word becomes.
template <class T>
inline T next_of(const Fold& fold, T word, const char* in) {
  switch (fold.how) {
    case How::kKernel:
      fold.kernel()(in, &word, 1);
      return word;
    case How::kSumOfReals:
      return sizeof(T) == 8 ? sum_of_reals<T, double>(word, in) : sum_of_reals<T, float>(word, in);
    case How::kReplace:
      return load<T>(in);
    case How::kNothing:
      return word;
    case How::kAdd:
      return static_cast<T>(word + load<T>(in));
    case How::kAnd:
      return static_cast<T>(word & load<T>(in));
    case How::kOr:
      return static_cast<T>(word | load<T>(in));
    case How::kXor:
      return static_cast<T>(word ^ load<T>(in));
  }
  return word;
}

// One word is changed again and again until nobody has interfered.
template <class T>
inline T change_by_swaps(const Fold& fold, T* at, const char* in) {
  T seen = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(at, &seen, next_of(fold, seen, in), true, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED)) {
  }
  return seen;
}

template <class T>
inline T change(const Fold& fold, T* at, const char* in) {
  switch (fold.how) {
    case How::kKernel:
    case How::kSumOfReals:
      return change_by_swaps(fold, at, in);
    case How::kReplace:
      return __atomic_exchange_n(at, load<T>(in), __ATOMIC_SEQ_CST);
    case How::kNothing:
      return __atomic_load_n(at, __ATOMIC_SEQ_CST);
    case How::kAdd:
      return __atomic_fetch_add(at, load<T>(in), __ATOMIC_SEQ_CST);
    case How::kAnd:
      return __atomic_fetch_and(at, load<T>(in), __ATOMIC_SEQ_CST);
    case How::kOr:
      return __atomic_fetch_or(at, load<T>(in), __ATOMIC_SEQ_CST);
    case How::kXor:
      return __atomic_fetch_xor(at, load<T>(in), __ATOMIC_SEQ_CST);
  }
  return T{};
}

template <class T>
inline void change_one(const Fold& fold, void* at, const void* in, void* old, bool plainly) {
  T* word = static_cast<T*>(at);
  const char* from = static_cast<const char*>(in);
  T seen;
  if (plainly) {
    // Never torn, as its owner may look at any time.
    seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    __atomic_store_n(word, next_of(fold, seen, from), __ATOMIC_RELAXED);
  } else {
    seen = change(fold, word, from);
  }
  if (old) std::memcpy(old, &seen, sizeof seen);
}

inline void change_word(const Fold& fold, void* at, const void* in, void* old, bool plainly) {
  switch (fold.packed) {
    case 1:
      return change_one<uint8_t>(fold, at, in, old, plainly);
    case 2:
      return change_one<uint16_t>(fold, at, in, old, plainly);
    case 4:
      return change_one<uint32_t>(fold, at, in, old, plainly);
    default:
      return change_one<uint64_t>(fold, at, in, old, plainly);
  }
}

template <class T>
void change_all(const Fold& fold, void* at, const char* in, char* old, size_t count) {
  T* word = static_cast<T*>(at);
  for (size_t i = 0; i < count; ++i, in += in ? sizeof(T) : 0) {
    const T seen = change(fold, word + i, in);
    if (old) std::memcpy(old + i * sizeof(T), &seen, sizeof seen);
  }
}

// An element as the kernels want it, aligned and with its holes, and the way there and back.
struct Element {
  alignas(32) char bytes[32] = {};
};

// `from` is in memory, `to` packed, or the reverse; a short and an int have a hole in between.
void to_packed(const Fold& fold, char* packed, const char* memory) {
  if (!fold.split()) {
    std::memcpy(packed, memory, fold.packed);
    return;
  }
  std::memcpy(packed, memory, sizeof(short));
  std::memcpy(packed + sizeof(short), memory + sizeof(int), sizeof(int));
}
void to_memory(const Fold& fold, char* memory, const char* packed) {
  if (!fold.split()) {
    std::memcpy(memory, packed, fold.packed);
    return;
  }
  std::memcpy(memory, packed, sizeof(short));
  std::memcpy(memory + sizeof(int), packed + sizeof(short), sizeof(int));
}

void one_plainly(const Fold& fold, char* at, const char* in, char* old) {
  char before[32];
  to_packed(fold, before, at);
  if (old) std::memcpy(old, before, fold.packed);
  if (fold.how == How::kNothing) return;
  if (fold.how == How::kReplace) return to_memory(fold, at, in);
  Element operand, value;
  to_memory(fold, operand.bytes, in);
  to_memory(fold, value.bytes, before);
  fold.kernel()(operand.bytes, value.bytes, 1);
  char after[32];
  to_packed(fold, after, value.bytes);
  to_memory(fold, at, after);
}

template <class T>
void swap_word(void* at, const void* compare, const void* desired, void* old) {
  T seen = load<T>(compare);
  __atomic_compare_exchange_n(static_cast<T*>(at), &seen, load<T>(desired), false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  std::memcpy(old, &seen, sizeof seen);
}

}  // namespace

std::atomic<uint32_t> detail::fold_kinds[kOps][kBasics];

bool detail::find_fold_kind(const Op& op, Basic basic, FoldKind* kind) {
  if (!op.predefined()) return false;
  const Bytes bytes = bytes_of(basic);
  if (bytes.packed == 0) return false;
  *kind = FoldKind{.basic = basic, .packed = bytes.packed, .extent = bytes.extent};
  const MPI_Op handle = object::handle_of(op);
  if (handle == MPI_NO_OP || handle == MPI_REPLACE) {
    kind->how = handle == MPI_NO_OP ? How::kNothing : How::kReplace;
  } else {
    if (!object::kernel(op, basic)) return false;
    kind->how = instruction(op, basic);
  }
  fold_kinds[op.handle][static_cast<size_t>(basic)].store(std::bit_cast<uint32_t>(*kind),
                                                          std::memory_order_relaxed);
  return true;
}

void fold_atomically(const Fold& fold, void* at, const void* in, void* old, size_t count) {
  const char* from = static_cast<const char*>(in);
  char* to = static_cast<char*>(old);
  switch (fold.packed) {
    case 1:
      return change_all<uint8_t>(fold, at, from, to, count);
    case 2:
      return change_all<uint16_t>(fold, at, from, to, count);
    case 4:
      return change_all<uint32_t>(fold, at, from, to, count);
    default:
      return change_all<uint64_t>(fold, at, from, to, count);
  }
}

void fold_word_atomically(const Fold& fold, void* at, const void* in, void* old) {
  change_word(fold, at, in, old, false);
}
void fold_word_plainly(const Fold& fold, void* at, const void* in, void* old) {
  change_word(fold, at, in, old, true);
}

void fold_plainly(const Fold& fold, void* at, const void* in, void* old, size_t count) {
  if (fold.packed == fold.extent) {
    const size_t bytes = count * fold.packed;
    if (old) std::memcpy(old, at, bytes);
    if (fold.how == How::kNothing) return;
    if (fold.how == How::kReplace) {
      std::memmove(at, in, bytes);
    } else {
      fold.kernel()(in, at, count);
    }
    return;
  }
  char* where = static_cast<char*>(at);
  const char* from = static_cast<const char*>(in);
  char* to = static_cast<char*>(old);
  for (size_t i = 0; i < count; ++i) {
    one_plainly(fold, where, from, to);
    where += fold.extent;
    if (from) from += fold.packed;
    if (to) to += fold.packed;
  }
}

void swap_atomically(void* at, const void* compare, const void* desired, void* old, size_t bytes) {
  switch (bytes) {
    case 1:
      return swap_word<uint8_t>(at, compare, desired, old);
    case 2:
      return swap_word<uint16_t>(at, compare, desired, old);
    case 4:
      return swap_word<uint32_t>(at, compare, desired, old);
    default:
      return swap_word<uint64_t>(at, compare, desired, old);
  }
}

void swap_plainly(void* at, const void* compare, const void* desired, void* old, size_t bytes) {
  char before[32];
  std::memcpy(before, at, bytes);
  if (std::memcmp(before, compare, bytes) == 0) std::memcpy(at, desired, bytes);
  std::memcpy(old, before, bytes);
}

}  // namespace vicinity::rma
