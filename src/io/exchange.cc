// SPDX-License-Identifier: BSD-3-Clause
// What both directions share: domains, windows, pieces and their messages.
#include "io/exchange.h"

#include <algorithm>

#include "io/exchange_tags.h"
#include "p2p/p2p.h"

namespace vicinity::io {

Domains::Domains(const std::vector<Part>& parts, size_t aggregators, int64_t block, int64_t buffer_bytes)
    : low(INT64_MAX), buffer(buffer_bytes) {
  for (const Part& part : parts) {
    if (part.bytes == 0) continue;
    low = std::min(low, part.first);
    high = std::max(high, part.end);
  }
  low = std::min(low, high) / block * block;
  const auto count = static_cast<int64_t>(aggregators);
  const int64_t share = (high - low + count - 1) / count;
  size = (share + block - 1) / block * block;
  rounds = (size + buffer - 1) / buffer;
}

Window Domains::domain(size_t aggregator) const {
  const int64_t begin = low + static_cast<int64_t>(aggregator) * size;
  return {std::min(begin, high), std::min(begin + size, high)};
}

Window Domains::window(size_t aggregator, int64_t round) const {
  const Window all = domain(aggregator);
  const int64_t begin = all.begin + round * buffer;
  return {std::min(begin, all.end), std::min(begin + buffer, all.end)};
}

Exchange::Exchange(File& file, const std::vector<Part>& parts, int64_t stream, const Buffer& raw)
    : file_(file),
      parts_(parts),
      stream_(stream),
      raw_(raw),
      domains_(parts, file.aggregators.size(), file.hints.block_bytes, file.hints.buffer_bytes),
      own_(static_cast<size_t>(std::find(file.aggregators.begin(), file.aggregators.end(), file.comm->rank) -
                               file.aggregators.begin())),
      pieces_(file.aggregators.size()) {
  const Part& mine = parts[static_cast<size_t>(file.comm->rank)];
  const int64_t end = stream + mine.bytes;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const Window domain = domains_.domain(i);
    if (!mine.touches(domain)) continue;
    const int64_t from = std::clamp(stream_before(file.view, domain.begin), stream, end);
    pieces_[i].runs = std::make_unique<WindowRuns>(file.view, from, end);
    pieces_[i].position = from - stream;
  }
}

void Exchange::note(Status status) {
  if (status_.ok()) status_ = status;
}

// What we touch of the aggregator's window, and where its bytes are or will be. Without memory we touch
// nothing.
void Exchange::list_piece(size_t aggregator, int64_t round, bool writing) {
  Piece& piece = pieces_[aggregator];
  if (!piece.runs->list(domains_.window(aggregator, round), &piece.list))
    note(fail(MPI_ERR_ARG, "the access reaches beyond the largest offset of a file"));
  const int64_t bytes = piece.list.bytes();
  const Datatype& type = *raw_.type;
  const bool dense = type.dense && (raw_.count <= 1 || type.extent == type.size);
  bool room = !piece.list.failed();
  if (room && dense) {
    piece.data = static_cast<char*>(object::data_start(raw_.address, type)) + piece.position;
  } else if (room && (room = piece.packed.reserve(static_cast<size_t>(bytes)))) {
    piece.data = piece.packed.data();
    object::PackCursor cursor(raw_.address, raw_.count, type);
    cursor.seek(static_cast<uint64_t>(piece.position));
    if (writing) cursor.pack(piece.data, static_cast<size_t>(bytes));
  }
  piece.head = {room ? bytes : 0, room ? static_cast<int64_t>(piece.list.size()) : 0, {}};
  if (!room) note(fail(MPI_ERR_NO_MEM, "no memory for the pieces of a collective access"));
  std::copy_n(piece.list.groups(), std::min<int64_t>(piece.head.groups, kInline), piece.head.first);
}

void Exchange::send(const void* data, int64_t bytes, int to, int tag) {
  object::Request* request = nullptr;
  const Status status = p2p::isend(data, bytes, object::builtin(MPI_BYTE), to, tag, *file_.comm,
                                   object::Lane::kUser, p2p::Mode::kStandard, &request);
  if (status.ok())
    sends_.push_back(request);
  else
    note(status);
}

void Exchange::send_head(const Piece& piece, int to) {
  send(&piece.head, sizeof piece.head, to, kHead);
  if (piece.head.groups > static_cast<int64_t>(kInline))
    send(piece.list.groups(), piece.head.groups * static_cast<int64_t>(sizeof(RunGroup)), to, kGroups);
}

void Exchange::finish_sends() {
  for (object::Request* request : sends_) note(p2p::finish(request));
  sends_.clear();
}

// False: nothing came, because the other is gone or there is no room.
bool Exchange::receive(void* data, int64_t bytes, int from, int tag) {
  const Status status =
      p2p::recv(data, bytes, object::builtin(MPI_BYTE), from, tag, *file_.comm, object::Lane::kUser);
  note(status);
  return status.ok();
}

// Its head and its runs, which are ours to check. What cannot be kept is received all the same.
bool Exchange::receive_wish(Wish& wish, Window window) {
  if (!receive(&wish.head, sizeof wish.head, wish.rank, kHead)) return false;
  wish.groups = wish.head.first;
  int64_t size = 0;
  if (wish.head.bytes < 0 || wish.head.groups < 0 ||
      __builtin_mul_overflow(wish.head.groups, static_cast<int64_t>(sizeof(RunGroup)), &size)) {
    note(fail(MPI_ERR_INTERN, "rank %d sent a wish that makes no sense", wish.rank));
    return false;
  }
  bool good = true;
  if (wish.head.groups > static_cast<int64_t>(kInline)) {
    const bool room = wish.more.reserve(static_cast<size_t>(size));
    if (!room) note(fail(MPI_ERR_NO_MEM, "no memory for the pieces of rank %d", wish.rank));
    good = receive(wish.more.data(), room ? size : 0, wish.rank, kGroups) && room;
    wish.groups = reinterpret_cast<const RunGroup*>(wish.more.data());
  }
  if (good && !valid(wish.groups, static_cast<size_t>(wish.head.groups), window, wish.head.bytes)) {
    note(fail(MPI_ERR_INTERN, "rank %d sent runs outside of the window of the file", wish.rank));
    good = false;
  }
  if (!good) wish.head.groups = 0;
  return true;
}

// The part of a window that somebody may touch.
Window Exchange::used(Window window) const {
  Window sum{window.end, window.begin};
  for (const Part& part : parts_) {
    if (!part.touches(window)) continue;
    sum.begin = std::min(sum.begin, std::max(part.first, window.begin));
    sum.end = std::max(sum.end, std::min(part.end, window.end));
  }
  return sum;
}

}  // namespace vicinity::io
