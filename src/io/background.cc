// SPDX-License-Identifier: BSD-3-Clause
// The thread in the background, the queue towards it, and the poller that notices what is over.
#include "io/background.h"

#include <pthread.h>
#include <signal.h>

#include "base/log.h"
#include "base/progress.h"
#include "base/wake.h"
#include "object/file_blame.h"
#include "object/pool.h"
#include "p2p/completion.h"

template <>
struct vicinity::object::HandleTraits<vicinity::io::Operation> {
  using Handle = MPI_Request;
  static constexpr Kind kKind = Kind::kRequest;
};

namespace vicinity::io {
namespace {

using object::Request;

// What takes less time than to wake a thread; two copies of this size, in the page cache.
constexpr int64_t kSmall = 16 << 10;

// First come, first served.
class Worker {
 public:
  // False: there is no thread.
  bool give(Operation& operation);

 private:
  static void* run(void* self);
  bool start();
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t more_ = PTHREAD_COND_INITIALIZER;
  Operation *first_ = nullptr, *last_ = nullptr;
  bool started_ = false;
};

// Never destroyed, because the thread uses it until the process ends.
Worker& worker() {
  static auto* made = new Worker;
  return *made;
}

void work(Operation& operation) {
  const Place place{operation.file->fd, false, &operation.view, &operation.file->name};
  operation.result =
      move_bytes(place, operation.writing, operation.stream, operation.staging.raw(), &operation.done);
  if (!operation.result.ok()) operation.words = base::failure_text(operation.result.code());
}

void* Worker::run(void* self) {
  auto& worker = *static_cast<Worker*>(self);
  for (;;) {
    pthread_mutex_lock(&worker.lock_);
    while (!worker.first_) pthread_cond_wait(&worker.more_, &worker.lock_);
    Operation& operation = *worker.first_;
    worker.first_ = operation.next;
    pthread_mutex_unlock(&worker.lock_);
    work(operation);
    operation.over.store(true, std::memory_order_release);  // SYNC POINT OVER (release)
    base::wake();
  }
  return nullptr;
}

bool Worker::start() {
  if (started_) return true;
  sigset_t all, before;
  sigfillset(&all);
  pthread_t thread;
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's own threads
  const int error = pthread_create(&thread, nullptr, run, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) pthread_detach(thread);
  return started_ = error == 0;
}

bool Worker::give(Operation& operation) {
  if (!start()) return false;
  pthread_mutex_lock(&lock_);
  operation.next = nullptr;
  if (first_)
    last_->next = &operation;
  else
    first_ = &operation;
  last_ = &operation;
  pthread_cond_signal(&more_);
  pthread_mutex_unlock(&lock_);
  return true;
}

// Converts what was read; the request is complete after that.
void end(Operation& operation) {
  int64_t moved = 0;
  Status status = operation.staging.close(operation.view, operation.done, &moved);
  if (!status.ok()) operation.words = base::failure_text(status.code());
  if (!operation.result.ok()) status = operation.result;
  object::set_bytes(operation.status, moved);
  --operation.file->pending;
  operation.error = status.code();
}

class Outstanding final : public base::Poller {
 public:
  void add(Operation& operation) {
    if (list_.empty() && !polling_) base::add_poller(this);
    list_.push_back(&operation);
  }
  int poll() override {
    if (polling_) return 0;  // a conversion function of the user's, say
    polling_ = true;
    int events = 0;
    for (Request *at = list_.front(), *next; at; at = next) {
      auto& operation = static_cast<Operation&>(*at);
      next = list_.after(at);
      if (!operation.over.load(std::memory_order_acquire)) continue;  // SYNC POINT OVER (acquire)
      end(operation);
      next = list_.after(at);
      operation.link.unlink();
      ++events;
      p2p::mark_complete(operation, operation.error);
    }
    polling_ = false;
    if (list_.empty()) base::remove_poller(this);
    return events;
  }

 private:
  base::List<Request, &Request::link> list_;
  bool polling_ = false;
};

Outstanding& outstanding() {
  static auto* made = new Outstanding;
  return *made;
}

Status take(Request& request) {
  auto& operation = static_cast<Operation&>(request);
  if (request.error == MPI_SUCCESS) return kOk;
  object::blame(object::handle_of(*operation.file));
  return fail(request.error, "%s", operation.words.c_str());
}

void free_operation(Request& request) {
  auto& operation = static_cast<Operation&>(request);
  drop_view(operation.view);
  object::release(operation.type);
  object::release(operation.file);
  object::destroy(&operation);
}

constexpr object::RequestOps kIndependentOps{nullptr, nullptr, take, free_operation};
constexpr object::RequestOps kCollectiveOps{
    nullptr, nullptr, take, free_operation,
    "a nonblocking collective, which ends only by a completion function (MPI 5.0, 14.4.5)"};

}  // namespace

Operation* make_operation(File& file, bool writing, Datatype& type, bool collective) {
  Operation* made = object::make<Operation>();
  if (!made) return nullptr;
  made->ops = collective ? &kCollectiveOps : &kIndependentOps;
  made->file = object::retain(&file);
  made->view = copy_view(file.view);
  made->type = object::retain(&type);
  made->writing = writing;
  return made;
}

// The locks of atomic mode belong to the open file, and would not keep the thread and the program apart.
Status launch(Operation& operation) {
  ++operation.file->pending;
  const bool now = operation.staging.bytes() <= kSmall || operation.file->atomic;
  if (!now && worker().give(operation)) {
    outstanding().add(operation);
    return kOk;
  }
  operation.result = move_bytes(operation.file->place(), operation.writing, operation.stream,
                                operation.staging.raw(), &operation.done);
  if (!operation.result.ok()) operation.words = base::failure_text(operation.result.code());
  end(operation);
  operation.complete = true;
  return operation.result;
}

void abandon(Operation& operation) { free_operation(operation); }

}  // namespace vicinity::io
