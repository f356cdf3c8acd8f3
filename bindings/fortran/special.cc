// SPDX-License-Identifier: BSD-3-Clause
// Procedures whose arguments do not follow from their kinds: callbacks, start, lists of strings.
#include "callback.h"
#include "glue.h"

using namespace vicinity::fortran;

namespace {

template <class F>
F* function(void* procedure) {
  return reinterpret_cast<F*>(procedure);
}

}  // namespace

// --- start, time, addresses ---
extern "C" void pmpi_init_(int* ierror) { finish(ierror, PMPI_Init(nullptr, nullptr)); }
extern "C" void pmpi_init_thread_(const int* required, int* provided, int* ierror) {
  finish(ierror, PMPI_Init_thread(nullptr, nullptr, *required, provided));
}
extern "C" void pmpi_pcontrol_(const int* level) { PMPI_Pcontrol(*level); }
extern "C" double pmpi_wtime_() { return PMPI_Wtime(); }
extern "C" double pmpi_wtick_() { return PMPI_Wtick(); }
extern "C" MPI_Aint pmpi_aint_add_(const MPI_Aint* base, const MPI_Aint* disp) {
  return PMPI_Aint_add(*base, *disp);
}
extern "C" MPI_Aint pmpi_aint_diff_(const MPI_Aint* a, const MPI_Aint* b) { return PMPI_Aint_diff(*a, *b); }
extern "C" void pmpi_info_create_env_(int* info, int* ierror) {
  MPI_Info info_ = MPI_INFO_NULL;
  const int code = PMPI_Info_create_env(0, nullptr, &info_);
  if (code == MPI_SUCCESS) *info = integer(info_);
  finish(ierror, code);
}
extern "C" void pmpi_abi_get_fortran_booleans_(const int* size, void* yes, void* no, int* set, int* ierror) {
  finish(ierror, PMPI_Abi_get_fortran_booleans(*size, yes, no, set));
}
extern "C" void pmpi_abi_set_fortran_booleans_(const int* size, void* yes, void* no, int* ierror) {
  finish(ierror, PMPI_Abi_set_fortran_booleans(*size, yes, no));
}

// --- operations and error handlers: the library calls the procedure with integer handles ---
extern "C" void pmpi_op_create_(void* user_fn, const int* commute, int* op, int* ierror) {
  const FromFortran scope;
  MPI_Op op_ = MPI_OP_NULL;
  const int code = PMPI_Op_create(function<MPI_User_function>(user_fn), *commute, &op_);
  if (code == MPI_SUCCESS) *op = integer(op_);
  finish(ierror, code);
}
extern "C" void pmpi_op_create_c_f08_(void* user_fn, const int* commute, int* op, int* ierror) {
  const FromFortran scope;
  MPI_Op op_ = MPI_OP_NULL;
  const int code = PMPI_Op_create_c(function<MPI_User_function_c>(user_fn), *commute, &op_);
  if (code == MPI_SUCCESS) *op = integer(op_);
  finish(ierror, code);
}
#define VICINITY_ERRHANDLER(lower, Upper)                                                                \
  extern "C" void pmpi_##lower##_create_errhandler_(void* procedure, int* errhandler, int* ierror) {     \
    const FromFortran scope;                                                                             \
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                           \
    const int code =                                                                                     \
        PMPI_##Upper##_create_errhandler(function<MPI_##Upper##_errhandler_function>(procedure), &made); \
    if (code == MPI_SUCCESS) *errhandler = integer(made);                                                \
    finish(ierror, code);                                                                                \
  }
VICINITY_ERRHANDLER(comm, Comm)
VICINITY_ERRHANDLER(win, Win)
VICINITY_ERRHANDLER(file, File)
VICINITY_ERRHANDLER(session, Session)

// --- generalised requests ---
namespace {

struct Grequest {
  void *query, *free, *cancel;
  MPI_Aint extra;
};

int query(void* state, MPI_Status* status) {
  auto& it = *static_cast<Grequest*>(state);
  int code = MPI_SUCCESS;
  function<vicinity_query>(it.query)(&it.extra, reinterpret_cast<int*>(status), &code);
  return code;
}
int release(void* state) {
  auto* it = static_cast<Grequest*>(state);
  int code = MPI_SUCCESS;
  function<vicinity_free>(it->free)(&it->extra, &code);
  delete it;
  return code;
}
int cancel(void* state, int complete) {
  auto& it = *static_cast<Grequest*>(state);
  int code = MPI_SUCCESS;
  function<vicinity_cancel>(it.cancel)(&it.extra, &complete, &code);
  return code;
}

}  // namespace

extern "C" void pmpi_grequest_start_(void* query_fn, void* free_fn, void* cancel_fn, MPI_Aint* extra,
                                     int* request, int* ierror) {
  MPI_Request made = MPI_REQUEST_NULL;
  auto* state = new Grequest{query_fn, free_fn, cancel_fn, *extra};
  const int code = PMPI_Grequest_start(query, release, cancel, state, &made);
  if (code == MPI_SUCCESS)
    *request = integer(made);
  else
    delete state;
  finish(ierror, code);
}

// --- data representations of files; registered for the life of the process ---
namespace {

struct Datarep {
  void *read, *write, *extent;
  MPI_Aint extra;
};

int extent(MPI_Datatype datatype, MPI_Aint* size, void* state) {
  auto& it = *static_cast<Datarep*>(state);
  int number = integer(datatype), code = MPI_SUCCESS;
  function<vicinity_extent>(it.extent)(&number, size, &it.extra, &code);
  return code;
}
template <class Count, class Procedure, void* Datarep::*Which>
int convert(void* user, MPI_Datatype datatype, Count count, void* file, MPI_Offset position, void* state) {
  auto& it = *static_cast<Datarep*>(state);
  int number = integer(datatype), code = MPI_SUCCESS;
  function<Procedure>(it.*Which)(user, &number, &count, file, &position, &it.extra, &code);
  return code;
}

}  // namespace

extern "C" void mpi_conversion_fn_null_(void*, int*, int*, void*, MPI_Offset*, MPI_Aint*, int* ierror) {
  *ierror = MPI_ERR_CONVERSION;  // stands for "none" and is never called
}
extern "C" void mpi_conversion_fn_null_c_(void*, int*, MPI_Count*, void*, MPI_Offset*, MPI_Aint*,
                                          int* ierror) {
  *ierror = MPI_ERR_CONVERSION;
}
extern "C" void pmpi_register_datarep_(char* name, void* read, void* write, void* extent_fn, MPI_Aint* extra,
                                       int* ierror, size_t name_size) {
  const Text text(name, name_size);
  void* const none = reinterpret_cast<void*>(mpi_conversion_fn_null_);
  auto* state = new Datarep{read, write, extent_fn, *extra};
  finish(ierror, PMPI_Register_datarep(
                     text.c_str(),
                     read == none ? MPI_CONVERSION_FN_NULL : convert<int, vicinity_convert, &Datarep::read>,
                     write == none ? MPI_CONVERSION_FN_NULL : convert<int, vicinity_convert, &Datarep::write>,
                     extent, state));
}
extern "C" void pmpi_register_datarep_c_f08_(char* name, void* read, void* write, void* extent_fn,
                                             MPI_Aint* extra, int* ierror, size_t name_size) {
  const Text text(name, name_size);
  void* const none = reinterpret_cast<void*>(mpi_conversion_fn_null_c_);
  auto* state = new Datarep{read, write, extent_fn, *extra};
  auto* reading = convert<MPI_Count, vicinity_convert_c, &Datarep::read>;
  auto* writing = convert<MPI_Count, vicinity_convert_c, &Datarep::write>;
  finish(ierror, PMPI_Register_datarep_c(text.c_str(), read == none ? MPI_CONVERSION_FN_NULL_C : reading,
                                         write == none ? MPI_CONVERSION_FN_NULL_C : writing, extent, state));
}

// --- statuses, sizes, registers ---
extern "C" void pmpi_status_f2f08_(const int* from, int* to, int* ierror) {
  for (int i = 0; i < 8; ++i) to[i] = from[i];
  finish(ierror, MPI_SUCCESS);
}
extern "C" void pmpi_status_f082f_(const int* from, int* to, int* ierror) {
  pmpi_status_f2f08_(from, to, ierror);
}
extern "C" void pmpi_sizeof_f08ts_(const CFI_cdesc_t* x, int* size, int* ierror) {
  *size = static_cast<int>(x->elem_len);
  finish(ierror, MPI_SUCCESS);
}
extern "C" void pmpi_f_sync_reg_(void*) {}  // a call is enough: the compiler cannot see what it does
extern "C" void pmpi_f_sync_reg_f08ts_(const CFI_cdesc_t*) {}

// --- spawning: lists of blank-padded strings, ended by a blank one ---
namespace {

using Strings = std::vector<std::string>;

Strings until_blank(const char* first, size_t size, size_t stride) {
  Strings list;
  for (const char* at = first;; at += stride) {
    const Text text(at, size);
    if (!*text.c_str()) return list;
    list.emplace_back(text.c_str());
  }
}

std::vector<char*> pointers(Strings& list) {
  std::vector<char*> found;
  for (std::string& text : list) found.push_back(text.data());
  found.push_back(nullptr);
  return found;
}

int* errcodes(int* it) { return it == mpi_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : it; }

}  // namespace

extern "C" void pmpi_comm_spawn_(char* command, char* argv, const int* maxprocs, const int* info,
                                 const int* root, const int* comm, int* intercomm, int* codes, int* ierror,
                                 size_t command_size, size_t argv_size) {
  const Text program(command, command_size);
  Strings words;
  if (argv != mpi_fortran_argv_null_) words = until_blank(argv, argv_size, argv_size);
  std::vector<char*> list = pointers(words);
  MPI_Comm made = MPI_COMM_NULL;
  const int code = PMPI_Comm_spawn(program.c_str(), list.data(), *maxprocs, handle<MPI_Info>(*info), *root,
                                   handle<MPI_Comm>(*comm), &made, errcodes(codes));
  if (code == MPI_SUCCESS) *intercomm = integer(made);
  finish(ierror, code);
}

extern "C" void pmpi_comm_spawn_multiple_(const int* count, char* commands, char* argvs, const int* maxprocs,
                                          const int* infos, const int* root, const int* comm, int* intercomm,
                                          int* codes, int* ierror, size_t command_size, size_t argv_size) {
  int rank = 0;
  PMPI_Comm_rank(handle<MPI_Comm>(*comm), &rank);
  const auto n =
      static_cast<size_t>(rank == *root && *count > 0 ? *count : 0);  // significant at the root only
  Strings programs(n);
  std::vector<Strings> words(n);
  std::vector<std::vector<char*>> lists(n);
  std::vector<char**> rows(n);
  for (size_t i = 0; i < n; ++i) {
    programs[i] = Text(commands + i * command_size, command_size).c_str();
    if (argvs != mpi_fortran_argvs_null_)
      words[i] = until_blank(argvs + i * argv_size, argv_size, n * argv_size);
    lists[i] = pointers(words[i]);
    rows[i] = lists[i].data();
  }
  std::vector<char*> names = pointers(programs);
  Handles<MPI_Info> hints(infos, static_cast<int>(n), true);
  MPI_Comm made = MPI_COMM_NULL;
  const int code = PMPI_Comm_spawn_multiple(*count, names.data(), rows.data(), maxprocs, hints.data(), *root,
                                            handle<MPI_Comm>(*comm), &made, errcodes(codes));
  if (code == MPI_SUCCESS) *intercomm = integer(made);
  finish(ierror, code);
}

VICINITY_NAMES(init)
VICINITY_NAMES(init_thread)
VICINITY_NAMES(pcontrol)
VICINITY_NAMES(wtime)
VICINITY_NAMES(wtick)
VICINITY_NAMES(aint_add)
VICINITY_NAMES(aint_diff)
VICINITY_NAMES(info_create_env)
VICINITY_NAMES(abi_get_fortran_booleans)
VICINITY_NAMES(abi_set_fortran_booleans)
VICINITY_NAMES(op_create)
VICINITY_NAMES(comm_create_errhandler)
VICINITY_NAMES(win_create_errhandler)
VICINITY_NAMES(file_create_errhandler)
VICINITY_NAMES(session_create_errhandler)
VICINITY_NAMES(grequest_start)
VICINITY_NAMES(register_datarep)
VICINITY_NAMES(comm_spawn)
VICINITY_NAMES(comm_spawn_multiple)
VICINITY_OLD_NAMES(op_create_c_f08)
VICINITY_OLD_NAMES(register_datarep_c_f08)
VICINITY_OLD_NAMES(status_f2f08)
VICINITY_OLD_NAMES(status_f082f)
VICINITY_OLD_NAMES(sizeof_f08ts)
VICINITY_OLD_NAMES(f_sync_reg)
VICINITY_OLD_NAMES(f_sync_reg_f08ts)
