// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing (MPI 5.0, 14.4): each function names a direction, a pointer and a form.
//
// Nonblocking collective accesses are done by each process for itself.
#include "entry_io.h"
#include "io/move.h"

namespace vicinity::io::entry {
namespace {

constexpr bool kRead = false, kWrite = true;

Access at(MPI_File fh, bool writing, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& type) {
  return {fh, writing, Pointer::kExplicit, offset, {const_cast<void*>(buf), count, &type}};
}
Access by(Pointer pointer, MPI_File fh, bool writing, const void* buf, MPI_Count count, Datatype& type) {
  return {fh, writing, pointer, 0, {const_cast<void*>(buf), count, &type}};
}

Access all(Access access) {
  access.collective = true;
  return access;
}

}  // namespace

// --- read ---
Status file_read_at(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype,
                    MPI_Status* status) {
  return blocking(at(fh, kRead, offset, buf, count, datatype), status);
}
Status file_iread_at(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype,
                     MPI_Request* request) {
  return nonblocking(at(fh, kRead, offset, buf, count, datatype), request);
}
Status file_read_at_all(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype,
                        MPI_Status* status) {
  return blocking(all(at(fh, kRead, offset, buf, count, datatype)), status);
}
Status file_iread_at_all(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype,
                         MPI_Request* request) {
  return nonblocking(all(at(fh, kRead, offset, buf, count, datatype)), request);
}
Status file_read(MPI_File fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return blocking(by(Pointer::kIndividual, fh, kRead, buf, count, datatype), status);
}
Status file_iread(MPI_File fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Request* request) {
  return nonblocking(by(Pointer::kIndividual, fh, kRead, buf, count, datatype), request);
}
Status file_read_all(MPI_File fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return blocking(all(by(Pointer::kIndividual, fh, kRead, buf, count, datatype)), status);
}
Status file_iread_all(MPI_File fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Request* request) {
  return nonblocking(all(by(Pointer::kIndividual, fh, kRead, buf, count, datatype)), request);
}
Status file_read_shared(MPI_File fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return blocking(by(Pointer::kShared, fh, kRead, buf, count, datatype), status);
}
Status file_iread_shared(MPI_File fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Request* request) {
  return nonblocking(by(Pointer::kShared, fh, kRead, buf, count, datatype), request);
}
Status file_read_ordered(MPI_File fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return blocking(all(by(Pointer::kOrdered, fh, kRead, buf, count, datatype)), status);
}
Status file_read_at_all_begin(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                              Datatype& datatype) {
  return begin(all(at(fh, kRead, offset, buf, count, datatype)), "MPI_File_read_at_all_begin");
}
Status file_read_all_begin(MPI_File fh, void* buf, MPI_Count count, Datatype& datatype) {
  return begin(all(by(Pointer::kIndividual, fh, kRead, buf, count, datatype)), "MPI_File_read_all_begin");
}
Status file_read_ordered_begin(MPI_File fh, void* buf, MPI_Count count, Datatype& datatype) {
  return begin(all(by(Pointer::kOrdered, fh, kRead, buf, count, datatype)), "MPI_File_read_ordered_begin");
}
Status file_read_at_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  return end(fh, "MPI_File_read_at_all_begin", buf, status);
}
Status file_read_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  return end(fh, "MPI_File_read_all_begin", buf, status);
}
Status file_read_ordered_end(MPI_File fh, void* buf, MPI_Status* status) {
  return end(fh, "MPI_File_read_ordered_begin", buf, status);
}

// --- write ---
Status file_write_at(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                     MPI_Status* status) {
  return blocking(at(fh, kWrite, offset, buf, count, datatype), status);
}
Status file_iwrite_at(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                      MPI_Request* request) {
  return nonblocking(at(fh, kWrite, offset, buf, count, datatype), request);
}
Status file_write_at_all(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                         MPI_Status* status) {
  return blocking(all(at(fh, kWrite, offset, buf, count, datatype)), status);
}
Status file_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                          Datatype& datatype, MPI_Request* request) {
  return nonblocking(all(at(fh, kWrite, offset, buf, count, datatype)), request);
}
Status file_write(MPI_File fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return blocking(by(Pointer::kIndividual, fh, kWrite, buf, count, datatype), status);
}
Status file_iwrite(MPI_File fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Request* request) {
  return nonblocking(by(Pointer::kIndividual, fh, kWrite, buf, count, datatype), request);
}
Status file_write_all(MPI_File fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return blocking(all(by(Pointer::kIndividual, fh, kWrite, buf, count, datatype)), status);
}
Status file_iwrite_all(MPI_File fh, const void* buf, MPI_Count count, Datatype& datatype,
                       MPI_Request* request) {
  return nonblocking(all(by(Pointer::kIndividual, fh, kWrite, buf, count, datatype)), request);
}
Status file_write_shared(MPI_File fh, const void* buf, MPI_Count count, Datatype& datatype,
                         MPI_Status* status) {
  return blocking(by(Pointer::kShared, fh, kWrite, buf, count, datatype), status);
}
Status file_iwrite_shared(MPI_File fh, const void* buf, MPI_Count count, Datatype& datatype,
                          MPI_Request* request) {
  return nonblocking(by(Pointer::kShared, fh, kWrite, buf, count, datatype), request);
}
Status file_write_ordered(MPI_File fh, const void* buf, MPI_Count count, Datatype& datatype,
                          MPI_Status* status) {
  return blocking(all(by(Pointer::kOrdered, fh, kWrite, buf, count, datatype)), status);
}
Status file_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                               Datatype& datatype) {
  return begin(all(at(fh, kWrite, offset, buf, count, datatype)), "MPI_File_write_at_all_begin");
}
Status file_write_all_begin(MPI_File fh, const void* buf, MPI_Count count, Datatype& datatype) {
  return begin(all(by(Pointer::kIndividual, fh, kWrite, buf, count, datatype)), "MPI_File_write_all_begin");
}
Status file_write_ordered_begin(MPI_File fh, const void* buf, MPI_Count count, Datatype& datatype) {
  return begin(all(by(Pointer::kOrdered, fh, kWrite, buf, count, datatype)), "MPI_File_write_ordered_begin");
}
Status file_write_at_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return end(fh, "MPI_File_write_at_all_begin", buf, status);
}
Status file_write_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return end(fh, "MPI_File_write_all_begin", buf, status);
}
Status file_write_ordered_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return end(fh, "MPI_File_write_ordered_begin", buf, status);
}

}  // namespace vicinity::io::entry
