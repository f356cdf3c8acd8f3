// SPDX-License-Identifier: BSD-3-Clause
// The progress thread (VICINITY_PROGRESS_THREAD): moves messages and collectives on while the program
// computes. It is there for the whole time in which MPI may be called, except while the library begins or
// ends something.
#pragma once

namespace vicinity::world {

// Whether the user asks for one. Then the engine lock is real at every thread level.
bool wants_progress_thread();
// Starts it, if it is wanted and not there yet.
void start_progress_thread();
void stop_progress_thread();  // the engine lock is not held

// No progress thread for the life of this object: for doors that begin or end the library, which hold no
// lock.
class WithoutProgressThread {
 public:
  WithoutProgressThread() { stop_progress_thread(); }
  ~WithoutProgressThread();
  WithoutProgressThread(const WithoutProgressThread&) = delete;
  WithoutProgressThread& operator=(const WithoutProgressThread&) = delete;
};

}  // namespace vicinity::world
