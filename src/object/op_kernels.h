// SPDX-License-Identifier: BSD-3-Clause
// The reduction loops, as templates; compiled once for any x86-64 or other machine (op_kernels.cc) and
// once for AVX2 (op_kernels_avx2.cc), which is why everything is in an unnamed namespace and only
// <cstdint>-like headers are included: no code made for AVX2 may be shared with other files.
//
// Elements may lie at any address and belong to objects of the user's types, so they are read and
// written through types without alignment that may alias anything. Integers wrap around.
#pragma once

#include <cstddef>
#include <cstdint>

#include "object/op.h"

namespace vicinity::object {

// Rows are in the order of kOpNames (op.cc).
enum class Fold : uint8_t {
  kSum,
  kMin,
  kMax,
  kProd,
  kBand,
  kBor,
  kBxor,
  kLand,
  kLor,
  kLxor,
  kMinloc,
  kMaxloc,
  kNone
};

// nullptr where the operation is not defined for the basic type.
Kernel kernel_any(Fold fold, Basic basic);
Kernel kernel_avx2(Fold fold, Basic basic);  // a subset; nullptr: use kernel_any
Kernel kernel_pair(Fold fold, Basic basic);  // MINLOC and MAXLOC
// Logical operations with values of .TRUE. and .FALSE. that keep_logical_values() was told for the LOGICAL
// of `size` bytes; that returns which basic type it is, kNone if there is none of that size.
Kernel kernel_logical(Fold fold, Basic basic);
Basic keep_logical_values(int size, const void* truth, const void* falsehood);

namespace {

// The type in which sums and products of T are computed without signed overflow.
template <class T>
struct Wide {
  using Type = T;
};
template <>
struct Wide<int8_t> {
  using Type = uint32_t;
};
template <>
struct Wide<uint8_t> {
  using Type = uint32_t;
};
template <>
struct Wide<int16_t> {
  using Type = uint32_t;
};
template <>
struct Wide<uint16_t> {
  using Type = uint32_t;
};
template <>
struct Wide<int32_t> {
  using Type = uint32_t;
};
template <>
struct Wide<int64_t> {
  using Type = uint64_t;
};
template <>
struct Wide<__int128> {
  using Type = unsigned __int128;
};

struct Sum {
  template <class T>
  static T of(T a, T b) {
    using W = typename Wide<T>::Type;
    return T(W(a) + W(b));
  }
};
struct Prod {
  template <class T>
  static T of(T a, T b) {
    using W = typename Wide<T>::Type;
    return T(W(a) * W(b));
  }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
};
struct Band {
  template <class T>
  static T of(T a, T b) {
    return T(a & b);
  }
};
struct Bor {
  template <class T>
  static T of(T a, T b) {
    return T(a | b);
  }
};
struct Bxor {
  template <class T>
  static T of(T a, T b) {
    return T(a ^ b);
  }
};
struct Land {
  template <class T>
  static T of(T a, T b) {
    return T((a != 0) & (b != 0));
  }
};
struct Lor {
  template <class T>
  static T of(T a, T b) {
    return T((a != 0) | (b != 0));
  }
};
struct Lxor {
  template <class T>
  static T of(T a, T b) {
    return T((a != 0) != (b != 0));
  }
};

template <class T, class F>
void fold_all(const void* in, void* inout, size_t count) {
  typedef T Loose __attribute__((aligned(1), may_alias));
  const Loose* __restrict from = static_cast<const Loose*>(in);
  Loose* __restrict to = static_cast<Loose*>(inout);
  for (size_t i = 0; i < count; i++) to[i] = F::of(static_cast<T>(from[i]), static_cast<T>(to[i]));
}

// Sums of complex numbers are sums of twice as many real ones.
template <class T>
void fold_complex_sum(const void* in, void* inout, size_t count) {
  fold_all<T, Sum>(in, inout, 2 * count);
}

template <class T>
void fold_complex_prod(const void* in, void* inout, size_t count) {
  typedef T Loose __attribute__((aligned(1), may_alias));
  const Loose* __restrict from = static_cast<const Loose*>(in);
  Loose* __restrict to = static_cast<Loose*>(inout);
  for (size_t i = 0; i < 2 * count; i += 2) {
    const T real = from[i] * to[i] - from[i + 1] * to[i + 1];
    const T imaginary = from[i] * to[i + 1] + from[i + 1] * to[i];
    to[i] = real;
    to[i + 1] = imaginary;
  }
}

template <class T>
Kernel arithmetic(Fold fold) {
  switch (fold) {
    case Fold::kSum:
      return fold_all<T, Sum>;
    case Fold::kMin:
      return fold_all<T, Min>;
    case Fold::kMax:
      return fold_all<T, Max>;
    case Fold::kProd:
      return fold_all<T, Prod>;
    default:
      return nullptr;
  }
}

template <class T>
Kernel bitwise(Fold fold) {
  switch (fold) {
    case Fold::kBand:
      return fold_all<T, Band>;
    case Fold::kBor:
      return fold_all<T, Bor>;
    case Fold::kBxor:
      return fold_all<T, Bxor>;
    default:
      return nullptr;
  }
}

template <class T>
Kernel logical(Fold fold) {
  switch (fold) {
    case Fold::kLand:
      return fold_all<T, Land>;
    case Fold::kLor:
      return fold_all<T, Lor>;
    case Fold::kLxor:
      return fold_all<T, Lxor>;
    default:
      return nullptr;
  }
}

template <class T>
Kernel integer(Fold fold) {
  if (Kernel kernel = arithmetic<T>(fold)) return kernel;
  if (Kernel kernel = bitwise<T>(fold)) return kernel;
  return logical<T>(fold);
}

template <class T>
Kernel complex(Fold fold) {
  if (fold == Fold::kSum) return fold_complex_sum<T>;
  return fold == Fold::kProd ? fold_complex_prod<T> : nullptr;
}

// The kernels worth compiling for wider vectors.
inline Kernel common_kernel(Fold fold, Basic basic) {
  switch (basic) {
    case Basic::kBytes:
      return bitwise<uint8_t>(fold);
    case Basic::kI8:
      return integer<int8_t>(fold);
    case Basic::kU8:
      return integer<uint8_t>(fold);
    case Basic::kI16:
      return integer<int16_t>(fold);
    case Basic::kU16:
      return integer<uint16_t>(fold);
    case Basic::kI32:
      return integer<int32_t>(fold);
    case Basic::kU32:
      return integer<uint32_t>(fold);
    case Basic::kI64:
      return integer<int64_t>(fold);
    case Basic::kU64:
      return integer<uint64_t>(fold);
    case Basic::kF32:
      return arithmetic<float>(fold);
    case Basic::kF64:
      return arithmetic<double>(fold);
    case Basic::kC32:
      return complex<float>(fold);
    case Basic::kC64:
      return complex<double>(fold);
    case Basic::kBool8:
    case Basic::kLogical8:
      return logical<uint8_t>(fold);
    case Basic::kLogical16:
      return logical<uint16_t>(fold);
    case Basic::kLogical32:
      return logical<uint32_t>(fold);
    case Basic::kLogical64:
      return logical<uint64_t>(fold);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace vicinity::object
