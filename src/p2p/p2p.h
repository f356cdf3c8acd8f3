// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point inside the library: what coll/, world/ and rma/ use. The MPI_ functions of chapter 3
// are in p2p/entry_*.cc with the signatures that the doors' generator declares.
#pragma once

#include <cstddef>
#include <vector>

#include "channel/channel.h"
#include "object/communicator.h"
#include "object/datatype.h"
#include "object/request.h"

namespace vicinity::p2p {

using object::Communicator;
using object::Datatype;
using object::Lane;
using object::Request;
using object::Status;

enum class Mode : uint8_t { kStandard, kSynchronous, kReady, kBuffered };

// Ranks are those of comm.peers(); MPI_PROC_NULL is fine. `*request` is complete or in progress; give it
// back with finish(). Arguments have been checked.
Status isend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm,
             Lane lane, Mode mode, Request** request);
Status irecv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Communicator& comm, Lane lane,
             Request** request);

// Waits for completion, copies the status if asked, gives the request back, returns its error.
Status finish(Request* request, MPI_Status* status = nullptr);
// Gives back a complete request without waiting.
void discard(Request* request);
// Gives it back as soon as it is complete. True: it was.
bool let_go(Request* request);

Status send(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm,
            Lane lane);
Status recv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Communicator& comm, Lane lane,
            MPI_Status* status = nullptr);
Status sendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag,
                void* recvbuf, MPI_Count recvcount, Datatype& recvtype, int source, int recvtag,
                Communicator& comm, Lane lane, MPI_Status* status = nullptr);

// The tag of the oldest message of `source` that nobody has received yet and that `skip(context, tag)` does
// not pass over; false when there is none.
bool peek(int source, Communicator& comm, Lane lane, int* tag,
          bool (*skip)(const void* context, int tag) = nullptr, const void* context = nullptr);

// kOk, or which member of the communicator is gone, and why; or that it has been revoked.
Status all_alive(const Communicator& comm);
// The same of some ranks; none: of all.
Status all_alive(const Communicator& comm, const std::vector<int>& ranks);

// --- failures and revocation (docs/design/fault-tolerance.md) ---
// The members of both groups that this process knows to be lost; the order never changes.
std::vector<channel::Proc> failed(const Communicator& comm);
// Receives from any source no longer mind the first `count` of them; returns how many they do not mind.
int acknowledge(Communicator& comm, int count);
int acknowledged(const Communicator& comm);
// The communicator has its context now: it can be revoked by others, and hears of lost members.
void introduce(Communicator& comm);
// Ends all communication on it here, and lets all members do the same.
void revoke(Communicator& comm);
// Who takes part in agreements among survivors (fault/).
class Survival {
 public:
  virtual void heard(channel::Proc from, uint32_t context, const std::byte* body, size_t bytes) = 0;
  virtual void lost(channel::Proc proc) = 0;
  // A message of `from` found no memory here.
  virtual void missed(channel::Proc from, uint32_t context) = 0;
  // `from` has missed one, or knows of somebody who has.
  virtual void abandoned(channel::Proc from, uint32_t context) = 0;
  virtual void introduced(Communicator& comm) = 0;

 protected:
  ~Survival() = default;
};
void set_survival(Survival* survival);
// Sends a message of such an agreement, no longer than one message of the channel; or that it is abandoned.
enum class Sent : uint8_t { kYes, kGone, kNoMemory };
Sent send_survival(channel::Proc to, uint32_t context, const std::byte* body, size_t bytes);
Sent send_abandon(channel::Proc to, uint32_t context);
// The communicator of this context, if it is there; and whether it was there once.
Communicator* communicator(uint32_t context);
bool was_freed(uint32_t context);

// Called by world/: before the first and after the last message; when a communicator dies.
Status start();
// Where channels hand in what arrives; world/ gives it to peer::start(). Valid after start().
channel::Sink& sink();
// Who takes the messages of kinds from kFirstOneSided on, and hears of lost peers too. Its tokens are
// addresses of objects of at least two bytes.
void set_one_sided(channel::Sink* sink);
// Makes progress until everything handed over so far has left this process, buffered sends too. MPI_Finalize
// calls it before and after its barrier, so that no peer waits for a message of a process that is gone.
Status drain();
Status stop();  // all buffered sends delivered; unexpected messages dropped
void forget(Communicator& comm);

// For performance variables.
uint64_t unexpected_count();
uint64_t posted_count();

}  // namespace vicinity::p2p
