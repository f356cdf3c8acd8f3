// SPDX-License-Identifier: BSD-3-Clause
// Nothing leaks: objects made and freed, messages matched and unexpected, many times; memory stays level.
#include <unistd.h>

#include "check.h"

// AddressSanitizer would keep what is freed, to notice its use. (gcc's name for being compiled with it.)
#ifdef __SANITIZE_ADDRESS__
const char* __asan_default_options(void) { return "quarantine_size_mb=0:thread_local_quarantine_size_kb=0"; }
#endif

static long resident_pages(void) {
  long total = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
  if (file) fclose(file);
  return resident;
}

static void handler(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }
static void operation(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)in, (void)inout, (void)n, (void)type;
}

static void objects(void) {
  MPI_Datatype vector, structure;
  MPI_Group group, part;
  MPI_Info info;
  MPI_Op op;
  MPI_Errhandler errhandler;
  MPI_Comm dup, cart;
  int one = 1, periodic = 0, key;
  OK(MPI_Type_vector(10, 2, 5, MPI_INT, &vector));
  OK(MPI_Type_commit(&vector));
  OK(MPI_Type_create_struct(1, &one, (MPI_Aint[]){8}, &vector, &structure));
  OK(MPI_Type_free(&vector));
  OK(MPI_Type_free(&structure));
  OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
  OK(MPI_Group_incl(group, 1, (int[]){0}, &part));
  OK(MPI_Group_free(&group));
  OK(MPI_Group_free(&part));
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "a", "b"));
  OK(MPI_Info_free(&info));
  OK(MPI_Op_create(operation, 1, &op));
  OK(MPI_Op_free(&op));
  OK(MPI_Comm_create_errhandler(handler, &errhandler));
  OK(MPI_Errhandler_free(&errhandler));
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
  OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
  OK(MPI_Comm_set_attr(dup, key, NULL));
  OK(MPI_Comm_free_keyval(&key));
  OK(MPI_Comm_free(&dup));
  OK(MPI_Cart_create(MPI_COMM_SELF, 1, &one, &periodic, 0, &cart));
  OK(MPI_Comm_free(&cart));
}

static void messages(void) {
  static char out[20000], in[20000];
  MPI_Request requests[4];
  for (int i = 0; i < 2; i++)
    OK(MPI_Isend(out, i ? 20000 : 100, MPI_BYTE, rank, i, MPI_COMM_WORLD, &requests[i]));
  for (int i = 1; i >= 0; i--) OK(MPI_Irecv(in, 20000, MPI_BYTE, rank, i, MPI_COMM_WORLD, &requests[2 + i]));
  OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  OK(MPI_Send_init(out, 5, MPI_BYTE, rank, 3, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Request_free(&requests[0]));
  CHECK(MPI_Send(out, -1, MPI_BYTE, rank, 3, MPI_COMM_WORLD) != MPI_SUCCESS);
  OK(MPI_Allreduce(out, in, 100, MPI_BYTE, MPI_BOR, MPI_COMM_SELF));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int i = 0; i < 2000; i++) objects(), messages();
  long before = resident_pages();
  for (int i = 0; i < 10000; i++) objects(), messages();
  long grown = (resident_pages() - before) * sysconf(_SC_PAGESIZE) / 1024;
  if (grown > 512) printf("rank %d: %ld KB more\n", rank, grown);
  CHECK(grown <= 512);
  return finish();
}
