// SPDX-License-Identifier: BSD-3-Clause
// Hints of files (MPI 5.0, 14.2.8): which are understood, their values, and how they are told again.
//
// Keys of the standard: access_style, cb_block_size, cb_buffer_size, cb_nodes, collective_buffering,
// file_perm (when a file is made). Of ROMIO, because programs set them: romio_cb_read, romio_cb_write. All
// others, such as striping_factor, are ignored, and MPI_File_get_info does not tell them.
#pragma once

#include <cstdint>
#include <string>

#include "object/info.h"

namespace vicinity::io {

enum class Buffering : int32_t { kAutomatic, kAlways, kNever };

// What the processes must agree on; travels as bytes from rank 0.
struct Hints {
  int64_t buffer_bytes = int64_t{16} << 20;  // cb_buffer_size: what an aggregator moves at once
  int64_t block_bytes = 4096;                // cb_block_size: where the part of an aggregator may begin
  int64_t nodes = 0;                         // cb_nodes; 0: one aggregator for each host
  int64_t run_below = 4096;                  // VICINITY_IO_BUFFER_BELOW of rank 0
  Buffering read = Buffering::kAutomatic, write = Buffering::kAutomatic;
  char access_style[64] = "";
  bool operator==(const Hints&) const = default;
};

// Takes over what is understood; what makes no sense is ignored, as hints are.
void read_hints(const object::Info& info, Hints* hints);
// What is in use. `aggregators`: how many there are.
void show_hints(const Hints& hints, int aggregators, object::Info* info);
// file_perm: octal; `usual` if it is not there or makes no sense.
unsigned permissions(const object::Info* info, unsigned usual);
// What the kernel is advised of: an argument of posix_fadvise.
int advice(const Hints& hints);

}  // namespace vicinity::io
