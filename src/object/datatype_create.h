// SPDX-License-Identifier: BSD-3-Clause
// Making datatypes (MPI 5.0, 5.1): the constructors as C++ functions, and the builder behind them.
//
// `large` tells that the caller used the large count form (_c) of the function; the type remembers
// its arguments in that form (MPI 5.0, 5.1.13). Every constructor checks its array arguments, and
// reports bounds or sizes that MPI_Count cannot hold as MPI_ERR_VALUE_TOO_LARGE.
#pragma once

#include <vector>

#include "object/datatype.h"
#include "object/datatype_contents.h"
#include "object/datatype_layout.h"

namespace vicinity::object {

// What a typemap amounts to; the numbers of a Datatype without the object.
struct TypeMap {
  MPI_Count size = 0, lb = 0, extent = 0, true_lb = 0, true_extent = 0, basic_count = 0;
  uint32_t alignment = 1;
  Basic basic = Basic::kNone;
  bool marked = false;
  Piece memory, signature;  // holds a reference of each
};

// A view of `type`; holds no references of its own.
TypeMap typemap_of(const Datatype& type);
void drop(const TypeMap& map);

// One level of repetition: `count` copies, `stride` bytes apart.
struct Repetition {
  MPI_Count count;
  MPI_Count stride;
};

// Concatenates repeated typemaps and works out bounds, alignment and layout of the whole.
class TypeBuilder {
 public:
  // The copies of `map` that the levels (innermost first) describe, all moved by `displacement`.
  Status add(const TypeMap& map, MPI_Count displacement, const Repetition* levels, size_t depth);
  Status add(const TypeMap& map, MPI_Count displacement, MPI_Count copies) {
    const Repetition level{copies, map.extent};
    return add(map, displacement, &level, 1);
  }
  // A structure without bounds of its own is padded to its alignment, as a C compiler does.
  enum class Padding : bool { kNone, kToAlignment };
  Result<TypeMap> finish(Padding padding = Padding::kNone);

 private:
  Status add_bounds(const TypeMap& map, MPI_Count low, MPI_Count high, MPI_Count copies);
  TypeMap sum_;
  bool any_ = false, first_ = true, bounded_ = false;
  MPI_Count true_low_ = 0, true_high_ = 0, low_ = 0, high_ = 0;
  SequenceBuilder memory_, signature_;
};

// A new type with this typemap (takes over its references) and this construction. Failures for want of memory
// that a Description or a builder has kept to itself come out here, or in TypeBuilder::finish().
Result<Datatype*> make_type(const TypeMap& map, Description&& description);
// Fills a type's numbers and layout; takes over the references. False: no memory, and nothing is changed.
bool set_typemap(Datatype& type, const TypeMap& map);

// The C structure { value; index; }.
TypeMap pair_typemap(const Datatype& value, const Datatype& index);

Status too_large(const char* what);
Status no_memory_for_type();
// a*b and a+b that notice overflow.
inline bool multiply(MPI_Count a, MPI_Count b, MPI_Count* result) {
  return !__builtin_mul_overflow(a, b, result);
}
inline bool add(MPI_Count a, MPI_Count b, MPI_Count* result) { return !__builtin_add_overflow(a, b, result); }

Result<Datatype*> type_contiguous(MPI_Count count, Datatype& old, bool large);
Result<Datatype*> type_vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& old,
                              bool large);
Result<Datatype*> type_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& old,
                               bool large);
Result<Datatype*> type_indexed(MPI_Count count, CountArray blocklengths, CountArray displacements,
                               Datatype& old, bool large);
Result<Datatype*> type_hindexed(MPI_Count count, CountArray blocklengths, CountArray displacements,
                                Datatype& old, bool large);
Result<Datatype*> type_indexed_block(MPI_Count count, MPI_Count blocklength, CountArray displacements,
                                     Datatype& old, bool large);
Result<Datatype*> type_hindexed_block(MPI_Count count, MPI_Count blocklength, CountArray displacements,
                                      Datatype& old, bool large);
Result<Datatype*> type_struct(MPI_Count count, CountArray blocklengths, CountArray displacements,
                              const MPI_Datatype* types, bool large);
Result<Datatype*> type_subarray(int ndims, CountArray sizes, CountArray subsizes, CountArray starts,
                                int order, Datatype& old, bool large);
// `size` processes, this is `rank`; the arrays have ndims values.
struct Distribution {
  int size, rank, ndims;
  CountArray gsizes;
  const int *distribs, *dargs, *psizes;
  int order;
};
Result<Datatype*> type_darray(const Distribution& grid, Datatype& old, bool large);
Result<Datatype*> type_resized(Datatype& old, MPI_Count lb, MPI_Count extent, bool large);
Result<Datatype*> type_dup(Datatype& old);  // without attributes
// Predefined types; the same handle for the same arguments (datatype_f90.cc).
Result<Datatype*> type_f90_real(int p, int r);
Result<Datatype*> type_f90_complex(int p, int r);
Result<Datatype*> type_f90_integer(int r);
Result<Datatype*> type_match_size(int typeclass, int size);
Result<Datatype*> type_value_index(Datatype& value, Datatype& index);  // nullptr: there is no such pair

void commit(Datatype& type);
// The valid type behind a handle, committed or not, or MPI_ERR_TYPE naming `argument`.
Result<Datatype*> valid_type(MPI_Datatype handle, const char* argument);

// How many whole basic elements the first `bytes` data bytes of a message of this type hold
// (MPI_Get_elements), or MPI_UNDEFINED if they end inside one; and how many bytes `elements` basic
// elements take (MPI_Status_set_elements).
MPI_Count elements_in(const Datatype& type, MPI_Count bytes);
MPI_Count bytes_of(const Datatype& type, MPI_Count elements);

// The external32 representation (MPI 5.0, 14.5.2): big-endian, with sizes of its own. A value that does
// not fit (a long of more than 32 bits) is MPI_ERR_CONVERSION.
MPI_Count external_bytes(const Datatype& type);
Status pack_external(const void* buf, MPI_Count count, const Datatype& type, void* out);
Status unpack_external(const void* in, void* buf, MPI_Count count, const Datatype& type);

}  // namespace vicinity::object
