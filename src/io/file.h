// SPDX-License-Identifier: BSD-3-Clause
// An open file (MPI 5.0, chapter 14).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/hints.h"
#include "io/transfer.h"
#include "io/view.h"
#include "object/communicator.h"
#include "object/errhandler.h"
#include "object/handle.h"
#include "object/info.h"
#include "object/request.h"

namespace vicinity::io {

using object::Communicator;

// The pointer that all processes of a file share, in bytes of the stream. Kept in a small file of its own,
// made at first use, because it must work without the help of any other process.
class SharedPointer {
 public:
  void place(std::string path) { path_ = std::move(path); }
  const std::string& path() const { return path_; }
  // Adds and returns the value before.
  Status fetch_add(int64_t bytes, int64_t* before);
  Status set(int64_t bytes);
  // Whether this process ever has: if none has it is zero.
  bool used() const { return fd_ >= 0; }
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
  Hints hints;                   // the same on all processes
  std::vector<int> aggregators;  // ranks that read and write for others in collective accesses
  int pending = 0;               // accesses in the background
  bool interleaves = false;      // the views may make collective buffering worth a look; the same everywhere
  object::Errhandler* errhandler = nullptr;
  Place place() const { return {fd, atomic, &view, &name}; }
  static void finish(File* file);
};

// The file behind a handle, or MPI_ERR_FILE.
base::Result<File*> file_of(MPI_File handle);

// Set by world/: a communicator of the same processes with a context of its own and nothing else copied.
extern base::Result<Communicator*> (*private_copy)(Communicator& comm);

// What files get when they are opened: the handler of MPI_FILE_NULL, MPI_ERRORS_RETURN at first (14.7).
object::Errhandler& default_errhandler();
void set_default_errhandler(object::Errhandler& handler);

// The same success or failure everywhere: the failure of the highest class wins. Collective.
Status agree(Communicator& comm, Status own, const char* what);

// The hints that a file would have if this were rank 0.
Hints wished_hints(const File& file, const object::Info* info);
// Takes over new hints, as rank 0 has them, and chooses the aggregators. Collective.
Status set_hints(File& file, const object::Info* info);

}  // namespace vicinity::io

namespace vicinity::object {
template <>
struct HandleTraits<io::File> {
  using Handle = MPI_File;
  static constexpr Kind kKind = Kind::kFile;
  static io::File* predefined(uintptr_t) { return nullptr; }
};
}  // namespace vicinity::object
