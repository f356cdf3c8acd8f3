// SPDX-License-Identifier: BSD-3-Clause
// Reading in two phases. An aggregator learns what of its window is wanted, reads it at once, holes and all,
// and answers each with its bytes up to the end of the file.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "io/exchange.h"
#include "io/exchange_tags.h"
#include "p2p/p2p.h"

namespace vicinity::io {

Status Exchange::read(int64_t* done) {
  *done = 0;
  for (int64_t round = 0; round < domains_.rounds; ++round) {
    ask(round);
    if (own_ < pieces_.size()) serve_window(domains_.window(own_, round));
    land(done);
    finish_sends();
  }
  return status_;
}

void Exchange::ask(int64_t round) {
  const Part& mine = parts_[static_cast<size_t>(file_.comm->rank)];
  for (size_t i = 0; i < pieces_.size(); ++i) {
    Piece& piece = pieces_[i];
    piece.head.bytes = piece.landed_bytes = 0;
    if (!mine.touches(domains_.window(i, round))) continue;
    list_piece(i, round, false);
    if (i == own_) continue;
    send_head(piece, file_.aggregators[i]);
    if (piece.head.bytes == 0) continue;
    Datatype& byte = object::builtin(MPI_BYTE);
    const int from = file_.aggregators[i];
    constexpr auto kLane = object::Lane::kUser;
    piece.reply = MPI_ERR_OTHER;
    note(
        p2p::irecv(&piece.reply, sizeof piece.reply, byte, from, kReply, *file_.comm, kLane, &piece.replied));
    note(p2p::irecv(piece.data, piece.head.bytes, byte, from, kAnswer, *file_.comm, kLane, &piece.landed));
  }
}

void Exchange::serve_window(Window window) {
  const Window part = used(window);
  if (part.empty()) return;
  std::vector<std::unique_ptr<Wish>> wishes;
  for (int rank = 0; rank < file_.comm->size(); ++rank) {
    if (!parts_[static_cast<size_t>(rank)].touches(window) || rank == file_.comm->rank) continue;
    wishes.emplace_back(new Wish{rank});
    if (!receive_wish(*wishes.back(), window)) wishes.pop_back();
  }
  const int64_t end = status_.ok() ? fetch(window, part) : part.begin;
  const Status fetched = status_;
  Piece& piece = pieces_[own_];
  if (piece.head.bytes > 0 && fetched.ok()) {
    Wish own{file_.comm->rank};
    own.head = piece.head;
    own.groups = piece.list.groups();
    piece.landed_bytes = collect(own, window, end, piece.data);
  }
  for (const auto& wish : wishes)
    if (wish->head.bytes > 0) answer(*wish, window, end, fetched);
}

// Reads `part`; where the file ends, or the part.
int64_t Exchange::fetch(Window window, Window part) {
  if (!window_.reserve(static_cast<size_t>(window.end - window.begin))) {
    note(fail(MPI_ERR_NO_MEM, "no memory for a window of %lld bytes of the file",
              (long long)(window.end - window.begin)));
    return part.begin;
  }
  iovec piece{window_.data() + (part.begin - window.begin), static_cast<size_t>(part.end - part.begin)};
  const int64_t got = move_pieces(file_.fd, false, &piece, 1, part.begin);
  if (got < 0) note(system_error(errno, "reading", file_.name));
  return part.begin + std::max<int64_t>(got, 0);
}

// Its bytes one after the other; how many there are before the end.
int64_t Exchange::collect(const Wish& wish, Window window, int64_t end, char* to) {
  const char* const from = window_.data();
  char* const begin = to;
  for_each_run(wish.groups, static_cast<size_t>(wish.head.groups), window.begin,
               [&](int64_t offset, int64_t bytes) {
                 const auto some = static_cast<size_t>(std::clamp<int64_t>(end - offset, 0, bytes));
                 memcpy(to, from + (offset - window.begin), some);
                 to += some;
               });
  return to - begin;
}

// Whoever asked gets an answer, whatever has happened.
void Exchange::answer(const Wish& wish, Window window, int64_t end, Status fetched) {
  int64_t bytes = 0;
  if (fetched.ok() && !arena_.reserve(static_cast<size_t>(wish.head.bytes)))
    fetched = fail(MPI_ERR_NO_MEM, "no memory for the %lld bytes of rank %d", (long long)wish.head.bytes,
                   wish.rank);
  if (fetched.ok()) bytes = collect(wish, window, end, arena_.data());
  note(fetched);
  const int64_t code = fetched.code();
  Datatype& byte = object::builtin(MPI_BYTE);
  constexpr auto kLane = object::Lane::kUser;
  note(p2p::send(&code, sizeof code, byte, wish.rank, kReply, *file_.comm, kLane));
  note(p2p::send(arena_.data(), bytes, byte, wish.rank, kAnswer, *file_.comm, kLane));
}

// Waits for what was asked, and puts it where the user wants it.
void Exchange::land(int64_t* done) {
  for (Piece& piece : pieces_) {
    int64_t bytes = piece.landed_bytes;
    if (piece.replied) note(p2p::finish(std::exchange(piece.replied, nullptr)));
    if (piece.landed) {
      MPI_Status status = object::empty_status();
      note(p2p::finish(std::exchange(piece.landed, nullptr), &status));
      bytes = object::get_bytes(status);
      if (piece.reply != MPI_SUCCESS)
        note(fail(static_cast<int>(piece.reply), "reading by an aggregator failed"));
    }
    if (bytes > 0 && piece.data == piece.packed.data()) {
      object::PackCursor cursor(raw_.address, raw_.count, *raw_.type);
      cursor.seek(static_cast<uint64_t>(piece.position));
      cursor.unpack(piece.data, static_cast<size_t>(bytes));
    }
    *done += bytes;
    piece.position += piece.list.bytes();
    piece.list.clear(0);
  }
}

}  // namespace vicinity::io
