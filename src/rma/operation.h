// SPDX-License-Identifier: BSD-3-Clause
// Operation: one access by messages, from the call until its last answer (or, where none is wanted, its last
// message). It is the request of MPI_Rput and its siblings; of the other calls nobody sees it.
#pragma once

#include "object/datatype.h"
#include "object/request.h"
#include "rma/messages.h"

namespace vicinity::rma {

struct Peer;

struct Operation : object::Request {
  base::Link place;  // in Peer::queue while it has something to send
  Peer* peer = nullptr;
  What what = What::kPut;
  uint8_t op = 0;
  object::Basic basic = object::Basic::kNone;
  bool visible = false;           // the user has it as a request
  uint32_t id = 0;                // its name on the wire, 0: no answers wanted
  uint32_t step = 1;              // data is cut at multiples of this many bytes
  bool split = false;             // each step is a run of its own (Fold::split)
  uint64_t total = 0;             // bytes of data
  uint64_t sent = 0;              // or asked for
  uint64_t answered = 0;
  object::PackCursor source;      // what goes out
  object::PackCursor result;      // where answers go
  object::PackCursor target;      // the bytes meant at the target, from address 0 on
  object::Datatype* types[3]{};   // of the three, held
  Refusal refusal{};              // the first that came
  alignas(16) char swap[32];      // kSwap: compare, then desired
};

// nullptr when memory is gone. Memory of operations is never given back, so a stale handle is readable.
Operation* take_operation();
void give_operation(Operation* operation);

}  // namespace vicinity::rma
