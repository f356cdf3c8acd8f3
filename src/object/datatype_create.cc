// SPDX-License-Identifier: BSD-3-Clause
// TypeBuilder and the constructors that concatenate copies of one or several types (MPI 5.0, 5.1.2).
#include "object/datatype_create.h"

#include <algorithm>
#include <new>
#include <utility>

#include "object/pool.h"

namespace vicinity::object {

Status too_large(const char* what) {
  return fail(MPI_ERR_VALUE_TOO_LARGE, "the %s of the new datatype does not fit into MPI_Count", what);
}

Status no_memory_for_type() { return fail(MPI_ERR_NO_MEM, "no memory for another datatype"); }

TypeMap typemap_of(const Datatype& type) {
  return {
      type.size,      type.lb,    type.extent, type.true_lb,        type.true_extent,      type.basic_count,
      type.alignment, type.basic, type.marked, type.layout->memory, type.layout->signature};
}

void drop(const TypeMap& map) {
  drop(map.memory);
  drop(map.signature);
}

// low and high: the displacements of the first and the last copy.
Status TypeBuilder::add_bounds(const TypeMap& map, MPI_Count low, MPI_Count high, MPI_Count copies) {
  MPI_Count begin, end, more;
  if (map.basic_count > 0) {
    if (!object::add(low, map.true_lb, &begin) || !object::add(high, map.true_lb, &end) ||
        !object::add(end, map.true_extent, &end))
      return too_large("true extent");
    true_low_ = any_ ? std::min(true_low_, begin) : begin;
    true_high_ = any_ ? std::max(true_high_, end) : end;
    any_ = true;
    if (!multiply(map.size, copies, &more) || !object::add(sum_.size, more, &sum_.size))
      return too_large("size");
    sum_.basic_count += map.basic_count * copies;  // no basic element is empty, so this fits where size fits
  }
  // Bounds that somebody set win over those that only follow from the elements.
  if (map.marked || !sum_.marked) {
    if (!object::add(low, map.lb, &begin) || !object::add(high, map.lb, &end) ||
        !object::add(end, map.extent, &end))
      return too_large("extent");
    const bool anew = !bounded_ || map.marked != sum_.marked;
    low_ = anew ? begin : std::min(low_, begin);
    high_ = anew ? end : std::max(high_, end);
    bounded_ = true;
    sum_.marked = map.marked;
  }
  return kOk;
}

Status TypeBuilder::add(const TypeMap& map, MPI_Count displacement, const Repetition* levels, size_t depth) {
  if (map.basic_count == 0 && !map.marked) return kOk;
  MPI_Count low = displacement, high = displacement, copies = 1;
  for (size_t i = 0; i < depth; i++)
    if (levels[i].count == 0) return kOk;
  for (size_t i = 0; i < depth; i++) {
    MPI_Count span;
    if (!multiply(levels[i].count - 1, levels[i].stride, &span) ||
        !object::add(span < 0 ? low : high, span, span < 0 ? &low : &high))
      return too_large("extent");
    if (!multiply(copies, levels[i].count, &copies)) return too_large("number of elements");
  }
  VICINITY_TRY(add_bounds(map, low, high, copies));
  sum_.alignment = std::max(sum_.alignment, map.alignment);
  if (map.basic_count == 0) return kOk;
  sum_.basic = first_ || sum_.basic == map.basic ? map.basic : Basic::kNone;
  first_ = false;
  Piece memory = map.memory;
  hold(memory);
  for (size_t i = 0; i < depth; i++) {
    const Piece inner = memory;
    memory = repeat(inner, levels[i].count, levels[i].stride);
    drop(inner);
  }
  memory.offset += displacement;
  memory_.add(memory);
  Piece signature = repeat(map.signature, copies, map.size);
  signature.offset += sum_.size - map.size * copies;
  signature_.add(signature);
  return kOk;
}

Result<TypeMap> TypeBuilder::finish(Padding padding) {
  TypeMap map = sum_;
  if (any_) {
    map.true_lb = true_low_;
    if (__builtin_sub_overflow(true_high_, true_low_, &map.true_extent)) return too_large("true extent");
  }
  map.lb = low_;
  if (__builtin_sub_overflow(high_, low_, &map.extent)) return too_large("extent");
  if (padding == Padding::kToAlignment && !map.marked) {
    const MPI_Count gap = map.extent % map.alignment;
    if (!object::add(map.extent, gap == 0 ? 0 : map.alignment - gap, &map.extent)) return too_large("extent");
  }
  map.memory = memory_.finish();
  map.signature = signature_.finish();
  if (!memory_.failed() && !signature_.failed()) return map;
  drop(map);
  return no_memory_for_type();
}

bool set_typemap(Datatype& type, const TypeMap& map) {
  type.layout = new (std::nothrow) Layout{map.memory, map.signature};
  if (!type.layout) return false;
  type.size = map.size;
  type.lb = map.lb;
  type.extent = map.extent;
  type.true_lb = map.true_lb;
  type.true_extent = map.true_extent;
  type.basic_count = map.basic_count;
  type.alignment = map.alignment;
  type.basic = map.basic;
  type.marked = map.marked;
  type.dense = map.size == 0 || (!map.memory.node && map.extent == map.size);
  return true;
}

Result<Datatype*> make_type(const TypeMap& map, Description&& description) {
  Datatype* type = make<Datatype>();
  if (type && !description.failed() && set_typemap(*type, map)) {
    type->description = new (std::nothrow) Description(std::move(description));
    if (type->description) return type;
    delete type->layout;
  }
  drop(map);
  if (type) destroy(type);
  return no_memory_for_type();
}

// Types can be nested as deep as a program likes, so what the last reference of one lets go is put on
// a list instead of being followed by recursion.
void Datatype::finish(Datatype* type) {
  static thread_local Datatype* pending = nullptr;
  static thread_local bool busy = false;
  type->next_dead = std::exchange(pending, type);
  if (std::exchange(busy, true)) return;
  while (Datatype* next = pending) {
    pending = next->next_dead;
    delete next->description;
    drop(next->layout->memory);
    drop(next->layout->signature);
    delete next->layout;
    destroy(next);
  }
  busy = false;
}

namespace {

Status check_lengths(MPI_Count count, CountArray blocklengths) {
  for (MPI_Count i = 0; i < count; i++) {
    const MPI_Count length = blocklengths[static_cast<size_t>(i)];
    if (length < 0)
      return fail(MPI_ERR_ARG, "array_of_blocklengths[%lld] is %lld, it may not be negative",
                  static_cast<long long>(i), static_cast<long long>(length));
  }
  return kOk;
}

Status check_count(MPI_Count value, const char* argument) {
  if (value >= 0) return kOk;
  return fail(MPI_ERR_COUNT, "argument `%s` is %lld, it may not be negative", argument,
              static_cast<long long>(value));
}

Result<Datatype*> finish(TypeBuilder& builder, Description& description,
                         TypeBuilder::Padding padding = TypeBuilder::Padding::kNone) {
  Result<TypeMap> map = builder.finish(padding);
  return map.ok() ? make_type(*map, std::move(description)) : map.status();
}

// Blocks of one type: lengths either all `blocklength` or each its own; displacements in units of `unit`.
struct Blocks {
  MPI_Count count;
  MPI_Count blocklength;
  CountArray blocklengths;  // used when not null
  CountArray displacements;
  MPI_Count unit;
  MPI_Count length(MPI_Count i) const {
    return blocklengths ? blocklengths[static_cast<size_t>(i)] : blocklength;
  }
};

Status add_blocks(TypeBuilder& builder, const Blocks& blocks, const Datatype& old) {
  const TypeMap map = typemap_of(old);
  for (MPI_Count i = 0; i < blocks.count; i++) {
    MPI_Count displacement;
    if (!multiply(blocks.displacements[static_cast<size_t>(i)], blocks.unit, &displacement))
      return too_large("displacement of a block");
    VICINITY_TRY(builder.add(map, displacement, blocks.length(i)));
  }
  return kOk;
}

Result<Datatype*> vector_of(MPI_Count count, MPI_Count blocklength, MPI_Count bytes, Datatype& old,
                            Description& description) {
  TypeBuilder builder;
  const Repetition levels[] = {{blocklength, old.extent}, {count, bytes}};
  VICINITY_TRY(builder.add(typemap_of(old), 0, levels, 2));
  description.type(old);
  return finish(builder, description);
}

Result<Datatype*> blocks_of(const Blocks& blocks, Datatype& old, Description& description) {
  TypeBuilder builder;
  VICINITY_TRY(add_blocks(builder, blocks, old));
  description.type(old);
  return finish(builder, description);
}

}  // namespace

Result<Datatype*> type_contiguous(MPI_Count count, Datatype& old, bool large) {
  VICINITY_TRY(check_count(count, "count"));
  Description description(MPI_COMBINER_CONTIGUOUS, large);
  description.count(count);
  return vector_of(1, count, 0, old, description);
}

Result<Datatype*> type_vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& old,
                              bool large) {
  VICINITY_TRY(check_count(count, "count"));
  VICINITY_TRY(check_count(blocklength, "blocklength"));
  MPI_Count bytes = 0;
  if (count > 1 && !multiply(stride, old.extent, &bytes)) return too_large("stride in bytes");
  Description description(MPI_COMBINER_VECTOR, large);
  description.count(count);
  description.count(blocklength);
  description.count(stride);
  return vector_of(count, blocklength, bytes, old, description);
}

Result<Datatype*> type_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& old,
                               bool large) {
  VICINITY_TRY(check_count(count, "count"));
  VICINITY_TRY(check_count(blocklength, "blocklength"));
  Description description(MPI_COMBINER_HVECTOR, large);
  description.count(count);
  description.count(blocklength);
  description.address(stride);
  return vector_of(count, blocklength, stride, old, description);
}

Result<Datatype*> type_indexed(MPI_Count count, CountArray blocklengths, CountArray displacements,
                               Datatype& old, bool large) {
  VICINITY_TRY(check_count(count, "count"));
  VICINITY_TRY(check_lengths(count, blocklengths));
  Description description(MPI_COMBINER_INDEXED, large);
  description.count(count);
  description.count(blocklengths, count);
  description.count(displacements, count);
  return blocks_of({count, 0, blocklengths, displacements, old.extent}, old, description);
}

Result<Datatype*> type_hindexed(MPI_Count count, CountArray blocklengths, CountArray displacements,
                                Datatype& old, bool large) {
  VICINITY_TRY(check_count(count, "count"));
  VICINITY_TRY(check_lengths(count, blocklengths));
  Description description(MPI_COMBINER_HINDEXED, large);
  description.count(count);
  description.count(blocklengths, count);
  description.address(displacements, count);
  return blocks_of({count, 0, blocklengths, displacements, 1}, old, description);
}

Result<Datatype*> type_indexed_block(MPI_Count count, MPI_Count blocklength, CountArray displacements,
                                     Datatype& old, bool large) {
  VICINITY_TRY(check_count(count, "count"));
  VICINITY_TRY(check_count(blocklength, "blocklength"));
  Description description(MPI_COMBINER_INDEXED_BLOCK, large);
  description.count(count);
  description.count(blocklength);
  description.count(displacements, count);
  return blocks_of({count, blocklength, {}, displacements, old.extent}, old, description);
}

Result<Datatype*> type_hindexed_block(MPI_Count count, MPI_Count blocklength, CountArray displacements,
                                      Datatype& old, bool large) {
  VICINITY_TRY(check_count(count, "count"));
  VICINITY_TRY(check_count(blocklength, "blocklength"));
  Description description(MPI_COMBINER_HINDEXED_BLOCK, large);
  description.count(count);
  description.count(blocklength);
  description.address(displacements, count);
  return blocks_of({count, blocklength, {}, displacements, 1}, old, description);
}

Result<Datatype*> type_struct(MPI_Count count, CountArray blocklengths, CountArray displacements,
                              const MPI_Datatype* types, bool large) {
  VICINITY_TRY(check_count(count, "count"));
  VICINITY_TRY(check_lengths(count, blocklengths));
  TypeBuilder builder;
  for (MPI_Count i = 0; i < count; i++) {
    const auto index = static_cast<size_t>(i);
    const Datatype* old = lookup<Datatype>(types[index]);
    if (!old)
      return fail(MPI_ERR_TYPE, "array_of_types[%lld] is %p, which is no datatype", static_cast<long long>(i),
                  reinterpret_cast<void*>(types[index]));
    VICINITY_TRY(builder.add(typemap_of(*old), displacements[index], blocklengths[index]));
  }
  Description description(MPI_COMBINER_STRUCT, large);
  description.count(count);
  description.count(blocklengths, count);
  description.address(displacements, count);
  for (MPI_Count i = 0; i < count; i++) description.type(*lookup<Datatype>(types[i]));
  return finish(builder, description, TypeBuilder::Padding::kToAlignment);
}

Result<Datatype*> type_resized(Datatype& old, MPI_Count lb, MPI_Count extent, bool large) {
  MPI_Count ub;
  if (!add(lb, extent, &ub)) return too_large("upper bound");
  TypeMap map = typemap_of(old);
  hold(map.memory);
  hold(map.signature);
  map.lb = lb;
  map.extent = extent;
  map.marked = true;
  Description description(MPI_COMBINER_RESIZED, large);
  description.address(lb);
  description.address(extent);
  description.type(old);
  return make_type(map, std::move(description));
}

Result<Datatype*> type_dup(Datatype& old) {
  TypeMap map = typemap_of(old);
  hold(map.memory);
  hold(map.signature);
  Description description(MPI_COMBINER_DUP, false);
  description.type(old);
  Result<Datatype*> type = make_type(map, std::move(description));
  if (type.ok()) (*type)->committed = old.committed;
  return type;
}

}  // namespace vicinity::object
