// SPDX-License-Identifier: BSD-3-Clause
// Reduction loops for any processor, and those of the rare types.
#include "object/op_kernels.h"

namespace vicinity::object {

Kernel kernel_any(Fold fold, Basic basic) {
  switch (basic) {
    case Basic::kI128:
      return integer<__int128>(fold);
    case Basic::kF16:
      return arithmetic<_Float16>(fold);
    case Basic::kF80:
      return arithmetic<long double>(fold);
    case Basic::kF128:
      return arithmetic<__float128>(fold);
    case Basic::kC16:
      return complex<_Float16>(fold);
    case Basic::kC80:
      return complex<long double>(fold);
    case Basic::kC128:
      return complex<__float128>(fold);
    case Basic::kLogical128:
      return logical<unsigned __int128>(fold);
    default:
      return common_kernel(fold, basic);
  }
}

}  // namespace vicinity::object
