// SPDX-License-Identifier: BSD-3-Clause
// One access to a file, whatever pointer it uses: what all forms of reading and writing share.
#pragma once

#include "io/file.h"

namespace vicinity::io {

enum class Pointer : uint8_t { kExplicit, kIndividual, kShared, kOrdered };

struct Access {
  MPI_File fh;
  bool writing;
  Pointer pointer;
  MPI_Offset offset;  // kExplicit: in etypes
  Buffer buffer;
  bool collective = false;  // all processes call it now
};

// The blocking forms.
Status blocking(const Access& access, MPI_Status* status);
// The nonblocking forms: by the thread in the background, except where it would not pay.
Status nonblocking(const Access& access, MPI_Request* request);
// The split collective forms.
Status begin(const Access& access, const char* name);
Status end(MPI_File fh, const char* begun_by, const void* buffer, MPI_Status* status);

}  // namespace vicinity::io
