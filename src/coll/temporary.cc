// SPDX-License-Identifier: BSD-3-Clause
// Free lists of temporary blocks, one per power of two; a free block's first word links to the next.
#include "coll/temporary.h"

#include <bit>
#include <cstdlib>
#include <cstring>

namespace vicinity::coll {

namespace {

constexpr unsigned kLeastOrder = 8;
constexpr unsigned kOrders = 48;
char* free_blocks[kOrders];
size_t kept = 0;

}  // namespace

Temporary take_temporary(size_t bytes) {
  unsigned order = bytes <= 1 ? 0 : static_cast<unsigned>(std::bit_width(bytes - 1));
  if (order < kLeastOrder) order = kLeastOrder;
  if (order >= kOrders) return {};
  if (char* block = free_blocks[order]) {
    memcpy(&free_blocks[order], block, sizeof(char*));
    kept -= size_t{1} << order;
    return {block, order};
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, 64, size_t{1} << order) != 0) return {};
  return {static_cast<char*>(memory), order};
}

void give_temporary(Temporary temporary) {
  if (!temporary.memory) return;
  const size_t bytes = size_t{1} << temporary.order;
  if (kept + bytes > kKept) {
    free(temporary.memory);
    return;
  }
  memcpy(temporary.memory, &free_blocks[temporary.order], sizeof(char*));
  free_blocks[temporary.order] = temporary.memory;
  kept += bytes;
}

void drop_temporaries() {
  for (char*& head : free_blocks) {
    while (char* block = head) {
      memcpy(&head, block, sizeof(char*));
      free(block);
    }
  }
  kept = 0;
}

}  // namespace vicinity::coll
