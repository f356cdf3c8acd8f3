// SPDX-License-Identifier: BSD-3-Clause
// Communicators as every room sees them. world/ constructs them, p2p/ and coll/ use them.
//
// Context ids: each communicator owns four consecutive ids on the wire, one per lane, so that the
// library's own traffic can never match the user's.
#pragma once

#include "object/attribute.h"
#include "object/errhandler.h"
#include "object/group.h"
#include "object/handle.h"
#include "object/info.h"

namespace vicinity::coll {
struct CommState;
}
namespace vicinity::p2p {
struct CommState;
struct AttachedBuffer;
}  // namespace vicinity::p2p

namespace vicinity::object {

struct Topology;

enum class Lane : uint32_t { kUser = 0, kCollective = 1, kPartitioned = 2, kControl = 3 };
inline constexpr uint32_t kLanes = 4;

// The value of MPI_TAG_UB. The library's own traffic on Lane::kControl uses the tags above it.
inline constexpr int kTagUpperBound = 0x3fffffff;

struct Communicator : Object {
  uint32_t context = 0;                 // multiple of kLanes, equal on all members
  int rank = 0;                         // in `group`
  Group* group = nullptr;               // local group
  Group* remote = nullptr;              // remote group of an intercommunicator, else nullptr
  Communicator* local = nullptr;        // of an intercommunicator: its local group as intracommunicator
  const Communicator* whole = nullptr;  // of such a local group: the intercommunicator
  bool low_group = false;               // of an intercommunicator: this side goes first when sides differ
  Errhandler* errhandler = nullptr;
  Attributes attributes;
  Info* hints = nullptr;
  char name[MPI_MAX_OBJECT_NAME] = "";
  Topology* topology = nullptr;           // owned by world/
  coll::CommState* coll = nullptr;        // owned by coll/, made at the first collective
  p2p::CommState* p2p = nullptr;          // owned by p2p/, made at the first message
  p2p::AttachedBuffer* buffer = nullptr;  // MPI_Comm_attach_buffer
  uintptr_t session = 0;                  // handle of the session it was derived from, 0: world model
  uint32_t agreements = 0;                // constructions begun over it; equal on all members (world/)
  bool revoked = false;                   // by revoke() only

  bool inter() const { return remote != nullptr; }
  int size() const { return group->size(); }
  // Whom ranks in calls name: the remote group of an intercommunicator, else the group itself.
  const Group& peers() const { return remote ? *remote : *group; }
  Proc proc(int rank) const { return peers().procs[static_cast<size_t>(rank)]; }
  uint32_t wire_context(Lane lane) const { return context + static_cast<uint32_t>(lane); }

  // Of one of the groups; those of an intercommunicator's local group are those of the whole.
  bool has_member(Proc proc) const {
    if (whole) return whole->has_member(proc);
    return group->rank_of(proc) != MPI_UNDEFINED || peers().rank_of(proc) != MPI_UNDEFINED;
  }
  static void finish(Communicator* comm);
};

// MPI_COMM_WORLD and MPI_COMM_SELF; world/ sets them while it runs. Revoked, they are in the second array.
extern Communicator* predefined_communicators[2];
extern Communicator* revoked_predefined[2];

// lookup() finds it no more, so that no door has to ask whether it is revoked; find_revoked() does.
void mark_revoked(Communicator& comm);
Communicator* find_revoked(MPI_Comm handle);  // nullptr: it is no communicator, or a good one
// Called by finish() first: takes down what belongs to p2p/, coll/ and world/. Set by world/.
extern void (*communicator_cleanup)(Communicator& comm);

template <>
struct HandleTraits<Communicator> {
  using Handle = MPI_Comm;
  static constexpr Kind kKind = Kind::kComm;
  static Communicator* predefined(uintptr_t constant) {  // WORLD and SELF once initialised, else nullptr
    const uintptr_t index = constant - reinterpret_cast<uintptr_t>(MPI_COMM_WORLD);
    return index < 2 ? predefined_communicators[index] : nullptr;
  }
};

}  // namespace vicinity::object
