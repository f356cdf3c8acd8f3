// SPDX-License-Identifier: BSD-3-Clause
// Handles as integers (MPI 5.0, 20.4). A number that was never given out becomes the null handle.
#include "entry_world.h"
#include "object/handle_table.h"

namespace vicinity::world {
namespace {

template <class Handle>
int number_of(Handle handle) {
  return object::handle_to_int(reinterpret_cast<uintptr_t>(handle));
}

template <class Handle>
Handle handle_from(int number, Handle null) {
  const uintptr_t handle = object::handle_from_int(number);
  return handle ? reinterpret_cast<Handle>(handle) : null;
}

}  // namespace

namespace entry {

int comm_toint(MPI_Comm comm) { return number_of(comm); }
int errhandler_toint(MPI_Errhandler errhandler) { return number_of(errhandler); }
int file_toint(MPI_File file) { return number_of(file); }
int group_toint(MPI_Group group) { return number_of(group); }
int info_toint(MPI_Info info) { return number_of(info); }
int message_toint(MPI_Message message) { return number_of(message); }
int op_toint(MPI_Op op) { return number_of(op); }
int request_toint(MPI_Request request) { return number_of(request); }
int session_toint(MPI_Session session) { return number_of(session); }
int type_toint(MPI_Datatype datatype) { return number_of(datatype); }
int win_toint(MPI_Win win) { return number_of(win); }

MPI_Comm comm_fromint(int comm) { return handle_from(comm, MPI_COMM_NULL); }
MPI_Errhandler errhandler_fromint(int errhandler) { return handle_from(errhandler, MPI_ERRHANDLER_NULL); }
MPI_File file_fromint(int file) { return handle_from(file, MPI_FILE_NULL); }
MPI_Group group_fromint(int group) { return handle_from(group, MPI_GROUP_NULL); }
MPI_Info info_fromint(int info) { return handle_from(info, MPI_INFO_NULL); }
MPI_Message message_fromint(int message) { return handle_from(message, MPI_MESSAGE_NULL); }
MPI_Op op_fromint(int op) { return handle_from(op, MPI_OP_NULL); }
MPI_Request request_fromint(int request) { return handle_from(request, MPI_REQUEST_NULL); }
MPI_Session session_fromint(int session) { return handle_from(session, MPI_SESSION_NULL); }
MPI_Datatype type_fromint(int datatype) { return handle_from(datatype, MPI_DATATYPE_NULL); }
MPI_Win win_fromint(int win) { return handle_from(win, MPI_WIN_NULL); }

}  // namespace entry
}  // namespace vicinity::world
