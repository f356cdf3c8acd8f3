// SPDX-License-Identifier: BSD-3-Clause
// MPI_Register_datarep (MPI 5.0, 14.5.3).
#include <utility>

#include "entry_io.h"
#include "io/datarep.h"

namespace vicinity::io::entry {

using Kind = Representation::Kind;

Status register_datarep(const char* datarep, MPI_Datarep_conversion_function* read,
                        MPI_Datarep_conversion_function* write, MPI_Datarep_extent_function* extent,
                        void* extra) {
  Representation rep{datarep, Kind::kUser};
  rep.read = read;
  rep.write = write;
  rep.extent = extent;
  rep.extra = extra;
  return add_datarep(std::move(rep));
}

Status register_datarep_c(const char* datarep, MPI_Datarep_conversion_function_c* read,
                          MPI_Datarep_conversion_function_c* write, MPI_Datarep_extent_function* extent,
                          void* extra) {
  Representation rep{datarep, Kind::kUser};
  rep.read_c = read;
  rep.write_c = write;
  rep.extent = extent;
  rep.extra = extra;
  return add_datarep(std::move(rep));
}

}  // namespace vicinity::io::entry
