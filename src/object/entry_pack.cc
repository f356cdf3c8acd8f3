// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pack, MPI_Unpack and their external32 forms (MPI 5.0, 5.2, 5.3).
#include <cstring>

#include "entry_object.h"
#include "object/communicator.h"
#include "object/datatype_create.h"

namespace vicinity::object::entry {
namespace {

// `*need` = count * each, if that many bytes lie within [*position, size).
Status reserve(MPI_Count count, MPI_Count each, MPI_Count size, MPI_Count position, const char* buffer,
               MPI_Count* need) {
  if (position < 0 || position > size)
    return fail(MPI_ERR_ARG, "argument `position` is %lld, it must be from 0 to the size of the buffer, %lld",
                static_cast<long long>(position), static_cast<long long>(size));
  if (multiply(count, each, need) && *need <= size - position) return kOk;
  return fail(MPI_ERR_TRUNCATE, "%lld elements of %lld bytes are more than the %lld bytes left in `%s`",
              static_cast<long long>(count), static_cast<long long>(each),
              static_cast<long long>(size - position), buffer);
}

Status check_datarep(const char* datarep) {
  if (std::strcmp(datarep, "external32") == 0) return kOk;
  return fail(MPI_ERR_UNSUPPORTED_DATAREP, "argument `datarep` is \"%.40s\", only \"external32\" is defined",
              datarep);
}

Status total(MPI_Count count, MPI_Count each, MPI_Count* size) {
  if (multiply(count, each, size)) return kOk;
  return fail(MPI_ERR_VALUE_TOO_LARGE, "%lld elements of %lld bytes are more than MPI_Count can tell",
              static_cast<long long>(count), static_cast<long long>(each));
}

const char* moved(const void* buf, MPI_Count position) { return static_cast<const char*>(buf) + position; }

}  // namespace

Status pack(const void* inbuf, MPI_Count incount, Datatype& datatype, void* outbuf, MPI_Count outsize,
            MPI_Count* position, Communicator&) {
  MPI_Count need = 0;
  VICINITY_TRY(reserve(incount, datatype.size, outsize, *position, "outbuf", &need));
  if (need == 0) return kOk;
  object::pack(inbuf, incount, datatype, static_cast<char*>(outbuf) + *position);
  *position += need;
  return kOk;
}

Status unpack(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
              Datatype& datatype, Communicator&) {
  MPI_Count need = 0;
  VICINITY_TRY(reserve(outcount, datatype.size, insize, *position, "inbuf", &need));
  if (need == 0) return kOk;
  object::unpack(moved(inbuf, *position), outbuf, outcount, datatype);
  *position += need;
  return kOk;
}

Status pack_size(MPI_Count incount, Datatype& datatype, Communicator&, MPI_Count* size) {
  return total(incount, datatype.size, size);
}

Status pack_external(const char* datarep, const void* inbuf, MPI_Count incount, Datatype& datatype,
                     void* outbuf, MPI_Count outsize, MPI_Count* position) {
  VICINITY_TRY(check_datarep(datarep));
  MPI_Count need = 0;
  VICINITY_TRY(reserve(incount, external_bytes(datatype), outsize, *position, "outbuf", &need));
  if (need == 0) return kOk;
  VICINITY_TRY(object::pack_external(inbuf, incount, datatype, static_cast<char*>(outbuf) + *position));
  *position += need;
  return kOk;
}

Status unpack_external(const char* datarep, const void* inbuf, MPI_Count insize, MPI_Count* position,
                       void* outbuf, MPI_Count outcount, Datatype& datatype) {
  VICINITY_TRY(check_datarep(datarep));
  MPI_Count need = 0;
  VICINITY_TRY(reserve(outcount, external_bytes(datatype), insize, *position, "inbuf", &need));
  if (need == 0) return kOk;
  VICINITY_TRY(object::unpack_external(moved(inbuf, *position), outbuf, outcount, datatype));
  *position += need;
  return kOk;
}

Status pack_external_size(const char* datarep, MPI_Count incount, Datatype& datatype, MPI_Count* size) {
  VICINITY_TRY(check_datarep(datarep));
  return total(incount, external_bytes(datatype), size);
}

}  // namespace vicinity::object::entry
