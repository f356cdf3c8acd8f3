// SPDX-License-Identifier: BSD-3-Clause
// Every operation on every kind of element, by instruction and plainly, against the plain kernels; and
// that threads lose no update.
#include "rma/accumulate.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

namespace vicinity::rma {
namespace {

const Op& op_of(MPI_Op handle) { return *object::lookup<Op>(handle); }

Fold fold_of(MPI_Op op, MPI_Datatype type) {
  Fold fold;
  EXPECT_TRUE(make_fold(op_of(op), object::builtin(type).basic, &fold));
  return fold;
}

const MPI_Op kOps[] = {MPI_SUM,  MPI_MIN, MPI_MAX,  MPI_PROD,   MPI_BAND,   MPI_BOR,     MPI_BXOR,
                       MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
const MPI_Datatype kTypes[] = {
    MPI_INT8_T,    MPI_UINT16_T,   MPI_INT32_T,     MPI_UINT64_T,         MPI_FLOAT,
    MPI_DOUBLE,    MPI_BYTE,       MPI_C_BOOL,      MPI_C_DOUBLE_COMPLEX, MPI_2INT,
    MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_LONG_INT};

// Two elements of `type` in memory, with small positive values in every part.
std::vector<char> sample(const object::Datatype& type, int seed) {
  std::vector<char> memory(static_cast<size_t>(2 * type.extent) + 64, 0);
  if (type.basic == Basic::kF32 || type.basic == Basic::kF64 || type.basic == Basic::kF80 ||
      type.basic == Basic::kC64) {
    for (int i = 0; i < 4; ++i) {
      const double value = seed + i;
      const float narrow = static_cast<float>(value);
      const long double wide = value;
      if (type.basic == Basic::kF32) std::memcpy(&memory[static_cast<size_t>(i) * 4], &narrow, 4);
      if (type.basic == Basic::kF64 || type.basic == Basic::kC64)
        std::memcpy(&memory[static_cast<size_t>(i) * 8], &value, 8);
      if (type.basic == Basic::kF80 && i < 2) std::memcpy(&memory[static_cast<size_t>(i) * 16], &wide, 10);
    }
    return memory;
  }
  const int value = type.basic == Basic::kBool8 ? seed % 2 : seed;
  for (size_t i = 0; i < memory.size(); i += 4) memory[i] = static_cast<char>(value);
  return memory;
}

void expect_same(MPI_Op op, MPI_Datatype handle) {
  const object::Datatype& type = object::builtin(handle);
  Fold fold;
  if (!make_fold(op_of(op), type.basic, &fold)) return;
  ASSERT_EQ(fold.packed, type.size) << type.name;
  ASSERT_EQ(fold.extent, type.extent) << type.name;
  const std::vector<char> before = sample(type, 3), operand = sample(type, 5);
  std::vector<char> expected = before;
  if (fold.kernel()) fold.kernel()(operand.data(), expected.data(), 2);
  if (fold.how == How::kReplace) std::memcpy(expected.data(), operand.data(), expected.size());
  std::vector<char> in(64), want(64), packed(64), old(64), old_want(64);
  object::pack(operand.data(), 2, type, in.data());
  object::pack(expected.data(), 2, type, want.data());
  object::pack(before.data(), 2, type, old_want.data());
  alignas(64) char memory[128];
  for (bool plain : {true, false}) {
    std::memcpy(memory, before.data(), before.size());
    if (!plain && !by_processor(fold, memory)) continue;
    (plain ? fold_plainly : fold_atomically)(fold, memory, in.data(), old.data(), 2);
    object::pack(memory, 2, type, packed.data());
    EXPECT_EQ(packed, want) << type.name << (plain ? " plainly" : " by instruction");
    EXPECT_EQ(old, old_want) << type.name;
    if (!by_processor(fold, memory)) continue;
    std::memcpy(memory, before.data(), before.size());
    for (size_t i = 0; i < 2; ++i)
      (plain ? fold_word_plainly : fold_word_atomically)(fold, memory + i * fold.extent, &in[i * fold.packed],
                                                         &old[i * fold.packed]);
    object::pack(memory, 2, type, packed.data());
    EXPECT_EQ(packed, want) << type.name << (plain ? " plainly" : " by instruction") << ", word by word";
    EXPECT_EQ(old, old_want) << type.name;
  }
}

TEST(Accumulate, EveryOperationOnEveryType) {
  for (MPI_Op op : kOps)
    for (MPI_Datatype type : kTypes) expect_same(op, type);
}

TEST(Accumulate, ShortIntHasAHole) {
  struct Pair {
    short value;
    int place;
  };
  Pair memory[2] = {{5, 1}, {2, 7}};
  char in[12], old[12];
  const Pair operand[2] = {{4, 9}, {3, 8}};
  object::pack(operand, 2, object::builtin(MPI_SHORT_INT), in);
  const Fold fold = fold_of(MPI_MINLOC, MPI_SHORT_INT);
  ASSERT_TRUE(fold.split());
  EXPECT_FALSE(by_processor(fold, memory));
  fold_plainly(fold, memory, in, old, 2);
  EXPECT_EQ(memory[0].value, 4);
  EXPECT_EQ(memory[0].place, 9);
  EXPECT_EQ(memory[1].value, 2);
  EXPECT_EQ(memory[1].place, 7);
}

TEST(Accumulate, OnlyAlignedWordsGoToTheProcessor) {
  alignas(8) char memory[32];
  EXPECT_TRUE(by_processor(fold_of(MPI_SUM, MPI_DOUBLE), memory));
  EXPECT_FALSE(by_processor(fold_of(MPI_SUM, MPI_DOUBLE), memory + 4));
  EXPECT_FALSE(by_processor(fold_of(MPI_SUM, MPI_LONG_DOUBLE), memory));
  EXPECT_FALSE(by_processor(fold_of(MPI_MINLOC, MPI_DOUBLE_INT), memory));
  EXPECT_TRUE(by_processor(fold_of(MPI_MINLOC, MPI_FLOAT_INT), memory));
}

TEST(Accumulate, ThreadsLoseNoUpdate) {
  alignas(8) double sum = 0;
  alignas(8) int64_t number = 0;
  const auto work = [&] {
    const double one = 1;
    const int64_t two = 2;
    for (int i = 0; i < 20000; ++i) {
      fold_atomically(fold_of(MPI_SUM, MPI_DOUBLE), &sum, &one, nullptr, 1);
      fold_atomically(fold_of(MPI_SUM, MPI_INT64_T), &number, &two, nullptr, 1);
    }
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
  EXPECT_EQ(sum, 40000);
  EXPECT_EQ(number, 80000);
}

TEST(Accumulate, SwapsOnlyWhatIsEqual) {
  for (size_t bytes : {1u, 2u, 4u, 8u}) {
    alignas(8) char memory[8] = {7}, old[8] = {};
    const char seven[8] = {7}, nine[8] = {9};
    swap_atomically(memory, nine, nine, old, bytes);
    EXPECT_EQ(old[0], 7);
    EXPECT_EQ(memory[0], 7);
    swap_atomically(memory, seven, nine, old, bytes);
    EXPECT_EQ(old[0], 7);
    EXPECT_EQ(memory[0], 9);
    swap_plainly(memory, nine, seven, old, bytes);
    EXPECT_EQ(old[0], 9);
    EXPECT_EQ(memory[0], 7);
  }
}

TEST(Accumulate, RefusesWhatIsNotDefined) {
  Fold fold;
  EXPECT_FALSE(make_fold(op_of(MPI_BAND), Basic::kF64, &fold));
  EXPECT_FALSE(make_fold(op_of(MPI_SUM), Basic::kNone, &fold));
  EXPECT_FALSE(make_fold(op_of(MPI_REPLACE), Basic::kNone, &fold));
}

}  // namespace
}  // namespace vicinity::rma
