// SPDX-License-Identifier: BSD-3-Clause
// What the environment chapter tells about this process.
#pragma once

#include "object/communicator.h"
#include "object/info.h"

namespace vicinity::world {

// Fills MPI_INFO_ENV (MPI 5.0, 11.2.1) with what can be known; once.
void fill_environment_info();
// The pairs that describe a program started with this command line.
void describe_command(object::Info& info, int argc, char** argv);
const char* thread_level_name(int level);

// Predefined attributes of MPI_COMM_WORLD (9.1.2); false: `keyval` is none of them.
bool predefined_attribute(int keyval, void** value, bool* found);
void set_predefined_attributes();

// Hints that the library knows on communicators and sessions; others are ignored (chapter 10).
inline constexpr const char* kMemoryKinds = "mpi_memory_alloc_kinds";
inline constexpr const char* kMemoryKindsHere = "system,mpi";
void accept_hints(object::Info*& hints, const object::Info* given);
object::Info* report_hints(const object::Info* hints);

}  // namespace vicinity::world
