// SPDX-License-Identifier: BSD-3-Clause
// MPI_Op_* and MPI_Reduce_local (MPI 5.0, 6.9.5 to 6.9.7).
#include "entry_object.h"
#include "object/language.h"
#include "object/op.h"
#include "object/pool.h"

namespace vicinity::object::entry {
namespace {

Status create(MPI_User_function* user, MPI_User_function_c* user_c, int commute, MPI_Op* handle) {
  if (!user && !user_c) return fail(MPI_ERR_ARG, "argument `user_fn` is a null pointer");
  if (!handle) return fail(MPI_ERR_ARG, "argument `op` is a null pointer");
  Op* op = make<Op>();
  if (!op) return fail(MPI_ERR_NO_MEM, "no memory for another operation");
  op->user = user;
  op->user_c = user_c;
  op->commutative = commute != 0;
  op->fortran = from_fortran;
  *handle = handle_of(*op);
  return kOk;
}

}  // namespace

Status op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
  return create(user_fn, nullptr, commute, op);
}

Status op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
  return create(nullptr, user_fn, commute, op);
}

Status op_free(MPI_Op* handle) {
  Op* op = lookup<Op>(*handle);
  if (!op)
    return fail(MPI_ERR_OP, "argument `op` is %p, which is no operation", reinterpret_cast<void*>(*handle));
  if (op->predefined()) return fail(MPI_ERR_OP, "a predefined operation cannot be freed");
  release(op);
  *handle = MPI_OP_NULL;
  return kOk;
}

Status op_commutative(Op& op, int* commute) {
  *commute = op.commutative;
  return kOk;
}

Status reduce_local(const void* inbuf, void* inoutbuf, MPI_Count count, Datatype& datatype, Op& op) {
  VICINITY_TRY(check_op(op, datatype));
  if (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE)
    return fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is no buffer of MPI_Reduce_local");
  if (count > 0 && inbuf == inoutbuf)
    return fail(MPI_ERR_BUFFER, "arguments `inbuf` and `inoutbuf` are the same buffer (%p)", inbuf);
  object::reduce_local(inbuf, inoutbuf, count, datatype, op);
  return kOk;
}

}  // namespace vicinity::object::entry
