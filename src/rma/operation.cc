// SPDX-License-Identifier: BSD-3-Clause
// The life of operations: a freelist; last in, first out.
#include "rma/operation.h"

#include <cstdlib>
#include <new>

#include "rma/outbound.h"
#include "rma/window.h"

namespace vicinity::rma {
namespace {

base::List<Operation, &Operation::place> unused;

Status describe(object::Request& request) {
  if (request.error == MPI_SUCCESS) return kOk;
  const Operation& operation = static_cast<Operation&>(request);
  object::blame(operation.peer->window);
  return explain(operation);
}

void free_visible(object::Request& request) {
  Operation& operation = static_cast<Operation&>(request);
  Window* window = operation.peer->window;
  give_operation(&operation);
  object::release(window);
}

const object::RequestOps kOperationOps{nullptr, nullptr, describe, free_visible};

}  // namespace

Operation* take_operation() {
  Operation* operation = unused.pop_front();
  if (!operation) {
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, (sizeof(Operation) + 63) / 64 * 64) != 0) return nullptr;
    operation = new (memory) Operation;
    operation->handle = reinterpret_cast<uintptr_t>(operation);
    operation->ops = &kOperationOps;
  }
  operation->kind = object::Kind::kRequest;
  operation->references.store(1, std::memory_order_relaxed);
  operation->complete = operation->user_freed = operation->visible = operation->split = false;
  operation->error = MPI_SUCCESS;
  operation->status = object::empty_status();
  operation->refusal = Refusal{};
  operation->id = 0;
  operation->step = 1;
  operation->sent = operation->answered = 0;
  return operation;
}

void give_operation(Operation* operation) {
  operation->kind = object::Kind::kDead;
  for (object::Datatype*& type : operation->types) {
    if (type) object::release(type);
    type = nullptr;
  }
  unused.push_front(operation);
}

}  // namespace vicinity::rma
