// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking accesses: one thread of the library reads and writes, whatever the program does meanwhile.
//
// The thread sees an Operation between launch() and `over`, and touches nothing but bytes. All else, the
// conversion of what was read and the completion of the request, is done by the poller, under the engine's
// lock.
#pragma once

#include <atomic>
#include <string>

#include "io/file.h"
#include "object/request.h"

namespace vicinity::io {

struct Operation : object::Request {
  File* file = nullptr;      // held
  View view;                 // as it was when the access began
  Datatype* type = nullptr;  // held: that of the user's buffer
  bool writing = false;
  int64_t stream = 0;
  Staging staging;
  // Of the thread, until `over`.
  int64_t done = 0;
  Status result;
  std::string words;
  Operation* next = nullptr;
  std::atomic<bool> over{false};
};

// nullptr: there is no memory. `collective` requests must not be freed by the user.
Operation* make_operation(File& file, bool writing, Datatype& type, bool collective);
// Begins what staging and stream describe; small accesses are over at once, and only these fail here.
Status launch(Operation& operation);
// Of one that was not launched, or failed there.
void abandon(Operation& operation);

}  // namespace vicinity::io
