// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, 6.9 to 6.11: the collectives that compute, in whatever form they are called.
#include "coll/arguments.h"
#include "coll/build.h"
#include "coll/calls.h"
#include "coll/claim.h"

namespace vicinity::coll::call {

using object::fail;

namespace {

// The reduction that checked arguments describe, MPI_IN_PLACE resolved.
Reduction resolved(const ReductionArguments& a, Datatype& type) {
  return {a.send == MPI_IN_PLACE ? a.recv : a.send, a.recv, a.count, &type, a.op->commutative};
}

Status run_scan(const How& how, Kind kind, const ReductionArguments& a, Communicator& comm) {
  if (comm.inter())
    return fail(MPI_ERR_COMM,
                "argument `comm` is an intercommunicator; %s is defined on intracommunicators only",
                mpi_name(kind, how.form).text);
  Result<Datatype*> type = check_reduction(a);
  if (!type.ok()) return type.status();
  VICINITY_TRY(check_reduction_buffers(a, **type, comm));
  const Reduction r = resolved(a, **type);
  if (Direct* direct = direct_way(how, comm, kind, r.input().bytes());
      direct && Direct::can_combine(r, *a.op))
    return direct->scan(kind, r, *a.op);
  Call call(how, comm, kind, kNoRoot, a.op);
  build_scan(call.plan(), r);
  return call.run();
}

// `a.count` is the number of elements of the whole vector.
Status run_reduce_scatter(const How& how, Kind kind, const ReductionArguments& a, const Pieces& pieces,
                          Communicator& comm) {
  Result<Datatype*> type = check_reduction(a);
  if (!type.ok()) return type.status();
  VICINITY_TRY(check_reduction_buffers(a, **type, comm));
  const Reduction r = resolved(a, **type);
  if (Direct* direct = direct_way(how, comm, kind, r.input().bytes());
      direct && Direct::can_combine(r, *a.op))
    return direct->reduce_scatter(kind, r, pieces, *a.op);
  Call call(how, comm, kind, kNoRoot, a.op);
  build_reduce_scatter(call.plan(), r, pieces);
  return call.run();
}

}  // namespace

Status allreduce(const How& how, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                 Op& op, Communicator& comm) {
  const ReductionArguments a{sendbuf, recvbuf, count, datatype, &op};
  Result<Datatype*> type = check_reduction(a);
  if (!type.ok()) return type.status();
  VICINITY_TRY(check_reduction_buffers(a, **type, comm));
  const Reduction r = resolved(a, **type);
  if (Direct* direct = direct_way(how, comm, Kind::kAllreduce, r.input().bytes());
      direct && Direct::can_combine(r, op))
    return direct->allreduce(r, op);
  Call call(how, comm, Kind::kAllreduce, kNoRoot, &op);
  build_allreduce(call.plan(), r);
  return call.run();
}

// Only the root's recvbuf counts; on an intercommunicator the root group has no sendbuf.
Status reduce(const How& how, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
              Op& op, int root, Communicator& comm) {
  VICINITY_TRY(check_root(comm, root));
  const ReductionArguments a{sendbuf, recvbuf, count, datatype, &op};
  Reduction r;
  if (!comm.inter() || root != MPI_PROC_NULL) {
    Result<Datatype*> type = check_reduction(a);
    if (!type.ok()) return type.status();
    r = resolved(a, **type);
    if (!comm.inter() && root == comm.rank) {
      VICINITY_TRY(check_reduction_buffers(a, **type, comm));
    } else if (comm.inter() && root == MPI_ROOT) {
      Result<Typed> out = one_buffer(recvbuf, count, datatype, {"recvbuf", "count", "datatype"});
      if (!out.ok()) return out.status();
      r.send = nullptr;
    } else {
      Result<Typed> in = one_buffer(sendbuf, count, datatype, {"sendbuf", "count", "datatype"});
      if (!in.ok()) return in.status();
      r.recv = nullptr;
    }
  }
  if (Direct* direct = comm.inter() ? nullptr : direct_way(how, comm, Kind::kReduce, r.input().bytes());
      direct && Direct::can_combine(r, op))
    return direct->reduce(r, op, root);
  Call call(how, comm, Kind::kReduce, root, &op);
  build_reduce(call.plan(), r, root);
  return call.run();
}

Status reduce_scatter(const How& how, const void* sendbuf, void* recvbuf, CountArray recvcounts,
                      MPI_Datatype datatype, Op& op, Communicator& comm) {
  if (!recvcounts) return fail(MPI_ERR_ARG, "argument `recvcounts` is a null pointer");
  MPI_Count total = 0;
  for (int i = 0; i < comm.size(); ++i) {
    const MPI_Count count = recvcounts[static_cast<size_t>(i)];
    if (count < 0 || __builtin_add_overflow(total, count, &total))
      return fail(MPI_ERR_COUNT, "`recvcounts[%d]` is %lld; counts are not negative and have a sum", i,
                  static_cast<long long>(count));
  }
  return run_reduce_scatter(how, Kind::kReduceScatter, {sendbuf, recvbuf, total, datatype, &op, "recvcounts"},
                            Pieces{0, recvcounts}, comm);
}

Status reduce_scatter_block(const How& how, const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                            MPI_Datatype datatype, Op& op, Communicator& comm) {
  MPI_Count total = 0;
  if (recvcount < 0 || __builtin_mul_overflow(recvcount, comm.size(), &total))
    return fail(MPI_ERR_COUNT,
                "argument `recvcount` is %lld; a count is not negative, and %d of them have a sum",
                static_cast<long long>(recvcount), comm.size());
  return run_reduce_scatter(how, Kind::kReduceScatterBlock,
                            {sendbuf, recvbuf, total, datatype, &op, "recvcount"},
                            Pieces{recvcount, CountArray()}, comm);
}

Status scan(const How& how, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
            Op& op, Communicator& comm) {
  return run_scan(how, Kind::kScan, {sendbuf, recvbuf, count, datatype, &op}, comm);
}

Status exscan(const How& how, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
              Op& op, Communicator& comm) {
  return run_scan(how, Kind::kExscan, {sendbuf, recvbuf, count, datatype, &op}, comm);
}

}  // namespace vicinity::coll::call
