// SPDX-License-Identifier: BSD-3-Clause
// The two phases themselves: pieces to or from the aggregators, round by round.
//
// The range that all processes touch is cut into one domain for each aggregator, and the domains into
// windows; in a round each aggregator serves one window. Who touches a window sends a head (how many bytes,
// which runs) and, when writing, the bytes; when reading, the aggregator answers with a code and the bytes up
// to the end of the file. Who touches what is known to all, so nobody waits for a message that does not come.
#pragma once

#include <memory>
#include <vector>

#include "io/file.h"
#include "io/runs.h"

namespace vicinity::io {

// What a process says of its access before it begins. Travels as eight-byte numbers.
struct Part {
  int64_t first = 0, end = 0;  // what it touches of the file: [first, end)
  int64_t bytes = 0;
  int64_t run_bytes = 0;  // of a run, on average
  int64_t ready = 0;      // nothing has failed, and its view rises
  bool touches(Window window) const { return bytes > 0 && first < window.end && end > window.begin; }
};
static_assert(sizeof(Part) == 40, "parts travel as numbers");

// Who serves what.
struct Domains {
  Domains(const std::vector<Part>& parts, size_t aggregators, int64_t block, int64_t buffer);
  Window domain(size_t aggregator) const;
  Window window(size_t aggregator, int64_t round) const;
  int64_t low = 0, high = 0, size = 0, buffer = 0, rounds = 0;
};

class Exchange {
 public:
  Exchange(File& file, const std::vector<Part>& parts, int64_t stream, const Buffer& raw);
  Status write();
  Status read(int64_t* done);

 private:
  static constexpr size_t kInline = 6;
  struct Head {
    int64_t bytes, groups;
    RunGroup first[kInline];  // more of them are a message of their own
  };
  // Our piece for one aggregator in one round.
  struct Piece {
    std::unique_ptr<WindowRuns> runs;
    int64_t position = 0;  // in the raw buffer
    RunList list;
    Head head{};
    Bytes packed;
    char* data = nullptr;
    int64_t reply = 0;         // a code
    int64_t landed_bytes = 0;  // of our own window
    object::Request *replied = nullptr, *landed = nullptr;
  };
  // What another wants of our window.
  struct Wish {
    int rank;
    Head head;
    Bytes more;
    const RunGroup* groups = nullptr;
  };

  void note(Status status);
  void list_piece(size_t aggregator, int64_t round, bool writing);
  void send(const void* data, int64_t bytes, int to, int tag);
  void send_head(const Piece& piece, int to);
  void finish_sends();
  bool receive(void* data, int64_t bytes, int from, int tag);
  bool receive_wish(Wish& wish, Window window);
  Window used(Window window) const;

  void send_pieces(int64_t round);
  void gather_window(Window window);
  void scatter(const Wish& wish, const char* data, Window window);
  const char* own_piece(Wish& wish);
  const char* received_piece(Wish& wish, Window window);
  void write_window(Window window, Window part);

  void ask(int64_t round);
  void serve_window(Window window);
  int64_t fetch(Window window, Window part);
  int64_t collect(const Wish& wish, Window window, int64_t end, char* to);
  void answer(const Wish& wish, Window window, int64_t end, Status fetched);
  void land(int64_t* done);

  File& file_;
  const std::vector<Part>& parts_;
  const int64_t stream_;
  const Buffer raw_;
  const Domains domains_;
  const size_t own_;  // our index among the aggregators, or their number
  std::vector<Piece> pieces_;
  std::vector<object::Request*> sends_;
  Bytes window_, arena_, covered_;
  Status status_;
};

}  // namespace vicinity::io
