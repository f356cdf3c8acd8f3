// SPDX-License-Identifier: BSD-3-Clause
// Types and data in another representation (MPI 5.0, 14.5): sizes, filetypes as they are in the file, and the
// calls of the program's conversion functions.
#include <algorithm>
#include <climits>
#include <cstring>

#include "io/datarep.h"
#include "object/datatype_contents.h"
#include "object/datatype_units.h"

namespace vicinity::io {
namespace {

using base::Result;
using object::CountArray;
using object::Description;
using Kind = Representation::Kind;

constexpr int kMostLevels = 64;  // of a filetype that has to be made anew

Status unit_bytes(const Representation& rep, const Datatype& unit, int64_t* bytes) {
  MPI_Aint extent = 0;
  const int code = rep.extent(object::handle_of(unit), &extent, rep.extra);
  *bytes = extent;
  if (code == MPI_SUCCESS && extent > 0) return kOk;
  return fail(MPI_ERR_CONVERSION, "the extent function of \"%s\" returned code %d and %lld bytes for type %s",
              rep.name.c_str(), code, (long long)extent, unit.name);
}

// The elements of a type in type-map order: runs of one predefined type, with its size in the file.
class Elements {
 public:
  Elements(const Representation& rep, const Datatype& type, MPI_Count count)
      : rep_(rep), runs_(type, count) {}
  // kOk and `*count` 0: there are no more.
  Status next(int64_t* count, int64_t* memory, int64_t* file) {
    object::Piece run;
    *count = 0;
    if (!runs_.next(&run)) return kOk;
    if (run.unit != unit_) VICINITY_TRY(unit_bytes(rep_, *run.unit, &file_));
    unit_ = run.unit;
    *count = run.bytes / unit_->size;
    *memory = unit_->size;
    *file = file_;
    return kOk;
  }

 private:
  const Representation& rep_;
  object::UnitRuns runs_;
  const Datatype* unit_ = nullptr;
  int64_t file_ = 0;
};

// Are all elements as large in the file as in memory?
Status unchanged(const Representation& rep, const Datatype& type, bool* same) {
  *same = true;
  if (rep.kind == Kind::kExternal) *same = object::external_bytes(type) == type.size;
  if (rep.kind != Kind::kUser) return kOk;
  Elements elements(rep, type, 1);
  int64_t count = 1, memory = 0, file = 0;
  while (*same && count > 0) {
    VICINITY_TRY(elements.next(&count, &memory, &file));
    *same = memory == file;
  }
  return kOk;
}

CountArray from(CountArray values, size_t first) {
  if (values.wide()) return CountArray(static_cast<const MPI_Count*>(values.data()) + first);
  return CountArray(static_cast<const int*>(values.data()) + first);
}

Result<Datatype*> block(const Representation& rep, const Datatype& type) {
  int64_t bytes = 0;
  VICINITY_TRY(bytes_in_file(rep, type, &bytes));
  return object::type_contiguous(bytes, object::builtin(MPI_BYTE), true);
}

// The constructor that made a type, applied to another old type.
Result<Datatype*> again(const Description& made, Datatype& old) {
  const CountArray all = made.large ? CountArray(made.counts.begin()) : CountArray(made.integers.begin());
  const int* ints = made.integers.begin();
  switch (made.combiner) {
    case MPI_COMBINER_DUP:
      return object::type_dup(old);
    case MPI_COMBINER_CONTIGUOUS:
      return object::type_contiguous(all[0], old, made.large);
    case MPI_COMBINER_VECTOR:
      return object::type_vector(all[0], all[1], all[2], old, made.large);
    case MPI_COMBINER_INDEXED:
      return object::type_indexed(all[0], from(all, 1), from(all, 1 + static_cast<size_t>(all[0])), old,
                                  made.large);
    case MPI_COMBINER_INDEXED_BLOCK:
      return object::type_indexed_block(all[0], all[1], from(all, 2), old, made.large);
    case MPI_COMBINER_SUBARRAY: {
      const auto n = static_cast<size_t>(ints[0]);
      const size_t first = made.large ? 0 : 1;
      return object::type_subarray(ints[0], from(all, first), from(all, first + n), from(all, first + 2 * n),
                                   ints[made.large ? 1 : 1 + 3 * n], old, made.large);
    }
    case MPI_COMBINER_DARRAY: {
      const auto n = static_cast<size_t>(ints[2]);
      const int* lists = ints + 3 + (made.large ? 0 : n);
      const CountArray sizes = made.large ? all : from(all, 3);
      return object::type_darray(
          {ints[0], ints[1], ints[2], sizes, lists, lists + n, lists + 2 * n, lists[3 * n]}, old, made.large);
    }
    default:
      return fail(
          MPI_ERR_UNSUPPORTED_DATAREP,
          "a filetype with displacements in bytes, as MPI_Type_create_struct, hvector, hindexed and "
          "resized make them, is not portable (MPI 5.0, 14.1.1), and its elements have another size in "
          "this representation");
  }
}

Result<Datatype*> rebuild(const Representation& rep, Datatype& type, int level) {
  bool same = false;
  VICINITY_TRY(unchanged(rep, type, &same));
  if (same) return object::retain(&type);
  if (!type.description || type.permanent || (type.dense && type.extent == type.size))
    return block(rep, type);
  if (level == kMostLevels)
    return fail(MPI_ERR_UNSUPPORTED_DATAREP, "a filetype of more than %d levels is not converted",
                kMostLevels);
  const Description& made = *type.description;
  Result<Datatype*> old = rebuild(rep, **made.types.begin(), level + 1);
  if (!old.ok()) return old.status();
  Result<Datatype*> built = again(made, **old);
  object::release(*old);
  return built;
}

// What the program's functions count: elements, by their position in the tiled type.
template <class Function, class Count>
Status call(const Representation& rep, Function* function, void* user, Datatype& type, MPI_Count count,
            char* file, MPI_Offset position) {
  const int code =
      function(user, object::handle_of(type), static_cast<Count>(count), file, position, rep.extra);
  if (code == MPI_SUCCESS) return kOk;
  return fail(MPI_ERR_CONVERSION, "a conversion function of \"%s\" returned code %d", rep.name.c_str(), code);
}

Status convert(const Representation& rep, bool writing, void* user, Datatype& type, MPI_Count elements,
               char* file) {
  if (auto* large = writing ? rep.write_c : rep.read_c)
    return call<MPI_Datarep_conversion_function_c, MPI_Count>(rep, large, user, type, elements, file, 0);
  if (elements > INT_MAX)
    return fail(MPI_ERR_CONVERSION,
                "%lld elements are too many for the conversion functions of \"%s\": register larger ones "
                "with MPI_Register_datarep_c",
                (long long)elements, rep.name.c_str());
  auto* small = writing ? rep.write : rep.read;
  return call<MPI_Datarep_conversion_function, int>(rep, small, user, type, elements, file, 0);
}

// How many whole elements the first `bytes` in the file are, and what they are in memory.
Status measure(const Representation& rep, const Datatype& type, MPI_Count count, int64_t bytes,
               MPI_Count* whole, int64_t* memory) {
  Elements elements(rep, type, count);
  *whole = *memory = 0;
  for (;;) {
    int64_t run = 0, native_size = 0, file_size = 0;
    VICINITY_TRY(elements.next(&run, &native_size, &file_size));
    if (run == 0) return kOk;
    const int64_t there = std::min(run, bytes / file_size);
    *whole += there;
    *memory += there * native_size;
    bytes -= there * file_size;
    if (there < run) return kOk;
  }
}

}  // namespace

Status bytes_in_file(const Representation& rep, const Datatype& type, int64_t* bytes) {
  *bytes = rep.kind == Kind::kExternal ? object::external_bytes(type) : type.size;
  if (rep.kind != Kind::kUser || !(rep.converts(true) || rep.converts(false))) return kOk;
  *bytes = 0;
  Elements elements(rep, type, 1);
  for (;;) {
    int64_t count = 0, memory = 0, file = 0, run = 0;
    VICINITY_TRY(elements.next(&count, &memory, &file));
    if (count == 0) return kOk;
    if (__builtin_mul_overflow(count, file, &run) || __builtin_add_overflow(*bytes, run, bytes))
      return fail(MPI_ERR_CONVERSION, "a type is too large in the representation \"%s\"", rep.name.c_str());
  }
}

base::Result<Datatype*> type_in_file(const Representation& rep, Datatype& type) {
  if (!rep.converts(true) && !rep.converts(false)) return object::retain(&type);
  auto made = rebuild(rep, type, 0);
  if (made.ok() && *made != &type) object::commit(**made);
  return made;
}

Status to_file(const Representation& rep, const void* buf, MPI_Count count, Datatype& type, char* out) {
  if (rep.kind == Kind::kExternal) return object::pack_external(buf, count, type, out);
  return convert(rep, true, const_cast<void*>(buf), type, count * type.basic_count, out);
}

Status from_file(const Representation& rep, char* in, int64_t bytes, void* buf, MPI_Count count,
                 Datatype& type, int64_t* memory) {
  if (rep.kind == Kind::kExternal) {
    *memory = object::unpack_external_part(in, bytes, buf, count, type);
    return kOk;
  }
  MPI_Count whole = 0;
  VICINITY_TRY(measure(rep, type, count, bytes, &whole, memory));
  return whole > 0 ? convert(rep, false, buf, type, whole, in) : kOk;
}

}  // namespace vicinity::io
