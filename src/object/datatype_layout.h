// SPDX-License-Identifier: BSD-3-Clause
// Layout of a datatype: where its data bytes lie, as a small tree that PackCursor walks.
//
// A Piece is `bytes` data bytes at `offset`: either one contiguous run (node == nullptr) or a tree. A
// Node's own coordinates start at 0; whoever refers to it adds an offset. Nodes are immutable and
// shared by reference count, so a type that repeats another one a million times, or nests it forty
// levels deep, costs a node, not a copy.
//
// Invariants: no Node and no entry of a Node has 0 bytes; every Node has count >= 2; height is 1 for the
// leaves (Strided, Scattered and Table), and one more than the highest child's else.
//
// Without memory for a node a Piece is kNoMemory (its bytes are -1, and it has no node); what is made of
// such a piece is kNoMemory too, and a SequenceBuilder that got one has failed().
//
// Two trees are kept for a type. The first says where the bytes are in memory (unit == nullptr). The
// second, the signature, says of what kind the bytes are once packed: its runs carry the predefined
// type they consist of (unit) and merge only with runs of the same one.
#pragma once

#include <atomic>
#include <cstdint>

#include "object/datatype.h"
#include "object/growing.h"

namespace vicinity::object {

struct Node;

struct Piece {
  int64_t offset = 0;
  int64_t bytes = 0;               // 0: nothing at all
  const Node* node = nullptr;      // nullptr: one run
  const Datatype* unit = nullptr;  // of a run in a signature
};

inline constexpr Piece kNoMemory{0, -1, nullptr, nullptr};

struct Entry {
  Piece piece;
  int64_t before = 0;  // data bytes of the entries before this one
};

// What the walker reads (Shape, datatype.h) and what keeps it alive.
struct Node : Shape {
  mutable std::atomic<int32_t> references{1};
  mutable const Node* next_dead = nullptr;  // while it is being freed
  // Of a signature: basic elements, and bytes in the external32 representation.
  int64_t elements = 0;
  int64_t external = 0;
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() {
    delete[] entries;
    delete[] offsets;
  }
};

struct Layout {
  Piece memory;
  Piece signature;
};

// References. A Piece does not count by itself: whoever keeps one calls hold() and later drop().
void hold(const Piece& piece);
void drop(const Piece& piece);

inline uint32_t height(const Piece& piece) { return piece.node ? piece.node->height : 0; }

// Basic elements of a piece of a signature.
inline int64_t elements_of(const Piece& piece) {
  if (piece.node) return piece.node->elements;
  return piece.unit ? piece.bytes / piece.unit->size : 0;
}

// Bytes of one element of a predefined type in the external32 representation (datatype_external.cc).
int64_t external_size(const Datatype& unit);
inline int64_t external_bytes(const Piece& piece) {
  if (piece.node) return piece.node->external;
  return piece.unit ? piece.bytes / piece.unit->size * external_size(*piece.unit) : 0;
}

// Whether copies of a regular node, `stride` apart, follow each other at the pitch of its own elements.
inline bool continues(const Shape& inner, int64_t stride) {
  int64_t all;
  if (inner.kind != Shape::kLoop && inner.kind != Shape::kStrided) return false;
  return !__builtin_mul_overflow(inner.stride, inner.count, &all) && all == stride;
}

// `count` copies of `piece`, `stride` bytes apart. The result holds a reference of its own.
Piece repeat(const Piece& piece, int64_t count, int64_t stride);

// Pieces one after the other in type-map order, made as simple as possible. Adds references to what it
// uses; the result holds one of its own.
class SequenceBuilder {
 public:
  SequenceBuilder() = default;
  SequenceBuilder(const SequenceBuilder&) = delete;
  SequenceBuilder& operator=(const SequenceBuilder&) = delete;
  ~SequenceBuilder();
  // Takes over the caller's reference. REQUIRES: no overflow (the caller has checked the bounds).
  void add(const Piece& piece);
  Piece finish();
  bool failed() const { return failed_ || pieces_.failed(); }

 private:
  void add_run(const Piece& run);
  void add_tree(const Piece& tree);
  bool uniform(size_t from, size_t to, int64_t* stride) const;
  bool equal(size_t from, size_t to) const;
  Piece scattered(size_t from, size_t to);
  Piece group(size_t from, size_t to);

  void keep(const Piece& piece) {
    if (!pieces_.push_back(piece)) drop(piece);
  }
  Piece no_memory() {
    failed_ = true;
    return kNoMemory;
  }

  Growing<Piece> pieces_;
  bool failed_ = false;
};

}  // namespace vicinity::object
