// SPDX-License-Identifier: BSD-3-Clause
// What the standard ABI says about itself (MPI 5.0, 20.2). Fortran's part is told to us by Fortran bindings,
// which may be somebody else's.
#include <cstdint>
#include <cstring>
#include <string>

#include "entry_world.h"
#include "object/op.h"
#include "object/pool.h"
#include "world/instance.h"

namespace vicinity::world {
namespace {

Info* fortran_info = nullptr;  // set once by MPI_Abi_set_fortran_info

// The values of .TRUE. and .FALSE. for each size of LOGICAL: 1, 2, 4, 8, 16 bytes.
struct Booleans {
  bool set = false;
  unsigned char truth[16], falsehood[16];
} booleans[5];

bool is_logical_size(int size) { return size == 1 || size == 2 || size == 4 || size == 8 || size == 16; }
Booleans& of_size(int size) { return booleans[__builtin_ctz(static_cast<unsigned>(size))]; }

Status check_size(int size) {
  return is_logical_size(size)
             ? kOk
             : fail(MPI_ERR_ARG, "argument `logical_size` is %d; allowed: 1, 2, 4, 8, 16", size);
}

}  // namespace

namespace entry {

Status abi_get_version(int* abi_major, int* abi_minor) {
  *abi_major = MPI_ABI_VERSION;
  *abi_minor = MPI_ABI_SUBVERSION;
  return kOk;
}

Status abi_get_info(Info** info) {
  Info* made = object::copy_info(nullptr);
  if (!made) return fail(MPI_ERR_NO_MEM, "no memory for an info object");
  made->set("mpi_aint_size", std::to_string(sizeof(MPI_Aint)).c_str());
  made->set("mpi_count_size", std::to_string(sizeof(MPI_Count)).c_str());
  made->set("mpi_offset_size", std::to_string(sizeof(MPI_Offset)).c_str());
  *info = made;
  return kOk;
}

Status abi_get_fortran_info(Info** info) {
  if (!fortran_info) return kOk;  // MPI_INFO_NULL: nothing is known
  *info = object::copy_info(fortran_info);
  return *info ? kOk : fail(MPI_ERR_NO_MEM, "no memory for an info object");
}

Status abi_set_fortran_info(Info* info) {
  if (!info) return fail(MPI_ERR_INFO, "argument `info` is MPI_INFO_NULL");
  if (fortran_info) return fail(MPI_ERR_ABI, "the properties of Fortran were set before");
  fortran_info = object::copy_info(info);
  return fortran_info ? kOk : fail(MPI_ERR_NO_MEM, "no memory for an info object");
}

Status abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false, int* is_set) {
  VICINITY_TRY(check_size(logical_size));
  const Booleans& values = of_size(logical_size);
  *is_set = values.set;
  if (!values.set) return kOk;
  std::memcpy(logical_true, values.truth, static_cast<size_t>(logical_size));
  std::memcpy(logical_false, values.falsehood, static_cast<size_t>(logical_size));
  return kOk;
}

Status abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false) {
  VICINITY_TRY(check_size(logical_size));
  Booleans& values = of_size(logical_size);
  if (values.set)
    return fail(MPI_ERR_ABI, "Fortran's .TRUE. and .FALSE. of %d bytes were set before", logical_size);
  std::memcpy(values.truth, logical_true, static_cast<size_t>(logical_size));
  std::memcpy(values.falsehood, logical_false, static_cast<size_t>(logical_size));
  values.set = true;
  object::set_logical_values(logical_size, logical_true, logical_false);
  return kOk;
}

}  // namespace entry
}  // namespace vicinity::world
