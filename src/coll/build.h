// SPDX-License-Identifier: BSD-3-Clause
// From a call to a schedule: choose the algorithm, let it plan. One function per collective, for intra-
// and intercommunicators; entries check arguments and call these, tests too.
//
// `root` of an intercommunicator: MPI_ROOT, MPI_PROC_NULL or a rank of the other group.
#pragma once

#include "coll/algorithms.h"

namespace vicinity::coll {

void build_barrier(Plan& plan);
void build_bcast(Plan& plan, const Typed& data, int root);
void build_gather(Plan& plan, const Typed& mine, const Blocks& all, int root);
void build_scatter(Plan& plan, const Blocks& all, const Typed& mine, int root);
void build_allgather(Plan& plan, const Typed& mine, const Blocks& all);
void build_alltoall(Plan& plan, const Blocks& send, const Blocks& recv);
void build_reduce(Plan& plan, const Reduction& r, int root);
void build_allreduce(Plan& plan, const Reduction& r);
void build_reduce_scatter(Plan& plan, const Reduction& r, const Pieces& pieces);
void build_scan(Plan& plan, const Reduction& r);  // and exscan, by the schedule's kind

// The forms for intercommunicators (inter.cc).
namespace inter {
void barrier(Plan& plan);
void bcast(Plan& plan, const Typed& data, int root);
void gather(Plan& plan, const Typed& mine, const Blocks& all, int root);
void scatter(Plan& plan, const Blocks& all, const Typed& mine, int root);
void allgather(Plan& plan, const Typed& mine, const Blocks& all);
void alltoall(Plan& plan, const Blocks& send, const Blocks& recv);
void reduce(Plan& plan, const Reduction& r, int root);
void allreduce(Plan& plan, const Reduction& r);
void reduce_scatter(Plan& plan, const Reduction& r, const Pieces& pieces);
}  // namespace inter

}  // namespace vicinity::coll
