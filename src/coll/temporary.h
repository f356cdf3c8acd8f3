// SPDX-License-Identifier: BSD-3-Clause
// Temporary memory of collectives: blocks of a power of two, kept for the next call.
//
// One cache per process serves all communicators, because a program that uses many of them rarely
// needs the memory of all at once. Callers hold the engine lock. What is beyond kKept bytes goes back
// to malloc, so one huge collective does not keep its memory for ever.
#pragma once

#include <cstddef>

namespace vicinity::coll {

struct Temporary {
  char* memory = nullptr;
  unsigned order = 0;  // 2^order bytes
};

inline constexpr size_t kKept = size_t{32} << 20;

Temporary take_temporary(size_t bytes);  // memory is nullptr when there is none left
void give_temporary(Temporary temporary);
void drop_temporaries();  // gives all kept memory back (end of MPI, tests)

}  // namespace vicinity::coll
