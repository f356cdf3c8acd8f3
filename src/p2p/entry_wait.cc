// SPDX-License-Identifier: BSD-3-Clause
// MPI_Wait, MPI_Test and their forms over arrays (MPI 5.0, 3.7.3 to 3.7.6), MPI_Request_free, MPI_Cancel.
//
// In arrays, null and inactive requests count as complete with an empty status. When one of several
// fails, the call returns MPI_ERR_IN_STATUS and every status tells its own error.
#include <cstdio>

#include "entry_p2p.h"
#include "p2p/completion.h"
#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

// Checks a whole array before anything is taken from it.
Status check_all(int count, const MPI_Request* handles) {
  Request* request = nullptr;
  for (int i = 0; i < count; ++i) VICINITY_TRY(resolve(handles[i], request, i));
  return object::kOk;
}

// A handle that has passed check_all().
Request* at(MPI_Request handle) {
  return handle == MPI_REQUEST_NULL ? nullptr : reinterpret_cast<Request*>(handle);
}

// After check_all(), an index of a complete and not idle request; -1: none is complete; -2: all are idle.
int first_complete(int count, const MPI_Request* handles) {
  int found = -2;
  for (int i = 0; i < count; ++i) {
    Request* request = at(handles[i]);
    if (idle(request)) continue;
    if (request->complete) return i;
    found = -1;
  }
  return found;
}

bool all_complete(int count, const MPI_Request* handles) {
  for (int i = 0; i < count; ++i)
    if (Request* request = at(handles[i]); !idle(request) && !request->complete) return false;
  return true;
}

// Keeps the class of each error until it is known whether the statuses need them at all.
class Errors {
 public:
  Errors(int count, MPI_Status* statuses) : count_(count), statuses_(statuses) {}
  void add(int at, Status error) {
    if (!error.ok() && !failed_) {
      failed_ = true;
      for (int i = 0; statuses_ && i < count_; ++i) statuses_[i].MPI_ERROR = MPI_SUCCESS;
    }
    if (failed_ && statuses_) statuses_[at].MPI_ERROR = error.code();
    if (!error.ok()) last_ = error;
  }
  // The text of the failure is that of the last request that failed.
  Status result() const {
    if (!failed_) return object::kOk;
    char text[320];
    std::snprintf(text, sizeof text, "%s", base::failure_text(last_.code()));
    return object::fail(MPI_ERR_IN_STATUS, "a request failed with class %d: %s", last_.code(), text);
  }

 private:
  int count_;
  MPI_Status* statuses_;
  bool failed_ = false;
  Status last_;
};

Status take_all(int count, MPI_Request* handles, MPI_Status* statuses) {
  Errors errors(count, statuses);
  for (int i = 0; i < count; ++i) {
    Request* request = at(handles[i]);
    MPI_Status* status = statuses ? &statuses[i] : nullptr;
    if (idle(request)) {
      give_empty(status);
      errors.add(i, object::kOk);
    } else {
      errors.add(i, take(*request, &handles[i], status));
    }
  }
  return errors.result();
}

Status take_some(int count, MPI_Request* handles, int* outcount, int* indices, MPI_Status* statuses) {
  *outcount = 0;
  Errors errors(count, statuses);
  for (int i = 0; i < count; ++i) {
    Request* request = at(handles[i]);
    if (idle(request) || !request->complete) continue;
    const int slot = (*outcount)++;
    indices[slot] = i;
    errors.add(slot, take(*request, &handles[i], statuses ? &statuses[slot] : nullptr));
  }
  return errors.result();
}

}  // namespace

namespace entry {

Status wait(MPI_Request* handle, MPI_Status* status) {
  Request* request = nullptr;
  VICINITY_TRY(resolve(*handle, request));
  if (idle(request)) return give_empty(status), object::kOk;
  await(*request);
  return take(*request, handle, status);
}

Status test(MPI_Request* handle, int* flag, MPI_Status* status) {
  *flag = 1;
  Request* request = nullptr;
  VICINITY_TRY(resolve(*handle, request));
  if (idle(request)) return give_empty(status), object::kOk;
  if (!request->complete) base::look();
  *flag = request->complete;
  return *flag ? take(*request, handle, status) : object::kOk;
}

Status waitany(int count, MPI_Request* handles, int* index, MPI_Status* status) {
  VICINITY_TRY(check_all(count, handles));
  int found = -1;
  base::wait_until([&] { return (found = first_complete(count, handles)) != -1; });
  *index = found < 0 ? MPI_UNDEFINED : found;
  if (found < 0) return give_empty(status), object::kOk;
  return take(*at(handles[found]), &handles[found], status);
}

Status testany(int count, MPI_Request* handles, int* index, int* flag, MPI_Status* status) {
  VICINITY_TRY(check_all(count, handles));
  int found = first_complete(count, handles);
  if (found == -1) {
    base::look();
    found = first_complete(count, handles);
  }
  *flag = found != -1;
  *index = found < 0 ? MPI_UNDEFINED : found;
  if (found == -2) give_empty(status);
  return found < 0 ? object::kOk : take(*at(handles[found]), &handles[found], status);
}

Status waitall(int count, MPI_Request* handles, MPI_Status* statuses) {
  VICINITY_TRY(check_all(count, handles));
  // One after the other: while the first is waited for, the others move on as well.
  for (int i = 0; i < count; ++i)
    if (Request* request = at(handles[i]); !idle(request))
      await(*request);
  return take_all(count, handles, statuses);
}

Status testall(int count, MPI_Request* handles, int* flag, MPI_Status* statuses) {
  VICINITY_TRY(check_all(count, handles));
  if (!all_complete(count, handles)) base::look();
  *flag = all_complete(count, handles);
  return *flag ? take_all(count, handles, statuses) : object::kOk;
}

Status waitsome(int count, MPI_Request* handles, int* outcount, int* indices, MPI_Status* statuses) {
  VICINITY_TRY(check_all(count, handles));
  int found = -1;
  base::wait_until([&] { return (found = first_complete(count, handles)) != -1; });
  *outcount = MPI_UNDEFINED;
  return found < 0 ? object::kOk : take_some(count, handles, outcount, indices, statuses);
}

Status testsome(int count, MPI_Request* handles, int* outcount, int* indices, MPI_Status* statuses) {
  VICINITY_TRY(check_all(count, handles));
  int found = first_complete(count, handles);
  if (found == -1) base::look();
  *outcount = MPI_UNDEFINED;
  return found == -2 ? object::kOk : take_some(count, handles, outcount, indices, statuses);
}

Status request_free(MPI_Request* handle) {
  Request* request = nullptr;
  VICINITY_TRY(resolve(*handle, request));
  if (!request) return object::fail(MPI_ERR_REQUEST, "argument `request` is MPI_REQUEST_NULL");
  if (request->ops->bound && !idle(request))
    return object::fail(MPI_ERR_REQUEST, "argument `request` is %s", request->ops->bound);
  *handle = MPI_REQUEST_NULL;
  if (is_suspended(*request)) request->complete = false;  // it goes on waiting, for nobody
  if (request->complete || idle(request)) return end(*request);
  let_go(request);
  return object::kOk;
}

Status cancel(MPI_Request* handle) {
  Request* request = nullptr;
  VICINITY_TRY(resolve(*handle, request));
  if (idle(request)) return object::fail(MPI_ERR_REQUEST, "argument `request` is null or inactive");
  if (!request->ops->cancel && request != &done_send && request != &done_null_receive)
    return object::fail(MPI_ERR_REQUEST, "this kind of request cannot be cancelled");
  return request->ops->cancel ? request->ops->cancel(*request) : object::kOk;
}

}  // namespace entry
}  // namespace vicinity::p2p
