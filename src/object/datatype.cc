// SPDX-License-Identifier: BSD-3-Clause
// Looking up, committing and measuring datatypes.
#include "object/datatype.h"

#include "object/datatype_create.h"
#include "object/datatype_layout.h"

namespace vicinity::object {

Result<Datatype*> valid_type(MPI_Datatype handle, const char* argument) {
  if (Datatype* type = lookup<Datatype>(handle)) return type;
  if (handle == MPI_DATATYPE_NULL) return fail(MPI_ERR_TYPE, "argument `%s` is MPI_DATATYPE_NULL", argument);
  return fail(MPI_ERR_TYPE, "argument `%s` is %p, which is no datatype (or one that was freed)", argument,
              reinterpret_cast<void*>(handle));
}

Result<Datatype*> committed(MPI_Datatype handle, const char* argument) {
  Result<Datatype*> type = valid_type(handle, argument);
  if (type.ok() && !(*type)->committed)
    return fail(MPI_ERR_TYPE, "argument `%s` is a datatype that is not committed; call MPI_Type_commit first",
                argument);
  return type;
}

void commit(Datatype& type) { type.committed = true; }

namespace {

// A step down into a signature: the child, and how much of the other measure came before it.
struct Step {
  const Piece piece;
  MPI_Count before = 0;
};

// The child in which byte `*bytes` lies; what comes before it is taken off.
Step enter(const Node& node, MPI_Count* bytes) {
  if (node.kind == Shape::kLoop || node.kind == Shape::kStrided) {
    const MPI_Count before = *bytes / node.block;
    *bytes %= node.block;
    return {{0, node.block, node.child, nullptr}, before * (node.elements / node.count)};
  }
  MPI_Count elements = 0;
  int64_t i = 0;
  for (; i + 1 < node.count && node.entries[i].piece.bytes <= *bytes; i++) {
    *bytes -= node.entries[i].piece.bytes;
    elements += elements_of(node.entries[i].piece);
  }
  return {node.entries[i].piece, elements};
}

// The child in which element number `*elements` lies; what comes before it is taken off.
Step enter_element(const Node& node, MPI_Count* elements) {
  if (node.kind == Shape::kLoop || node.kind == Shape::kStrided) {
    const MPI_Count each = node.elements / node.count;
    const MPI_Count before = *elements / each;
    *elements %= each;
    return {{0, node.block, node.child, nullptr}, before * node.block};
  }
  MPI_Count bytes = 0;
  int64_t i = 0;
  for (; i + 1 < node.count && elements_of(node.entries[i].piece) <= *elements; i++) {
    *elements -= elements_of(node.entries[i].piece);
    bytes += node.entries[i].piece.bytes;
  }
  return {node.entries[i].piece, bytes};
}

}  // namespace

MPI_Count elements_in(const Datatype& type, MPI_Count bytes) {
  if (type.size == 0) return bytes == 0 ? 0 : MPI_UNDEFINED;
  MPI_Count sum = bytes / type.size * type.basic_count;
  bytes %= type.size;
  Piece piece = type.layout->signature;
  while (piece.node && bytes > 0) {
    const Step step = enter(*piece.node, &bytes);
    sum += step.before;
    piece = step.piece;
  }
  if (bytes == 0) return sum;
  return bytes % piece.unit->size == 0 ? sum + bytes / piece.unit->size : MPI_UNDEFINED;
}

MPI_Count bytes_of(const Datatype& type, MPI_Count elements) {
  if (type.basic_count == 0) return 0;
  MPI_Count sum;
  if (!multiply(elements / type.basic_count, type.size, &sum)) return MPI_UNDEFINED;
  elements %= type.basic_count;
  Piece piece = type.layout->signature;
  while (piece.node && elements > 0) {
    const Step step = enter_element(*piece.node, &elements);
    sum += step.before;
    piece = step.piece;
  }
  return elements == 0 ? sum : sum + elements * piece.unit->size;
}

}  // namespace vicinity::object
