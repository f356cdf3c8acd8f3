// SPDX-License-Identifier: BSD-3-Clause
// How arguments travel between Fortran and C (MPI 5.0, 19.3): used by the generated procedures.
//
// Assumes what gfortran does: names in lower case with an underscore, INTEGER and LOGICAL of 32 bits, string
// lengths as hidden size_t behind all other arguments, descriptors of ISO_Fortran_binding.h for bind(C).
#pragma once

#include <ISO_Fortran_binding.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

// What a program passes by address to mean something; the Fortran modules hold them.
extern "C" {
extern int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_buffer_automatic_;
extern int mpi_fortran_status_ignore_[8], mpi_fortran_statuses_ignore_[8];
extern int mpi_fortran_errcodes_ignore_[1], mpi_fortran_unweighted_[1], mpi_fortran_weights_empty_[1];
extern char mpi_fortran_argv_null_[1], mpi_fortran_argvs_null_[1];
}

namespace vicinity::fortran {

static_assert(sizeof(MPI_Status) == 8 * sizeof(int));

// Handles are integers in Fortran, the same numbers as MPI_Comm_toint gives.
template <class H>
H handle(int number);
#define VICINITY_FORTRAN_HANDLE(H, name)  \
  template <>                             \
  inline H handle<H>(int number) {        \
    return PMPI_##name##_fromint(number); \
  }                                       \
  inline int integer(H it) { return PMPI_##name##_toint(it); }
VICINITY_FORTRAN_HANDLE(MPI_Comm, Comm)
VICINITY_FORTRAN_HANDLE(MPI_Datatype, Type)
VICINITY_FORTRAN_HANDLE(MPI_Errhandler, Errhandler)
VICINITY_FORTRAN_HANDLE(MPI_File, File)
VICINITY_FORTRAN_HANDLE(MPI_Group, Group)
VICINITY_FORTRAN_HANDLE(MPI_Info, Info)
VICINITY_FORTRAN_HANDLE(MPI_Message, Message)
VICINITY_FORTRAN_HANDLE(MPI_Op, Op)
VICINITY_FORTRAN_HANDLE(MPI_Request, Request)
VICINITY_FORTRAN_HANDLE(MPI_Session, Session)
VICINITY_FORTRAN_HANDLE(MPI_Win, Win)
#undef VICINITY_FORTRAN_HANDLE

// An array of handles for the time of a call; few of them need no allocation.
template <class H>
class Handles {
 public:
  Handles(const int* numbers, int count, bool filled) : count_(count < 0 ? 0 : static_cast<size_t>(count)) {
    if (count_ > kFew) many_.resize(count_);
    for (size_t i = 0; i < count_; ++i) data()[i] = filled ? handle<H>(numbers[i]) : H{};
  }
  H* data() { return count_ > kFew ? many_.data() : few_; }
  // What the call has changed; handles that it never set stay what they were.
  void store(int* numbers) {
    for (size_t i = 0; i < count_; ++i)
      if (data()[i] != H{}) numbers[i] = integer(data()[i]);
  }

 private:
  static constexpr size_t kFew = 32;
  size_t count_;
  H few_[kFew];
  std::vector<H> many_;
};

inline MPI_Status* to_status(int* it) {
  return it == mpi_fortran_status_ignore_ ? MPI_STATUS_IGNORE : reinterpret_cast<MPI_Status*>(it);
}
inline MPI_Status* to_statuses(int* it) {
  return it == mpi_fortran_statuses_ignore_ ? MPI_STATUSES_IGNORE : reinterpret_cast<MPI_Status*>(it);
}
inline int* to_weights(int* it) {
  if (it == mpi_fortran_unweighted_) return MPI_UNWEIGHTED;
  return it == mpi_fortran_weights_empty_ ? MPI_WEIGHTS_EMPTY : it;
}
inline void* to_address(void* it) {
  if (it == &mpi_fortran_bottom_) return MPI_BOTTOM;
  if (it == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  return it == &mpi_fortran_buffer_automatic_ ? MPI_BUFFER_AUTOMATIC : it;
}

// Fortran counts from one.
inline void from_one(int* index) {
  if (*index >= 0) ++*index;
}
inline void from_one(int* indices, int count) {
  for (int i = 0; i < count; ++i) ++indices[i];
}

// How many types an MPI_Alltoallw or its neighbourhood form has on one side.
int partners(int comm);
int neighbours(int comm, bool sending);

// A string without the blanks behind it; leading ones count, except in info keys and values (MPI 5.0, 10).
class Text {
 public:
  Text(const char* text, size_t size, bool drop_leading = false);
  const char* c_str() const { return text_.c_str(); }

 private:
  std::string text_;
};

// Room for a string that C writes, then blank-padded into the caller's variable.
class TextOut {
 public:
  TextOut(char* target, size_t size, int room);
  char* data() { return buffer_.data(); }
  void store();  // leaves the variable alone if C has written nothing

 private:
  char* target_;
  size_t size_;
  std::vector<char> buffer_;
};

// A choice buffer as mpi_f08 passes it. Where the section has gaps:
// a blocking call works on a copy;
class Copied {
 public:
  Copied(const CFI_cdesc_t* section, bool written, int* code);
  ~Copied();
  Copied(const Copied&) = delete;
  Copied& operator=(const Copied&) = delete;
  void* address() const { return address_; }

 private:
  const CFI_cdesc_t* section_;
  bool written_;
  void* address_;
  std::vector<char> copy_;
};
// others get a datatype that describes `count` times `datatype` in the section;
class Section {
 public:
  Section(const CFI_cdesc_t* section, MPI_Count count, int datatype, int* code);
  ~Section();
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  void* address() const { return address_; }
  template <class T>
  T count() const {
    return static_cast<T>(count_);
  }
  MPI_Datatype datatype() const { return datatype_; }

 private:
  void* address_;
  MPI_Count count_;
  MPI_Datatype datatype_;
  bool made_ = false;
};
// and where neither is possible it is an error.
class Flat {
 public:
  Flat(const CFI_cdesc_t* section, int* code);
  void* address() const { return address_; }

 private:
  void* address_;
};

inline void finish(int* ierror, int code) {
  if (ierror) *ierror = code;
}

}  // namespace vicinity::fortran
