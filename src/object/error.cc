// SPDX-License-Identifier: BSD-3-Clause
// Names and words of the error classes, and the classes, codes and strings that users add.
//
// Users' numbers start behind MPI_ERR_LASTCODE and are never given out twice, so an old code that a
// program kept cannot come to mean something else.
#include "object/error.h"

#include <mpi-ext.h>

#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "object/file_blame.h"

namespace vicinity::object {
namespace {

constexpr bool same(base::Fault fault, int code) { return static_cast<int>(fault) == code; }
static_assert(same(base::kArgument, MPI_ERR_ARG) && same(base::kOther, MPI_ERR_OTHER));
static_assert(same(base::kInternal, MPI_ERR_INTERN) && same(base::kNoMemory, MPI_ERR_NO_MEM));
static_assert(same(base::kUnsupported, MPI_ERR_UNSUPPORTED_OPERATION));
static_assert(same(base::kProcAborted, MPI_ERR_PROC_ABORTED));

struct Words {
  int code;
  const char* name;
  const char* text;
};

#define WORDS(code, text) \
  Words { code, #code, text }

// Ordered by code without gaps, so that the code is the index.
constexpr Words kClasses[] = {
    WORDS(MPI_SUCCESS, "no error"),
    WORDS(MPI_ERR_BUFFER, "the buffer pointer is not usable"),
    WORDS(MPI_ERR_COUNT, "the count is not usable"),
    WORDS(MPI_ERR_TYPE, "the datatype is not usable"),
    WORDS(MPI_ERR_TAG, "the tag is outside the allowed range"),
    WORDS(MPI_ERR_COMM, "the communicator is not valid here"),
    WORDS(MPI_ERR_RANK, "the rank names no process of the communicator or group"),
    WORDS(MPI_ERR_REQUEST, "the request is not valid"),
    WORDS(MPI_ERR_ROOT, "the root is not valid"),
    WORDS(MPI_ERR_GROUP, "the group is not valid"),
    WORDS(MPI_ERR_OP, "the reduction operation is not valid here"),
    WORDS(MPI_ERR_TOPOLOGY, "the communicator has no such topology"),
    WORDS(MPI_ERR_DIMS, "the dimensions do not fit"),
    WORDS(MPI_ERR_ARG, "an argument is not valid"),
    WORDS(MPI_ERR_UNKNOWN, "the error is unknown"),
    WORDS(MPI_ERR_TRUNCATE, "the message is longer than the receive buffer"),
    WORDS(MPI_ERR_OTHER, "something failed that has no class of its own"),
    WORDS(MPI_ERR_INTERN, "the library broke a rule of its own"),
    WORDS(MPI_ERR_PENDING, "the operation is neither complete nor failed yet"),
    WORDS(MPI_ERR_IN_STATUS, "the errors are in the statuses"),
    WORDS(MPI_ERR_ACCESS, "permission denied"),
    WORDS(MPI_ERR_AMODE, "the access mode of the file is not valid"),
    WORDS(MPI_ERR_ASSERT, "the assertion is not valid"),
    WORDS(MPI_ERR_BAD_FILE, "the file name is not valid"),
    WORDS(MPI_ERR_BASE, "the base of the window is not valid"),
    WORDS(MPI_ERR_CONVERSION, "a conversion function of the user failed"),
    WORDS(MPI_ERR_DISP, "the displacement is not valid"),
    WORDS(MPI_ERR_DUP_DATAREP, "a data representation of that name exists already"),
    WORDS(MPI_ERR_FILE_EXISTS, "the file exists"),
    WORDS(MPI_ERR_FILE_IN_USE, "the file is open in some process"),
    WORDS(MPI_ERR_FILE, "the file handle is not valid"),
    WORDS(MPI_ERR_INFO_KEY, "the info key is not valid"),
    WORDS(MPI_ERR_INFO_NOKEY, "the info object has no such key"),
    WORDS(MPI_ERR_INFO_VALUE, "the info value is not valid"),
    WORDS(MPI_ERR_INFO, "the info object is not valid"),
    WORDS(MPI_ERR_IO, "input or output failed"),
    WORDS(MPI_ERR_KEYVAL, "the attribute key is not valid"),
    WORDS(MPI_ERR_LOCKTYPE, "the lock type is not valid"),
    WORDS(MPI_ERR_NAME, "the service name is not published"),
    WORDS(MPI_ERR_NO_MEM, "memory is exhausted"),
    WORDS(MPI_ERR_NOT_SAME, "the processes of a collective call disagree about an argument"),
    WORDS(MPI_ERR_NO_SPACE, "the disk or segment is full"),
    WORDS(MPI_ERR_NO_SUCH_FILE, "the file does not exist"),
    WORDS(MPI_ERR_PORT, "the port name is not valid"),
    WORDS(MPI_ERR_QUOTA, "the quota is used up"),
    WORDS(MPI_ERR_READ_ONLY, "the file or file system is read-only"),
    WORDS(MPI_ERR_RMA_ATTACH, "the memory cannot be attached to the window"),
    WORDS(MPI_ERR_RMA_CONFLICT, "accesses to the window conflict"),
    WORDS(MPI_ERR_RMA_RANGE, "the target memory is outside the window"),
    WORDS(MPI_ERR_RMA_SHARED, "the memory cannot be shared"),
    WORDS(MPI_ERR_RMA_SYNC, "the call does not fit the synchronisation state of the window"),
    WORDS(MPI_ERR_SERVICE, "the service name is not valid"),
    WORDS(MPI_ERR_SIZE, "the size is not valid"),
    WORDS(MPI_ERR_SPAWN, "processes could not be started"),
    WORDS(MPI_ERR_UNSUPPORTED_DATAREP, "the data representation is not supported"),
    WORDS(MPI_ERR_UNSUPPORTED_OPERATION, "the operation is not supported"),
    WORDS(MPI_ERR_WIN, "the window is not valid"),
    WORDS(MPI_ERR_RMA_FLAVOR, "the window is of a flavour that does not allow this"),
    WORDS(MPI_ERR_PROC_ABORTED, "a process has ended before its time"),
    WORDS(MPI_ERR_VALUE_TOO_LARGE, "a value does not fit into the type of the result"),
    WORDS(MPI_ERR_SESSION, "the session is not valid"),
    WORDS(MPI_ERR_ERRHANDLER, "the error handler is not valid"),
    WORDS(MPI_ERR_ABI, "the request contradicts the application binary interface in use"),
};
constexpr int kClassCount = sizeof kClasses / sizeof kClasses[0];

constexpr Words kToolClasses[] = {
    WORDS(MPI_T_ERR_CANNOT_INIT, "the tools interface cannot be initialised"),
    WORDS(MPI_T_ERR_NOT_ACCESSIBLE, "the tools interface cannot do this now"),
    WORDS(MPI_T_ERR_NOT_INITIALIZED, "the tools interface is not initialised"),
    WORDS(MPI_T_ERR_NOT_SUPPORTED, "the tools interface does not support this"),
    WORDS(MPI_T_ERR_MEMORY, "the tools interface has no memory left"),
    WORDS(MPI_T_ERR_INVALID, "an argument to the tools interface is not valid"),
    WORDS(MPI_T_ERR_INVALID_INDEX, "the index names no variable, event or category"),
    WORDS(MPI_T_ERR_INVALID_ITEM, "the index names no item of the enumeration"),
    WORDS(MPI_T_ERR_INVALID_SESSION, "the performance session is not valid"),
    WORDS(MPI_T_ERR_INVALID_HANDLE, "the variable or event handle is not valid"),
    WORDS(MPI_T_ERR_INVALID_NAME, "no variable, event or category has that name"),
    WORDS(MPI_T_ERR_OUT_OF_HANDLES, "no more handles can be made"),
    WORDS(MPI_T_ERR_OUT_OF_SESSIONS, "no more sessions can be made"),
    WORDS(MPI_T_ERR_CVAR_SET_NOT_NOW, "the control variable cannot be set at this time"),
    WORDS(MPI_T_ERR_CVAR_SET_NEVER, "the control variable cannot be set"),
    WORDS(MPI_T_ERR_PVAR_NO_WRITE, "the performance variable cannot be written"),
    WORDS(MPI_T_ERR_PVAR_NO_STARTSTOP, "the performance variable runs always"),
    WORDS(MPI_T_ERR_PVAR_NO_ATOMIC, "the performance variable cannot be read and reset in one step"),
};
constexpr int kToolClassCount = sizeof kToolClasses / sizeof kToolClasses[0];
constexpr Words kExtensions[] = {
    WORDS(MPIX_ERR_PROC_FAILED_PENDING, "a process has failed that might have sent what is waited for"),
    WORDS(MPIX_ERR_REVOKED, "the communicator has been revoked"),
};
constexpr Words kLastCode = WORDS(MPI_ERR_LASTCODE, "the last predefined error code");

#undef WORDS

constexpr bool in_order(const Words* words, int count, int first) {
  for (int i = 0; i < count; ++i)
    if (words[i].code != first + i) return false;
  return true;
}
static_assert(in_order(kClasses, kClassCount, 0), "kClasses is indexed by code");
static_assert(in_order(kToolClasses, kToolClassCount, MPI_T_ERR_CANNOT_INIT));

const Words* predefined_words(int code) {
  if (code >= 0 && code < kClassCount) return &kClasses[code];
  for (const Words& words : kExtensions)
    if (words.code == code) return &words;
  const int tool = code - MPI_T_ERR_CANNOT_INIT;
  if (tool >= 0 && tool < kToolClassCount) return &kToolClasses[tool];
  return code == MPI_ERR_LASTCODE ? &kLastCode : nullptr;
}

struct UserCode {
  int of_class;   // its own number for a class
  int users = 0;  // codes of this class
  bool removed = false;
  std::string text;
};

// MPI_Add_error_class and friends may be called by any thread at any time, also before MPI_Init.
std::mutex user_lock;
std::vector<UserCode> user_codes;
constexpr int kFirstUser = MPI_ERR_LASTCODE + 1;

UserCode* user_code(int code) {
  const int index = code - kFirstUser;
  if (index < 0 || index >= static_cast<int>(user_codes.size())) return nullptr;
  UserCode* found = &user_codes[static_cast<size_t>(index)];
  return found->removed ? nullptr : found;
}

thread_local Communicator* to_blame = nullptr;
thread_local Window* window_to_blame = nullptr;
thread_local MPI_File file_to_blame = MPI_FILE_NULL;

}  // namespace

const char* error_text(int code) {
  if (const Words* words = predefined_words(code)) return words->text;
  // Callers copy the text at once; a concurrent removal of the very same code is the user's race.
  std::lock_guard guard(user_lock);
  const UserCode* user = user_code(code);
  return user ? user->text.c_str() : nullptr;
}

const char* error_name(int code) {
  const Words* words = predefined_words(code);
  return words ? words->name : nullptr;
}

int error_class(int code) {
  if (predefined_words(code)) return code;
  std::lock_guard guard(user_lock);
  const UserCode* user = user_code(code);
  return user ? user->of_class : -1;
}

Result<int> add_error_class() {
  std::lock_guard guard(user_lock);
  const int code = kFirstUser + static_cast<int>(user_codes.size());
  user_codes.push_back(UserCode{code});
  return code;
}

Result<int> add_error_code(int of_class) {
  std::lock_guard guard(user_lock);
  UserCode* parent = user_code(of_class);
  if (parent ? parent->of_class != of_class : !predefined_words(of_class))
    return fail(MPI_ERR_ARG, "argument `errorclass` is %d, which is no error class", of_class);
  if (parent) ++parent->users;
  const int code = kFirstUser + static_cast<int>(user_codes.size());
  user_codes.push_back(UserCode{of_class});
  return code;
}

Status add_error_string(int code, const char* text) {
  std::lock_guard guard(user_lock);
  UserCode* user = user_code(code);
  if (!user)
    return fail(MPI_ERR_ARG, "argument `errorcode` is %d, which was not added by this program", code);
  user->text.assign(text, strnlen(text, MPI_MAX_ERROR_STRING - 1));
  return kOk;
}

Status remove_error_class(int code) {
  std::lock_guard guard(user_lock);
  UserCode* user = user_code(code);
  if (!user || user->of_class != code)
    return fail(MPI_ERR_ARG, "argument `errorclass` is %d, which is no class that this program added", code);
  if (user->users > 0)
    return fail(MPI_ERR_OTHER, "error class %d still has %d codes; remove them first", code, user->users);
  if (!user->text.empty())
    return fail(MPI_ERR_OTHER, "error class %d still has a string; remove it first", code);
  user->removed = true;
  return kOk;
}

Status remove_error_code(int code) {
  std::lock_guard guard(user_lock);
  UserCode* user = user_code(code);
  if (!user || user->of_class == code)
    return fail(MPI_ERR_ARG, "argument `errorcode` is %d, which is no code that this program added", code);
  if (!user->text.empty())
    return fail(MPI_ERR_OTHER, "error code %d still has a string; remove it first", code);
  user->removed = true;
  if (UserCode* parent = user_code(user->of_class)) --parent->users;
  return kOk;
}

Status remove_error_string(int code) {
  std::lock_guard guard(user_lock);
  UserCode* user = user_code(code);
  if (!user || user->text.empty())
    return fail(MPI_ERR_ARG, "argument `errorcode` is %d, which has no string added by this program", code);
  user->text.clear();
  return kOk;
}

int last_used_code() {
  std::lock_guard guard(user_lock);
  return MPI_ERR_LASTCODE + static_cast<int>(user_codes.size());
}

void blame(Communicator* comm) { to_blame = comm; }
void blame(Window* window) { window_to_blame = window; }
void blame(MPI_File file) { file_to_blame = file; }
void blame_nobody() {
  to_blame = nullptr;
  window_to_blame = nullptr;
  file_to_blame = MPI_FILE_NULL;
}

MPI_File blamed_file() {
  MPI_File file = file_to_blame;
  file_to_blame = MPI_FILE_NULL;
  return file;
}

Window* blamed_window() {
  Window* window = window_to_blame;
  window_to_blame = nullptr;
  return window;
}

Communicator* blamed() {
  Communicator* comm = to_blame;
  to_blame = nullptr;
  return comm;
}

}  // namespace vicinity::object
