/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks for what needs no initialisation. */
#include <mpi.h>

int main(void) {
    int version, subversion;
    return MPI_Get_version(&version, &subversion) != MPI_SUCCESS || version != 5;
}
