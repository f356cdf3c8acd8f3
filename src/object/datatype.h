// SPDX-License-Identifier: BSD-3-Clause
// Datatypes (MPI 5.0, chapter 5): what the rest of the library needs to know about one.
//
// A Datatype is immutable once committed. `size` is the number of data bytes of one element, `extent`
// the distance between elements. Its layout is kept as a compact program that PackCursor runs;
// its construction (envelope and contents) as a description. Both belong to object/datatype_*.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "object/attribute.h"
#include "object/error.h"
#include "object/handle.h"

struct iovec;

namespace vicinity::object {

struct Layout;       // where the data is (datatype_layout.h)
struct Entry;        // of a layout
struct Node;         // of a layout
struct Description;  // how it was constructed (datatype_contents.h)

// The machine representation of a basic element; ops and external32 switch on it.
enum class Basic : uint8_t {
  kNone,   // derived from more than one basic kind
  kBytes,  // MPI_BYTE, MPI_PACKED
  kChar,   // MPI_CHAR, MPI_CHARACTER: no arithmetic
  kWchar,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kI128,
  kF16,
  kF32,
  kF64,
  kF80,
  kF128,
  kC16,
  kC32,
  kC64,
  kC80,
  kC128,   // complex, named by the width of one part
  kBool8,  // C and C++ bool
  kLogical8,
  kLogical16,
  kLogical32,
  kLogical64,
  kLogical128,  // Fortran LOGICAL
  kFloatInt,
  kDoubleInt,
  kLongInt,
  kIntInt,
  kShortInt,
  kLongDoubleInt,
  kTwoReal,
  kTwoDouble,
  kTwoInteger,
};

struct Datatype : Object {
  MPI_Count size = 0;
  MPI_Count lb = 0;
  MPI_Count extent = 0;
  MPI_Count true_lb = 0;
  MPI_Count true_extent = 0;
  MPI_Count basic_count = 0;  // number of basic elements in one element (for Get_elements)
  uint32_t alignment = 1;
  Basic basic = Basic::kNone;  // the one basic kind that all elements share, else kNone
  bool committed = false;
  bool permanent = false;  // predefined, with or without a name: never freed
  bool marked = false;     // bounds were set by resized, subarray or darray somewhere inside
  bool dense = false;      // count elements are one run of size*count bytes from buf+true_lb
  const Layout* layout = nullptr;
  const Description* description = nullptr;
  Datatype* next_dead = nullptr;   // while it is being freed
  std::atomic<int32_t> owners{1};  // handles that users hold; get_contents gives out more
  Attributes attributes;
  char name[MPI_MAX_OBJECT_NAME] = "";

  static void finish(Datatype* type);
};

template <>
struct HandleTraits<Datatype> {
  using Handle = MPI_Datatype;
  static constexpr Kind kKind = Kind::kDatatype;
  static Datatype* predefined(uintptr_t constant);  // one load from a table of 1024 pointers
};

// The predefined type of that constant, e.g. builtin(MPI_INT). Valid before MPI_Init.
Datatype& builtin(MPI_Datatype constant);

// First data byte of `count` elements at `buf` (buf + true_lb when dense).
inline void* data_start(const void* buf, const Datatype& type) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(buf) + static_cast<uintptr_t>(type.true_lb));
}

// One node of a layout, as the cursor reads it. kStrided: `count` runs of `block` bytes, `stride` apart.
// kTable: `count` entries, all runs. kLoop: `count` times `child` (of `block` bytes), `stride` apart.
// kSequence: `count` entries, some of them trees. kScattered: `count` runs of `block` bytes at `offsets`.
struct Shape {
  enum Kind : uint32_t { kStrided, kScattered, kTable, kLoop, kSequence };
  Kind kind = kStrided;
  uint32_t height = 1;
  int64_t bytes = 0;
  int64_t count = 0;
  int64_t stride = 0;
  int64_t block = 0;
  const Node* child = nullptr;
  const Entry* entries = nullptr;
  const int64_t* offsets = nullptr;
};

// Walks the bytes of (buf, count, type) in type-map order; can stop after any byte and go on later.
// The type (its layout) must outlive the cursor. Never allocates for layouts of height < 16.
class PackCursor {
 public:
  PackCursor() = default;
  PackCursor(const void* buf, MPI_Count count, const Datatype& type) { reset(buf, count, type); }
  void reset(const void* buf, MPI_Count count, const Datatype& type);
  uint64_t total() const { return total_; }
  uint64_t position() const { return position_; }
  void seek(uint64_t byte);
  // Copy up to `bytes` from the user buffer to `out`, or from `in` to the user buffer; return how many.
  size_t pack(void* out, size_t bytes);
  size_t unpack(const void* in, size_t bytes);
  // The next contiguous pieces, at most `most` of them and at most `bytes` in total; returns how many
  // and moves on past them. For CMA and zero-copy sends.
  size_t pieces(iovec* out, size_t most, size_t bytes);

 private:
  struct Frame {
    const Shape* shape;  // nullptr: top_
    int64_t index;       // the run, child or entry that comes next
    uintptr_t base;      // where the shape's offset 0 lies
  };
  const Shape& shape(const Frame& frame) const { return frame.shape ? *frame.shape : top_; }
  Frame* frames() { return deep_.empty() ? stack_ : deep_.data(); }
  void push(const Shape* shape, uintptr_t base);
  size_t next_run(uintptr_t* address, size_t most);
  template <bool kPacking>
  size_t whole(char* packed, size_t bytes);
  template <bool kPacking>
  size_t copy(char* packed, size_t bytes);

  Shape top_;  // all the elements together
  uintptr_t base_ = 0;
  uint64_t total_ = 0, position_ = 0;
  uint64_t in_run_ = 0;  // bytes done of the run that the top frame stands at
  uint32_t depth_ = 0;   // frames in use; 0 at the end
  static constexpr uint32_t kInline = 16;
  Frame stack_[kInline];
  std::vector<Frame> deep_;  // instead of stack_ for higher layouts
};

// Whole-buffer conveniences. `out`/`in` hold size*count bytes.
void pack(const void* buf, MPI_Count count, const Datatype& type, void* out);
void unpack(const void* in, void* buf, MPI_Count count, const Datatype& type);
// Copies between two typed buffers; the shorter one ends it; returns bytes copied. Works when the
// types differ (self messages, collectives' local parts).
uint64_t copy_typed(const void* from, MPI_Count from_count, const Datatype& from_type, void* to,
                    MPI_Count to_count, const Datatype& to_type);

// The committed type behind a handle, or a clear MPI_ERR_TYPE naming `argument`.
Result<Datatype*> committed(MPI_Datatype handle, const char* argument);

}  // namespace vicinity::object
