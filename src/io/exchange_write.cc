// SPDX-License-Identifier: BSD-3-Clause
// Writing in two phases. An aggregator puts the pieces of a window where they belong, notes which bytes it
// has got, and writes what hangs together at once. Holes are never written: another program may write there.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "io/exchange.h"
#include "io/exchange_tags.h"

namespace vicinity::io {

Status Exchange::write() {
  for (int64_t round = 0; round < domains_.rounds; ++round) {
    send_pieces(round);
    if (own_ < pieces_.size()) gather_window(domains_.window(own_, round));
    finish_sends();
  }
  return status_;
}

void Exchange::send_pieces(int64_t round) {
  const Part& mine = parts_[static_cast<size_t>(file_.comm->rank)];
  for (size_t n = 0; n < pieces_.size(); ++n) {
    const size_t i =
        (static_cast<size_t>(file_.comm->rank) + n) % pieces_.size();  // not all to the same first
    if (!mine.touches(domains_.window(i, round))) continue;
    Piece& piece = pieces_[i];
    list_piece(i, round, true);
    piece.position += piece.list.bytes();
    if (i == own_) continue;
    send_head(piece, file_.aggregators[i]);
    if (piece.head.bytes > 0) send(piece.data, piece.head.bytes, file_.aggregators[i], kData);
  }
}

void Exchange::gather_window(Window window) {
  const Window part = used(window);
  if (part.empty()) return;
  const auto size = static_cast<size_t>(window.end - window.begin);
  const bool room = window_.reserve(size) && covered_.reserve(size);
  if (room)
    memset(covered_.data() + (part.begin - window.begin), 0, static_cast<size_t>(part.end - part.begin));
  else
    note(fail(MPI_ERR_NO_MEM, "no memory for a window of %zu bytes of the file", size));
  for (int rank = 0; rank < file_.comm->size(); ++rank) {
    if (!parts_[static_cast<size_t>(rank)].touches(window)) continue;
    Wish wish{rank};
    const char* data = rank == file_.comm->rank ? own_piece(wish) : received_piece(wish, window);
    if (data && room) scatter(wish, data, window);
  }
  if (room && status_.ok()) write_window(window, part);
}

const char* Exchange::own_piece(Wish& wish) {
  const Piece& piece = pieces_[own_];
  wish.head = piece.head;
  wish.groups = piece.list.groups();
  return piece.data;
}

// nullptr: there is nothing, or nothing of use.
const char* Exchange::received_piece(Wish& wish, Window window) {
  if (!receive_wish(wish, window) || wish.head.bytes == 0) return nullptr;
  const bool room = arena_.reserve(static_cast<size_t>(wish.head.bytes));
  if (!room)
    note(fail(MPI_ERR_NO_MEM, "no memory for %lld bytes of rank %d", (long long)wish.head.bytes, wish.rank));
  const bool came = receive(arena_.data(), room ? wish.head.bytes : 0, wish.rank, kData);
  return came && room ? arena_.data() : nullptr;
}

void Exchange::scatter(const Wish& wish, const char* data, Window window) {
  char* const to = window_.data();
  char* const covered = covered_.data();
  for_each_run(wish.groups, static_cast<size_t>(wish.head.groups), window.begin,
               [&](int64_t offset, int64_t bytes) {
                 memcpy(to + (offset - window.begin), data, static_cast<size_t>(bytes));
                 memset(covered + (offset - window.begin), 1, static_cast<size_t>(bytes));
                 data += bytes;
               });
}

void Exchange::write_window(Window window, Window part) {
  const char* const begin = covered_.data() + (part.begin - window.begin);
  const char* const end = begin + (part.end - part.begin);
  char* const bytes = window_.data() + (part.begin - window.begin);
  const auto next = [&](const char* from, char value) {
    const void* found = memchr(from, value, static_cast<size_t>(end - from));
    return found ? static_cast<const char*>(found) : end;
  };
  for (const char *at = next(begin, 1), *stop; at != end; at = next(stop, 1)) {
    stop = next(at, 0);
    iovec piece{bytes + (at - begin), static_cast<size_t>(stop - at)};
    if (move_pieces(file_.fd, true, &piece, 1, part.begin + (at - begin)) >= 0) continue;
    note(system_error(errno, "writing", file_.name));
    return;
  }
}

}  // namespace vicinity::io
