// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing statuses (MPI 5.0, 3.2.5, 3.8.4, 13.3), and looking at requests without taking them
// (3.7.6).
#include "entry_p2p.h"
#include "object/datatype_create.h"
#include "p2p/completion.h"
#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

// Empty status for nothing to wait for; else the request's own, once it is complete.
Status look(Request* request, int* flag, MPI_Status* status) {
  *flag = idle(request) || request->complete;
  if (idle(request)) return give_empty(status), object::kOk;
  if (!request->complete) return object::kOk;
  const Status error = request->ops->take ? request->ops->take(*request) : Status(request->error);
  give_status(status, request->status);
  if (!error.ok()) blame(*request);
  return error;
}

Status at(const MPI_Request* handles, int index, Request*& request) {
  return resolve(handles[index], request, index);
}

bool any_open(int count, const MPI_Request* handles) {
  Request* request = nullptr;
  for (int i = 0; i < count; ++i)
    if (at(handles, i, request).ok() && !idle(request) && !request->complete) return true;
  return false;
}

Status check(int count, const MPI_Request* handles) {
  Request* request = nullptr;
  for (int i = 0; i < count; ++i) VICINITY_TRY(at(handles, i, request));
  if (any_open(count, handles)) base::look();
  return object::kOk;
}

// Sets the error of one status of several and remembers that there was one.
void note(Status error, MPI_Status* status, bool& failed) {
  if (status) status->MPI_ERROR = error.code();
  failed |= !error.ok();
}

}  // namespace

namespace entry {

Status request_get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  Request* request = nullptr;
  VICINITY_TRY(resolve(handle, request));
  if (!idle(request) && !request->complete) base::look();
  return look(request, flag, status);
}

Status request_get_status_any(int count, const MPI_Request* handles, int* index, int* flag,
                              MPI_Status* status) {
  VICINITY_TRY(check(count, handles));
  bool open = false;
  *index = MPI_UNDEFINED;
  for (int i = 0; i < count; ++i) {
    Request* request = nullptr;
    VICINITY_TRY(at(handles, i, request));
    if (idle(request)) continue;
    open = true;
    if (!request->complete) continue;
    *index = i;
    return look(request, flag, status);
  }
  *flag = !open;
  if (!open) give_empty(status);
  return object::kOk;
}

Status request_get_status_all(int count, const MPI_Request* handles, int* flag, MPI_Status* statuses) {
  VICINITY_TRY(check(count, handles));
  *flag = !any_open(count, handles);
  if (!*flag) return object::kOk;
  bool failed = false;
  for (int i = 0; i < count; ++i) {
    Request* request = nullptr;
    int complete = 0;
    VICINITY_TRY(at(handles, i, request));
    MPI_Status* status = statuses ? &statuses[i] : nullptr;
    note(look(request, &complete, status), status, failed);
  }
  return failed ? object::fail(MPI_ERR_IN_STATUS, "one of the %d requests failed", count) : object::kOk;
}

Status request_get_status_some(int count, const MPI_Request* handles, int* outcount, int* indices,
                               MPI_Status* statuses) {
  VICINITY_TRY(check(count, handles));
  bool open = false, failed = false;
  *outcount = 0;
  for (int i = 0; i < count; ++i) {
    Request* request = nullptr;
    int complete = 0;
    VICINITY_TRY(at(handles, i, request));
    if (idle(request)) continue;
    open = true;
    if (!request->complete) continue;
    MPI_Status* status = statuses ? &statuses[*outcount] : nullptr;
    note(look(request, &complete, status), status, failed);
    indices[(*outcount)++] = i;
  }
  if (!open) *outcount = MPI_UNDEFINED;
  return failed ? object::fail(MPI_ERR_IN_STATUS, "one of the %d requests failed", count) : object::kOk;
}

Status get_count(const MPI_Status* status, Datatype& type, MPI_Count* count) {
  const MPI_Count bytes = object::get_bytes(*status);
  if (type.size == 0) {
    *count = bytes == 0 ? 0 : MPI_UNDEFINED;
  } else {
    *count = bytes % type.size == 0 ? bytes / type.size : MPI_UNDEFINED;
  }
  return object::kOk;
}

Status status_get_source(const MPI_Status* status, int* source) {
  return *source = status->MPI_SOURCE, object::kOk;
}
Status status_get_tag(const MPI_Status* status, int* tag) { return *tag = status->MPI_TAG, object::kOk; }
Status status_get_error(const MPI_Status* status, int* error) {
  return *error = status->MPI_ERROR, object::kOk;
}
Status status_set_source(MPI_Status* status, int source) { return status->MPI_SOURCE = source, object::kOk; }
Status status_set_tag(MPI_Status* status, int tag) { return status->MPI_TAG = tag, object::kOk; }
Status status_set_error(MPI_Status* status, int error) { return status->MPI_ERROR = error, object::kOk; }

Status status_set_cancelled(MPI_Status* status, int flag) {
  return set_cancelled(*status, flag != 0), object::kOk;
}
Status test_cancelled(const MPI_Status* status, int* flag) {
  return *flag = get_cancelled(*status), object::kOk;
}

Status status_set_elements(MPI_Status* status, Datatype& type, MPI_Count count) {
  object::set_bytes(*status, object::bytes_of(type, count));
  return object::kOk;
}

}  // namespace entry
}  // namespace vicinity::p2p
