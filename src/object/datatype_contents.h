// SPDX-License-Identifier: BSD-3-Clause
// How a datatype was constructed, kept in the form in which MPI_Type_get_contents returns it (MPI 5.0,
// 5.1.13). Types in the list are held by a reference each.
#pragma once

#include "object/datatype.h"
#include "object/growing.h"

namespace vicinity::object {

struct Description {
  int combiner = MPI_COMBINER_NAMED;
  bool large = false;  // constructed by a large count function: counts instead of integers and addresses
  Growing<int> integers;
  Growing<MPI_Aint> addresses;
  Growing<MPI_Count> counts;
  Growing<Datatype*> types;

  Description(int combiner, bool large) : combiner(combiner), large(large) {}
  Description(Description&&) = default;
  ~Description() {
    for (Datatype* used : types) release(used);
  }
  // Values that are int in the small form of the constructor and MPI_Count in the large one.
  void count(MPI_Count value) {
    if (large)
      counts.push_back(value);
    else
      integers.push_back(static_cast<int>(value));
  }
  void count(CountArray values, MPI_Count n) {
    for (MPI_Count i = 0; i < n; i++) count(values[static_cast<size_t>(i)]);
  }
  // Values that are MPI_Aint in the small form and MPI_Count in the large one.
  void address(MPI_Count value) {
    if (large)
      counts.push_back(value);
    else
      addresses.push_back(static_cast<MPI_Aint>(value));
  }
  void address(CountArray values, MPI_Count n) {
    for (MPI_Count i = 0; i < n; i++) address(values[static_cast<size_t>(i)]);
  }
  void type(Datatype& type) {
    if (types.push_back(&type)) retain(&type);
  }
  // Something of it is missing for want of memory.
  bool failed() const { return integers.failed() || addresses.failed() || counts.failed() || types.failed(); }
};

// What MPI_Type_get_contents copies for the user: a handle that the user may free. Predefined types
// stay as they are, others get one more owner.
MPI_Datatype hand_out(Datatype& type);

}  // namespace vicinity::object
