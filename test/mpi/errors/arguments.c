// SPDX-License-Identifier: BSD-3-Clause
// Invalid arguments of every kind: each call fails with the class of the first wrong argument.
#include "check.h"

static int data[16], count, flag;
static MPI_Request request;
static MPI_Status status;
static MPI_Comm out;
static MPI_Datatype type;

static void point_to_point(void) {
  MPI_Comm w = MPI_COMM_WORLD;
  FAILS(MPI_ERR_COUNT, MPI_Send(data, -1, MPI_INT, 0, 0, w));
  FAILS(MPI_ERR_TYPE, MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 0, w));
  FAILS(MPI_ERR_RANK, MPI_Send(data, 1, MPI_INT, size, 0, w));
  FAILS(MPI_ERR_RANK, MPI_Send(data, 1, MPI_INT, -55, 0, w));
  FAILS(MPI_ERR_RANK, MPI_Send(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, w));
  FAILS(MPI_ERR_TAG, MPI_Send(data, 1, MPI_INT, 0, -3, w));
  FAILS(MPI_ERR_TAG, MPI_Send(data, 1, MPI_INT, 0, MPI_ANY_TAG, w));
  FAILS(MPI_ERR_COMM, MPI_Send(data, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
  FAILS(MPI_ERR_BUFFER, MPI_Send(NULL, 1, MPI_INT, 0, 0, w));
  FAILS(MPI_ERR_COUNT, MPI_Recv(data, -7, MPI_INT, 0, 0, w, &status));
  FAILS(MPI_ERR_RANK, MPI_Recv(data, 1, MPI_INT, size + 3, 0, w, &status));
  FAILS(MPI_ERR_TAG, MPI_Recv(data, 1, MPI_INT, 0, -99, w, &status));
  FAILS(MPI_ERR_BUFFER, MPI_Recv(NULL, 1, MPI_INT, 0, 0, w, &status));
  FAILS(MPI_ERR_RANK, MPI_Isend(data, 1, MPI_INT, size, 0, w, &request));
  FAILS(MPI_ERR_COUNT, MPI_Irecv(data, -1, MPI_INT, 0, 0, w, &request));
  FAILS(MPI_ERR_RANK, MPI_Send_init(data, 1, MPI_INT, size, 0, w, &request));
  FAILS(MPI_ERR_RANK, MPI_Probe(size, 0, w, &status));
  FAILS(MPI_ERR_TAG, MPI_Iprobe(0, -8, w, &flag, &status));
  FAILS(MPI_ERR_RANK, MPI_Sendrecv(data, 1, MPI_INT, 0, 0, data + 4, 1, MPI_INT, size, 0, w, &status));
  OK(MPI_Type_contiguous(3, MPI_INT, &type));
  FAILS(MPI_ERR_TYPE, MPI_Send(data, 1, type, 0, 0, w));  // not committed
  OK(MPI_Type_free(&type));
  // Nothing is sent to MPI_PROC_NULL, but the other arguments still count.
  FAILS(MPI_ERR_COUNT, MPI_Send(data, -1, MPI_INT, MPI_PROC_NULL, 0, w));
}

static void requests_and_status(void) {
  MPI_Request inactive = MPI_REQUEST_NULL, active;
  FAILS(MPI_ERR_REQUEST, MPI_Start(&inactive));
  FAILS(MPI_ERR_REQUEST, MPI_Cancel(&inactive));
  FAILS(MPI_ERR_REQUEST, MPI_Request_free(&inactive));
  OK(MPI_Irecv(data, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &active));
  FAILS(MPI_ERR_REQUEST, MPI_Start(&active));  // not persistent
  OK(MPI_Cancel(&active));
  OK(MPI_Wait(&active, &status));
  FAILS(MPI_ERR_COUNT, MPI_Waitall(-1, &active, &status));
  FAILS(MPI_ERR_TYPE, MPI_Get_count(&status, MPI_DATATYPE_NULL, &count));
}

static void collectives(void) {
  MPI_Comm w = MPI_COMM_WORLD;
  FAILS(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
  FAILS(MPI_ERR_ROOT, MPI_Bcast(data, 1, MPI_INT, size, w));
  FAILS(MPI_ERR_ROOT, MPI_Bcast(data, 1, MPI_INT, -1, w));
  FAILS(MPI_ERR_COUNT, MPI_Bcast(data, -1, MPI_INT, 0, w));
  FAILS(MPI_ERR_TYPE, MPI_Bcast(data, 1, MPI_DATATYPE_NULL, 0, w));
  FAILS(MPI_ERR_OP, MPI_Allreduce(data, data + 4, 1, MPI_INT, MPI_OP_NULL, w));
  FAILS(MPI_ERR_OP, MPI_Allreduce(data, data + 4, 1, MPI_DOUBLE, MPI_BAND, w));
  FAILS(MPI_ERR_OP, MPI_Allreduce(data, data + 4, 1, MPI_FLOAT_INT, MPI_SUM, w));
  FAILS(MPI_ERR_OP, MPI_Reduce_local(data, data + 4, 1, MPI_INT, MPI_MINLOC));
  FAILS(MPI_ERR_COUNT, MPI_Allreduce(data, data + 4, -4, MPI_INT, MPI_SUM, w));
  FAILS(MPI_ERR_ROOT, MPI_Reduce(data, data + 4, 1, MPI_INT, MPI_SUM, size + 1, w));
  FAILS(MPI_ERR_ROOT, MPI_Gather(data, 1, MPI_INT, data + 4, 1, MPI_INT, -9, w));
  FAILS(MPI_ERR_COUNT, MPI_Allgather(data, -1, MPI_INT, data + 4, 1, MPI_INT, w));
  FAILS(MPI_ERR_BUFFER, MPI_Allreduce(NULL, data, 1, MPI_INT, MPI_SUM, w));
}

static void datatypes(void) {
  int one = 1, minus = -1;
  MPI_Aint place = 0;
  MPI_Datatype predefined = MPI_INT, null = MPI_DATATYPE_NULL;
  FAILS(MPI_ERR_COUNT, MPI_Type_contiguous(-1, MPI_INT, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type));
  FAILS(MPI_ERR_COUNT, MPI_Type_vector(-1, 1, 1, MPI_INT, &type));
  CHECK(MPI_Type_indexed(1, &minus, &one, MPI_INT, &type) != MPI_SUCCESS);
  CHECK(MPI_Type_create_struct(1, &one, &place, &null, &type) != MPI_SUCCESS);
  FAILS(MPI_ERR_TYPE, MPI_Type_free(&predefined));
  FAILS(MPI_ERR_TYPE, MPI_Type_commit(&null));
  FAILS(MPI_ERR_TYPE, MPI_Type_size(MPI_DATATYPE_NULL, &count));
  CHECK(MPI_Type_create_subarray(1, &one, &one, &one, MPI_ORDER_C, MPI_INT, &type) !=
        MPI_SUCCESS);  // start 1 of 1
  int zero = 0;
  CHECK(MPI_Type_create_subarray(1, &one, &one, &zero, 9999, MPI_INT, &type) != MPI_SUCCESS);
}

static void others(void) {
  MPI_Group world, group;
  int ranks[2] = {0, 0}, dims[2] = {size + 1, 1}, periods[2] = {0, 0}, bad[1] = {size};
  MPI_Comm null = MPI_COMM_NULL, self = MPI_COMM_SELF, w = MPI_COMM_WORLD;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Errhandler none = MPI_ERRHANDLER_NULL;
  char value[8], key[MPI_MAX_INFO_KEY + 10];
  OK(MPI_Comm_group(w, &world));
  FAILS(MPI_ERR_RANK, MPI_Group_incl(world, 2, ranks, &group));  // twice the same
  FAILS(MPI_ERR_RANK, MPI_Group_incl(world, 1, bad, &group));
  CHECK(MPI_Group_incl(world, -1, ranks, &group) != MPI_SUCCESS);
  FAILS(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &count));
  OK(MPI_Group_free(&world));
  FAILS(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &count));
  FAILS(MPI_ERR_COMM, MPI_Comm_free(&null));
  CHECK(MPI_Comm_free(&w) != MPI_SUCCESS);
  CHECK(MPI_Comm_free(&self) != MPI_SUCCESS);
  FAILS(MPI_ERR_COMM, MPI_Comm_remote_size(MPI_COMM_WORLD, &count));
  CHECK(MPI_Comm_split(MPI_COMM_WORLD, -7, 0, &out) != MPI_SUCCESS);
  CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &out) != MPI_SUCCESS);
  FAILS(MPI_ERR_TOPOLOGY, MPI_Cart_coords(MPI_COMM_WORLD, 0, 1, dims));
  FAILS(MPI_ERR_TOPOLOGY, MPI_Graphdims_get(MPI_COMM_WORLD, &count, &flag));
  int six[2] = {4, 0};
  CHECK(MPI_Dims_create(6, 2, six) != MPI_SUCCESS);
  FAILS(MPI_ERR_INFO, MPI_Info_set(MPI_INFO_NULL, "key", "value"));
  FAILS(MPI_ERR_INFO, MPI_Info_free(&info));
  OK(MPI_Info_create(&info));
  memset(key, 'k', sizeof key), key[sizeof key - 1] = 0;
  FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(info, key, "value"));
  FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(info, "", "value"));
  FAILS(MPI_ERR_INFO_NOKEY, MPI_Info_delete(info, "absent"));
  CHECK(MPI_Info_get_nthkey(info, 0, key) != MPI_SUCCESS);
  OK(MPI_Info_free(&info));
  (void)value;
  FAILS(MPI_ERR_KEYVAL, MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, NULL));
  FAILS(MPI_ERR_KEYVAL, MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &out, &flag));
  CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL) != MPI_SUCCESS);
  CHECK(MPI_Errhandler_free(&none) != MPI_SUCCESS);
  CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL) != MPI_SUCCESS);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  point_to_point();
  requests_and_status();
  collectives();
  datatypes();
  others();
  OK(MPI_Barrier(MPI_COMM_WORLD));  // all is well afterwards
  return finish();
}
