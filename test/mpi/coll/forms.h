// SPDX-License-Identifier: BSD-3-Clause
// One program, each form of a collective (MPI 5.0, 6.12 and 6.13): with this header a call of MPI_Bcast is,
// by the program's first argument,
//
//   blocking (no argument)  MPI_Bcast
//   nonblocking             MPI_Ibcast, completed by MPI_Wait or MPI_Test in turn
//   persistent              MPI_Bcast_init, MPI_Start, MPI_Wait
//   twice                   the same, started twice; not for MPI_IN_PLACE
//
// Call choose_form() first.
#pragma once
#include "check.h"

static enum { kBlocking, kNonblocking, kPersistent, kTwice } form;
static MPI_Request form_request;

static inline void choose_form(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  form = !strcmp(name, "nonblocking") ? kNonblocking
         : !strcmp(name, "persistent") ? kPersistent
         : !strcmp(name, "twice")      ? kTwice
                                       : kBlocking;
}

static inline int await_form(void) {
  static int turn;
  int done = 0, code = MPI_SUCCESS;
  if (++turn % 3) return MPI_Wait(&form_request, MPI_STATUS_IGNORE);
  while (!done && code == MPI_SUCCESS) code = MPI_Test(&form_request, &done, MPI_STATUS_IGNORE);
  return code;
}

static inline int run_form(int code) {
  for (int rounds = form == kTwice ? 2 : 1; code == MPI_SUCCESS && rounds > 0; rounds--) {
    if (form != kNonblocking) code = MPI_Start(&form_request);
    if (code == MPI_SUCCESS) code = await_form();
  }
  if (form_request != MPI_REQUEST_NULL && form != kNonblocking) {
    int freed = MPI_Request_free(&form_request);
    if (code == MPI_SUCCESS) code = freed;
  }
  return code;
}

// The function's own name is not replaced inside its macro.
#define IN_FORM(blocking, nonblocking, init, ...)                                         \
  (form_request = MPI_REQUEST_NULL, form == kBlocking ? blocking(__VA_ARGS__)             \
                                    : form == kNonblocking                                \
                                        ? run_form(nonblocking(__VA_ARGS__, &form_request)) \
                                        : run_form(init(__VA_ARGS__, MPI_INFO_NULL, &form_request)))

#define MPI_Barrier(...) IN_FORM(MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init, __VA_ARGS__)
#define MPI_Bcast(...) IN_FORM(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, __VA_ARGS__)
#define MPI_Gather(...) IN_FORM(MPI_Gather, MPI_Igather, MPI_Gather_init, __VA_ARGS__)
#define MPI_Gatherv(...) IN_FORM(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, __VA_ARGS__)
#define MPI_Scatter(...) IN_FORM(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, __VA_ARGS__)
#define MPI_Scatterv(...) IN_FORM(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, __VA_ARGS__)
#define MPI_Allgather(...) IN_FORM(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, __VA_ARGS__)
#define MPI_Allgatherv(...) IN_FORM(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, __VA_ARGS__)
#define MPI_Alltoall(...) IN_FORM(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, __VA_ARGS__)
#define MPI_Alltoallv(...) IN_FORM(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, __VA_ARGS__)
#define MPI_Alltoallw(...) IN_FORM(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, __VA_ARGS__)
#define MPI_Reduce(...) IN_FORM(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, __VA_ARGS__)
#define MPI_Allreduce(...) IN_FORM(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, __VA_ARGS__)
#define MPI_Scan(...) IN_FORM(MPI_Scan, MPI_Iscan, MPI_Scan_init, __VA_ARGS__)
#define MPI_Exscan(...) IN_FORM(MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, __VA_ARGS__)
#define MPI_Reduce_scatter(...) \
  IN_FORM(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) \
  IN_FORM(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, __VA_ARGS__)
#define MPI_Neighbor_allgather(...) \
  IN_FORM(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init, __VA_ARGS__)
#define MPI_Neighbor_allgatherv(...) \
  IN_FORM(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init, __VA_ARGS__)
#define MPI_Neighbor_alltoall(...) \
  IN_FORM(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init, __VA_ARGS__)
#define MPI_Neighbor_alltoallv(...) \
  IN_FORM(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init, __VA_ARGS__)
#define MPI_Neighbor_alltoallw(...) \
  IN_FORM(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init, __VA_ARGS__)
