// SPDX-License-Identifier: BSD-3-Clause
// Memory of schedules, and the Plan that appends steps to one.
#include "coll/schedule.h"

#include <algorithm>
#include <cstdio>

#include "coll/plan.h"

namespace vicinity::coll {

namespace {

// Free schedules; the engine lock guards it. A handful is enough: one per call in progress.
constexpr size_t kSpare = 16;
constexpr size_t kLargeProgram = 4096;  // steps; larger programs give their memory back
Schedule* spare[kSpare];
size_t spares = 0;

}  // namespace

Name mpi_name(Kind kind, Form form) {
  static constexpr const char* kStems[kKinds] = {"no collective",
                                                 "barrier",
                                                 "bcast",
                                                 "gather",
                                                 "gatherv",
                                                 "scatter",
                                                 "scatterv",
                                                 "allgather",
                                                 "allgatherv",
                                                 "alltoall",
                                                 "alltoallv",
                                                 "alltoallw",
                                                 "reduce",
                                                 "allreduce",
                                                 "reduce_scatter_block",
                                                 "reduce_scatter",
                                                 "scan",
                                                 "exscan",
                                                 "neighbor_allgather",
                                                 "neighbor_allgatherv",
                                                 "neighbor_alltoall",
                                                 "neighbor_alltoallv",
                                                 "neighbor_alltoallw"};
  const char* stem = kStems[static_cast<uint8_t>(kind)];
  Name name;
  if (kind == Kind::kNone) {
    snprintf(name.text, sizeof name.text, "%s", stem);
  } else if (form == Form::kNonblocking) {
    snprintf(name.text, sizeof name.text, "MPI_I%s", stem);
  } else {
    snprintf(name.text, sizeof name.text, "MPI_%c%s%s", stem[0] - 'a' + 'A', stem + 1,
             form == Form::kPersistent ? "_init" : "");
  }
  return name;
}

void Schedule::hold() {
  held = true;
  for (const Step& step : steps) {
    if (step.from.type) object::retain(step.from.type);
    if (step.to.type) object::retain(step.to.type);
  }
  if (op) object::retain(const_cast<Op*>(op));
}

void Schedule::let_go() {
  if (!held) return;
  held = false;
  for (const Step& step : steps) {
    if (step.from.type) object::release(step.from.type);
    if (step.to.type) object::release(step.to.type);
  }
  if (op) object::release(const_cast<Op*>(op));
}

void Schedule::clear() {
  let_go();
  for (const Temporary& temporary : temporaries) give_temporary(temporary);
  temporaries.clear();
  steps.clear();
  if (steps.capacity() > kLargeProgram) steps.shrink_to_fit();
  kind = Kind::kNone;
  form = Form::kBlocking;
  tag[0] = tag[1] = 0;
  op = nullptr;
  status = Status();
  next = oldest = 0;
}

Schedule* take_schedule() { return spares > 0 ? spare[--spares] : new (std::nothrow) Schedule; }

void give_schedule(Schedule* schedule) {
  schedule->clear();
  if (spares < kSpare) {
    spare[spares++] = schedule;
  } else {
    delete schedule;
  }
}

void drop_schedules() {
  while (spares > 0) delete spare[--spares];
}

Step& Plan::add(Step::What what) {
  Step& step = schedule_.steps.emplace_back();
  step.what = what;
  return step;
}

size_t Plan::send(const Typed& from, int peer, Side side) {
  Step& step = add(Step::What::kSend);
  step.side = side;
  step.peer = outside(peer);
  step.from = from;
  return schedule_.steps.size() - 1;
}

size_t Plan::recv(const Typed& to, int peer, Side side) {
  Step& step = add(Step::What::kRecv);
  step.side = side;
  step.peer = outside(peer);
  step.to = to;
  return schedule_.steps.size() - 1;
}

void Plan::wait(size_t index) { add(Step::What::kWait).peer = static_cast<int>(index); }

void Plan::wait_all() {
  // Two in a row are one; the end of the program waits anyway.
  if (!schedule_.steps.empty() && schedule_.steps.back().what != Step::What::kWaitAll)
    add(Step::What::kWaitAll);
}

// A barrier behind the last message makes it unnecessary to look further back.
void Plan::wait_received() {
  for (size_t i = schedule_.steps.size(); i-- > 0;) {
    const Step::What what = schedule_.steps[i].what;
    if (what == Step::What::kWaitAll) return;
    if (what == Step::What::kRecv) wait(i);
  }
}

void Plan::copy(const Typed& from, const Typed& to) {
  if (from.count == 0 || to.count == 0 || from.type->size == 0 || to.type->size == 0) return;
  if (from.at == to.at && from.type == to.type) return;
  Step& step = add(Step::What::kCopy);
  step.from = from;
  step.to = to;
}

void Plan::reduce(const Typed& in, const Typed& inout) {
  if (inout.count == 0) return;
  Step& step = add(Step::What::kReduce);
  step.from = in;
  step.to = inout;
}

char* Plan::bytes(uint64_t count) {
  const Temporary temporary = take_temporary(count);
  if (!temporary.memory) {
    static char nothing[64];
    if (schedule_.status.ok()) {
      schedule_.status =
          object::fail(MPI_ERR_NO_MEM, "%s needs %llu bytes of temporary memory; malloc refused",
                       schedule_.name().text, static_cast<unsigned long long>(count));
    }
    return nothing;
  }
  schedule_.temporaries.push_back(temporary);
  return temporary.memory;
}

Typed Plan::packed(uint64_t count) { return as_bytes(bytes(count), count); }

Typed Plan::like(MPI_Count count, Datatype& type) {
  if (count == 0) return {bytes(0), 0, &type};
  // The elements span from the lowest first byte to the highest last byte; extents may be negative.
  const MPI_Count last = (count - 1) * type.extent;
  const MPI_Count low = std::min<MPI_Count>(0, last) + type.true_lb;
  const MPI_Count high = std::max<MPI_Count>(0, last) + type.true_lb + type.true_extent;
  return {shift(bytes(static_cast<uint64_t>(high - low)), -low), count, &type};
}

Typed as_bytes(void* at, uint64_t count) {
  return {at, static_cast<MPI_Count>(count), &object::builtin(MPI_BYTE)};
}

Typed run_of(const Typed& typed) { return as_bytes(shift(typed.at, typed.type->true_lb), typed.bytes()); }

}  // namespace vicinity::coll
