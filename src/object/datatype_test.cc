// SPDX-License-Identifier: BSD-3-Clause
// Constructors and PackCursor against a reference that lists every typemap entry one by one.
#include <gtest/gtest.h>
#include <sys/uio.h>

#include <cstring>
#include <random>

#include "object/datatype_create.h"

namespace vicinity::object {
namespace {

// A typemap written out: displacement of every basic element in order, and explicit bounds if any.
struct Reference {
  struct Basic {
    MPI_Count at, size, align;
  };
  std::vector<Basic> entries;
  bool marked = false;   // somebody set bounds
  bool bounded = false;  // lb and ub are there at all
  MPI_Count lb = 0, ub = 0;

  void append(const Reference& other, MPI_Count at) {
    for (const Basic& b : other.entries) entries.push_back({b.at + at, b.size, b.align});
    if (!other.bounded || (marked && !other.marked)) return;
    const bool anew = !bounded || marked != other.marked;
    lb = anew ? other.lb + at : std::min(lb, other.lb + at);
    ub = anew ? other.ub + at : std::max(ub, other.ub + at);
    marked = other.marked;
    bounded = true;
  }
  // What a structure does.
  void pad() {
    MPI_Count align = 1;
    for (const Basic& b : entries) align = std::max(align, b.align);
    if (!marked) ub = lb + (ub - lb + align - 1) / align * align;
  }
  MPI_Count true_lb() const {
    MPI_Count low = entries.empty() ? 0 : entries[0].at;
    for (const Basic& b : entries) low = std::min(low, b.at);
    return low;
  }
  MPI_Count true_ub() const {
    MPI_Count high = entries.empty() ? 0 : entries[0].at + entries[0].size;
    for (const Basic& b : entries) high = std::max(high, b.at + b.size);
    return high;
  }
  MPI_Count low() const { return lb; }
  MPI_Count extent() const { return ub - lb; }
  MPI_Count size() const {
    MPI_Count sum = 0;
    for (const Basic& b : entries) sum += b.size;
    return sum;
  }
};

struct Both {
  Datatype* type;
  Reference reference;
};

Both basic(MPI_Datatype constant) {
  Datatype& type = builtin(constant);
  Both both{&type, {}};
  both.reference.bounded = true;
  both.reference.ub = type.size;
  both.reference.entries.push_back({0, type.size, type.alignment});
  return both;
}

// Types are released at the end of each test (or round of one), by sweep().
std::vector<Datatype*> made;

Datatype* must(Result<Datatype*> result) {
  EXPECT_TRUE(result.ok()) << base::failure_text(result.status().code());
  made.push_back(*result);
  return *result;
}

void sweep() {
  for (Datatype* type : made) release(type);
  made.clear();
}

class DatatypeTest : public testing::Test {
  void TearDown() override { sweep(); }
};

Both contiguous(MPI_Count n, const Both& old) {
  Both both{must(type_contiguous(n, *old.type, true)), {}};
  for (MPI_Count i = 0; i < n; i++) both.reference.append(old.reference, i * old.reference.extent());
  return both;
}

Both hvector(MPI_Count count, MPI_Count length, MPI_Count stride, const Both& old) {
  Both both{must(type_hvector(count, length, stride, *old.type, true)), {}};
  for (MPI_Count i = 0; i < count; i++)
    for (MPI_Count j = 0; j < length; j++)
      both.reference.append(old.reference, i * stride + j * old.reference.extent());
  return both;
}

Both vector(MPI_Count count, MPI_Count length, MPI_Count stride, const Both& old) {
  Both both = hvector(count, length, stride * old.reference.extent(), old);
  both.type = must(type_vector(count, length, stride, *old.type, true));
  return both;
}

Both structure(const std::vector<MPI_Count>& lengths, const std::vector<MPI_Count>& at,
               const std::vector<Both>& olds, bool padded = true) {
  std::vector<MPI_Datatype> types;
  Both both{nullptr, {}};
  for (size_t i = 0; i < olds.size(); i++) {
    types.push_back(handle_of(*olds[i].type));
    for (MPI_Count j = 0; j < lengths[i]; j++)
      both.reference.append(olds[i].reference, at[i] + j * olds[i].reference.extent());
  }
  both.type =
      must(type_struct(static_cast<MPI_Count>(olds.size()), lengths.data(), at.data(), types.data(), true));
  if (padded) both.reference.pad();
  return both;
}

Both hindexed(const std::vector<MPI_Count>& lengths, const std::vector<MPI_Count>& at, const Both& old) {
  Both both = structure(lengths, at, std::vector<Both>(lengths.size(), old), false);
  both.type =
      must(type_hindexed(static_cast<MPI_Count>(lengths.size()), lengths.data(), at.data(), *old.type, true));
  return both;
}

Both indexed_block(MPI_Count length, const std::vector<MPI_Count>& at, const Both& old) {
  std::vector<MPI_Count> bytes;
  for (MPI_Count a : at) bytes.push_back(a * old.reference.extent());
  Both both = hindexed(std::vector<MPI_Count>(at.size(), length), bytes, old);
  both.type = must(type_indexed_block(static_cast<MPI_Count>(at.size()), length, at.data(), *old.type, true));
  return both;
}

Both resized(MPI_Count lb, MPI_Count extent, const Both& old) {
  Both both{must(type_resized(*old.type, lb, extent, true)), old.reference};
  both.reference.marked = both.reference.bounded = true;
  both.reference.lb = lb;
  both.reference.ub = lb + extent;
  return both;
}

void check_measures(const Both& both) {
  const Datatype& type = *both.type;
  const Reference& reference = both.reference;
  ASSERT_EQ(type.size, reference.size());
  ASSERT_EQ(type.true_lb, reference.true_lb());
  ASSERT_EQ(type.true_extent, reference.true_ub() - reference.true_lb());
  ASSERT_EQ(type.lb, reference.low());
  ASSERT_EQ(type.extent, reference.extent());
  ASSERT_EQ(type.basic_count, static_cast<MPI_Count>(reference.entries.size()));
  // Prefixes that end with a basic element, and back.
  MPI_Count sum = 0;
  for (size_t i = 0; i < reference.entries.size() && i < 40; i++) {
    ASSERT_EQ(elements_in(type, sum), static_cast<MPI_Count>(i));
    ASSERT_EQ(bytes_of(type, static_cast<MPI_Count>(i)), sum);
    if (reference.entries[i].size > 1) {
      ASSERT_EQ(elements_in(type, sum + 1), MPI_UNDEFINED);
    }
    sum += reference.entries[i].size;
  }
}

using Bytes = std::vector<unsigned char>;

// Memory that holds `count` elements, and what they pack to.
struct Sample {
  Sample(const Reference& reference, MPI_Count count, std::mt19937& random) {
    for (MPI_Count i = 0; i < count; i++)
      for (const auto& b : reference.entries)
        for (MPI_Count k = 0; k < b.size; k++) at.push_back(i * reference.extent() + b.at + k);
    MPI_Count high = 0;
    for (MPI_Count a : at) low = std::min(low, a), high = std::max(high, a + 1);
    memory.resize(static_cast<size_t>(high - low));
    for (auto& byte : memory) byte = static_cast<unsigned char>(random());
    for (MPI_Count a : at) packed.push_back(memory[static_cast<size_t>(a - low)]);
  }
  // Memory of 0x55 after unpacking: the last write to a byte wins.
  Bytes unpacked() const {
    Bytes result(memory.size(), 0x55);
    for (size_t i = 0; i < at.size(); i++) result[static_cast<size_t>(at[i] - low)] = packed[i];
    return result;
  }
  std::vector<MPI_Count> at;  // address of every packed byte
  MPI_Count low = 0;
  Bytes memory, packed;
};

void check_packing(const Sample& sample, MPI_Count count, const Datatype& type, std::mt19937& random) {
  const unsigned char* buf = sample.memory.data() - sample.low;
  const size_t total = sample.packed.size();
  Bytes got(total + 1, 0xee);
  PackCursor cursor(buf, count, type);
  ASSERT_EQ(cursor.total(), total);
  ASSERT_EQ(cursor.pack(got.data(), total + 1), total);
  ASSERT_EQ(got[total], 0xee);
  got.resize(total);
  ASSERT_EQ(got, sample.packed);
  if (type.dense && total) {
    ASSERT_EQ(std::memcmp(data_start(buf, type), sample.packed.data(), total), 0);
  }
  std::fill(got.begin(), got.end(), 0);
  pack(buf, count, type, got.data());
  ASSERT_EQ(got, sample.packed);
  std::fill(got.begin(), got.end(), 0);
  cursor.reset(buf, count, type);
  for (size_t at = 0; at < total;) {
    const size_t most = std::min<size_t>(1 + random() % 23, total - at);
    ASSERT_EQ(cursor.pack(got.data() + at, most), most);
    at += most;
    ASSERT_EQ(cursor.position(), at);
  }
  ASSERT_EQ(got, sample.packed);
  for (int i = 0; i < 8 && total; i++) {
    const size_t at = random() % (total + 1);
    cursor.seek(at);
    unsigned char some[7] = {};
    const size_t here = cursor.pack(some, sizeof some);
    ASSERT_EQ(here, std::min(sizeof some, total - at));
    ASSERT_EQ(std::memcmp(some, sample.packed.data() + at, here), 0);
  }
}

void check_unpacking(const Sample& sample, MPI_Count count, const Datatype& type, std::mt19937& random) {
  const size_t total = sample.packed.size();
  const Bytes expected = sample.unpacked();
  Bytes target(sample.memory.size(), 0x55);
  PackCursor in(target.data() - sample.low, count, type);
  for (size_t at = 0; at < total;)
    at += in.unpack(sample.packed.data() + at, std::min<size_t>(1 + random() % 61, total - at));
  ASSERT_EQ(target, expected);
  std::fill(target.begin(), target.end(), 0x55);
  unpack(sample.packed.data(), target.data() - sample.low, count, type);
  ASSERT_EQ(target, expected);
}

void check_pieces(const Sample& sample, MPI_Count count, const Datatype& type, std::mt19937& random) {
  PackCursor cursor(sample.memory.data() - sample.low, count, type);
  Bytes got;
  iovec pieces[3];
  while (got.size() < sample.packed.size()) {
    const size_t used = cursor.pieces(pieces, 1 + random() % 3, 1 + random() % 97);
    ASSERT_GT(used, 0u);
    for (size_t i = 0; i < used; i++) {
      auto* from = static_cast<unsigned char*>(pieces[i].iov_base);
      got.insert(got.end(), from, from + pieces[i].iov_len);
    }
  }
  ASSERT_EQ(got, sample.packed);
}

void check(const Both& both, MPI_Count count, std::mt19937& random) {
  ASSERT_NO_FATAL_FAILURE(check_measures(both));
  const Sample sample(both.reference, count, random);
  ASSERT_NO_FATAL_FAILURE(check_packing(sample, count, *both.type, random));
  ASSERT_NO_FATAL_FAILURE(check_unpacking(sample, count, *both.type, random));
  ASSERT_NO_FATAL_FAILURE(check_pieces(sample, count, *both.type, random));
}

const MPI_Datatype kBasics[] = {MPI_BYTE,   MPI_SHORT,       MPI_INT,
                                MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_DOUBLE_COMPLEX};

TEST_F(DatatypeTest, PredefinedHaveNamesSizesAndExtents) {
  EXPECT_STREQ(builtin(MPI_INT).name, "MPI_INT");
  EXPECT_STREQ(builtin(MPI_LONG_LONG).name, "MPI_LONG_LONG_INT");
  EXPECT_EQ(builtin(MPI_LONG_DOUBLE).size, 16);
  EXPECT_EQ(builtin(MPI_DOUBLE_INT).size, 12);
  EXPECT_EQ(builtin(MPI_DOUBLE_INT).extent, 16);
  EXPECT_EQ(builtin(MPI_SHORT_INT).size, 6);
  EXPECT_EQ(builtin(MPI_SHORT_INT).extent, 8);
  EXPECT_EQ(builtin(MPI_SHORT_INT).true_extent, 8);
  EXPECT_EQ(builtin(MPI_LONG_DOUBLE_INT).extent, 32);
  EXPECT_EQ(builtin(MPI_LONG_DOUBLE_INT).true_extent, 20);
  EXPECT_EQ(builtin(MPI_2INT).basic_count, 2);
  EXPECT_EQ(builtin(MPI_COMPLEX32).size, 32);
  EXPECT_TRUE(builtin(MPI_DOUBLE).dense);
  EXPECT_FALSE(builtin(MPI_DOUBLE_INT).dense);
  int known = 0;
  for (uintptr_t c = 0x200; c < 0x300; c++) {
    const Datatype* type = lookup<Datatype>(reinterpret_cast<MPI_Datatype>(c));
    if (!type) continue;
    known++;
    EXPECT_EQ(type->handle, c);
    EXPECT_TRUE(type->committed);
    EXPECT_GT(type->size, 0) << type->name;
    EXPECT_EQ(type->extent % type->alignment, 0) << type->name;
  }
  EXPECT_EQ(known, 70);
  EXPECT_EQ(lookup<Datatype>(MPI_DATATYPE_NULL), nullptr);
  EXPECT_EQ(lookup<Datatype>(reinterpret_cast<MPI_Datatype>(0xfff)), nullptr);
}

TEST_F(DatatypeTest, EveryConstructorMatchesItsDefinition) {
  std::mt19937 random(1);
  for (MPI_Datatype constant : kBasics) {
    const Both old = basic(constant);
    const Both holes = resized(-3, old.type->size + 5, old);
    for (const Both& from : {old, holes}) {
      for (const Both& made :
           {contiguous(5, from), contiguous(0, from), vector(4, 3, 5, from), vector(3, 1, -2, from),
            hvector(3, 2, 100, from), hvector(4, 1, 1, from), hindexed({2, 0, 3}, {40, 7, -90}, from),
            indexed_block(2, {7, 1, 3}, from), resized(4, 200, from),
            structure({1, 2, 1}, {0, 64, 300}, {from, basic(MPI_CHAR), basic(MPI_DOUBLE)})}) {
        for (MPI_Count count : {0, 1, 2, 5}) check(made, count, random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(DatatypeTest, BoundsThatWereSetStick) {
  const Both shifted = resized(-4, 12, basic(MPI_INT));
  const Both both = structure({1, 1}, {0, 100}, {shifted, basic(MPI_DOUBLE)});
  EXPECT_EQ(both.type->lb, -4);
  EXPECT_EQ(both.type->extent, 12);
  EXPECT_EQ(both.type->true_extent, 108);
  const Both empty = structure({1, 1}, {0, 100}, {contiguous(0, basic(MPI_INT)), basic(MPI_INT)});
  EXPECT_EQ(empty.type->lb, 100);
  EXPECT_EQ(empty.type->extent, 4);
}

TEST_F(DatatypeTest, LayoutsAreSimplified) {
  // Columns of a matrix, rows of it, adjacent members: each as simple as it can be.
  const Both row = contiguous(8, basic(MPI_DOUBLE));
  EXPECT_TRUE(row.type->dense);
  EXPECT_EQ(row.type->layout->memory.node, nullptr);
  const Both members = structure({1, 1, 2}, {0, 4, 8}, {basic(MPI_INT), basic(MPI_INT), basic(MPI_INT)});
  EXPECT_TRUE(members.type->dense);
  const Both blocks = hindexed({1, 1, 1, 1}, {0, 16, 32, 48}, basic(MPI_INT));
  ASSERT_NE(blocks.type->layout->memory.node, nullptr);
  EXPECT_EQ(blocks.type->layout->memory.node->kind, Shape::kStrided);
  const Both matrix = contiguous(3, resized(0, 64, vector(4, 1, 2, basic(MPI_DOUBLE))));
  EXPECT_EQ(matrix.type->layout->memory.node->kind, Shape::kStrided);
  EXPECT_EQ(matrix.type->layout->memory.node->count, 12);
}

Both grow(std::vector<Both>& pool, std::mt19937& random) {
  auto any = [&]() -> const Both& { return pool[random() % pool.size()]; };
  auto small = [&](int n) { return static_cast<MPI_Count>(random() % static_cast<unsigned>(n)); };
  const Both& old = any();
  switch (random() % 7) {
    case 0:
      return contiguous(small(4), old);
    case 1:
      return vector(small(4), small(4), small(9) - 4, old);
    case 2:
      return hvector(small(4), small(3), small(101) - 50, old);
    case 3:
      return hindexed({small(3), small(3), small(3)}, {small(99) - 50, small(99), small(99)}, old);
    case 4:
      return indexed_block(small(3), {small(9) - 4, small(9), small(9)}, old);
    case 5:
      return resized(small(21) - 10, small(41) - 10, old);
    default:
      return structure({small(3), small(3), small(2)}, {small(99) - 50, small(99), small(99)},
                       {old, any(), any()});
  }
}

TEST_F(DatatypeTest, RandomNestedTypesPackAsTheirTypemaps) {
  for (unsigned seed = 0; seed < 60; seed++) {
    std::mt19937 random(seed);
    std::vector<Both> pool;
    for (MPI_Datatype constant : kBasics) pool.push_back(basic(constant));
    for (int i = 0; i < 24; i++) {
      Both made = grow(pool, random);
      if (made.reference.entries.size() > 1500) {
        continue;
      }
      check(made, static_cast<MPI_Count>(random() % 4), random);
      ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << " type " << i;
      pool.push_back(made);
    }
    sweep();
  }
}

TEST_F(DatatypeTest, DeepNestingNeitherRecursesNorExplodes) {
  // Each level is a pair of the one below with a gap: 2^40 elements would never fit into a table.
  Datatype* type = &builtin(MPI_CHAR);
  for (int i = 0; i < 40; i++) {
    const MPI_Count lengths[] = {1, 1}, at[] = {0, type->extent + 1 + i % 3};
    const MPI_Datatype types[] = {handle_of(*type), handle_of(*type)};
    type = must(type_struct(2, lengths, at, types, true));
  }
  EXPECT_EQ(type->size, MPI_Count{1} << 40);
  PackCursor cursor(nullptr, 1, *type);
  cursor.seek((uint64_t{1} << 40) - 1);
  iovec piece;
  EXPECT_EQ(cursor.pieces(&piece, 1, 10), 1u);
  EXPECT_EQ(reinterpret_cast<MPI_Count>(piece.iov_base), type->true_lb + type->true_extent - 1);

  // A chain of a hundred thousand resized and strided types goes without a deep stack.
  type = &builtin(MPI_CHAR);
  for (int i = 0; i < 100000; i++) {
    Datatype* outer = *(i % 1000 == 0 ? type_hvector(2, 1, type->true_extent + 3, *type, true)
                                      : type_resized(*type, 0, 8, true));
    release(type);
    type = outer;
    if (type->size >= 1 << 20) break;
  }
  release(type);
}

TEST_F(DatatypeTest, OverflowIsAnError) {
  const MPI_Count huge = INT64_MAX;
  EXPECT_EQ(type_contiguous(huge, builtin(MPI_INT), true).status().code(), MPI_ERR_VALUE_TOO_LARGE);
  EXPECT_EQ(type_vector(2, 1, huge, builtin(MPI_INT), true).status().code(), MPI_ERR_VALUE_TOO_LARGE);
  EXPECT_EQ(type_hvector(3, 1, huge, builtin(MPI_INT), true).status().code(), MPI_ERR_VALUE_TOO_LARGE);
  EXPECT_EQ(type_resized(builtin(MPI_INT), huge, 1, true).status().code(), MPI_ERR_VALUE_TOO_LARGE);
  Datatype* big = must(type_contiguous(huge / 4, builtin(MPI_INT), true));
  EXPECT_EQ(type_contiguous(2, *big, true).status().code(), MPI_ERR_VALUE_TOO_LARGE);
  EXPECT_EQ(type_contiguous(-1, builtin(MPI_INT), true).status().code(), MPI_ERR_COUNT);
  const MPI_Count lengths[] = {1, -1}, at[] = {0, 8};
  EXPECT_EQ(type_hindexed(2, lengths, at, builtin(MPI_INT), true).status().code(), MPI_ERR_ARG);
}

TEST_F(DatatypeTest, CommittedNamesTheArgument) {
  EXPECT_TRUE(committed(MPI_INT, "datatype").ok());
  EXPECT_EQ(committed(MPI_DATATYPE_NULL, "datatype").status().code(), MPI_ERR_TYPE);
  Datatype* type = *type_contiguous(2, builtin(MPI_INT), false);
  const MPI_Datatype handle = handle_of(*type);
  EXPECT_FALSE(committed(handle, "sendtype").ok());
  EXPECT_NE(std::strstr(base::failure_text(MPI_ERR_TYPE), "`sendtype`"), nullptr);
  commit(*type);
  EXPECT_TRUE(committed(handle, "sendtype").ok());
  release(type);
  EXPECT_FALSE(committed(handle, "sendtype").ok());
}

TEST_F(DatatypeTest, CopyBetweenDifferentTypes) {
  int from[12], to[24];
  for (int i = 0; i < 12; i++) from[i] = i;
  const Both odd = vector(6, 1, 2, basic(MPI_INT)), triples = vector(4, 3, 6, basic(MPI_INT));
  std::fill(std::begin(to), std::end(to), -1);
  EXPECT_EQ(copy_typed(from, 1, *odd.type, to, 1, *triples.type), 24u);
  EXPECT_EQ(to[0], 0);
  EXPECT_EQ(to[2], 4);
  EXPECT_EQ(to[3], -1);
  EXPECT_EQ(to[6], 6);
  EXPECT_EQ(to[8], 10);
  EXPECT_EQ(copy_typed(from, 12, builtin(MPI_INT), to, 1, *triples.type), 48u);
  EXPECT_EQ(to[20], 11);
  EXPECT_EQ(copy_typed(from, 1, *odd.type, to, 3, builtin(MPI_INT)), 12u);
  EXPECT_EQ(to[2], 4);
}

}  // namespace
}  // namespace vicinity::object
