// SPDX-License-Identifier: BSD-3-Clause
// Cross memory attach: the kernel copies from a peer's memory into ours, once, without its help.
//
// Usable only when proven: kernels, containers (seccomp, user namespaces, Yama) and pid namespaces all
// may forbid it, or make the pid mean another process. probe() therefore reads a random token at the
// address that the peer published and compares. A refusal is never an error: the pair uses the ring.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace vicinity::channel::cma {

// The token of this process: random, in memory for the life of the process.
struct Token {
  uint64_t words[2];
};
const Token& own_token();

// VICINITY_CMA=yes|no.
bool wanted();

// Does `pid` hold `expected` at `address`? nullptr: yes; else why not, for people.
const char* probe(int pid, uint64_t address, const Token& expected);

// Fills the pieces of `into`, in order, with `bytes` bytes from `address` in process `pid`. Returns 0 or
// errno. After a failure the pieces hold anything.
int read(int pid, uint64_t address, const iovec* into, size_t pieces, size_t bytes);

}  // namespace vicinity::channel::cma
