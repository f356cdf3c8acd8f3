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

// A failure does not end a schedule, because other ranks wait for its messages. It goes on to its end
// with empty messages and without touching any buffer; whoever gets an empty message where data should be
// fails as well. So all ranks come out of the call, and the next call finds them in step. Only what will
// never end is given up. Where a member is gone, or the communicator revoked, everybody learns of it without
// such messages, and silence lets each say the same.
template <class Transport>
class Engine {
 public:
  // Goes on as far as possible; true when the schedule is over, schedule.status then says how it went.
  static bool advance(Schedule& schedule, Transport& transport) {
    while (schedule.next < schedule.steps.size()) {
      if (!begin(schedule, schedule.steps[schedule.next], transport)) return false;
      ++schedule.next;
    }
    return wait_all(schedule, transport);
  }
  // Ends the schedule now, with `status`.
  static void give_up(Schedule& schedule, Transport& transport, Status status) {
    if (schedule.status.ok()) schedule.status = status;
    for (size_t i = schedule.oldest; i < schedule.next; ++i) {
      Step& step = schedule.steps[i];
      if (step.pending) transport.abandon(step.ticket, step);
      step.pending = false;
    }
    schedule.next = schedule.oldest = schedule.steps.size();
  }

 private:
  // False when the step must wait.
  static bool begin(Schedule& schedule, Step& step, Transport& transport) {
    const bool healthy = schedule.status.ok();
    switch (step.what) {
      case Step::What::kSend:
      case Step::What::kRecv:
        start(schedule, step, healthy ? step : empty_of(step), transport);
        return true;
      case Step::What::kWait:
        return wait(schedule, schedule.steps[static_cast<size_t>(step.peer)], transport);
      case Step::What::kWaitAll:
        return wait_all(schedule, transport);
      case Step::What::kCopy:
        if (healthy) run_copy(step);
        return true;
      case Step::What::kReduce:
        if (healthy)
          object::reduce_local(step.from.at, step.to.at, step.to.count, *step.to.type, *schedule.op);
        return true;
    }
    return true;
  }
  static Step empty_of(Step step) {
    step.from.count = step.to.count = 0;
    return step;
  }
  static void start(Schedule& schedule, Step& step, const Step& message, Transport& transport) {
    const int tag = schedule.tag[static_cast<size_t>(step.side)];
    if (step.what == Step::What::kSend && falls_silent(schedule, transport)) return;
    const Status status = step.what == Step::What::kSend ? transport.isend(message, tag, &step.ticket)
                                                         : transport.irecv(message, tag, &step.ticket);
    step.pending = status.ok() && step.ticket != nullptr;
    if (!status.ok() && schedule.status.ok()) schedule.status = status;
  }
  static bool falls_silent(const Schedule& schedule, Transport& transport) {
    if constexpr (requires { transport.all_learn(schedule.status); })
      return !schedule.status.ok() && transport.all_learn(schedule.status);
    return false;
  }
  static bool wait(Schedule& schedule, Step& step, Transport& transport) {
    if (!step.pending) return true;
    if (!transport.done(step.ticket)) return false;
    uint64_t bytes = 0;
    Status status = transport.finish(step.ticket, &bytes);
    step.pending = false;
    if (!schedule.status.ok()) return true;  // the first failure is the one to report
    if (step.what == Step::What::kRecv && (!status.ok() || bytes != step.to.bytes()))
      status = explain_receive(schedule, step, status, bytes);
    schedule.status = status;
    return true;
  }
  static bool wait_all(Schedule& schedule, Transport& transport) {
    while (schedule.oldest < schedule.next) {
      if (!wait(schedule, schedule.steps[schedule.oldest], transport)) return false;
      ++schedule.oldest;
    }
    return true;
  }
};

}  // namespace vicinity::coll
