// SPDX-License-Identifier: BSD-3-Clause
// Building and simplifying layouts; see datatype_layout.h.
#include "object/datatype_layout.h"

#include <algorithm>
#include <new>
#include <utility>

namespace vicinity::object {
namespace {

// Small trees are written out into the table around them up to these sizes. The bounds keep nested
// structures, whose written-out form doubles with every level, from growing without limit.
constexpr int64_t kInlineStrided = 16;
constexpr int64_t kInlineTable = 64;

bool same(const Piece& a, const Piece& b) {
  return a.bytes == b.bytes && a.node == b.node && a.unit == b.unit;
}

Piece moved(Piece piece, int64_t by) {
  piece.offset += by;
  return piece;
}

Node* new_loop(const Piece& child, int64_t count, int64_t stride) {
  Node* node = new (std::nothrow) Node;
  if (!node) return nullptr;
  node->kind = child.node ? Shape::kLoop : Shape::kStrided;
  node->height = height(child) + 1;
  node->bytes = child.bytes * count;
  node->elements = elements_of(child) * count;
  node->external = external_bytes(child) * count;
  node->count = count;
  node->stride = stride;
  node->block = child.bytes;
  node->child = child.node;
  hold(child);
  return node;
}

// Frees a node whose last reference is gone, and what only it referred to, without recursion: trees
// can be as deep as a program nests its types.
void free_tree(const Node* dead) {
  while (const Node* node = dead) {
    dead = node->next_dead;
    auto let_go = [&dead](const Piece& piece) {
      if (piece.node && piece.node->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
        piece.node->next_dead = std::exchange(dead, piece.node);
    };
    if (node->kind == Shape::kLoop) let_go({0, 0, node->child, nullptr});
    if (node->kind == Shape::kSequence)
      for (int64_t i = 0; i < node->count; i++) let_go(node->entries[i].piece);
    delete node;
  }
}

}  // namespace

void hold(const Piece& piece) {
  if (piece.node) piece.node->references.fetch_add(1, std::memory_order_relaxed);
}

void drop(const Piece& piece) {
  if (piece.node && piece.node->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    free_tree(piece.node);
}

Piece repeat(const Piece& piece, int64_t count, int64_t stride) {
  if (piece.bytes < 0) return kNoMemory;
  if (count <= 0 || piece.bytes == 0) return {};
  if (count == 1) {
    hold(piece);
    return piece;
  }
  Piece result = piece;
  result.bytes = piece.bytes * count;
  if (!piece.node && stride == piece.bytes) return result;
  const Node* inner = piece.node;
  // Rows that follow each other at the pitch of their own elements are one longer row.
  if (inner && continues(*inner, stride)) {
    const Piece element{0, inner->block, inner->child, piece.unit};
    result.node = new_loop(element, inner->count * count, inner->stride);
  } else {
    result.node = new_loop(piece, count, stride);
  }
  if (!result.node) return kNoMemory;
  result.unit = nullptr;
  return result;
}

SequenceBuilder::~SequenceBuilder() {
  for (const Piece& piece : pieces_) drop(piece);
}

void SequenceBuilder::add(const Piece& piece) {
  if (piece.bytes == 0) return;
  if (piece.bytes < 0)
    failed_ = true;
  else if (!piece.node)
    add_run(piece);
  else
    add_tree(piece);
}

void SequenceBuilder::add_run(const Piece& run) {
  if (!pieces_.empty()) {
    Piece& last = pieces_.back();
    if (!last.node && last.unit == run.unit && last.offset + last.bytes == run.offset) {
      last.bytes += run.bytes;
      return;
    }
  }
  keep(run);
}

void SequenceBuilder::add_tree(const Piece& tree) {
  const Node& node = *tree.node;
  if (node.kind == Shape::kStrided && node.count <= kInlineStrided) {
    for (int64_t i = 0; i < node.count; i++)
      add_run({tree.offset + i * node.stride, node.block, nullptr, nullptr});
    drop(tree);
  } else if (node.kind == Shape::kScattered && node.count <= kInlineTable) {
    for (int64_t i = 0; i < node.count; i++)
      add_run({tree.offset + node.offsets[i], node.block, nullptr, nullptr});
    drop(tree);
  } else if (node.kind == Shape::kTable && node.count <= kInlineTable) {
    for (int64_t i = 0; i < node.count; i++) add_run(moved(node.entries[i].piece, tree.offset));
    drop(tree);
  } else {
    keep(tree);
  }
}

bool SequenceBuilder::uniform(size_t from, size_t to, int64_t* stride) const {
  if (to - from < 2) return false;
  *stride = pieces_[from + 1].offset - pieces_[from].offset;
  for (size_t i = from + 1; i < to; i++) {
    if (!same(pieces_[i], pieces_[from]) || pieces_[i].offset - pieces_[i - 1].offset != *stride)
      return false;
  }
  return true;
}

// Whether [from, to) are runs in memory of the same length.
bool SequenceBuilder::equal(size_t from, size_t to) const {
  for (size_t i = from; i < to; i++)
    if (pieces_[i].node || pieces_[i].unit || pieces_[i].bytes != pieces_[from].bytes) return false;
  return true;
}

Piece SequenceBuilder::scattered(size_t from, size_t to) {
  Node* node = new (std::nothrow) Node;
  auto* offsets = new (std::nothrow) int64_t[to - from];
  if (!node || !offsets) {
    delete node;
    delete[] offsets;
    return no_memory();
  }
  const int64_t origin = pieces_[from].offset;
  for (size_t i = from; i < to; i++) offsets[i - from] = pieces_[i].offset - origin;
  node->kind = Shape::kScattered;
  node->count = static_cast<int64_t>(to - from);
  node->block = pieces_[from].bytes;
  node->bytes = node->block * node->count;
  node->offsets = offsets;
  return {origin, node->bytes, node, nullptr};
}

// The runs [from, to) as one piece whose reference the caller owns.
Piece SequenceBuilder::group(size_t from, size_t to) {
  if (to - from == 1) return std::exchange(pieces_[from], {});
  int64_t stride = 0;
  if (uniform(from, to, &stride)) {
    Piece all = repeat(pieces_[from], static_cast<int64_t>(to - from), stride);
    for (size_t i = from; i < to; i++) drop(std::exchange(pieces_[i], {}));
    return all.bytes < 0 ? no_memory() : all;
  }
  if (equal(from, to)) return scattered(from, to);
  Node* node = new (std::nothrow) Node;
  Entry* entries = new (std::nothrow) Entry[to - from];
  if (!node || !entries) {
    delete node;
    delete[] entries;
    return no_memory();
  }
  const int64_t origin = pieces_[from].offset;
  node->kind = Shape::kTable;
  node->count = static_cast<int64_t>(to - from);
  node->entries = entries;
  for (size_t i = from; i < to; i++) {
    Piece piece = std::exchange(pieces_[i], {});
    piece.offset -= origin;
    if (piece.node) node->kind = Shape::kSequence;
    node->height = std::max(node->height, height(piece) + 1);
    entries[i - from] = {piece, node->bytes};
    node->bytes += piece.bytes;
    node->elements += elements_of(piece);
    node->external += external_bytes(piece);
  }
  return {origin, node->bytes, node, nullptr};
}

Piece SequenceBuilder::finish() {
  // Neighbouring runs become one leaf each, so that the walker's inner loop sees many at once.
  if (failed()) return {};
  Growing<Piece> groups;
  int64_t ignored = 0;
  if (!uniform(0, pieces_.size(), &ignored)) {
    for (size_t i = 0; i < pieces_.size();) {
      size_t end = i + 1;
      if (!pieces_[i].node)
        while (end < pieces_.size() && !pieces_[end].node) end++;
      const Piece piece = group(i, end);
      if (!groups.push_back(piece)) drop(piece);
      i = end;
    }
    failed_ |= groups.failed();
    if (failed_) {
      for (const Piece& piece : groups) drop(piece);
      return {};
    }
    pieces_ = std::move(groups);
  }
  if (failed() || pieces_.empty()) return {};
  Piece all = group(0, pieces_.size());
  if (!failed_) pieces_.clear();  // else the destructor gives back what they hold
  return all;
}

}  // namespace vicinity::object
