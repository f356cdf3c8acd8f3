// SPDX-License-Identifier: BSD-3-Clause
// The common reduction loops once more, compiled with -mavx2 where the compiler has that option. Used
// only when the processor has AVX2 (op.cc).
#include "object/op_kernels.h"

namespace vicinity::object {

#ifdef __AVX2__
Kernel kernel_avx2(Fold fold, Basic basic) { return common_kernel(fold, basic); }
#else
Kernel kernel_avx2(Fold, Basic) { return nullptr; }
#endif

}  // namespace vicinity::object
