// SPDX-License-Identifier: BSD-3-Clause
// Inquiry: versions, names, clocks, state before, during and after, memory allocation.
#include "check.h"

int main(int argc, char** argv) {
  int flag = -1, major = 0, minor = -1, length = 0, level = -1;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && flag == 0);
  CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && flag == 0);
  CHECK(MPI_Get_version(&major, &minor) == MPI_SUCCESS && major == 5 && minor == 0);
  CHECK(MPI_Get_library_version(text, &length) == MPI_SUCCESS && length == (int)strlen(text) && length > 3);
  CHECK(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major == 1);
  begin(&argc, &argv);
  OK(MPI_Initialized(&flag));
  EQUAL(flag, 1);
  OK(MPI_Query_thread(&level));
  CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE);
  OK(MPI_Is_thread_main(&flag));
  EQUAL(flag, 1);
  OK(MPI_Get_processor_name(text, &length));
  CHECK(length == (int)strlen(text) && length > 0 && length < MPI_MAX_PROCESSOR_NAME);
  double before = MPI_Wtime(), tick = MPI_Wtick();
  CHECK(tick > 0 && tick < 0.01);
  while (MPI_Wtime() - before < 0.002) continue;
  CHECK(MPI_Wtime() - before < 100);
  void* memory = NULL;
  OK(MPI_Alloc_mem(100000, MPI_INFO_NULL, &memory));
  memset(memory, 1, 100000);
  OK(MPI_Free_mem(memory));
  MPI_Info info;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
  OK(MPI_Alloc_mem(100, info, &memory));
  EQUAL((uintptr_t)memory % 4096, 0);
  OK(MPI_Free_mem(memory));
  OK(MPI_Info_free(&info));
  MPI_Aint here, there;
  int pair[2];
  OK(MPI_Get_address(&pair[0], &here));
  OK(MPI_Get_address(&pair[1], &there));
  EQUAL(MPI_Aint_diff(there, here), sizeof(int));
  EQUAL(MPI_Aint_add(here, sizeof(int)), there);
  OK(MPI_Pcontrol(1));
  MPI_Info details;
  OK(MPI_Abi_get_info(&details));
  length = sizeof text;
  OK(MPI_Info_get_string(details, "mpi_aint_size", &length, text, &flag));
  if (flag) EQUAL(atoi(text), sizeof(MPI_Aint));
  OK(MPI_Info_free(&details));
  int code = finish();
  CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && flag == 1);
  CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && flag == 1);
  CHECK(MPI_Get_version(&major, &minor) == MPI_SUCCESS);
  return code || failures;
}
