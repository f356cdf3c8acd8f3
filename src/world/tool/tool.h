// SPDX-License-Identifier: BSD-3-Clause
// The tools interface (MPI 5.0, chapter 15): what its files share. All of it works before MPI_Init and
// after MPI_Finalize, between MPI_T_init_thread and MPI_T_finalize.
#pragma once

#include <mpi.h>

#include <vector>

#include "base/param.h"
#include "base/status.h"
#include "object/datatype.h"
#include "object/error.h"

struct MPI_T_enum_t {
  const char* name;
  std::vector<const char*> items;  // by value, from 0
};

namespace vicinity::world::tool {

using base::fail;
using base::kOk;
using base::Status;

Status check_begun();

// Gives a string as 15.3.3 says: at most *length - 1 characters and a null; *length becomes what it takes
// to have it all. Either pointer may be null.
void give_text(const char* text, char* buffer, int* length);
template <class T, class V>
void give(T* out, V value) {
  if (out) *out = static_cast<T>(value);
}
Status check_index(int index, size_t count, const char* what);

// Control variables: all parameters, by name.
const std::vector<base::ParamBase*>& control_variables();

enum class Unit { kP2p, kChannel };  // the category of a performance variable

struct PerformanceVariable {
  const char* name;
  const char* text;
  int variable_class;
  Unit unit;
  bool per_peer;  // one element for each process of the table
  uint64_t (*read)(int argument, uint32_t peer);
  int argument;
};
const std::vector<PerformanceVariable>& performance_variables();

struct EventElement {
  const char* name;
  MPI_Datatype type;
  size_t offset, bytes;
};
struct EventType {
  const char* name;
  const char* text;
  const char* category;
  std::vector<EventElement> elements;
};
const std::vector<EventType>& event_types();  // by base::Event
void forget_events();                         // nobody listens any more

MPI_T_enum truth_enum();
bool is_enum(MPI_T_enum handle);

}  // namespace vicinity::world::tool
