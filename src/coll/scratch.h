// SPDX-License-Identifier: BSD-3-Clause
// Private memory for operands of reductions.
#pragma once

#include <algorithm>

#include "coll/schedule.h"
#include "coll/temporary.h"
#include "object/error.h"

namespace vicinity::coll {

// Private memory laid out as `count` elements of `type`: what user functions and types with gaps need.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { give_temporary(memory_); }
  Status make(MPI_Count count, Datatype& type) {
    const MPI_Count last = (count - 1) * type.extent;
    const MPI_Count low = std::min<MPI_Count>(0, last) + type.true_lb;
    const MPI_Count high = std::max<MPI_Count>(0, last) + type.true_lb + type.true_extent;
    memory_ = take_temporary(static_cast<size_t>(high - low));
    if (!memory_.memory)
      return object::fail(MPI_ERR_NO_MEM, "a reduction needs %lld bytes of temporary memory; malloc refused",
                          static_cast<long long>(high - low));
    typed = {shift(memory_.memory, -low), count, &type};
    return object::kOk;
  }
  Typed typed;

 private:
  Temporary memory_;
};

}  // namespace vicinity::coll
