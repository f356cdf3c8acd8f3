// SPDX-License-Identifier: BSD-3-Clause
// An open file (MPI 5.0, chapter 14), and its view: which bytes of the file a process sees, and in what
// order.
//
// Positions are counted in bytes of the view's stream: the data bytes of the filetype, repeated from `disp`
// on, one after the other. Etypes are only a unit of what users say.
#pragma once

#include <cstdint>
#include <string>

#include "object/communicator.h"
#include "object/datatype.h"
#include "object/errhandler.h"
#include "object/handle.h"
#include "object/info.h"
#include "object/request.h"

namespace vicinity::io {

using base::fail;
using base::kOk;
using base::Status;
using object::Communicator;
using object::Datatype;

struct View {
  int64_t disp = 0;
  Datatype* etype = nullptr;     // held
  Datatype* filetype = nullptr;  // held
  std::string datarep = "native";
  bool external = false;    // external32: what is in the file is converted
  int64_t etype_bytes = 1;  // of an etype in the file
  bool contiguous = true;   // stream position and file offset differ by a constant
};

// The pointer that all processes of a file share, in bytes of the stream. Kept in a small file of its own,
// made at first use, because it must work without the help of any other process.
class SharedPointer {
 public:
  void place(std::string path) { path_ = std::move(path); }
  const std::string& path() const { return path_; }
  // Adds and returns the value before.
  Status fetch_add(int64_t bytes, int64_t* before);
  Status set(int64_t bytes);
  void close();

 private:
  Status open();
  std::string path_;
  int fd_ = -1;
};

// A collective that was begun and not yet ended.
struct Split {
  const char* begun = nullptr;  // the function that did, or nullptr
  const void* buffer = nullptr;
  int64_t bytes = 0;
};

struct File : object::Object {
  Communicator* comm = nullptr;  // a private copy: what users do on theirs cannot disturb
  std::string name;
  int fd = -1;
  int amode = 0;
  bool atomic = false;
  View view;
  int64_t position = 0;  // the individual pointer
  SharedPointer shared;
  Split split;
  object::Info* hints = nullptr;
  object::Errhandler* errhandler = nullptr;
  static void finish(File* file);
};

// The file behind a handle, or MPI_ERR_FILE.
base::Result<File*> file_of(MPI_File handle);

// Set by world/: a communicator of the same processes with a context of its own and nothing else copied.
extern base::Result<Communicator*> (*private_copy)(Communicator& comm);

// --- view.cc ---
// The default view: bytes from the start.
void plain_view(View& view);
void drop_view(View& view);
Status make_view(MPI_Offset disp, Datatype& etype, Datatype& filetype, const char* datarep, View* view);
// Where a byte of the stream lies in the file.
int64_t offset_of(const View& view, int64_t stream);
// How many data bytes of the stream lie before a file offset (MPI_SEEK_END).
int64_t stream_before(const View& view, int64_t file_bytes);

// --- datarep.cc ---
bool known_datarep(const char* name);

// --- transfer.cc ---
// What is moved between memory and the stream.
struct Buffer {
  void* address;
  MPI_Count count;
  Datatype* type;
};
// Bytes that `buffer` takes in the file.
int64_t file_bytes(const File& file, const Buffer& buffer);
// Moves the buffer at `stream`; `done` is the number of bytes in the file that were read or written.
Status read_at(File& file, int64_t stream, const Buffer& buffer, int64_t* done);
Status write_at(File& file, int64_t stream, const Buffer& buffer, int64_t* done);

// --- errors ---
// What the system said of a file, as a class of MPI (14.7).
Status system_error(int number, const char* doing, const std::string& name);

}  // namespace vicinity::io

namespace vicinity::object {
template <>
struct HandleTraits<io::File> {
  using Handle = MPI_File;
  static constexpr Kind kKind = Kind::kFile;
  static io::File* predefined(uintptr_t) { return nullptr; }
};
}  // namespace vicinity::object
