// SPDX-License-Identifier: BSD-3-Clause
// The end of memory while a datatype is made: each allocation in turn is refused, the constructor answers
// MPI_ERR_NO_MEM, leaves nothing behind, and works again afterwards.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <vector>

#include "object/datatype_create.h"

namespace {
int until_refused = -1;  // allocations that are still granted; negative: all
int in_use = 0;
}  // namespace

// What object/ allocates with `new (std::nothrow)`; all other forms of new stay what they are.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  if (until_refused == 0) return nullptr;
  if (until_refused > 0) --until_refused;
  ++in_use;
  return std::malloc(bytes);
}
void* operator new[](size_t bytes, const std::nothrow_t& tag) noexcept { return operator new(bytes, tag); }
void* operator new(size_t bytes) {
  ++in_use;
  return std::malloc(bytes);
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void operator delete(void* memory) noexcept {
  if (memory) --in_use;
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete[](void* memory, size_t) noexcept { operator delete(memory); }

namespace vicinity::object {
namespace {

using Make = std::function<Result<Datatype*>()>;

void refuse_each(const Make& make, int least) {
  for (int granted = 0;; granted++) {
    ASSERT_LT(granted, 1000);
    const int before = in_use;
    until_refused = granted;
    Result<Datatype*> type = make();
    until_refused = -1;
    if (type.ok()) {
      EXPECT_GE(granted, least) << "fewer allocations than this constructor needs: were any refused?";
      release(*type);
      EXPECT_EQ(in_use, before);
      return;
    }
    EXPECT_EQ(type.status().code(), MPI_ERR_NO_MEM);
    EXPECT_EQ(in_use, before) << "after " << granted << " allocations";
  }
}

class DatatypeMemory : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 100; i++) {
      lengths.push_back(1 + i % 3);
      displacements.push_back(i * 7 + i % 2);
    }
    vector = *type_vector(40, 2, 5, builtin(MPI_INT), false);
  }
  void TearDown() override { release(vector); }

  std::vector<int> lengths, displacements;
  Datatype* vector = nullptr;
};

TEST_F(DatatypeMemory, ConstructorsOfOneType) {
  Datatype& integer = builtin(MPI_INT);
  refuse_each([&] { return type_contiguous(3, *vector, false); }, 4);
  refuse_each([&] { return type_vector(3, 2, 100, *vector, true); }, 5);
  refuse_each([&] { return type_indexed(100, lengths.data(), displacements.data(), integer, false); }, 8);
  refuse_each([&] { return type_indexed(100, lengths.data(), displacements.data(), *vector, false); }, 8);
  refuse_each([&] { return type_indexed_block(100, 1, displacements.data(), integer, false); }, 6);
  refuse_each([&] { return type_resized(*vector, 0, 4096, false); }, 4);
  refuse_each([&] { return type_dup(*vector); }, 3);
}

TEST_F(DatatypeMemory, StructuresAndArrays) {
  const MPI_Datatype types[] = {handle_of(*vector), MPI_CHAR, handle_of(*vector), MPI_DOUBLE};
  const int counts[] = {1, 3, 2, 1}, sizes[] = {30, 40, 50}, parts[] = {3, 4, 5}, starts[] = {1, 2, 3};
  const MPI_Aint places[] = {0, 900, 1000, 5000};
  refuse_each([&] { return type_struct(4, counts, places, types, false); }, 8);
  refuse_each([&] { return type_subarray(3, sizes, parts, starts, MPI_ORDER_C, *vector, false); }, 6);
  const int distributions[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
  const int dargs[] = {3, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {2, 2, 1};
  const Distribution shares{4, 1, 3, sizes, distributions, dargs, grid, MPI_ORDER_FORTRAN};
  refuse_each([&] { return type_darray(shares, builtin(MPI_INT), false); }, 8);
}

}  // namespace
}  // namespace vicinity::object
