// SPDX-License-Identifier: BSD-3-Clause
// PackCursor: walks a layout and copies (see datatype.h, datatype_layout.h).
//
// Addresses are computed as uintptr_t, because a buffer may be MPI_BOTTOM with absolute displacements
// and strides may be negative. A subtree that fits whole into what is left is copied by a direct
// recursion without frames; frames are only for stopping in the middle.
#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "object/datatype.h"
#include "object/datatype_layout.h"

namespace vicinity::object {
namespace {

// Subtrees up to this height are copied by recursion.
constexpr uint32_t kDirectHeight = 16;

char* at(uintptr_t address) { return reinterpret_cast<char*>(address); }

template <bool kPacking>
inline void move_bytes(uintptr_t address, char* packed, size_t bytes) {
  if constexpr (kPacking)
    std::memcpy(packed, at(address), bytes);
  else
    std::memcpy(at(address), packed, bytes);
}

// A constant size lets the compiler make one load and one store of it.
template <bool kPacking, size_t kBlock>
void strided_fixed(uintptr_t address, char* packed, int64_t count, int64_t stride) {
  for (int64_t i = 0; i < count; i++) {
    move_bytes<kPacking>(address, packed, kBlock);
    address += static_cast<uintptr_t>(stride);
    packed += kBlock;
  }
}

template <bool kPacking>
void strided(uintptr_t address, char* packed, int64_t count, int64_t stride, int64_t block) {
  switch (block) {
    case 1:
      return strided_fixed<kPacking, 1>(address, packed, count, stride);
    case 2:
      return strided_fixed<kPacking, 2>(address, packed, count, stride);
    case 4:
      return strided_fixed<kPacking, 4>(address, packed, count, stride);
    case 8:
      return strided_fixed<kPacking, 8>(address, packed, count, stride);
    case 12:
      return strided_fixed<kPacking, 12>(address, packed, count, stride);
    case 16:
      return strided_fixed<kPacking, 16>(address, packed, count, stride);
    case 24:
      return strided_fixed<kPacking, 24>(address, packed, count, stride);
    case 32:
      return strided_fixed<kPacking, 32>(address, packed, count, stride);
    case 64:
      return strided_fixed<kPacking, 64>(address, packed, count, stride);
    default:
      break;
  }
  for (int64_t i = 0; i < count; i++) {
    move_bytes<kPacking>(address, packed, static_cast<size_t>(block));
    address += static_cast<uintptr_t>(stride);
    packed += block;
  }
}

template <bool kPacking>
inline void run(uintptr_t address, char* packed, int64_t bytes) {
  switch (bytes) {
    case 1:
      return move_bytes<kPacking>(address, packed, 1);
    case 2:
      return move_bytes<kPacking>(address, packed, 2);
    case 4:
      return move_bytes<kPacking>(address, packed, 4);
    case 8:
      return move_bytes<kPacking>(address, packed, 8);
    case 16:
      return move_bytes<kPacking>(address, packed, 16);
    default:
      return move_bytes<kPacking>(address, packed, static_cast<size_t>(bytes));
  }
}

// Runs of one length anywhere: a constant length is worth it here as well.
template <bool kPacking>
void scattered(const Shape& shape, uintptr_t base, char* packed) {
  auto copy_all = [&](auto bytes) {
    for (int64_t i = 0; i < shape.count; i++) {
      move_bytes<kPacking>(base + static_cast<uintptr_t>(shape.offsets[i]), packed, bytes);
      packed += bytes;
    }
  };
  switch (shape.block) {
    case 4:
      return copy_all(std::integral_constant<size_t, 4>());
    case 8:
      return copy_all(std::integral_constant<size_t, 8>());
    case 16:
      return copy_all(std::integral_constant<size_t, 16>());
    default:
      return copy_all(static_cast<size_t>(shape.block));
  }
}

// All of a subtree. REQUIRES: height <= kDirectHeight.
template <bool kPacking>
void subtree(const Shape& shape, uintptr_t base, char* packed) {
  switch (shape.kind) {
    case Shape::kStrided:
      return strided<kPacking>(base, packed, shape.count, shape.stride, shape.block);
    case Shape::kScattered:
      return scattered<kPacking>(shape, base, packed);
    case Shape::kTable:
      for (int64_t i = 0; i < shape.count; i++) {
        const Piece& piece = shape.entries[i].piece;
        run<kPacking>(base + static_cast<uintptr_t>(piece.offset), packed, piece.bytes);
        packed += piece.bytes;
      }
      return;
    case Shape::kLoop:
      for (int64_t i = 0; i < shape.count; i++) {
        subtree<kPacking>(*shape.child, base, packed);
        base += static_cast<uintptr_t>(shape.stride);
        packed += shape.block;
      }
      return;
    case Shape::kSequence:
      for (int64_t i = 0; i < shape.count; i++) {
        const Piece& piece = shape.entries[i].piece;
        const uintptr_t address = base + static_cast<uintptr_t>(piece.offset);
        if (piece.node)
          subtree<kPacking>(*piece.node, address, packed);
        else
          run<kPacking>(address, packed, piece.bytes);
        packed += piece.bytes;
      }
      return;
  }
}

// Nodes whose children are all alike: everything but Table and Sequence.
bool regular(const Shape& shape) { return shape.entries == nullptr; }

// Where child `index` of a regular node lies.
uintptr_t child_address(const Shape& shape, uintptr_t base, int64_t index) {
  if (shape.offsets) return base + static_cast<uintptr_t>(shape.offsets[index]);
  return base + static_cast<uintptr_t>(index) * static_cast<uintptr_t>(shape.stride);
}

// The layout of `count` elements. Never allocates, unlike repeat().
Shape elements(const Piece& element, int64_t count, const Datatype& type) {
  Shape top;
  top.bytes = type.size * count;
  if (!element.node && (count == 1 || type.extent == type.size)) {
    top.count = 1;
    top.block = top.bytes;
    return top;
  }
  if (count == 1) return *element.node;
  const Shape* inner = element.node;
  if (inner && continues(*inner, type.extent)) {
    top = *inner;
    top.bytes = inner->bytes * count;
    top.count = inner->count * count;
    return top;
  }
  top.kind = inner ? Shape::kLoop : Shape::kStrided;
  top.height = height(element) + 1;
  top.count = count;
  top.stride = type.extent;
  top.block = type.size;
  top.child = element.node;
  return top;
}

}  // namespace

void PackCursor::reset(const void* buf, MPI_Count count, const Datatype& type) {
  position_ = 0;
  in_run_ = 0;
  depth_ = 0;
  total_ = 0;
  deep_.clear();
  top_ = Shape();
  if (count <= 0 || type.size == 0) return;
  // No buffer can hold more; cutting here keeps all that follows free of overflow.
  count = std::min(count, INT64_MAX / type.size);
  const Piece& element = type.layout->memory;
  top_ = elements(element, count, type);
  base_ = reinterpret_cast<uintptr_t>(buf) + static_cast<uintptr_t>(element.offset);
  total_ = static_cast<uint64_t>(top_.bytes);
  if (top_.height >= kInline) deep_.resize(top_.height + 1);
  push(nullptr, base_);
}

inline void PackCursor::push(const Shape* shape, uintptr_t base) { frames()[depth_++] = {shape, 0, base}; }

void PackCursor::seek(uint64_t byte) {
  if (byte == position_) return;
  position_ = std::min(byte, total_);
  depth_ = 0;
  in_run_ = 0;
  if (position_ == total_) return;
  push(nullptr, base_);
  int64_t left = static_cast<int64_t>(position_);
  while (left > 0) {
    Frame& frame = frames()[depth_ - 1];
    const Shape& node = shape(frame);
    const Shape* child = node.child;
    uintptr_t base;
    if (regular(node)) {
      frame.index = left / node.block;
      left %= node.block;
      base = child_address(node, frame.base, frame.index);
    } else {
      const Entry* after = std::upper_bound(node.entries, node.entries + node.count, left,
                                            [](int64_t value, const Entry& e) { return value < e.before; });
      const Entry& entry = after[-1];
      frame.index = after - node.entries - 1;
      left -= entry.before;
      child = entry.piece.node;
      base = frame.base + static_cast<uintptr_t>(entry.piece.offset);
    }
    if (left == 0) return;
    if (!child) {
      in_run_ = static_cast<uint64_t>(left);
      return;
    }
    frame.index++;
    push(child, base);
  }
}

// The rest of the run that we stand at, but at most `most` bytes of it; moves on. 0 only at the end.
size_t PackCursor::next_run(uintptr_t* address, size_t most) {
  while (depth_ > 0) {
    Frame& frame = frames()[depth_ - 1];
    const Shape& node = shape(frame);
    if (frame.index == node.count) {
      depth_--;
      continue;
    }
    uintptr_t base;
    int64_t bytes = node.block;
    const Shape* child = node.child;
    if (regular(node)) {
      base = child_address(node, frame.base, frame.index);
    } else {
      const Piece& piece = node.entries[frame.index].piece;
      base = frame.base + static_cast<uintptr_t>(piece.offset);
      bytes = piece.bytes;
      child = piece.node;
    }
    if (child) {
      frame.index++;
      push(child, base);
      continue;
    }
    const size_t here = std::min(most, static_cast<size_t>(bytes) - in_run_);
    *address = base + in_run_;
    in_run_ += here;
    position_ += here;
    if (in_run_ == static_cast<uint64_t>(bytes)) {
      in_run_ = 0;
      frame.index++;
    }
    return here;
  }
  return 0;
}

// Copies as many whole children of the top frame as fit; 0 when none does.
template <bool kPacking>
size_t PackCursor::whole(char* packed, size_t bytes) {
  if (depth_ == 0 || in_run_ != 0) return 0;
  Frame& frame = frames()[depth_ - 1];
  const Shape& node = shape(frame);
  size_t done = 0;
  if (regular(node)) {
    if (bytes < static_cast<size_t>(node.block) || frame.index == node.count) return 0;
    if (node.child && node.child->height > kDirectHeight) return 0;
    const int64_t fit = bytes >= static_cast<size_t>(node.bytes)
                            ? node.count
                            : static_cast<int64_t>(bytes / static_cast<size_t>(node.block));
    Shape part = node;
    part.count = std::min(node.count - frame.index, fit);
    uintptr_t base = frame.base;
    if (part.offsets)
      part.offsets += frame.index;
    else
      base = child_address(node, base, frame.index);
    subtree<kPacking>(part, base, packed);
    frame.index += part.count;
    done = static_cast<size_t>(part.count * node.block);
  } else {
    for (; frame.index < node.count; frame.index++) {
      const Piece& piece = node.entries[frame.index].piece;
      if (bytes - done < static_cast<size_t>(piece.bytes) || height(piece) > kDirectHeight) break;
      const uintptr_t address = frame.base + static_cast<uintptr_t>(piece.offset);
      if (piece.node)
        subtree<kPacking>(*piece.node, address, packed + done);
      else
        run<kPacking>(address, packed + done, piece.bytes);
      done += static_cast<size_t>(piece.bytes);
    }
  }
  position_ += done;
  return done;
}

template <bool kPacking>
size_t PackCursor::copy(char* packed, size_t bytes) {
  bytes = std::min<uint64_t>(bytes, total_ - position_);
  size_t done = 0;
  while (done < bytes) {
    size_t here = whole<kPacking>(packed + done, bytes - done);
    if (here == 0) {
      uintptr_t address = 0;
      here = next_run(&address, bytes - done);
      if (here == 0) break;
      move_bytes<kPacking>(address, packed + done, here);
    }
    done += here;
  }
  return done;
}

size_t PackCursor::pack(void* out, size_t bytes) { return copy<true>(static_cast<char*>(out), bytes); }

size_t PackCursor::unpack(const void* in, size_t bytes) {
  return copy<false>(static_cast<char*>(const_cast<void*>(in)), bytes);
}

size_t PackCursor::pieces(iovec* out, size_t most, size_t bytes) {
  size_t used = 0;
  while (bytes > 0 && used < most) {
    uintptr_t address = 0;
    const size_t here = next_run(&address, bytes);
    if (here == 0) break;
    bytes -= here;
    char* last = used ? static_cast<char*>(out[used - 1].iov_base) : nullptr;
    if (used && reinterpret_cast<uintptr_t>(last) + out[used - 1].iov_len == address)
      out[used - 1].iov_len += here;
    else
      out[used++] = {at(address), here};
  }
  return used;
}

namespace {

// All elements at once, without a cursor where the layout is not too high for that.
template <bool kPacking>
void copy_whole(const void* buf, MPI_Count count, const Datatype& type, char* packed) {
  if (count <= 0 || type.size == 0) return;
  const Piece& element = type.layout->memory;
  if (height(element) >= kDirectHeight) {
    PackCursor cursor(buf, count, type);
    if constexpr (kPacking)
      cursor.pack(packed, cursor.total());
    else
      cursor.unpack(packed, cursor.total());
    return;
  }
  const Shape all = elements(element, std::min(count, INT64_MAX / type.size), type);
  const uintptr_t base = reinterpret_cast<uintptr_t>(buf) + static_cast<uintptr_t>(element.offset);
  if (type.dense) return move_bytes<kPacking>(base, packed, static_cast<size_t>(all.bytes));
  subtree<kPacking>(all, base, packed);
}

}  // namespace

void pack(const void* buf, MPI_Count count, const Datatype& type, void* out) {
  copy_whole<true>(buf, count, type, static_cast<char*>(out));
}

void unpack(const void* in, void* buf, MPI_Count count, const Datatype& type) {
  copy_whole<false>(buf, count, type, static_cast<char*>(const_cast<void*>(in)));
}

uint64_t copy_typed(const void* from, MPI_Count from_count, const Datatype& from_type, void* to,
                    MPI_Count to_count, const Datatype& to_type) {
  PackCursor source(from, from_count, from_type);
  PackCursor target(to, to_count, to_type);
  const uint64_t bytes = std::min(source.total(), target.total());
  if (bytes == 0) return 0;
  if (from_type.dense && to_type.dense) {
    std::memmove(data_start(to, to_type), data_start(from, from_type), bytes);
    return bytes;
  }
  if (from_type.dense) return target.unpack(data_start(from, from_type), bytes);
  if (to_type.dense) return source.pack(data_start(to, to_type), bytes);
  uint64_t done = 0;
  iovec pieces[32];
  while (done < bytes) {
    const size_t used = source.pieces(pieces, std::size(pieces), bytes - done);
    for (size_t i = 0; i < used; i++) done += target.unpack(pieces[i].iov_base, pieces[i].iov_len);
  }
  return bytes;
}

}  // namespace vicinity::object
