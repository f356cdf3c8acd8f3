// SPDX-License-Identifier: BSD-3-Clause
// For tests: ranks are forked children that meet through a Wireup in shared memory.
//
//   EXPECT_EQ(run_ranks(2, [](int rank, wireup::Wireup& wireup) { ...; return 0; }), 0);
//
// A child ends with the body's value; the parent returns the first that is not 0.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/param.h"
#include "wireup/wireup.h"

// In a child: says what is not so and ends it with `code`.
#define CHECK_OR(code, ...)                                                      \
  do {                                                                           \
    if (!(__VA_ARGS__)) {                                                        \
      std::fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #__VA_ARGS__, \
                   base::failure_text(base::kOther));                            \
      _exit(code);                                                               \
    }                                                                            \
  } while (0)

namespace vicinity::peer::test {

struct Board {
  static constexpr int kMost = 64;
  struct Value {
    char key[40];
    char text[1400];
    uint32_t bytes;
  };
  std::atomic<uint32_t> arrived;
  std::atomic<uint32_t> meeting;
  Value values[kMost][4];
  uint32_t used[kMost];
  std::atomic<uint32_t> scratch[16];  // for the tests themselves
};

class ForkWireup final : public wireup::Wireup {
 public:
  ForkWireup(Board* board, int rank, int size) : board_(board) {
    identity_.rank = rank;
    identity_.size = size;
    identity_.job = "forked";
    identity_.launcher = "fork";
  }
  base::Status put(std::string_view key, std::string_view value) override {
    const auto rank = static_cast<size_t>(identity_.rank);
    Board::Value& slot = board_->values[rank][board_->used[rank]++];
    std::memcpy(slot.key, key.data(), key.size());
    std::memcpy(slot.text, value.data(), value.size());
    slot.bytes = static_cast<uint32_t>(value.size());
    return base::kOk;
  }
  base::Status fence() override {
    const auto size = static_cast<uint32_t>(identity_.size);
    const uint32_t target = ++fences_ * size;
    board_->arrived.fetch_add(1);
    while (board_->arrived.load() < target) usleep(100);
    return base::kOk;
  }
  base::Result<std::string> get(int rank, std::string_view key) override {
    for (const Board::Value& slot : board_->values[rank])
      if (key == slot.key) return std::string(slot.text, slot.bytes);
    return base::fail(base::kOther, "rank %d has no such value", rank);
  }
  [[noreturn]] void abort(int exit_code, const char* message) override {
    std::fprintf(stderr, "abort: %s\n", message);
    _exit(exit_code);
  }
  base::Status close() override { return base::kOk; }
  Board* board() { return board_; }

 private:
  Board* board_;
  uint32_t fences_ = 0;
};

template <class Body>
int run_ranks(int size, Body&& body) {
  void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* board = static_cast<Board*>(memory);
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(50);
      base::log_open(rank, "test");
      if (!base::params_load().ok()) _exit(99);
      ForkWireup wireup(board, rank, size);
      const int result = body(rank, wireup);
      std::fflush(nullptr);
      _exit(result);
    }
    children.push_back(pid);
  }
  int worst = 0;
  for (pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    const int result = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    if (worst == 0) worst = result;
  }
  munmap(memory, sizeof(Board));
  return worst;
}

}  // namespace vicinity::peer::test
