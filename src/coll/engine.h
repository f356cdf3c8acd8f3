// SPDX-License-Identifier: BSD-3-Clause
// The engine: runs a schedule over a transport, without ever blocking.
//
// A transport moves messages; the library's is coll/transport.h, the tests bring a simulated one:
//
//   Status isend(const Step&, int tag, void** ticket);   `*ticket` nullptr: already complete
//   Status irecv(const Step&, int tag, void** ticket);
//   bool   done(void* ticket);
//   Status finish(void* ticket, uint64_t* bytes);         of a complete one; gives the ticket back
//   void   abandon(void* ticket, const Step&);            after a failure: cancel, or let it finish alone
#pragma once

#include "coll/schedule.h"
#include "object/error.h"

namespace vicinity::coll {

// Words for a receive that ended badly or came short, by name of the operation.
Status explain_receive(const Schedule& schedule, const Step& step, Status status, uint64_t bytes);
void run_copy(const Step& step);

template <class Transport>
class Engine {
 public:
  // Goes on as far as possible; true when the schedule is over, schedule.status then says how it went.
  static bool advance(Schedule& schedule, Transport& transport) {
    while (schedule.next < schedule.steps.size()) {
      if (!schedule.status.ok()) return give_up(schedule, transport);
      Step& step = schedule.steps[schedule.next];
      if (!begin(schedule, step, transport)) return give_up_if_failed(schedule, transport);
      ++schedule.next;
    }
    if (!wait_all(schedule, transport)) return give_up_if_failed(schedule, transport);
    return schedule.status.ok() || give_up(schedule, transport);
  }

 private:
  // False when the step must wait, or failed.
  static bool begin(Schedule& schedule, Step& step, Transport& transport) {
    switch (step.what) {
      case Step::What::kSend:
        return started(schedule, step, transport.isend(step, tag_of(schedule, step), &step.ticket));
      case Step::What::kRecv:
        return started(schedule, step, transport.irecv(step, tag_of(schedule, step), &step.ticket));
      case Step::What::kWait:
        return wait(schedule, schedule.steps[static_cast<size_t>(step.peer)], transport);
      case Step::What::kWaitAll:
        return wait_all(schedule, transport);
      case Step::What::kCopy:
        run_copy(step);
        return true;
      case Step::What::kReduce:
        object::reduce_local(step.from.at, step.to.at, step.to.count, *step.to.type, *schedule.op);
        return true;
    }
    return true;
  }
  static int tag_of(const Schedule& schedule, const Step& step) {
    return schedule.tag[static_cast<size_t>(step.side)];
  }
  static bool started(Schedule& schedule, Step& step, Status status) {
    if (!status.ok()) schedule.status = status;
    step.pending = status.ok() && step.ticket != nullptr;
    return status.ok();
  }
  static bool wait(Schedule& schedule, Step& step, Transport& transport) {
    if (!step.pending) return true;
    if (!transport.done(step.ticket)) return false;
    uint64_t bytes = 0;
    Status status = transport.finish(step.ticket, &bytes);
    step.pending = false;
    if (step.what == Step::What::kRecv && (!status.ok() || bytes != step.to.bytes()))
      status = explain_receive(schedule, step, status, bytes);
    if (!status.ok()) schedule.status = status;
    return status.ok();
  }
  static bool wait_all(Schedule& schedule, Transport& transport) {
    while (schedule.oldest < schedule.next) {
      if (!wait(schedule, schedule.steps[schedule.oldest], transport)) return false;
      ++schedule.oldest;
    }
    return true;
  }
  static bool give_up_if_failed(Schedule& schedule, Transport& transport) {
    return !schedule.status.ok() && give_up(schedule, transport);
  }
  static bool give_up(Schedule& schedule, Transport& transport) {
    for (size_t i = schedule.oldest; i < schedule.next; ++i) {
      Step& step = schedule.steps[i];
      if (step.pending) transport.abandon(step.ticket, step);
      step.pending = false;
    }
    schedule.next = schedule.oldest = schedule.steps.size();
    return true;
  }
};

}  // namespace vicinity::coll
