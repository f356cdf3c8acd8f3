// SPDX-License-Identifier: BSD-3-Clause
// The external32 data representation (MPI 5.0, 14.5.2).
//
// Native bytes are gathered in typemap order by PackCursor into a small buffer and converted from there,
// run by run of the type's signature. Most types only change their byte order. Different in size are
// long (4 bytes), wide characters (2), and the 80-bit long double (IEEE binary128).
#include <algorithm>
#include <cstring>

#include "object/datatype_create.h"
#include "object/datatype_layout.h"
#include "object/datatype_units.h"

namespace vicinity::object {
namespace {

bool is(const Datatype& unit, MPI_Datatype constant) { return handle_of(unit) == constant; }
bool is_long(const Datatype& unit) { return is(unit, MPI_LONG) || is(unit, MPI_UNSIGNED_LONG); }

// Bytes of the parts whose order is reversed one by one: those of a complex number are its two halves.
size_t part_size(const Datatype& unit) {
  const bool complex = unit.basic >= Basic::kC16 && unit.basic <= Basic::kC128;
  return static_cast<size_t>(unit.size) / (complex ? 2 : 1);
}

template <class T>
void reverse_all(const char* from, char* to, size_t count) {
  for (size_t i = 0; i < count; i++) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    if constexpr (sizeof(T) == 2) value = __builtin_bswap16(value);
    if constexpr (sizeof(T) == 4) value = __builtin_bswap32(value);
    if constexpr (sizeof(T) == 8) value = __builtin_bswap64(value);
    if constexpr (sizeof(T) == 16) {  // clang has no __builtin_bswap128
      const auto low = static_cast<uint64_t>(value), high = static_cast<uint64_t>(value >> 64);
      value = T{__builtin_bswap64(low)} << 64 | __builtin_bswap64(high);
    }
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
}

void reverse(const char* from, char* to, size_t bytes, size_t part) {
  switch (part) {
    case 2:
      return reverse_all<uint16_t>(from, to, bytes / 2);
    case 4:
      return reverse_all<uint32_t>(from, to, bytes / 4);
    case 8:
      return reverse_all<uint64_t>(from, to, bytes / 8);
    case 16:
      return reverse_all<unsigned __int128>(from, to, bytes / 16);
    default:
      std::memcpy(to, from, bytes);
  }
}

// Elements that change their size: one at a time, through a value of a common type.
template <class Native, class External>
bool narrow(const char* from, char* to, size_t count) {
  for (size_t i = 0; i < count; i++) {
    Native value;
    std::memcpy(&value, from + i * sizeof(Native), sizeof(Native));
    const auto small = static_cast<External>(value);
    if (static_cast<Native>(small) != value && value == value) return false;
    char bytes[sizeof(External)];
    std::memcpy(bytes, &small, sizeof small);
    reverse(bytes, to + i * sizeof(External), sizeof(External), sizeof(External));
  }
  return true;
}

template <class Native, class External>
void widen(const char* from, char* to, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char bytes[sizeof(External)];
    External small;
    reverse(from + i * sizeof(External), bytes, sizeof(External), sizeof(External));
    std::memcpy(&small, bytes, sizeof small);
    const auto value = static_cast<Native>(small);
    std::memcpy(to + i * sizeof(Native), &value, sizeof(Native));
  }
}

Status to_external(const Datatype& unit, const char* from, char* to, size_t count) {
  bool fits = true;
  if (is(unit, MPI_LONG)) {
    fits = narrow<int64_t, int32_t>(from, to, count);
  } else if (is(unit, MPI_UNSIGNED_LONG)) {
    fits = narrow<uint64_t, uint32_t>(from, to, count);
  } else if (unit.basic == Basic::kWchar) {
    fits = narrow<uint32_t, uint16_t>(from, to, count);
  } else if (unit.basic == Basic::kF80 || unit.basic == Basic::kC80) {
    narrow<long double, __float128>(from, to, count * (unit.basic == Basic::kC80 ? 2 : 1));
  } else {
    reverse(from, to, count * static_cast<size_t>(unit.size), part_size(unit));
  }
  if (fits) return kOk;
  return fail(MPI_ERR_CONVERSION,
              "a value of type %s does not fit into the %d bytes that external32 gives it", unit.name,
              static_cast<int>(external_size(unit)));
}

void from_external(const Datatype& unit, const char* from, char* to, size_t count) {
  if (is(unit, MPI_LONG)) return widen<int64_t, int32_t>(from, to, count);
  if (is(unit, MPI_UNSIGNED_LONG)) return widen<uint64_t, uint32_t>(from, to, count);
  if (unit.basic == Basic::kWchar) return widen<uint32_t, uint16_t>(from, to, count);
  if (unit.basic == Basic::kF80 || unit.basic == Basic::kC80)
    return widen<long double, __float128>(from, to, count * (unit.basic == Basic::kC80 ? 2 : 1));
  reverse(from, to, count * static_cast<size_t>(unit.size), part_size(unit));
}

constexpr size_t kChunk = 4096;  // a multiple of every element size

}  // namespace

int64_t external_size(const Datatype& unit) {
  if (is_long(unit)) return 4;
  return unit.basic == Basic::kWchar ? 2 : unit.size;
}

MPI_Count external_bytes(const Datatype& type) { return external_bytes(type.layout->signature); }

Status pack_external(const void* buf, MPI_Count count, const Datatype& type, void* out) {
  PackCursor cursor(buf, count, type);
  UnitRuns runs(type, count);
  char* to = static_cast<char*>(out);
  alignas(16) char chunk[kChunk];
  for (Piece run; runs.next(&run);) {
    const auto external = static_cast<size_t>(external_size(*run.unit));
    while (run.bytes > 0) {
      const size_t bytes = cursor.pack(chunk, std::min(kChunk, static_cast<size_t>(run.bytes)));
      const size_t elements = bytes / static_cast<size_t>(run.unit->size);
      VICINITY_TRY(to_external(*run.unit, chunk, to, elements));
      to += elements * external;
      run.bytes -= static_cast<int64_t>(bytes);
    }
  }
  return kOk;
}

Status unpack_external(const void* in, void* buf, MPI_Count count, const Datatype& type) {
  unpack_external_part(in, count * external_bytes(type), buf, count, type);
  return kOk;
}

MPI_Count unpack_external_part(const void* in, MPI_Count bytes, void* buf, MPI_Count count,
                               const Datatype& type) {
  PackCursor cursor(buf, count, type);
  UnitRuns runs(type, count);
  const char* from = static_cast<const char*>(in);
  alignas(16) char chunk[kChunk];
  for (Piece run; runs.next(&run);) {
    const MPI_Count external = external_size(*run.unit);
    const MPI_Count there = std::min(run.bytes / run.unit->size, bytes / external);
    const bool whole = there * run.unit->size == run.bytes;
    bytes -= there * external;
    for (MPI_Count left = there * run.unit->size; left > 0;) {
      const size_t native = std::min(kChunk, static_cast<size_t>(left));
      const size_t elements = native / static_cast<size_t>(run.unit->size);
      from_external(*run.unit, from, chunk, elements);
      from += elements * static_cast<size_t>(external);
      cursor.unpack(chunk, native);
      left -= static_cast<MPI_Count>(native);
    }
    if (!whole) break;
  }
  return static_cast<MPI_Count>(cursor.position());
}

}  // namespace vicinity::object
