// SPDX-License-Identifier: BSD-3-Clause
// Every constructor of intracommunicators: members, order, isolation of contexts, comparison, free.
#include "check.h"

static void expect(MPI_Comm comm, int n, int me) {
  int got_n = -1, got_me = -1, sum = 0, one = 1, inter = 1;
  OK(MPI_Comm_size(comm, &got_n));
  OK(MPI_Comm_rank(comm, &got_me));
  EQUAL(got_n, n);
  EQUAL(got_me, me);
  OK(MPI_Comm_test_inter(comm, &inter));
  EQUAL(inter, 0);
  OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  EQUAL(sum, n);
}

static void duplicates(void) {
  MPI_Comm dup, idup, with_info, idup_info;
  MPI_Request request;
  MPI_Info info, got;
  int result = -1, flag = 0;
  char value[16];
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
  OK(MPI_Comm_compare(MPI_COMM_WORLD, dup, &result));
  EQUAL(result, MPI_CONGRUENT);
  OK(MPI_Comm_compare(dup, dup, &result));
  EQUAL(result, MPI_IDENT);
  expect(dup, size, rank);
  OK(MPI_Comm_idup(dup, &idup, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  expect(idup, size, rank);
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
  OK(MPI_Comm_dup_with_info(dup, info, &with_info));
  expect(with_info, size, rank);
  OK(MPI_Comm_get_info(with_info, &got));
  int length = sizeof value;
  OK(MPI_Info_get_string(got, "mpi_assert_no_any_tag", &length, value, &flag));
  if (flag) CHECK(strcmp(value, "true") == 0);  // an implementation may forget hints that it ignores
  OK(MPI_Info_free(&got));
  OK(MPI_Comm_idup_with_info(dup, info, &idup_info, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Comm_set_info(idup_info, info));
  OK(MPI_Info_free(&info));
  OK(MPI_Comm_free(&idup_info));
  OK(MPI_Comm_free(&with_info));
  OK(MPI_Comm_free(&idup));
  OK(MPI_Comm_free(&dup));
  CHECK(dup == MPI_COMM_NULL);
}

// A message on one communicator is invisible on another with the same members.
static void contexts(void) {
  MPI_Comm dup;
  int a = 1, b = 2, got = 0, flag = 1;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
  MPI_Request requests[2];
  OK(MPI_Isend(&a, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Iprobe(rank, 0, dup, &flag, MPI_STATUS_IGNORE));
  EQUAL(flag, 0);
  OK(MPI_Isend(&b, 1, MPI_INT, rank, 0, dup, &requests[1]));
  OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, dup, MPI_STATUS_IGNORE));
  EQUAL(got, 2);
  OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  EQUAL(got, 1);
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  OK(MPI_Comm_free(&dup));
}

// How many hosts (or machines) there are, to which the ranks are dealt out in turn; test/hosts says so.
static int told(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}

// Who is where rank is, if the ranks are dealt out in turn; keys turn the order around.
static void expect_dealt(MPI_Comm comm, int places) {
  const int here = (size - rank % places + places - 1) / places;
  expect(comm, here, here - 1 - rank / places);
}

// A level by its name; others may not know it.
static void guided(const char *name, int places) {
  MPI_Comm comm;
  MPI_Info info;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "mpi_hw_resource_type", name));
  OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, size - rank, info, &comm));
  OK(MPI_Info_free(&info));
  OK(MPI_Get_library_version(version, &length));
  CHECK(comm != MPI_COMM_NULL || !strstr(version, "Vicinity"));
  if (comm == MPI_COMM_NULL) return;
  expect_dealt(comm, places);
  OK(MPI_Comm_free(&comm));
}

static void splits(void) {
  MPI_Comm comm;
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm));  // reversed order
  int n = (size + 1 - rank % 2) / 2;
  expect(comm, n, n - 1 - rank / 2);
  OK(MPI_Comm_free(&comm));
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 5, 0, &comm));  // equal keys: old order
  if (rank == 0)
    CHECK(comm == MPI_COMM_NULL);
  else
    expect(comm, size - 1, rank - 1), MPI_Comm_free(&comm);
  OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, size - rank, MPI_INFO_NULL, &comm));
  CHECK(comm != MPI_COMM_NULL);
  expect_dealt(comm, told("SHARED_HOSTS", 1));
  OK(MPI_Comm_free(&comm));
  guided("mpi_shared_memory", told("SHARED_HOSTS", 1));
  guided("hwloc://Machine", told("MACHINES", told("SHARED_HOSTS", 1)));
  OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &comm));
  CHECK(comm == MPI_COMM_NULL);
  OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &comm));
  if (comm != MPI_COMM_NULL) OK(MPI_Comm_free(&comm));
}

static void from_groups(void) {
  MPI_Group world, evens;
  MPI_Comm comm;
  int range[1][3] = {{0, size - 1, 2}}, member = rank % 2 == 0;
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_range_incl(world, 1, range, &evens));
  OK(MPI_Comm_create(MPI_COMM_WORLD, evens, &comm));
  if (member)
    expect(comm, (size + 1) / 2, rank / 2), MPI_Comm_free(&comm);
  else
    CHECK(comm == MPI_COMM_NULL);
  if (member) {  // only the members call this
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, evens, 17, &comm));
    expect(comm, (size + 1) / 2, rank / 2);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_create_from_group(evens, "org.vicinity.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    expect(comm, (size + 1) / 2, rank / 2);
    OK(MPI_Comm_free(&comm));
  }
  OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
  CHECK(comm == MPI_COMM_NULL);
  OK(MPI_Group_free(&evens));
  OK(MPI_Group_free(&world));
}

// Context ids come back: far more communicators over time than at once.
static void many(void) {
  for (int i = 0; i < 400; i++) {
    MPI_Comm a, b;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &a));
    OK(MPI_Comm_split(a, rank % 2, 0, &b));
    OK(MPI_Comm_free(&a));
    OK(MPI_Comm_free(&b));
  }
  MPI_Comm comms[200];
  for (int i = 0; i < 200; i++) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
  expect(comms[199], size, rank);
  for (int i = 0; i < 200; i++) OK(MPI_Comm_free(&comms[i]));
}

// A communicator freed while a receive is pending lives until that completes.
static void freed_early(void) {
  MPI_Comm dup;
  MPI_Request request;
  int got = 0, mine = rank + 1;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
  OK(MPI_Irecv(&got, 1, MPI_INT, (rank + 1) % size, 3, dup, &request));
  OK(MPI_Send(&mine, 1, MPI_INT, (rank + size - 1) % size, 3, dup));
  OK(MPI_Comm_free(&dup));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  EQUAL(got, (rank + 1) % size + 1);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
  CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
  OK(MPI_Comm_set_name(MPI_COMM_WORLD, "the world"));
  OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
  CHECK(strcmp(name, "the world") == 0 && length == 9);
  duplicates();
  contexts();
  splits();
  from_groups();
  freed_early();
  many();
  return finish();
}
