// SPDX-License-Identifier: BSD-3-Clause
// When two phases are worth it: the same decision everywhere, from what all have said.
#include "io/collective.h"

#include <fcntl.h>

#include <algorithm>

#include "base/param.h"
#include "coll/coll.h"
#include "io/exchange.h"
#include "peer/peer.h"

namespace vicinity::io {
namespace {

base::Param<int64_t> run_below{
    "VICINITY_IO_BUFFER_BELOW",
    "io",
    4096,
    0,
    int64_t{1} << 40,
    "Collective accesses to files whose pieces interleave are brought together by aggregators when a piece "
    "is "
    "smaller than this on average, in bytes; the hints romio_cb_read and romio_cb_write overrule it."};

// Windows that hold less than one wanted byte in this many are left to their owners.
constexpr int64_t kSparse = 64;

Buffering wish(const File& file, bool writing) { return writing ? file.hints.write : file.hints.read; }

Part describe(const File& file, Status own, int64_t stream, const Buffer& raw) {
  Part part;
  part.ready = own.ok() && file.view.orderly;
  if (!own.ok()) return part;
  part.bytes = raw.count * raw.type->size;
  if (part.bytes == 0) return part;
  int64_t last = 0;
  if (!find_offset(file.view, stream, &part.first) || !find_offset(file.view, stream + part.bytes - 1, &last))
    part.ready = 0;
  part.end = last + 1;
  part.run_bytes = file.view.contiguous ? part.bytes : std::min(file.view.run_bytes, part.bytes);
  return part;
}

// Do the ranges of two processes overlap?
bool interleaved(std::vector<Part> parts) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.first < b.first; });
  int64_t end = INT64_MIN;
  for (const Part& part : parts) {
    if (part.bytes == 0) continue;
    if (part.first < end) return true;
    end = part.end;
  }
  return false;
}

bool worth(const std::vector<Part>& parts, Buffering wish, int64_t below) {
  int64_t low = INT64_MAX, high = 0;
  double bytes = 0, runs = 0;
  for (const Part& part : parts) {
    if (!part.ready) return false;
    if (part.bytes == 0) continue;
    low = std::min(low, part.first);
    high = std::max(high, part.end);
    bytes += static_cast<double>(part.bytes);
    runs += static_cast<double>(part.bytes) / static_cast<double>(std::max<int64_t>(part.run_bytes, 1));
  }
  if (bytes == 0 || bytes * kSparse < static_cast<double>(high - low)) return false;
  if (wish == Buffering::kAlways) return true;
  return bytes / runs < static_cast<double>(below) && interleaved(parts);
}

// One for each host, or as many as the hint says, spread over the hosts.
std::vector<int> choose_aggregators(const Communicator& comm, int64_t wanted) {
  std::vector<std::vector<int>> hosts;
  std::vector<const std::string*> names;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::string& name = peer::host_name(comm.proc(rank));
    const auto at = std::find_if(names.begin(), names.end(), [&](auto* other) { return *other == name; });
    const auto index = static_cast<size_t>(at - names.begin());
    if (at == names.end()) {
      names.push_back(&name);
      hosts.emplace_back();
    }
    hosts[index].push_back(rank);
  }
  const auto most = static_cast<size_t>(wanted > 0 ? std::min<int64_t>(wanted, comm.size())
                                                   : static_cast<int64_t>(hosts.size()));
  std::vector<int> chosen;
  for (size_t turn = 0; chosen.size() < most; ++turn)
    for (size_t host = 0; host < hosts.size() && chosen.size() < most; ++host)
      if (turn < hosts[host].size()) chosen.push_back(hosts[host][turn]);
  return chosen;
}

}  // namespace

Hints wished_hints(const File& file, const object::Info* info) {
  Hints hints = file.hints;
  if (info) read_hints(*info, &hints);
  hints.run_below = run_below.get();
  return hints;
}

Status set_hints(File& file, const object::Info* info) {
  Hints hints = file.comm->rank == 0 ? wished_hints(file, info) : file.hints;
  VICINITY_TRY(coll::bcast(&hints, sizeof hints, object::builtin(MPI_BYTE), 0, *file.comm));
  file.hints = hints;
  file.aggregators.assign(static_cast<size_t>(file.comm->size()), 0);
  if (file.comm->rank == 0) {
    const std::vector<int> chosen = choose_aggregators(*file.comm, hints.nodes);
    std::fill(file.aggregators.begin(), file.aggregators.end(), -1);
    std::copy(chosen.begin(), chosen.end(), file.aggregators.begin());
  }
  VICINITY_TRY(
      coll::bcast(file.aggregators.data(), file.comm->size(), object::builtin(MPI_INT), 0, *file.comm));
  file.aggregators.resize(static_cast<size_t>(
      std::find(file.aggregators.begin(), file.aggregators.end(), -1) - file.aggregators.begin()));
  if (hints.access_style[0]) posix_fadvise(file.fd, 0, 0, advice(hints));
  return kOk;
}

bool may_buffer(const File& file, bool writing) {
  const Buffering buffering = wish(file, writing);
  if (buffering == Buffering::kNever || file.atomic || file.comm->size() == 1) return false;
  return file.interleaves || buffering == Buffering::kAlways;
}

Status move_together(File& file, bool writing, Status own, int64_t stream, const Buffer& raw, int64_t* done) {
  std::vector<Part> parts(static_cast<size_t>(file.comm->size()));
  const Part mine = describe(file, own, stream, raw);
  Datatype& number = object::builtin(MPI_INT64_T);
  VICINITY_TRY(coll::allgather(&mine, 5, number, parts.data(), 5, number, *file.comm));
  if (!worth(parts, wish(file, writing), file.hints.run_below)) {
    VICINITY_TRY(own);
    return move_bytes(file.place(), writing, stream, raw, done);
  }
  Exchange exchange(file, parts, stream, raw);
  if (!writing) return exchange.read(done);
  const Status status = agree(*file.comm, exchange.write(), "writing by an aggregator");
  if (status.ok()) *done = mine.bytes;
  return status;
}

}  // namespace vicinity::io
