// SPDX-License-Identifier: BSD-3-Clause
// Performance variables (MPI 5.0, 15.3.7).
//
// The sources only ever count on. A handle of a counter remembers what the source said when the handle was
// started, and what it had gathered when it was stopped; so handles are independent of each other, and
// reset and write touch no source. Levels and watermarks are as they are: they run always and are read-only.
#include <cstring>
#include <new>
#include <unordered_set>

#include "entry_world.h"
#include "world/instance.h"
#include "world/tool/tool.h"

struct MPI_T_pvar_handle_t {
  const vicinity::world::tool::PerformanceVariable* variable;
  bool running = false;
  struct Element {
    uint64_t gathered = 0, since = 0;
  };
  std::vector<Element> elements;
};

struct MPI_T_pvar_session_t {
  std::unordered_set<MPI_T_pvar_handle> handles;
};

namespace vicinity::world::tool {
namespace {

std::unordered_set<MPI_T_pvar_session>& sessions() {
  static auto* made = new std::unordered_set<MPI_T_pvar_session>;
  return *made;
}

bool continuous(const PerformanceVariable& variable) {
  return variable.variable_class == MPI_T_PVAR_CLASS_LEVEL ||
         variable.variable_class == MPI_T_PVAR_CLASS_HIGHWATERMARK;
}

Status check_session(MPI_T_pvar_session session) {
  VICINITY_TRY(check_begun());
  return sessions().contains(session) ? kOk
                                      : fail(MPI_T_ERR_INVALID_SESSION, "argument `session` is no session");
}

Status check_handle(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  VICINITY_TRY(check_session(session));
  return session->handles.contains(handle)
             ? kOk
             : fail(MPI_T_ERR_INVALID_HANDLE, "argument `handle` is no variable of this session");
}

uint64_t source(const PerformanceVariable& variable, size_t element) {
  return variable.read(variable.argument, static_cast<uint32_t>(element));
}

uint64_t value(const MPI_T_pvar_handle_t& handle, size_t element) {
  const PerformanceVariable& variable = *handle.variable;
  const auto& kept = handle.elements[element];
  if (continuous(variable)) return source(variable, element);
  return kept.gathered + (handle.running ? source(variable, element) - kept.since : 0);
}

void set(MPI_T_pvar_handle_t& handle, size_t element, uint64_t to) {
  handle.elements[element] = {to, source(*handle.variable, element)};
}

Status start(MPI_T_pvar_handle_t& handle) {
  if (continuous(*handle.variable))
    return fail(MPI_T_ERR_PVAR_NO_STARTSTOP, "%s runs always", handle.variable->name);
  if (handle.running) return kOk;
  for (size_t i = 0; i < handle.elements.size(); ++i) set(handle, i, handle.elements[i].gathered);
  handle.running = true;
  return kOk;
}

Status stop(MPI_T_pvar_handle_t& handle) {
  if (continuous(*handle.variable))
    return fail(MPI_T_ERR_PVAR_NO_STARTSTOP, "%s runs always", handle.variable->name);
  for (size_t i = 0; i < handle.elements.size(); ++i) handle.elements[i].gathered = value(handle, i);
  handle.running = false;
  return kOk;
}

Status reset(MPI_T_pvar_handle_t& handle) {
  if (continuous(*handle.variable))
    return fail(MPI_T_ERR_PVAR_NO_WRITE, "%s is read-only", handle.variable->name);
  for (size_t i = 0; i < handle.elements.size(); ++i) set(handle, i, 0);
  return kOk;
}

// MPI_T_PVAR_ALL_HANDLES means all of the session to which the operation applies.
Status apply(Status (*operation)(MPI_T_pvar_handle_t&), MPI_T_pvar_session session,
             MPI_T_pvar_handle handle) {
  if (handle == MPI_T_PVAR_ALL_HANDLES) {
    VICINITY_TRY(check_session(session));
    for (MPI_T_pvar_handle one : session->handles)
      if (!continuous(*one->variable)) VICINITY_TRY(operation(*one));
    return kOk;
  }
  VICINITY_TRY(check_handle(session, handle));
  return operation(*handle);
}

}  // namespace
}  // namespace vicinity::world::tool

namespace vicinity::world::entry {

using namespace tool;

Status t_pvar_get_num(int* num_pvar) {
  VICINITY_TRY(check_begun());
  give(num_pvar, performance_variables().size());
  return kOk;
}

Status t_pvar_get_index(const char* name, int var_class, int* pvar_index) {
  VICINITY_TRY(check_begun());
  const auto& all = performance_variables();
  for (size_t i = 0; name && i < all.size(); ++i)
    if (all[i].variable_class == var_class && std::strcmp(all[i].name, name) == 0)
      return give(pvar_index, i), kOk;
  return fail(MPI_T_ERR_INVALID_NAME, "there is no performance variable %s of class %d",
              name ? name : "(null)", var_class);
}

Status t_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                       object::Datatype** datatype, MPI_T_enum* enumtype, char* desc, int* desc_len,
                       int* bind, int* readonly, int* is_continuous, int* atomic) {
  VICINITY_TRY(check_begun());
  VICINITY_TRY(check_index(pvar_index, performance_variables().size(), "performance variable"));
  const PerformanceVariable& variable = performance_variables()[static_cast<size_t>(pvar_index)];
  give_text(variable.name, name, name_len);
  give_text(variable.text, desc, desc_len);
  give(verbosity, MPI_T_VERBOSITY_USER_BASIC);
  give(var_class, variable.variable_class);
  if (datatype) *datatype = &object::builtin(MPI_UNSIGNED_LONG_LONG);
  if (enumtype) *enumtype = MPI_T_ENUM_NULL;
  give(bind, MPI_T_BIND_NO_OBJECT);
  give(readonly, continuous(variable));
  give(is_continuous, continuous(variable));
  give(atomic, !continuous(variable));
  return kOk;
}

Status t_pvar_session_create(MPI_T_pvar_session* session) {
  VICINITY_TRY(check_begun());
  if (!session) return fail(MPI_T_ERR_INVALID, "argument `session` is a null pointer");
  *session = new (std::nothrow) MPI_T_pvar_session_t;
  if (!*session) return fail(MPI_T_ERR_OUT_OF_SESSIONS, "no memory for a session");
  sessions().insert(*session);
  return kOk;
}

Status t_pvar_session_free(MPI_T_pvar_session* session) {
  VICINITY_TRY(check_begun());
  if (!session) return fail(MPI_T_ERR_INVALID, "argument `session` is a null pointer");
  VICINITY_TRY(check_session(*session));
  for (MPI_T_pvar_handle handle : (*session)->handles) delete handle;
  sessions().erase(*session);
  delete *session;
  *session = MPI_T_PVAR_SESSION_NULL;
  return kOk;
}

Status t_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void*, MPI_T_pvar_handle* handle,
                           int* count) {
  VICINITY_TRY(check_session(session));
  VICINITY_TRY(check_index(pvar_index, performance_variables().size(), "performance variable"));
  if (!handle) return fail(MPI_T_ERR_INVALID, "argument `handle` is a null pointer");
  const PerformanceVariable& variable = performance_variables()[static_cast<size_t>(pvar_index)];
  auto* made = new (std::nothrow) MPI_T_pvar_handle_t{&variable, false, {}};
  if (!made) return fail(MPI_T_ERR_OUT_OF_HANDLES, "no memory for a handle");
  made->elements.resize(variable.per_peer ? static_cast<size_t>(instance().identity.size) : 1);
  session->handles.insert(made);
  *handle = made;
  give(count, made->elements.size());
  return kOk;
}

Status t_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  VICINITY_TRY(check_begun());
  if (!handle) return fail(MPI_T_ERR_INVALID, "argument `handle` is a null pointer");
  VICINITY_TRY(check_handle(session, *handle));
  session->handles.erase(*handle);
  delete *handle;
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return kOk;
}

Status t_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return apply(start, session, handle);
}
Status t_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return apply(stop, session, handle);
}
Status t_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return apply(reset, session, handle);
}

Status t_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  VICINITY_TRY(check_handle(session, handle));
  if (!buf) return fail(MPI_T_ERR_INVALID, "argument `buf` is a null pointer");
  auto* out = static_cast<unsigned long long*>(buf);
  for (size_t i = 0; i < handle->elements.size(); ++i) out[i] = value(*handle, i);
  return kOk;
}

Status t_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buf) {
  VICINITY_TRY(check_handle(session, handle));
  if (continuous(*handle->variable))
    return fail(MPI_T_ERR_PVAR_NO_WRITE, "%s is read-only", handle->variable->name);
  if (!buf) return fail(MPI_T_ERR_INVALID, "argument `buf` is a null pointer");
  const auto* in = static_cast<const unsigned long long*>(buf);
  for (size_t i = 0; i < handle->elements.size(); ++i) set(*handle, i, in[i]);
  return kOk;
}

Status t_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  VICINITY_TRY(check_handle(session, handle));
  if (continuous(*handle->variable))
    return fail(MPI_T_ERR_PVAR_NO_ATOMIC, "%s cannot be reset", handle->variable->name);
  VICINITY_TRY(t_pvar_read(session, handle, buf));
  return reset(*handle);
}

}  // namespace vicinity::world::entry
