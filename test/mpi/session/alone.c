// SPDX-License-Identifier: BSD-3-Clause
// One process makes a communicator of its own while the others never make any: it says what it waits for, and
// the end of the others ends the job.
#include <unistd.h>

#include "check.h"

int main(void) {
  MPI_Session session;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) return 2;
  if (getenv("PMI_RANK") && atoi(getenv("PMI_RANK")) == 0) {
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "org.vicinity.alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  } else {
    sleep(3);
  }
  MPI_Session_finalize(&session);
  return 0;
}
