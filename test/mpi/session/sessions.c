// SPDX-License-Identifier: BSD-3-Clause
// Sessions: communication without MPI_Init, several at once, process sets, error handlers, then the world
// too.
#include "check.h"

static MPI_Comm from_session(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group;
  MPI_Comm comm = MPI_COMM_NULL;
  OK(MPI_Group_from_session_pset(session, set, &group));
  OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  OK(MPI_Group_free(&group));
  return comm;
}

static void use(MPI_Comm comm) {
  int one = 1, sum = 0, n = 0, me = 0, got = -1;
  OK(MPI_Comm_size(comm, &n));
  OK(MPI_Comm_rank(comm, &me));
  OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  EQUAL(sum, n);
  OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 0, &got, 1, MPI_INT, (me + n - 1) % n, 0, comm,
                  MPI_STATUS_IGNORE));
  EQUAL(got, (me + n - 1) % n);
}

static int handled;
static void on_error(MPI_Session* session, int* code, ...) {
  (void)session, (void)code;
  handled++;
}

static void sets(MPI_Session session) {
  int n = 0, world = 0, self = 0, flag = 0;
  OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
  CHECK(n >= 2);
  for (int i = 0; i < n; i++) {
    char name[MPI_MAX_PSET_NAME_LEN];
    int length = 0;
    OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
    CHECK(length > 1 && length <= MPI_MAX_PSET_NAME_LEN);
    OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
    world += strcmp(name, "mpi://WORLD") == 0;
    self += strcmp(name, "mpi://SELF") == 0;
    MPI_Info info;
    OK(MPI_Session_get_pset_info(session, name, &info));
    char value[32];
    length = sizeof value;
    OK(MPI_Info_get_string(info, "mpi_size", &length, value, &flag));
    CHECK(flag && atoi(value) >= 1);
    OK(MPI_Info_free(&info));
  }
  EQUAL(world, 1);
  EQUAL(self, 1);
}

int main(int argc, char** argv) {
  MPI_Session first, second;
  MPI_Errhandler handler;
  MPI_Info info;
  MPI_Group group;
  int flag = 1, length = 64;
  char level[64];
  OK(MPI_Session_create_errhandler(on_error, &handler));
  OK(MPI_Session_init(MPI_INFO_NULL, handler, &first));
  OK(MPI_Errhandler_free(&handler));
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
  OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &second));
  OK(MPI_Info_free(&info));
  OK(MPI_Initialized(&flag));
  EQUAL(flag, 0);  // the world model is not there
  OK(MPI_Session_get_info(second, &info));
  OK(MPI_Info_get_string(info, "thread_level", &length, level, &flag));
  CHECK(flag && strncmp(level, "MPI_THREAD_", 11) == 0);
  OK(MPI_Info_free(&info));
  sets(first);
  CHECK(MPI_Group_from_session_pset(first, "mpi://nowhere", &group) != MPI_SUCCESS);
  EQUAL(handled, 1);
  MPI_Comm a = from_session(first, "mpi://WORLD", "a"), b = from_session(second, "mpi://WORLD", "b");
  MPI_Comm self = from_session(second, "mpi://SELF", "self");
  OK(MPI_Comm_rank(a, &rank));
  OK(MPI_Comm_size(a, &size));
  use(a);
  use(b);
  use(self);
  OK(MPI_Comm_free(&a));
  OK(MPI_Session_finalize(&first));
  CHECK(first == MPI_SESSION_NULL);
  use(b);
  OK(MPI_Comm_free(&self));
  if (argc > 1) {  // the world model beside a session
    int provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    use(MPI_COMM_WORLD);
    use(b);
    OK(MPI_Finalize());
    use(b);
  }
  OK(MPI_Comm_free(&b));
  OK(MPI_Session_finalize(&second));
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &first));  // and again
  a = from_session(first, "mpi://WORLD", "again");
  use(a);
  OK(MPI_Comm_free(&a));
  OK(MPI_Session_finalize(&first));
  if (rank == 0 && failures == 0) printf("ok\n");
  return failures != 0;
}
