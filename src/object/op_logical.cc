// SPDX-License-Identifier: BSD-3-Clause
// Logical operations on Fortran LOGICALs whose .TRUE. and .FALSE. are not C's 1 and 0: the values that
// a Fortran binding gave to MPI_Abi_set_fortran_booleans, for each size of its own. What is not .FALSE.
// is taken as true, because compilers produce several patterns for true; results are the given values.
#include <cstring>

#include "object/op_kernels.h"

namespace vicinity::object {
namespace {

// Written once, before the kernels that read it are put into the table of operations.
template <class T>
struct Values {
  static inline T truth = 1, falsehood = 0;
};

template <class T, class F>
void fold_logicals(const void* in, void* inout, size_t count) {
  const char* from = static_cast<const char*>(in);
  char* to = static_cast<char*>(inout);
  for (size_t i = 0; i < count; i++, from += sizeof(T), to += sizeof(T)) {
    T a, b;
    std::memcpy(&a, from, sizeof(T));
    std::memcpy(&b, to, sizeof(T));
    const bool result = F::of(int(a != Values<T>::falsehood), int(b != Values<T>::falsehood)) != 0;
    std::memcpy(to, result ? &Values<T>::truth : &Values<T>::falsehood, sizeof(T));
  }
}

template <class T>
Kernel select(Fold fold) {
  switch (fold) {
    case Fold::kLand:
      return fold_logicals<T, Land>;
    case Fold::kLor:
      return fold_logicals<T, Lor>;
    case Fold::kLxor:
      return fold_logicals<T, Lxor>;
    default:
      return nullptr;
  }
}

template <class T>
void remember(const void* truth, const void* falsehood) {
  std::memcpy(&Values<T>::truth, truth, sizeof(T));
  std::memcpy(&Values<T>::falsehood, falsehood, sizeof(T));
}

}  // namespace

Kernel kernel_logical(Fold fold, Basic basic) {
  switch (basic) {
    case Basic::kLogical8:
      return select<uint8_t>(fold);
    case Basic::kLogical16:
      return select<uint16_t>(fold);
    case Basic::kLogical32:
      return select<uint32_t>(fold);
    case Basic::kLogical64:
      return select<uint64_t>(fold);
    case Basic::kLogical128:
      return select<unsigned __int128>(fold);
    default:
      return nullptr;
  }
}

Basic keep_logical_values(int size, const void* truth, const void* falsehood) {
  switch (size) {
    case 1:
      return remember<uint8_t>(truth, falsehood), Basic::kLogical8;
    case 2:
      return remember<uint16_t>(truth, falsehood), Basic::kLogical16;
    case 4:
      return remember<uint32_t>(truth, falsehood), Basic::kLogical32;
    case 8:
      return remember<uint64_t>(truth, falsehood), Basic::kLogical64;
    case 16:
      return remember<unsigned __int128>(truth, falsehood), Basic::kLogical128;
    default:
      return Basic::kNone;
  }
}

}  // namespace vicinity::object
