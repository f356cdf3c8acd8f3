// SPDX-License-Identifier: BSD-3-Clause
// Subarrays and distributed arrays against index arithmetic; types by precision and size.
#include <gtest/gtest.h>

#include <climits>
#include <random>

#include "object/datatype_create.h"

namespace vicinity::object {
namespace {

std::vector<int> iota(size_t n) {
  std::vector<int> values(n);
  for (size_t i = 0; i < n; i++) values[i] = static_cast<int>(i);
  return values;
}

// The elements that a type over an array of ints selects, in order.
std::vector<int> selected(const Datatype& type, const std::vector<int>& array) {
  std::vector<int> out(static_cast<size_t>(type.size) / sizeof(int));
  pack(array.data(), 1, type, out.data());
  return out;
}

TEST(DatatypeArray, SubarrayPicksTheBox) {
  const int sizes[] = {5, 4, 6}, subsizes[] = {2, 3, 4}, starts[] = {1, 1, 2};
  const std::vector<int> array = iota(120);
  for (int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
    Datatype* type = *type_subarray(3, sizes, subsizes, starts, order, builtin(MPI_INT), false);
    std::vector<int> want;
    const bool c = order == MPI_ORDER_C;
    const int slow = c ? 0 : 2, fast = c ? 2 : 0;
    for (int i = 0; i < subsizes[slow]; i++)
      for (int j = 0; j < subsizes[1]; j++)
        for (int k = 0; k < subsizes[fast]; k++)
          want.push_back(((starts[slow] + i) * sizes[1] + starts[1] + j) * sizes[fast] + starts[fast] + k);
    EXPECT_EQ(selected(*type, array), want);
    EXPECT_EQ(type->lb, 0);
    EXPECT_EQ(type->extent, 480);
    release(type);
  }
  const int all[] = {0, 0, 0};
  Datatype* whole = *type_subarray(3, sizes, sizes, all, MPI_ORDER_C, builtin(MPI_INT), false);
  EXPECT_TRUE(whole->dense);
  release(whole);
  const int far[] = {4, 0, 0};
  EXPECT_EQ(type_subarray(3, sizes, subsizes, far, MPI_ORDER_C, builtin(MPI_INT), false).status().code(),
            MPI_ERR_ARG);
  EXPECT_EQ(type_subarray(3, sizes, subsizes, starts, 7, builtin(MPI_INT), false).status().code(),
            MPI_ERR_ARG);
}

// Which process of a dimension owns an index (MPI 5.0, 5.1.4).
int owner(int index, int gsize, int distrib, int darg, int processes) {
  if (distrib == MPI_DISTRIBUTE_NONE) return 0;
  if (distrib == MPI_DISTRIBUTE_BLOCK && darg == MPI_DISTRIBUTE_DFLT_DARG)
    darg = (gsize + processes - 1) / processes;
  if (darg == MPI_DISTRIBUTE_DFLT_DARG) darg = 1;
  return index / darg % processes;
}

TEST(DatatypeArray, DarraysOfAllProcessesDealOutTheArray) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; round++) {
    int gsizes[3], distribs[3], dargs[3], psizes[3], size = 1;
    for (int d = 0; d < 3; d++) {
      gsizes[d] = 1 + static_cast<int>(random() % 7);
      psizes[d] = 1 + static_cast<int>(random() % 3);
      const int kinds[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
      distribs[d] = kinds[random() % 3];
      if (distribs[d] == MPI_DISTRIBUTE_NONE) psizes[d] = 1;
      dargs[d] = random() % 2 ? MPI_DISTRIBUTE_DFLT_DARG : 1 + static_cast<int>(random() % 4);
      if (distribs[d] == MPI_DISTRIBUTE_BLOCK && dargs[d] != MPI_DISTRIBUTE_DFLT_DARG)
        dargs[d] = std::max(dargs[d], (gsizes[d] + psizes[d] - 1) / psizes[d]);
      size *= psizes[d];
    }
    const int order = random() % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    const size_t total = static_cast<size_t>(gsizes[0] * gsizes[1] * gsizes[2]);
    std::vector<std::vector<int>> want(static_cast<size_t>(size));
    for (size_t at = 0; at < total; at++) {
      int rest = static_cast<int>(at), index[3];
      for (int i = 0; i < 3; i++) {
        const int d = order == MPI_ORDER_C ? 2 - i : i;
        index[d] = rest % gsizes[d];
        rest /= gsizes[d];
      }
      int rank = 0;
      for (int d = 0; d < 3; d++)
        rank = rank * psizes[d] + owner(index[d], gsizes[d], distribs[d], dargs[d], psizes[d]);
      want[static_cast<size_t>(rank)].push_back(static_cast<int>(at));
    }
    const std::vector<int> array = iota(total);
    for (int rank = 0; rank < size; rank++) {
      Result<Datatype*> type =
          type_darray({size, rank, 3, gsizes, distribs, dargs, psizes, order}, builtin(MPI_INT), false);
      ASSERT_TRUE(type.ok()) << base::failure_text(type.status().code());
      ASSERT_EQ(selected(**type, array), want[static_cast<size_t>(rank)]) << "round " << round;
      ASSERT_EQ((*type)->extent, static_cast<MPI_Count>(total * sizeof(int)));
      ASSERT_EQ((*type)->lb, 0);
      release(*type);
    }
  }
}

TEST(DatatypeArray, DarrayChecksItsArguments) {
  int gsizes[] = {4, 4}, distribs[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, dargs[] = {1, 1},
      psizes[] = {2, 2};
  auto code = [&](int size, int rank, int ndims, int order) {
    return type_darray({size, rank, ndims, gsizes, distribs, dargs, psizes, order}, builtin(MPI_INT), false)
        .status()
        .code();
  };
  EXPECT_EQ(code(4, 0, 2, MPI_ORDER_C), MPI_ERR_ARG);  // 2 blocks of 1 do not cover 4
  dargs[0] = 2;
  EXPECT_EQ(code(4, 4, 2, MPI_ORDER_C), MPI_ERR_ARG);
  EXPECT_EQ(code(5, 0, 2, MPI_ORDER_C), MPI_ERR_ARG);
  EXPECT_EQ(code(4, 0, 0, MPI_ORDER_C), MPI_ERR_ARG);
  EXPECT_EQ(code(4, 0, 2, 0), MPI_ERR_ARG);
  psizes[0] = psizes[1] = INT_MAX;
  EXPECT_EQ(code(4, 0, 2, MPI_ORDER_C), MPI_ERR_ARG);
}

TEST(DatatypeF90, SameArgumentsGiveTheSameHandle) {
  Datatype* a = *type_f90_real(6, 30);
  EXPECT_EQ(a, *type_f90_real(6, 30));
  EXPECT_NE(a, *type_f90_real(5, 30));
  EXPECT_EQ(a->size, 4);
  EXPECT_EQ(a->basic, Basic::kF32);
  EXPECT_TRUE(a->committed && a->permanent);
  EXPECT_EQ((*type_f90_real(15, MPI_UNDEFINED))->size, 8);
  EXPECT_EQ((*type_f90_real(MPI_UNDEFINED, 400))->basic, Basic::kF80);
  EXPECT_EQ((*type_f90_real(30, MPI_UNDEFINED))->basic, Basic::kF128);
  EXPECT_EQ((*type_f90_complex(15, 300))->size, 16);
  EXPECT_EQ((*type_f90_integer(9))->size, 4);
  EXPECT_EQ((*type_f90_integer(19))->size, 16);
  EXPECT_FALSE(type_f90_integer(39).ok());
  EXPECT_FALSE(type_f90_real(34, 10).ok());
  EXPECT_FALSE(type_f90_real(MPI_UNDEFINED, MPI_UNDEFINED).ok());
}

TEST(DatatypeF90, MatchSize) {
  EXPECT_EQ(*type_match_size(MPI_TYPECLASS_REAL, 8), &builtin(MPI_REAL8));
  EXPECT_EQ(*type_match_size(MPI_TYPECLASS_INTEGER, 16), &builtin(MPI_INTEGER16));
  EXPECT_EQ(*type_match_size(MPI_TYPECLASS_COMPLEX, 8), &builtin(MPI_COMPLEX8));
  EXPECT_EQ(type_match_size(MPI_TYPECLASS_REAL, 3).status().code(), MPI_ERR_ARG);
  EXPECT_EQ(type_match_size(-1, 4).status().code(), MPI_ERR_ARG);
}

TEST(DatatypePair, ValueIndexFindsTheNamedPairs) {
  EXPECT_EQ(*type_value_index(builtin(MPI_FLOAT), builtin(MPI_INT)), &builtin(MPI_FLOAT_INT));
  EXPECT_EQ(*type_value_index(builtin(MPI_INT), builtin(MPI_INT)), &builtin(MPI_2INT));
  EXPECT_EQ(*type_value_index(builtin(MPI_REAL), builtin(MPI_REAL)), &builtin(MPI_2REAL));
  EXPECT_EQ(*type_value_index(builtin(MPI_FLOAT), builtin(MPI_FLOAT)), nullptr);
}

}  // namespace
}  // namespace vicinity::object
