// SPDX-License-Identifier: BSD-3-Clause
// The predefined datatypes (MPI 5.0, 5.1.1, 3.2.2, 20.3): one table row each, valid before MPI_Init.
//
// Fortran types have the sizes of gfortran's defaults: 4 bytes for INTEGER, REAL and LOGICAL, 8 for
// DOUBLE PRECISION. All optional sized types are there, REAL2 and COMPLEX4 as IEEE binary16.
#include <cstring>
#include <iterator>
#include <new>

#include "object/datatype.h"
#include "object/datatype_create.h"
#include "object/datatype_layout.h"

namespace vicinity::object {
namespace {

struct Row {
  MPI_Datatype constant;
  const char* name;
  Basic basic;
  uint8_t size, alignment;
};

#define VICINITY_TYPE(name, basic, c_type) {name, #name, Basic::basic, sizeof(c_type), alignof(c_type)}
struct Complex16 {
  _Float16 parts[2];
};
struct Complex32 {
  float parts[2];
};
struct Complex64 {
  double parts[2];
};
struct Complex80 {
  long double parts[2];
};
struct Complex128 {
  __float128 parts[2];
};

// Two constants have synonyms. Their names are those that the standard's tables put first (3.2.2).
const Row kRows[] = {
    VICINITY_TYPE(MPI_AINT, kI64, MPI_Aint),
    VICINITY_TYPE(MPI_COUNT, kI64, MPI_Count),
    VICINITY_TYPE(MPI_OFFSET, kI64, MPI_Offset),
    VICINITY_TYPE(MPI_PACKED, kBytes, char),
    VICINITY_TYPE(MPI_SHORT, kI16, short),
    VICINITY_TYPE(MPI_INT, kI32, int),
    VICINITY_TYPE(MPI_LONG, kI64, long),
    {MPI_LONG_LONG, "MPI_LONG_LONG_INT", Basic::kI64, sizeof(long long), alignof(long long)},
    VICINITY_TYPE(MPI_UNSIGNED_SHORT, kU16, unsigned short),
    VICINITY_TYPE(MPI_UNSIGNED, kU32, unsigned),
    VICINITY_TYPE(MPI_UNSIGNED_LONG, kU64, unsigned long),
    VICINITY_TYPE(MPI_UNSIGNED_LONG_LONG, kU64, unsigned long long),
    VICINITY_TYPE(MPI_FLOAT, kF32, float),
    {MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX", Basic::kC32, sizeof(Complex32), alignof(Complex32)},
    VICINITY_TYPE(MPI_CXX_FLOAT_COMPLEX, kC32, Complex32),
    VICINITY_TYPE(MPI_DOUBLE, kF64, double),
    VICINITY_TYPE(MPI_C_DOUBLE_COMPLEX, kC64, Complex64),
    VICINITY_TYPE(MPI_CXX_DOUBLE_COMPLEX, kC64, Complex64),
    VICINITY_TYPE(MPI_LOGICAL, kLogical32, int32_t),
    VICINITY_TYPE(MPI_INTEGER, kI32, int32_t),
    VICINITY_TYPE(MPI_REAL, kF32, float),
    VICINITY_TYPE(MPI_COMPLEX, kC32, Complex32),
    VICINITY_TYPE(MPI_DOUBLE_PRECISION, kF64, double),
    VICINITY_TYPE(MPI_DOUBLE_COMPLEX, kC64, Complex64),
    VICINITY_TYPE(MPI_CHARACTER, kChar, char),
    VICINITY_TYPE(MPI_LONG_DOUBLE, kF80, long double),
    VICINITY_TYPE(MPI_C_LONG_DOUBLE_COMPLEX, kC80, Complex80),
    VICINITY_TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, kC80, Complex80),
    VICINITY_TYPE(MPI_C_BOOL, kBool8, bool),
    VICINITY_TYPE(MPI_CXX_BOOL, kBool8, bool),
    VICINITY_TYPE(MPI_WCHAR, kWchar, wchar_t),
    VICINITY_TYPE(MPI_INT8_T, kI8, int8_t),
    VICINITY_TYPE(MPI_UINT8_T, kU8, uint8_t),
    VICINITY_TYPE(MPI_CHAR, kChar, char),
    VICINITY_TYPE(MPI_SIGNED_CHAR, kI8, signed char),
    VICINITY_TYPE(MPI_UNSIGNED_CHAR, kU8, unsigned char),
    VICINITY_TYPE(MPI_BYTE, kBytes, char),
    VICINITY_TYPE(MPI_INT16_T, kI16, int16_t),
    VICINITY_TYPE(MPI_UINT16_T, kU16, uint16_t),
    VICINITY_TYPE(MPI_INT32_T, kI32, int32_t),
    VICINITY_TYPE(MPI_UINT32_T, kU32, uint32_t),
    VICINITY_TYPE(MPI_INT64_T, kI64, int64_t),
    VICINITY_TYPE(MPI_UINT64_T, kU64, uint64_t),
    VICINITY_TYPE(MPI_LOGICAL1, kLogical8, int8_t),
    VICINITY_TYPE(MPI_INTEGER1, kI8, int8_t),
    VICINITY_TYPE(MPI_LOGICAL2, kLogical16, int16_t),
    VICINITY_TYPE(MPI_INTEGER2, kI16, int16_t),
    VICINITY_TYPE(MPI_REAL2, kF16, _Float16),
    VICINITY_TYPE(MPI_LOGICAL4, kLogical32, int32_t),
    VICINITY_TYPE(MPI_INTEGER4, kI32, int32_t),
    VICINITY_TYPE(MPI_REAL4, kF32, float),
    VICINITY_TYPE(MPI_COMPLEX4, kC16, Complex16),
    VICINITY_TYPE(MPI_LOGICAL8, kLogical64, int64_t),
    VICINITY_TYPE(MPI_INTEGER8, kI64, int64_t),
    VICINITY_TYPE(MPI_REAL8, kF64, double),
    VICINITY_TYPE(MPI_COMPLEX8, kC32, Complex32),
    VICINITY_TYPE(MPI_LOGICAL16, kLogical128, __int128),
    VICINITY_TYPE(MPI_INTEGER16, kI128, __int128),
    VICINITY_TYPE(MPI_REAL16, kF128, __float128),
    VICINITY_TYPE(MPI_COMPLEX16, kC64, Complex64),
    VICINITY_TYPE(MPI_COMPLEX32, kC128, Complex128),
};

struct PairRow {
  MPI_Datatype constant;
  const char* name;
  Basic basic;
  MPI_Datatype value, index;
};

#define VICINITY_PAIR(name, basic, value, index) {name, #name, Basic::basic, value, index}
const PairRow kPairs[] = {
    VICINITY_PAIR(MPI_FLOAT_INT, kFloatInt, MPI_FLOAT, MPI_INT),
    VICINITY_PAIR(MPI_DOUBLE_INT, kDoubleInt, MPI_DOUBLE, MPI_INT),
    VICINITY_PAIR(MPI_LONG_INT, kLongInt, MPI_LONG, MPI_INT),
    VICINITY_PAIR(MPI_2INT, kIntInt, MPI_INT, MPI_INT),
    VICINITY_PAIR(MPI_SHORT_INT, kShortInt, MPI_SHORT, MPI_INT),
    VICINITY_PAIR(MPI_LONG_DOUBLE_INT, kLongDoubleInt, MPI_LONG_DOUBLE, MPI_INT),
    VICINITY_PAIR(MPI_2REAL, kTwoReal, MPI_REAL, MPI_REAL),
    VICINITY_PAIR(MPI_2DOUBLE_PRECISION, kTwoDouble, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION),
    VICINITY_PAIR(MPI_2INTEGER, kTwoInteger, MPI_INTEGER, MPI_INTEGER),
};

constexpr size_t kConstants = 1024;
Datatype* table[kConstants];

// The objects are never destroyed: handles are used until the process ends.
alignas(Datatype) unsigned char memory[std::size(kRows) + std::size(kPairs)][sizeof(Datatype)];
size_t used = 0;

Datatype& place(MPI_Datatype constant, const char* name) {
  auto* type = new (memory[used++]) Datatype;
  type->kind = Kind::kDatatype;
  type->handle = reinterpret_cast<uintptr_t>(constant);
  type->committed = true;
  type->permanent = true;
  std::strncpy(type->name, name, sizeof type->name - 1);
  table[type->handle] = type;
  return *type;
}

void place_basic(const Row& row) {
  Datatype& type = place(row.constant, row.name);
  TypeMap map;
  map.size = map.extent = map.true_extent = row.size;
  map.basic_count = 1;
  map.alignment = row.alignment;
  map.basic = row.basic;
  map.memory.bytes = map.signature.bytes = row.size;
  map.signature.unit = &type;
  set_typemap(type, map);
}

void place_pair(const PairRow& row) {
  Datatype& type = place(row.constant, row.name);
  TypeMap map = pair_typemap(builtin(row.value), builtin(row.index));
  map.basic = row.basic;
  set_typemap(type, map);
}

// Runs when the library is loaded, before anything of it can be called.
[[gnu::constructor]] void place_all() {
  for (const Row& row : kRows) place_basic(row);
  for (const PairRow& row : kPairs) place_pair(row);
}

}  // namespace

Datatype* HandleTraits<Datatype>::predefined(uintptr_t constant) {
  return constant < kConstants ? table[constant] : nullptr;
}

Datatype& builtin(MPI_Datatype constant) { return *table[reinterpret_cast<uintptr_t>(constant)]; }

// All pairs we have are those with a name, as MPI 5.0, 6.9.4 permits.
Result<Datatype*> type_value_index(Datatype& value, Datatype& index) {
  for (const PairRow& row : kPairs)
    if (handle_of(value) == row.value && handle_of(index) == row.index) return &builtin(row.constant);
  return static_cast<Datatype*>(nullptr);
}

TypeMap pair_typemap(const Datatype& value, const Datatype& index) {
  TypeBuilder builder;
  const MPI_Count offset = (value.size + index.alignment - 1) / index.alignment * index.alignment;
  (void)builder.add(typemap_of(value), 0, 1);
  (void)builder.add(typemap_of(index), offset, 1);
  return *builder.finish(TypeBuilder::Padding::kToAlignment);
}

}  // namespace vicinity::object
