// SPDX-License-Identifier: BSD-3-Clause
// MPI error classes inside the library (MPI 5.0, 9.4), and whose error handler a failure goes to.
//
// We return the class as the code, so `rc == MPI_ERR_TRUNCATE` works in programs; MPI_Error_string
// adds the words of the newest failure of that class on this thread.
#pragma once

#include <mpi.h>

#include "base/status.h"

namespace vicinity::object {

using base::fail;
using base::kOk;
using base::Result;
using base::Status;

struct Errhandler;
struct Communicator;
struct Window;

// Text of a class or code, predefined or added by the user; nullptr when there is no such code.
const char* error_text(int code);
// "MPI_ERR_RANK"; nullptr for codes that the user added and for what is no code.
const char* error_name(int code);
// The class of a code; -1 when there is no such code.
int error_class(int code);

// Classes, codes and strings that the user adds (MPI 5.0, 9.5). Classes and codes share one range of
// numbers, from MPI_ERR_LASTCODE + 1 on. What is still in use cannot be removed.
Result<int> add_error_class();
Result<int> add_error_code(int of_class);
Status add_error_string(int code, const char* text);
Status remove_error_class(int code);
Status remove_error_code(int code);
Status remove_error_string(int code);
int last_used_code();  // the value of the attribute MPI_LASTUSEDCODE

// The communicator or window whose handler takes the error when the door itself names none (MPI_Wait and
// friends: that of the failing request). Set beside fail(), read and cleared by the door.
void blame(Communicator* comm);
void blame(Window* window);
void blame_nobody();
Communicator* blamed();
Window* blamed_window();

}  // namespace vicinity::object
