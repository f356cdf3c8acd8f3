// SPDX-License-Identifier: BSD-3-Clause
// Walks a signature (datatype_layout.h): which predefined types a message consists of, in type-map order.
#pragma once

#include <vector>

#include "object/datatype_layout.h"

namespace vicinity::object {

// The runs of a signature, one after the other, `count` times.
class UnitRuns {
 public:
  UnitRuns(const Datatype& type, MPI_Count count) : whole_(type.layout->signature), left_(count) {
    // Elements of one basic type are one run all together.
    if (whole_.node || count <= 0) return;
    whole_.bytes *= count;
    left_ = 1;
  }
  bool next(Piece* run) {
    for (;;) {
      if (stack_.empty()) {
        if (left_ <= 0 || whole_.bytes == 0) return false;
        left_--;
        if (!whole_.node) {
          *run = whole_;
          return true;
        }
        stack_.push_back({whole_.node, 0});
      }
      Frame& frame = stack_.back();
      const Node& node = *frame.node;
      if (frame.index == node.count) {
        stack_.pop_back();
        continue;
      }
      frame.index++;
      if (node.kind == Shape::kLoop) {
        stack_.push_back({node.child, 0});
        continue;
      }
      const Piece& piece = node.entries[frame.index - 1].piece;
      if (piece.node) {
        stack_.push_back({piece.node, 0});
        continue;
      }
      *run = piece;
      return true;
    }
  }

 private:
  struct Frame {
    const Node* node;
    int64_t index;
  };
  Piece whole_;
  MPI_Count left_;
  std::vector<Frame> stack_;
};

// As unpack_external (datatype_create.h), of which only the first `bytes` are there: the whole elements in
// them; returns the bytes of these elements in memory.
MPI_Count unpack_external_part(const void* in, MPI_Count bytes, void* buf, MPI_Count count,
                               const Datatype& type);

}  // namespace vicinity::object
