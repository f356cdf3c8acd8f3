// SPDX-License-Identifier: BSD-3-Clause
// What only nonblocking and persistent collectives can do: several at once, completed in any order, beside
// messages and blocking collectives; objects freed meanwhile; rules of requests (MPI 5.0, 6.12 and 6.13).
#include <time.h>

#include "check.h"

enum { kMany = 24, kLarge = 60000 };
static MPI_Comm comm;

// Many on one communicator, of many kinds, in the same order everywhere, completed in another on each rank.
static void many(void) {
  static int in[kMany][4], out[kMany][4], all[kMany][64], large[2][kLarge];
  MPI_Request requests[kMany + 4];
  int sum = size * (size - 1) / 2, right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int i = 0; i < kMany; i++) {
    for (int k = 0; k < 4; k++) in[i][k] = rank + 10 * i + k, out[i][k] = -1;
    switch (i % 6) {
      case 0: OK(MPI_Iallreduce(in[i], out[i], 4, MPI_INT, MPI_SUM, comm, &requests[i])); break;
      case 1: OK(MPI_Ibcast(in[i], 4, MPI_INT, i % size, comm, &requests[i])); break;
      case 2: OK(MPI_Iallgather(in[i], 1, MPI_INT, all[i], 1, MPI_INT, comm, &requests[i])); break;
      case 3: OK(MPI_Ibarrier(comm, &requests[i])); break;
      case 4: OK(MPI_Iscan(in[i], out[i], 4, MPI_INT, MPI_SUM, comm, &requests[i])); break;
      case 5: OK(MPI_Ireduce(in[i], out[i], 4, MPI_INT, MPI_MAX, i % size, comm, &requests[i])); break;
    }
  }
  for (int i = 0; i < kLarge; i++) large[0][i] = rank * 7 + i, large[1][i] = -1;
  int token = rank, got = -1, blocking = -1;
  OK(MPI_Iallreduce(large[0], large[1], kLarge, MPI_INT, MPI_SUM, comm, &requests[kMany]));
  OK(MPI_Irecv(&got, 1, MPI_INT, left, 5, comm, &requests[kMany + 1]));
  OK(MPI_Isend(&token, 1, MPI_INT, right, 5, comm, &requests[kMany + 2]));
  requests[kMany + 3] = MPI_REQUEST_NULL;
  OK(MPI_Allreduce(&token, &blocking, 1, MPI_INT, MPI_SUM, comm));  // a blocking one in the midst
  EQUAL(blocking, sum);
  for (int i = 0; i < 5; i++) {  // rank by rank another one first
    MPI_Status status;
    OK(MPI_Wait(&requests[(rank * 5 + i) % kMany], &status));
    CHECK(requests[(rank * 5 + i) % kMany] == MPI_REQUEST_NULL);
  }
  int index, count, indices[kMany + 4], flag = 0;
  OK(MPI_Waitany(kMany + 4, requests, &index, MPI_STATUS_IGNORE));
  CHECK(index >= 0 && requests[index] == MPI_REQUEST_NULL);
  OK(MPI_Waitsome(kMany + 4, requests, &count, indices, MPI_STATUSES_IGNORE));
  CHECK(count > 0 || count == MPI_UNDEFINED);
  while (!flag) OK(MPI_Testall(kMany + 4, requests, &flag, MPI_STATUSES_IGNORE));
  EQUAL(got, left);
  for (int i = 0; i < kLarge; i += 997) EQUAL(large[1][i], sum * 7 + size * i);
  for (int i = 0; i < kMany; i++)
    for (int k = 0; k < 4; k++) {
      if (i % 6 == 0) EQUAL(out[i][k], sum + size * (10 * i + k));
      if (i % 6 == 1) EQUAL(in[i][k], i % size + 10 * i + k);
      if (i % 6 == 2 && k < size) EQUAL(all[i][k], k + 10 * i);
      if (i % 6 == 4) EQUAL(out[i][k], rank * (rank + 1) / 2 + (rank + 1) * (10 * i + k));
      if (i % 6 == 5 && rank == i % size) EQUAL(out[i][k], size - 1 + 10 * i + k);
    }
}

// Nobody leaves before the last has come; until then the others go on with something else.
static void barrier_holds(void) {
  MPI_Request request;
  int flag = 0, token = 0;
  if (size == 1) return;
  if (rank == size - 1) OK(MPI_Recv(&token, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE));
  OK(MPI_Ibarrier(comm, &request));
  if (rank == 0) {
    for (int i = 0; i < 1000; i++) {
      OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
      CHECK(!flag);
    }
    OK(MPI_Send(&token, 1, MPI_INT, size - 1, 9, comm));
  }
  while (!flag) OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
  CHECK(request != MPI_REQUEST_NULL);
  OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  CHECK(flag && request == MPI_REQUEST_NULL);
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < 2 * *count; i++) ((int*)inout)[i] += ((int*)in)[i];
}

// The user frees everything at once; the call holds what it needs.
static void freed(void) {
  enum { kPairs = 20000 };
  int *in = malloc(2 * kPairs * sizeof(int)), *out = malloc(2 * kPairs * sizeof(int));
  for (int persistent = 0; persistent < 2; persistent++) {
    MPI_Comm dup;
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Request request;
    OK(MPI_Comm_dup(comm, &dup));
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Op_create(add, 0, &op));
    for (int i = 0; i < 2 * kPairs; i++) in[i] = rank + i, out[i] = -1;
    if (persistent)
      OK(MPI_Allreduce_init(in, out, kPairs, pair, op, dup, MPI_INFO_NULL, &request));
    else
      OK(MPI_Iallreduce(in, out, kPairs, pair, op, dup, &request));
    OK(MPI_Type_free(&pair));
    OK(MPI_Op_free(&op));
    OK(MPI_Comm_free(&dup));
    if (persistent) OK(MPI_Start(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (persistent) OK(MPI_Request_free(&request));
    for (int i = 0; i < 2 * kPairs; i += 331) EQUAL(out[i], size * (size - 1) / 2 + size * i);
  }
  free(in), free(out);
}

// Persistent ones may be started in any order, which may differ from rank to rank (6.13).
static void any_order(void) {
  enum { kOps = 6, kRounds = 20 };
  int in[kOps], out[kOps], flag;
  MPI_Request requests[kOps];
  MPI_Status status;
  for (int i = 0; i < kOps; i++)
    OK(MPI_Allreduce_init(&in[i], &out[i], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[i]));
  status.MPI_SOURCE = 77;
  OK(MPI_Test(&requests[0], &flag, &status));  // inactive
  CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE);
  for (int round = 0; round < kRounds; round++) {
    for (int i = 0; i < kOps; i++) in[i] = rank * 100 + i * 10 + round, out[i] = -1;
    if (round % 2) {
      OK(MPI_Startall(kOps, requests));
    } else {
      for (int i = 0; i < kOps; i++) OK(MPI_Start(&requests[(i + rank) % kOps]));
    }
    FAILS(MPI_ERR_REQUEST, MPI_Start(&requests[0]));  // active
    OK(MPI_Waitall(kOps, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < kOps; i++)
      EQUAL(out[i], size * (size - 1) / 2 * 100 + size * (i * 10 + round));
  }
  for (int i = 0; i < kOps; i++) OK(MPI_Request_free(&requests[i]));
  CHECK(requests[0] == MPI_REQUEST_NULL);
}

// Neither MPI_Request_free nor MPI_Cancel is for a collective that is active.
static void rules(void) {
  MPI_Request request, kept;
  int value = 3;
  OK(MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &request));
  kept = request;
  FAILS(MPI_ERR_REQUEST, MPI_Request_free(&request));
  FAILS(MPI_ERR_REQUEST, MPI_Cancel(&request));
  CHECK(request == kept);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  FAILS(MPI_ERR_REQUEST, MPI_Wait(&kept, MPI_STATUS_IGNORE));
  OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
  OK(MPI_Start(&request));
  FAILS(MPI_ERR_REQUEST, MPI_Request_free(&request));
  FAILS(MPI_ERR_REQUEST, MPI_Cancel(&request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Request_free(&request));
  FAILS(MPI_ERR_ROOT, MPI_Ibcast(&value, 1, MPI_INT, size, comm, &request));
  FAILS(MPI_ERR_COUNT, MPI_Iallreduce(&value, &value, -1, MPI_INT, MPI_SUM, comm, &request));
  FAILS(MPI_ERR_TYPE, MPI_Bcast_init(&value, 1, MPI_DATATYPE_NULL, 0, comm, MPI_INFO_NULL, &request));
}

// A mistake that shows while the call runs is reported where it is completed, and the ranks stay in step.
static void late_errors(void) {
  int one[4] = {rank, 1, 2, 3}, sum = 0;
  MPI_Request request;
  if (size == 1) return;
  int code = MPI_Ibcast(one, rank == 0 ? 2 : 1, MPI_INT, 0, comm, &request);
  OK(code);
  if (rank == 0)
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  else
    FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(request == MPI_REQUEST_NULL);
  OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
  EQUAL(sum, size * (size - 1) / 2);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  for (int i = 0; i < 20; i++) many();
  barrier_holds();
  freed();
  any_order();
  rules();
  if (size == 2) late_errors();
  OK(MPI_Comm_free(&comm));
  return finish();
}
