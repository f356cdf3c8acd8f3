// SPDX-License-Identifier: BSD-3-Clause
// Types by precision and range (MPI 5.0, 19.1.5) and by size (19.1.9): what gfortran's SELECTED_REAL_KIND
// and SELECTED_INT_KIND choose on this machine.
//
// The types by precision are predefined but have no name. The same arguments give the same handle, so
// they are kept for ever once made.
#include <mutex>
#include <utility>

#include "object/datatype_create.h"

namespace vicinity::object {
namespace {

struct RealKind {
  int digits, range;
  MPI_Datatype real, complex;
};
// LONG_DOUBLE stands for gfortran's kind 10.
const RealKind kReals[] = {{6, 37, MPI_REAL4, MPI_COMPLEX8},
                           {15, 307, MPI_REAL8, MPI_COMPLEX16},
                           {18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
                           {33, 4931, MPI_REAL16, MPI_COMPLEX32}};

struct IntegerKind {
  int range;
  MPI_Datatype integer;
};
const IntegerKind kIntegers[] = {
    {2, MPI_INTEGER1}, {4, MPI_INTEGER2}, {9, MPI_INTEGER4}, {18, MPI_INTEGER8}, {38, MPI_INTEGER16}};

struct Made {
  int combiner, p, r;
  Datatype* type;
};
std::mutex lock;
Growing<Made>& made = *new Growing<Made>;  // never destroyed: the handles stay valid

Result<Datatype*> predefined_like(MPI_Datatype base, int combiner, int p, int r) {
  std::lock_guard guard(lock);
  for (const Made& m : made)
    if (m.combiner == combiner && m.p == p && m.r == r) return m.type;
  TypeMap map = typemap_of(builtin(base));
  hold(map.memory);
  hold(map.signature);
  Description description(combiner, false);
  if (combiner != MPI_COMBINER_F90_INTEGER) description.integers.push_back(p);
  description.integers.push_back(r);
  Result<Datatype*> type = make_type(map, std::move(description));
  if (!type.ok()) return type;
  if (!made.push_back({combiner, p, r, *type})) {
    release(*type);
    return no_memory_for_type();
  }
  (*type)->committed = true;
  (*type)->permanent = true;
  return type;
}

Result<const RealKind*> real_kind(int p, int r) {
  if (p == MPI_UNDEFINED && r == MPI_UNDEFINED)
    return fail(MPI_ERR_ARG, "arguments `p` and `r` are both MPI_UNDEFINED, at least one must be given");
  for (const RealKind& kind : kReals)
    if ((p == MPI_UNDEFINED || p <= kind.digits) && (r == MPI_UNDEFINED || r <= kind.range)) return &kind;
  return fail(MPI_ERR_ARG, "no real type has %d decimal digits and a decimal range of %d", p, r);
}

}  // namespace

Result<Datatype*> type_f90_real(int p, int r) {
  Result<const RealKind*> kind = real_kind(p, r);
  if (!kind.ok()) return kind.status();
  return predefined_like((*kind)->real, MPI_COMBINER_F90_REAL, p, r);
}

Result<Datatype*> type_f90_complex(int p, int r) {
  Result<const RealKind*> kind = real_kind(p, r);
  if (!kind.ok()) return kind.status();
  return predefined_like((*kind)->complex, MPI_COMBINER_F90_COMPLEX, p, r);
}

Result<Datatype*> type_f90_integer(int r) {
  for (const IntegerKind& kind : kIntegers)
    if (r <= kind.range) return predefined_like(kind.integer, MPI_COMBINER_F90_INTEGER, 0, r);
  return fail(MPI_ERR_ARG, "no integer type has a decimal range of %d", r);
}

Result<Datatype*> type_match_size(int typeclass, int size) {
  static const MPI_Datatype kRealTypes[] = {MPI_REAL2, MPI_REAL4, MPI_REAL8, MPI_REAL16};
  static const MPI_Datatype kComplexTypes[] = {MPI_COMPLEX4, MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32};
  static const MPI_Datatype kIntegerTypes[] = {MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8,
                                               MPI_INTEGER16};
  auto find = [size](const auto& types) -> Result<Datatype*> {
    for (MPI_Datatype type : types)
      if (builtin(type).size == size) return &builtin(type);
    return fail(MPI_ERR_ARG, "argument `size` is %d, there is no type of that class and size", size);
  };
  switch (typeclass) {
    case MPI_TYPECLASS_REAL:
      return find(kRealTypes);
    case MPI_TYPECLASS_COMPLEX:
      return find(kComplexTypes);
    case MPI_TYPECLASS_INTEGER:
      return find(kIntegerTypes);
    default:
      return fail(MPI_ERR_ARG, "argument `typeclass` is %d, which is no class of types", typeclass);
  }
}

}  // namespace vicinity::object
