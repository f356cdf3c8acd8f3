// SPDX-License-Identifier: BSD-3-Clause
// The entries of chapter 5: envelope and contents in both forms, free, names, pack, external32.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "entry_object.h"
#include "object/communicator.h"
#include "object/datatype_create.h"

namespace vicinity::object {
namespace {

struct Envelope {
  MPI_Count integers = -1, addresses = -1, counts = -1, types = -1;
  int combiner = -1;
};

Envelope envelope(const Datatype& type) {
  Envelope e;
  EXPECT_TRUE(
      entry::type_get_envelope_c(handle_of(type), &e.integers, &e.addresses, &e.counts, &e.types, &e.combiner)
          .ok());
  return e;
}

void expect_envelope(Datatype* type, int combiner, MPI_Count integers, MPI_Count addresses, MPI_Count counts,
                     MPI_Count types) {
  const Envelope e = envelope(*type);
  EXPECT_EQ(e.combiner, combiner);
  EXPECT_EQ(e.integers, integers);
  EXPECT_EQ(e.addresses, addresses);
  EXPECT_EQ(e.counts, counts);
  EXPECT_EQ(e.types, types);
  int a, b, c, d;
  EXPECT_EQ(entry::type_get_envelope(handle_of(*type), &a, &b, &c, &d).code(),
            counts ? MPI_ERR_TYPE : MPI_SUCCESS);
  release(type);
}

// MPI 5.0, 5.1.13, both columns of its tables.
TEST(EntryDatatype, EnvelopesOfEveryCombiner) {
  Datatype& old = builtin(MPI_INT);
  const MPI_Count wide[] = {1, 2, 3};
  const int thin[] = {1, 2, 3}, fours[] = {4, 4}, twos[] = {2, 2}, ones[] = {1, 1};
  const MPI_Count wide4[] = {4, 4}, wide2[] = {2, 2}, wide1[] = {1, 1};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT};
  const int block[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
  const int dflt[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  expect_envelope(&old, MPI_COMBINER_NAMED, 0, 0, 0, 0);
  expect_envelope(*type_contiguous(3, old, false), MPI_COMBINER_CONTIGUOUS, 1, 0, 0, 1);
  expect_envelope(*type_contiguous(3, old, true), MPI_COMBINER_CONTIGUOUS, 0, 0, 1, 1);
  expect_envelope(*type_vector(3, 1, 2, old, false), MPI_COMBINER_VECTOR, 3, 0, 0, 1);
  expect_envelope(*type_vector(3, 1, 2, old, true), MPI_COMBINER_VECTOR, 0, 0, 3, 1);
  expect_envelope(*type_hvector(3, 1, 8, old, false), MPI_COMBINER_HVECTOR, 2, 1, 0, 1);
  expect_envelope(*type_hvector(3, 1, 8, old, true), MPI_COMBINER_HVECTOR, 0, 0, 3, 1);
  expect_envelope(*type_indexed(3, thin, thin, old, false), MPI_COMBINER_INDEXED, 7, 0, 0, 1);
  expect_envelope(*type_indexed(3, wide, wide, old, true), MPI_COMBINER_INDEXED, 0, 0, 7, 1);
  expect_envelope(*type_hindexed(3, thin, wide, old, false), MPI_COMBINER_HINDEXED, 4, 3, 0, 1);
  expect_envelope(*type_hindexed(3, wide, wide, old, true), MPI_COMBINER_HINDEXED, 0, 0, 7, 1);
  expect_envelope(*type_indexed_block(3, 1, thin, old, false), MPI_COMBINER_INDEXED_BLOCK, 5, 0, 0, 1);
  expect_envelope(*type_indexed_block(3, 1, wide, old, true), MPI_COMBINER_INDEXED_BLOCK, 0, 0, 5, 1);
  expect_envelope(*type_hindexed_block(3, 1, wide, old, false), MPI_COMBINER_HINDEXED_BLOCK, 2, 3, 0, 1);
  expect_envelope(*type_hindexed_block(3, 1, wide, old, true), MPI_COMBINER_HINDEXED_BLOCK, 0, 0, 5, 1);
  expect_envelope(*type_struct(3, thin, wide, types, false), MPI_COMBINER_STRUCT, 4, 3, 0, 3);
  expect_envelope(*type_struct(3, wide, wide, types, true), MPI_COMBINER_STRUCT, 0, 0, 7, 3);
  expect_envelope(*type_subarray(2, fours, twos, ones, MPI_ORDER_C, old, false), MPI_COMBINER_SUBARRAY, 8, 0,
                  0, 1);
  expect_envelope(*type_subarray(2, wide4, wide2, wide1, MPI_ORDER_C, old, true), MPI_COMBINER_SUBARRAY, 2, 0,
                  6, 1);
  expect_envelope(*type_darray({1, 0, 2, fours, block, dflt, ones, MPI_ORDER_C}, old, false),
                  MPI_COMBINER_DARRAY, 12, 0, 0, 1);
  expect_envelope(*type_darray({1, 0, 2, wide4, block, dflt, ones, MPI_ORDER_C}, old, true),
                  MPI_COMBINER_DARRAY, 10, 0, 2, 1);
  expect_envelope(*type_resized(old, 0, 8, false), MPI_COMBINER_RESIZED, 0, 2, 0, 1);
  expect_envelope(*type_resized(old, 0, 8, true), MPI_COMBINER_RESIZED, 0, 0, 2, 1);
  expect_envelope(*type_dup(old), MPI_COMBINER_DUP, 0, 0, 0, 1);
  EXPECT_EQ(envelope(**type_f90_real(7, 40)).integers, 2);
  EXPECT_EQ(envelope(**type_f90_integer(5)).combiner, MPI_COMBINER_F90_INTEGER);
}

TEST(EntryDatatype, ContentsAreTheArgumentsAndHandlesOfTheirOwn) {
  MPI_Datatype inner, outer;
  ASSERT_TRUE(entry::type_vector(2, 3, -4, MPI_INT, &inner).ok());
  const int lengths[] = {5, 6};
  const MPI_Aint at[] = {-7, 8};
  const MPI_Datatype types[] = {inner, MPI_DOUBLE};
  Datatype* made = nullptr;
  ASSERT_TRUE(
      entry::type_create_struct(2, lengths, CountArray(reinterpret_cast<const MPI_Count*>(at)), types, &made)
          .ok());
  outer = handle_of(*made);
  int integers[3] = {};
  MPI_Aint addresses[2] = {};
  MPI_Datatype got[2] = {};
  EXPECT_EQ(entry::type_get_contents(outer, 2, 2, 2, integers, addresses, got).code(), MPI_ERR_ARG);
  EXPECT_EQ(entry::type_get_contents(MPI_INT, 3, 2, 2, integers, addresses, got).code(), MPI_ERR_TYPE);
  ASSERT_TRUE(entry::type_get_contents(outer, 3, 2, 2, integers, addresses, got).ok());
  EXPECT_EQ(integers[0], 2);
  EXPECT_EQ(integers[2], 6);
  EXPECT_EQ(addresses[0], -7);
  EXPECT_EQ(got[1], MPI_DOUBLE);
  // The user's own handle, the one that contents gave, and the one inside `outer`: freed in any order.
  EXPECT_TRUE(entry::type_free(&inner).ok());
  EXPECT_EQ(inner, MPI_DATATYPE_NULL);
  EXPECT_TRUE(entry::type_free(&outer).ok());
  ASSERT_TRUE(entry::type_get_contents(got[0], 3, 0, 1, integers, nullptr, got + 1).ok());
  EXPECT_EQ(integers[2], -4);
  EXPECT_EQ(got[1], MPI_INT);
  const MPI_Datatype stale = got[0];
  EXPECT_TRUE(entry::type_free(got).ok());
  EXPECT_EQ(lookup<Datatype>(stale), nullptr);
}

TEST(EntryDatatype, LargeContents) {
  MPI_Datatype type;
  const MPI_Count huge = MPI_Count{1} << 40;
  ASSERT_TRUE(entry::type_create_hvector_c(huge, 1, 16, MPI_INT, &type).ok());
  MPI_Count counts[3] = {};
  MPI_Datatype old;
  ASSERT_TRUE(entry::type_get_contents_c(type, 0, 0, 3, 1, nullptr, nullptr, counts, &old).ok());
  EXPECT_EQ(counts[0], huge);
  EXPECT_EQ(counts[2], 16);
  EXPECT_TRUE(entry::type_free(&type).ok());
}

// Refuses as often as *extra says.
int failing_delete(MPI_Datatype, int, void*, void* extra) {
  return (*static_cast<int*>(extra))-- > 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}
int counting_delete(MPI_Datatype, int, void* value, void*) {
  ++*static_cast<int*>(value);
  return MPI_SUCCESS;
}

TEST(EntryDatatype, FreeDeletesAttributesOnceAndObeysTheirCallbacks) {
  EXPECT_EQ(entry::type_free(std::array{MPI_INT}.data()).code(), MPI_ERR_TYPE);
  MPI_Datatype f90 = handle_of(**type_f90_integer(4));
  EXPECT_EQ(entry::type_free(&f90).code(), MPI_ERR_TYPE);
  int key = 0, bad = 0, deleted = 0, flag = 0, failures = 2;
  ASSERT_TRUE(entry::type_create_keyval(MPI_TYPE_DUP_FN, counting_delete, &key, nullptr).ok());
  ASSERT_TRUE(entry::type_create_keyval(MPI_TYPE_NULL_COPY_FN, failing_delete, &bad, &failures).ok());
  Datatype *type = *type_contiguous(2, builtin(MPI_INT), false), *copy = nullptr;
  ASSERT_TRUE(entry::type_set_attr(*type, key, &deleted).ok());
  ASSERT_TRUE(entry::type_dup(*type, &copy).ok());
  void* value = nullptr;
  ASSERT_TRUE(entry::type_get_attr(*copy, key, &value, &flag).ok());
  EXPECT_TRUE(flag);
  EXPECT_EQ(value, &deleted);
  MPI_Datatype handle = handle_of(*copy);
  EXPECT_TRUE(entry::type_free(&handle).ok());
  EXPECT_EQ(deleted, 1);
  ASSERT_TRUE(entry::type_set_attr(*type, bad, nullptr).ok());
  handle = handle_of(*type);
  EXPECT_FALSE(entry::type_free(&handle).ok());
  EXPECT_EQ(lookup<Datatype>(handle), type);
  EXPECT_FALSE(entry::type_delete_attr(*type, bad).ok());
  EXPECT_TRUE(entry::type_free(&handle).ok());
  EXPECT_EQ(deleted, 2);
  EXPECT_TRUE(entry::type_free_keyval(&key).ok());
  EXPECT_EQ(key, MPI_KEYVAL_INVALID);
}

TEST(EntryDatatype, Names) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  ASSERT_TRUE(entry::type_get_name(builtin(MPI_UNSIGNED), name, &length).ok());
  EXPECT_STREQ(name, "MPI_UNSIGNED");
  EXPECT_EQ(length, 12);
  const std::string longer(300, 'x');
  Datatype* type = *type_contiguous(1, builtin(MPI_INT), false);
  ASSERT_TRUE(entry::type_set_name(*type, longer.c_str()).ok());
  ASSERT_TRUE(entry::type_get_name(*type, name, &length).ok());
  EXPECT_EQ(length, MPI_MAX_OBJECT_NAME - 1);
  release(type);
}

TEST(EntryPack, PositionsAndBounds) {
  Communicator comm;
  int in[] = {1, 2, 3}, out[3] = {};
  char buffer[20];
  MPI_Count position = 4, size = 0;
  ASSERT_TRUE(entry::pack(in, 3, builtin(MPI_INT), buffer, sizeof buffer, &position, comm).ok());
  EXPECT_EQ(position, 16);
  EXPECT_EQ(entry::pack(in, 2, builtin(MPI_INT), buffer, sizeof buffer, &position, comm).code(),
            MPI_ERR_TRUNCATE);
  EXPECT_EQ(position, 16);
  position = 4;
  ASSERT_TRUE(entry::unpack(buffer, sizeof buffer, &position, out, 3, builtin(MPI_INT), comm).ok());
  EXPECT_EQ(std::memcmp(in, out, sizeof in), 0);
  EXPECT_EQ(entry::unpack(buffer, sizeof buffer, &position, out, 2, builtin(MPI_INT), comm).code(),
            MPI_ERR_TRUNCATE);
  position = 21;
  EXPECT_EQ(entry::pack(in, 0, builtin(MPI_INT), buffer, sizeof buffer, &position, comm).code(), MPI_ERR_ARG);
  ASSERT_TRUE(entry::pack_size(7, builtin(MPI_DOUBLE_INT), comm, &size).ok());
  EXPECT_EQ(size, 84);
  EXPECT_EQ(entry::pack_size(INT64_MAX, builtin(MPI_INT), comm, &size).code(), MPI_ERR_VALUE_TOO_LARGE);
}

template <class T>
void expect_external(MPI_Datatype type, T value, std::vector<unsigned char> bytes) {
  unsigned char got[32] = {};
  MPI_Count position = 0, size = 0;
  const char* format = "external32";
  ASSERT_TRUE(entry::pack_external_size(format, 1, builtin(type), &size).ok());
  EXPECT_EQ(size, static_cast<MPI_Count>(bytes.size())) << builtin(type).name;
  ASSERT_TRUE(entry::pack_external(format, &value, 1, builtin(type), got, sizeof got, &position).ok());
  EXPECT_EQ(std::vector<unsigned char>(got, got + position), bytes) << builtin(type).name;
  T back{};
  position = 0;
  ASSERT_TRUE(entry::unpack_external(format, got, size, &position, &back, 1, builtin(type)).ok());
  EXPECT_TRUE(back == value) << builtin(type).name;
}

TEST(EntryPack, External32Vectors) {
  expect_external<int>(MPI_INT, 0x01020304, {1, 2, 3, 4});
  expect_external<int16_t>(MPI_SHORT, -2, {0xff, 0xfe});
  expect_external<long>(MPI_LONG, -3, {0xff, 0xff, 0xff, 0xfd});
  expect_external<unsigned long>(MPI_UNSIGNED_LONG, 0xfffffffe, {0xff, 0xff, 0xff, 0xfe});
  expect_external<long long>(MPI_LONG_LONG, 1, {0, 0, 0, 0, 0, 0, 0, 1});
  expect_external<int64_t>(MPI_INT64_T, -1, {255, 255, 255, 255, 255, 255, 255, 255});
  expect_external<char>(MPI_CHAR, 'a', {'a'});
  expect_external<bool>(MPI_C_BOOL, true, {1});
  expect_external<wchar_t>(MPI_WCHAR, 0x20ac, {0x20, 0xac});
  expect_external<float>(MPI_FLOAT, 1.5f, {0x3f, 0xc0, 0, 0});
  expect_external<double>(MPI_DOUBLE, -2.0, {0xc0, 0, 0, 0, 0, 0, 0, 0});
  expect_external<long double>(MPI_LONG_DOUBLE, 1.5L,
                               {0x3f, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  expect_external<std::array<float, 2>>(MPI_C_FLOAT_COMPLEX, {1.5f, 1.0f},
                                        {0x3f, 0xc0, 0, 0, 0x3f, 0x80, 0, 0});
  expect_external<__int128>(MPI_INTEGER16, 5, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5});
  struct DoubleInt {
    double value;
    int index;
    bool operator==(const DoubleInt& o) const { return value == o.value && index == o.index; }
  };
  expect_external<DoubleInt>(MPI_DOUBLE_INT, {-2.0, 7}, {0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7});
}

TEST(EntryPack, External32OfMixedTypesAndItsErrors) {
  struct Record {
    char tag;
    short numbers[3];
    long last;
  };
  const int lengths[] = {1, 3, 1};
  const MPI_Count at[] = {0, offsetof(Record, numbers), offsetof(Record, last)};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_SHORT, MPI_LONG};
  Datatype* type = *type_struct(3, lengths, at, types, false);
  Datatype* many = *type_hvector(3, 1, sizeof(Record), *type, false);
  EXPECT_EQ(external_bytes(*many), 33);
  Record in[6], out[6] = {};
  for (int i = 0; i < 6; i++) in[i] = {static_cast<char>(i), {1, 2, static_cast<short>(i)}, -i};
  unsigned char packed[66];
  MPI_Count position = 0;
  ASSERT_TRUE(entry::pack_external("external32", in, 2, *many, packed, 66, &position).ok());
  EXPECT_EQ(position, 66);
  EXPECT_EQ(packed[10], 0);
  EXPECT_EQ(packed[21], 0xff);
  position = 0;
  ASSERT_TRUE(entry::unpack_external("external32", packed, 66, &position, out, 2, *many).ok());
  for (int i = 0; i < 6; i++) {
    EXPECT_EQ(out[i].tag, i);
    EXPECT_EQ(out[i].numbers[2], i);
    EXPECT_EQ(out[i].last, -i);
  }
  position = 1;
  EXPECT_EQ(entry::unpack_external("external32", packed, 66, &position, out, 2, *many).code(),
            MPI_ERR_TRUNCATE);
  const long big = 1L << 33;
  position = 0;
  EXPECT_EQ(entry::pack_external("external32", &big, 1, builtin(MPI_LONG), packed, 66, &position).code(),
            MPI_ERR_CONVERSION);
  EXPECT_EQ(entry::pack_external("native", &big, 1, builtin(MPI_LONG), packed, 66, &position).code(),
            MPI_ERR_UNSUPPORTED_DATAREP);
  release(many);
  release(type);
}

TEST(EntryAddress, Arithmetic) {
  MPI_Aint address = 0;
  ASSERT_TRUE(entry::get_address(&address, &address).ok());
  EXPECT_EQ(entry::aint_diff(entry::aint_add(address, 24), address), 24);
}

}  // namespace
}  // namespace vicinity::object
