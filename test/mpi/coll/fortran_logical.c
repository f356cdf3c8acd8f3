// SPDX-License-Identifier: BSD-3-Clause
// Logical operations with the values of Fortran's .TRUE. and .FALSE. that a binding sets (MPI 5.0, 20.2): -1
// and 0 for MPI_LOGICAL as some compilers have it, 0 and 7 for LOGICAL*8, nothing for the others.
#include "check.h"

static void wide(void) {
  const int64_t truth = 0, falsehood = 7;
  int64_t got_truth = 1, got_falsehood = 1, mine = rank == 0 ? truth : falsehood, all = 5;
  int set = 1;
  OK(MPI_Abi_get_fortran_booleans(8, &got_truth, &got_falsehood, &set));
  EQUAL(set, 0);
  OK(MPI_Abi_set_fortran_booleans(8, (void*)&truth, (void*)&falsehood));
  OK(MPI_Abi_get_fortran_booleans(8, &got_truth, &got_falsehood, &set));
  EQUAL(set, 1);
  EQUAL(got_truth, truth);
  EQUAL(got_falsehood, falsehood);
  OK(MPI_Allreduce(&mine, &all, 1, MPI_LOGICAL8, MPI_LOR, MPI_COMM_WORLD));
  EQUAL(all, truth);
  OK(MPI_Allreduce(&mine, &all, 1, MPI_LOGICAL8, MPI_LAND, MPI_COMM_WORLD));
  EQUAL(all, size == 1 ? truth : falsehood);
  OK(MPI_Allreduce(&mine, &all, 1, MPI_LOGICAL8, MPI_LXOR, MPI_COMM_WORLD));
  EQUAL(all, truth);
}

int main(int argc, char** argv) {
  const int32_t truth = -1, falsehood = 0;
  OK(MPI_Abi_set_fortran_booleans(4, (void*)&truth, (void*)&falsehood));  // before MPI_Init
  begin(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  FAILS(MPI_ERR_ABI, MPI_Abi_set_fortran_booleans(4, (void*)&truth, (void*)&falsehood));
  FAILS(MPI_ERR_ARG, MPI_Abi_set_fortran_booleans(3, (void*)&truth, (void*)&falsehood));
  const MPI_Datatype types[] = {MPI_LOGICAL, MPI_LOGICAL4};
  for (int i = 0; i < 2; i++) {
    int32_t mine[3] = {truth, rank == 0 ? truth : falsehood, falsehood}, all[3];
    OK(MPI_Allreduce(mine, all, 3, types[i], MPI_LAND, MPI_COMM_WORLD));
    EQUAL(all[0], truth);
    EQUAL(all[1], size == 1 ? truth : falsehood);
    EQUAL(all[2], falsehood);
    OK(MPI_Allreduce(mine, all, 3, types[i], MPI_LOR, MPI_COMM_WORLD));
    EQUAL(all[0], truth);
    EQUAL(all[1], truth);
    EQUAL(all[2], falsehood);
    OK(MPI_Allreduce(mine, all, 3, types[i], MPI_LXOR, MPI_COMM_WORLD));
    EQUAL(all[0], size % 2 ? truth : falsehood);
    EQUAL(all[1], truth);
    EQUAL(all[2], falsehood);
    OK(MPI_Reduce_local(mine, all, 3, types[i], MPI_LOR));
    EQUAL(all[0], truth);
  }
  int16_t unset[2] = {1, 0}, result[2];
  OK(MPI_Allreduce(unset, result, 2, MPI_LOGICAL2, MPI_LAND, MPI_COMM_WORLD));
  EQUAL(result[0], 1);
  EQUAL(result[1], 0);
  wide();
  return finish();
}
