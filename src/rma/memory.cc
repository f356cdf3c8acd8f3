// SPDX-License-Identifier: BSD-3-Clause
// Agreeing on shared memory: the first rank creates it and offers it, the others open it and say whether
// they could, the first rank tells all how it went. Small messages on the control lane of the window.
#include "rma/memory.h"

#include "base/log.h"
#include "p2p/p2p.h"
#include "peer/extent.h"

namespace vicinity::rma {
namespace {

constexpr int kOffer = 1, kVerdict = 2;  // tags

struct Offer {
  int32_t code;  // of the creator's attempt
  int32_t spare;
  peer::ExtentOffer extent;
};

Datatype& bytes_type() { return object::builtin(MPI_BYTE); }

Status tell(Communicator& comm, int rank, int tag, const void* data, size_t bytes) {
  const auto count = static_cast<MPI_Count>(bytes);
  return p2p::send(data, count, bytes_type(), rank, tag, comm, object::Lane::kControl);
}
Status hear(Communicator& comm, int rank, int tag, void* data, size_t bytes) {
  const auto count = static_cast<MPI_Count>(bytes);
  return p2p::recv(data, count, bytes_type(), rank, tag, comm, object::Lane::kControl);
}

void note(int way, Status status) {
  VICINITY_LOG(kInfo, "shared memory for a window, attempt %d: %s", way + 1,
               base::failure_text(status.code()));
}

// The first rank's part of one attempt; `good` says how it ended for all.
Status offer_memory(Communicator& comm, const std::vector<int>& ranks, int way, uint64_t bytes,
                    region::Mapping* mapping, int32_t* good) {
  Offer offer{};
  const Status made = peer::create_extent(way, bytes, mapping, &offer.extent);
  if (!made.ok()) note(way, made);
  offer.code = made.code();
  *good = made.ok();
  for (int rank : ranks)
    if (rank != comm.rank) VICINITY_TRY(tell(comm, rank, kOffer, &offer, sizeof offer));
  for (int rank : ranks) {
    int32_t opened = 1;
    if (rank != comm.rank) VICINITY_TRY(hear(comm, rank, kVerdict, &opened, sizeof opened));
    *good &= opened == 1;
  }
  if (made.ok()) peer::seal_extent(offer.extent, mapping);
  for (int rank : ranks)
    if (rank != comm.rank) VICINITY_TRY(tell(comm, rank, kVerdict, good, sizeof *good));
  return kOk;
}

Status accept_memory(Communicator& comm, int creator, int way, uint64_t bytes, region::Mapping* mapping,
                     int32_t* good) {
  Offer offer{};
  VICINITY_TRY(hear(comm, creator, kOffer, &offer, sizeof offer));
  int32_t opened = 0;
  if (offer.code == 0 && offer.extent.bytes >= bytes) {
    const Status status = peer::open_extent(offer.extent, mapping);
    if (!status.ok()) note(way, status);
    opened = status.ok();
  }
  if (opened) mapping->close_descriptor();
  VICINITY_TRY(tell(comm, creator, kVerdict, &opened, sizeof opened));
  return hear(comm, creator, kVerdict, good, sizeof *good);
}

}  // namespace

std::vector<int> co_resident_ranks(const Communicator& comm) {
  std::vector<int> ranks;
  const Proc domain = peer::extent_domain(comm.proc(comm.rank));
  for (int rank = 0; rank < comm.size(); ++rank)
    if (peer::extent_domain(comm.proc(rank)) == domain) ranks.push_back(rank);
  return ranks;
}

Status share_memory(Communicator& comm, const std::vector<int>& ranks, uint64_t bytes,
                    region::Mapping* mapping) {
  for (int way = 0; way < peer::kExtentWays; ++way) {
    int32_t good = 0;
    VICINITY_TRY(comm.rank == ranks[0] ? offer_memory(comm, ranks, way, bytes, mapping, &good)
                                       : accept_memory(comm, ranks[0], way, bytes, mapping, &good));
    if (good) return kOk;
    *mapping = region::Mapping();
  }
  return kOk;
}

}  // namespace vicinity::rma
