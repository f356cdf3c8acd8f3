// SPDX-License-Identifier: BSD-3-Clause
// What can be asked of a datatype: measures, contents, name, attributes (MPI 5.0, 5.1, 7.7.3, 7.8).
#include <algorithm>
#include <cstring>

#include "entry_object.h"
#include "object/datatype_create.h"
#include "object/request.h"

namespace vicinity::object {

MPI_Datatype hand_out(Datatype& type) {
  if (!type.permanent) {
    type.owners++;
    retain(&type);
  }
  return handle_of(type);
}

namespace entry {

Status type_size(Datatype& datatype, MPI_Count* size) {
  *size = datatype.size;
  return kOk;
}

Status type_get_extent(Datatype& datatype, MPI_Count* lb, MPI_Count* extent) {
  *lb = datatype.lb;
  *extent = datatype.extent;
  return kOk;
}

Status type_get_true_extent(Datatype& datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  *true_lb = datatype.true_lb;
  *true_extent = datatype.true_extent;
  return kOk;
}

Status get_elements(const MPI_Status* status, Datatype& datatype, MPI_Count* count) {
  *count = elements_in(datatype, get_bytes(*status));
  return kOk;
}

Status get_address(const void* location, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(location);
  return kOk;
}

MPI_Aint aint_add(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<size_t>(base) + static_cast<size_t>(disp));
}
MPI_Aint aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
  return static_cast<MPI_Aint>(static_cast<size_t>(addr1) - static_cast<size_t>(addr2));
}

namespace {

const Description kNamed(MPI_COMBINER_NAMED, false);

// `small`: the caller used the form without large counts, which cannot tell all of them.
Result<const Description*> describe(MPI_Datatype handle, bool small) {
  Result<Datatype*> type = valid_type(handle, "datatype");
  if (!type.ok()) return type.status();
  const Description* description = (*type)->description ? (*type)->description : &kNamed;
  if (small && !description->counts.empty())
    return fail(MPI_ERR_TYPE,
                "the datatype was made by a large count function (..._c); ask with the _c form as well");
  return description;
}

template <class T>
Status copy_out(const Growing<T>& values, MPI_Count most, T* out, const char* name) {
  if (most < static_cast<MPI_Count>(values.size()))
    return fail(MPI_ERR_ARG, "argument `max_%s` is %lld, the datatype has %zu", name,
                static_cast<long long>(most), values.size());
  if (!values.empty() && !out) return fail(MPI_ERR_ARG, "argument `array_of_%s` is a null pointer", name);
  std::copy(values.begin(), values.end(), out);
  return kOk;
}

Status contents(const Description& d, MPI_Count integers, MPI_Count addresses, MPI_Count types,
                int* array_of_integers, MPI_Aint* array_of_addresses, MPI_Datatype* array_of_datatypes) {
  if (d.combiner == MPI_COMBINER_NAMED)
    return fail(MPI_ERR_TYPE,
                "a named predefined datatype has no contents (its combiner is MPI_COMBINER_NAMED)");
  VICINITY_TRY(copy_out(d.integers, integers, array_of_integers, "integers"));
  VICINITY_TRY(copy_out(d.addresses, addresses, array_of_addresses, "addresses"));
  Growing<MPI_Datatype> handles;
  for (Datatype* type : d.types)
    if (!handles.push_back(handle_of(*type)))
      return fail(MPI_ERR_NO_MEM, "no memory for the list of %zu datatypes", d.types.size());
  VICINITY_TRY(copy_out(handles, types, array_of_datatypes, "datatypes"));
  for (Datatype* type : d.types) hand_out(*type);
  return kOk;
}

}  // namespace

Status type_get_envelope(MPI_Datatype datatype, int* integers, int* addresses, int* datatypes,
                         int* combiner) {
  Result<const Description*> d = describe(datatype, true);
  if (!d.ok()) return d.status();
  if (!integers || !addresses || !datatypes || !combiner)
    return fail(MPI_ERR_ARG, "an output is a null pointer");
  *integers = static_cast<int>((*d)->integers.size());
  *addresses = static_cast<int>((*d)->addresses.size());
  *datatypes = static_cast<int>((*d)->types.size());
  *combiner = (*d)->combiner;
  return kOk;
}

Status type_get_envelope_c(MPI_Datatype datatype, MPI_Count* integers, MPI_Count* addresses,
                           MPI_Count* large_counts, MPI_Count* datatypes, int* combiner) {
  Result<const Description*> d = describe(datatype, false);
  if (!d.ok()) return d.status();
  if (!integers || !addresses || !large_counts || !datatypes || !combiner)
    return fail(MPI_ERR_ARG, "an output is a null pointer");
  *integers = static_cast<MPI_Count>((*d)->integers.size());
  *addresses = static_cast<MPI_Count>((*d)->addresses.size());
  *large_counts = static_cast<MPI_Count>((*d)->counts.size());
  *datatypes = static_cast<MPI_Count>((*d)->types.size());
  *combiner = (*d)->combiner;
  return kOk;
}

Status type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
                         int* array_of_integers, MPI_Aint* array_of_addresses,
                         MPI_Datatype* array_of_datatypes) {
  Result<const Description*> d = describe(datatype, true);
  if (!d.ok()) return d.status();
  return contents(**d, max_integers, max_addresses, max_datatypes, array_of_integers, array_of_addresses,
                  array_of_datatypes);
}

Status type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                           MPI_Count max_large_counts, MPI_Count max_datatypes, int* array_of_integers,
                           MPI_Aint* array_of_addresses, MPI_Count* array_of_large_counts,
                           MPI_Datatype* array_of_datatypes) {
  Result<const Description*> d = describe(datatype, false);
  if (!d.ok()) return d.status();
  VICINITY_TRY(copy_out((*d)->counts, max_large_counts, array_of_large_counts, "large_counts"));
  return contents(**d, max_integers, max_addresses, max_datatypes, array_of_integers, array_of_addresses,
                  array_of_datatypes);
}

Status type_set_name(Datatype& datatype, const char* type_name) {
  std::strncpy(datatype.name, type_name, sizeof datatype.name - 1);
  return kOk;
}

Status type_get_name(Datatype& datatype, char* type_name, int* resultlen) {
  const size_t length = std::strlen(datatype.name);
  std::memcpy(type_name, datatype.name, length + 1);
  *resultlen = static_cast<int>(length);
  return kOk;
}

Status type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* destroy,
                          int* keyval, void* extra_state) {
  Result<int> made = keyval_create(Kind::kDatatype, reinterpret_cast<void*>(copy),
                                   reinterpret_cast<void*>(destroy), extra_state);
  if (made.ok()) *keyval = *made;
  return made.status();
}

Status type_free_keyval(int* keyval) {
  VICINITY_TRY(keyval_free(Kind::kDatatype, *keyval));
  *keyval = MPI_KEYVAL_INVALID;
  return kOk;
}

Status type_set_attr(Datatype& datatype, int keyval, void* value) {
  return attribute_set(datatype, datatype.attributes, keyval, value);
}

Status type_get_attr(Datatype& datatype, int keyval, void* value, int* flag) {
  bool found = false;
  VICINITY_TRY(attribute_get(datatype, datatype.attributes, keyval, static_cast<void**>(value), &found));
  *flag = found;
  return kOk;
}

Status type_delete_attr(Datatype& datatype, int keyval) {
  return attribute_delete(datatype, datatype.attributes, keyval);
}

}  // namespace entry
}  // namespace vicinity::object
