// SPDX-License-Identifier: BSD-3-Clause
// Reduction operations (MPI 5.0, 6.9).
#pragma once

#include "object/datatype.h"
#include "object/handle.h"

namespace vicinity::object {

// inout[i] = in[i] op inout[i] for `count` dense basic elements.
using Kernel = void (*)(const void* in, void* inout, size_t count);

struct Op : Object {
  bool commutative = true;
  MPI_User_function* user = nullptr;      // made by MPI_Op_create
  MPI_User_function_c* user_c = nullptr;  // made by MPI_Op_create_c
  bool fortran = false;                   // the function takes an integer for the datatype
  static void finish(Op* op);
};

template <>
struct HandleTraits<Op> {
  using Handle = MPI_Op;
  static constexpr Kind kKind = Kind::kOp;
  static Op* predefined(uintptr_t constant);
};

// MPI_ERR_OP when the table of MPI 5.0, 6.9.2 does not allow this operation on this type. User-defined
// operations take any type.
Status check_op(const Op& op, const Datatype& type);

// The kernel of a predefined op for a basic type, vectorised where that pays; nullptr when not allowed.
Kernel kernel(const Op& op, Basic basic);

// Fortran's .TRUE. and .FALSE. of the LOGICAL of `size` bytes (1, 2, 4, 8 or 16) for MPI_LAND, MPI_LOR and
// MPI_LXOR from now on. REQUIRES: no reduction is in progress.
void set_logical_values(int size, const void* truth, const void* falsehood);

// inout = in op inout over (count, type); user functions are called as the standard says, with counts
// beyond INT_MAX cut into pieces for the int form. `op` has passed check_op.
void reduce_local(const void* in, void* inout, MPI_Count count, Datatype& type, const Op& op);

}  // namespace vicinity::object
