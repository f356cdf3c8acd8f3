// SPDX-License-Identifier: BSD-3-Clause
// Attributes on communicators and datatypes: callbacks, copies, order of deletion, refusal, predefined ones.
#include "check.h"

static int copies, deletes, refuse, order[8];

static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key;
  copies++;
  CHECK(extra == &copies);
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_one(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  if (refuse) return MPI_ERR_OTHER;
  order[deletes++ % 8] = (int)(intptr_t)value;
  return MPI_SUCCESS;
}
static int type_copy(MPI_Datatype type, int key, void* extra, void* in, void* out, int* flag) {
  (void)type, (void)key, (void)extra;
  *(void**)out = in;
  *flag = in == (void*)7;
  copies++;
  return MPI_SUCCESS;
}
static int type_delete(MPI_Datatype type, int key, void* value, void* extra) {
  (void)type, (void)key, (void)value, (void)extra;
  deletes++;
  return MPI_SUCCESS;
}

static void on_communicators(void) {
  int key, dup_key, null_key, flag = 0;
  void* value = NULL;
  MPI_Comm first, second;
  OK(MPI_Comm_create_keyval(copy, delete_one, &key, &copies));
  OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_key, NULL));
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &null_key, NULL));
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
  OK(MPI_Comm_get_attr(first, key, &value, &flag));
  EQUAL(flag, 0);
  OK(MPI_Comm_set_attr(first, key, (void*)10));
  OK(MPI_Comm_set_attr(first, dup_key, (void*)20));
  OK(MPI_Comm_set_attr(first, null_key, (void*)30));
  OK(MPI_Comm_dup(first, &second));
  EQUAL(copies, 1);
  OK(MPI_Comm_get_attr(second, key, &value, &flag));
  CHECK(flag && value == (void*)11);
  OK(MPI_Comm_get_attr(second, dup_key, &value, &flag));
  CHECK(flag && value == (void*)20);
  OK(MPI_Comm_get_attr(second, null_key, &value, &flag));
  EQUAL(flag, 0);
  OK(MPI_Comm_set_attr(second, key, (void*)12));  // replacing deletes the old value
  EQUAL(deletes, 1);
  EQUAL(order[0], 11);
  refuse = 1;
  CHECK(MPI_Comm_delete_attr(second, key) != MPI_SUCCESS);
  refuse = 0;
  OK(MPI_Comm_delete_attr(second, key));
  EQUAL(deletes, 2);
  int freed = key;
  OK(MPI_Comm_free_keyval(&freed));  // still in use on `first`
  EQUAL(freed, MPI_KEYVAL_INVALID);
  OK(MPI_Comm_free(&first));
  EQUAL(deletes, 3);
  OK(MPI_Comm_free(&second));
  OK(MPI_Comm_free_keyval(&dup_key));
  OK(MPI_Comm_free_keyval(&null_key));
}

static void on_datatypes(void) {
  int key, flag = 0;
  void* value = NULL;
  MPI_Datatype type, with, without;
  copies = deletes = 0;
  OK(MPI_Type_create_keyval(type_copy, type_delete, &key, NULL));
  OK(MPI_Type_contiguous(4, MPI_INT, &type));
  OK(MPI_Type_set_attr(type, key, (void*)7));
  OK(MPI_Type_dup(type, &with));
  OK(MPI_Type_get_attr(with, key, &value, &flag));
  CHECK(flag && value == (void*)7);
  OK(MPI_Type_set_attr(type, key, (void*)8));
  EQUAL(deletes, 1);
  OK(MPI_Type_dup(type, &without));
  OK(MPI_Type_get_attr(without, key, &value, &flag));
  EQUAL(flag, 0);
  OK(MPI_Type_free(&type));
  OK(MPI_Type_free(&with));
  OK(MPI_Type_free(&without));
  EQUAL(deletes, 3);
  EQUAL(copies, 2);
  OK(MPI_Type_free_keyval(&key));
}

static void predefined(void) {
  int *value = NULL, flag = 0;
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
  CHECK(flag && *value >= 32767);
  int last = *value, got = -1;
  MPI_Request request;
  OK(MPI_Irecv(&got, 1, MPI_INT, rank, last, MPI_COMM_WORLD, &request));
  OK(MPI_Send(&last, 1, MPI_INT, rank, last, MPI_COMM_WORLD));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  EQUAL(got, last);
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag));
  if (flag) CHECK(*value == 0 || *value == 1);
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
  if (flag) CHECK(*value >= size);
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
  if (flag) EQUAL(*value, 0);
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag));
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag));
}

static int finalize_order[3], finalized;
static int at_finalize(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  finalize_order[finalized++ % 3] = (int)(intptr_t)value;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  on_communicators();
  on_datatypes();
  predefined();
  // Attributes of MPI_COMM_SELF are deleted at MPI_Finalize, the newest first.
  for (intptr_t i = 1; i <= 3; i++) {
    int key;
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, (void*)i));
  }
  OK(MPI_Finalize());
  EQUAL(finalized, 3);
  EQUAL(finalize_order[0] * 100 + finalize_order[1] * 10 + finalize_order[2], 321);
  if (rank == 0 && failures == 0) printf("ok\n");
  return failures != 0;
}
