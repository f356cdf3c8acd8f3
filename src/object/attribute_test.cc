// SPDX-License-Identifier: BSD-3-Clause
// Keyvals and their callbacks: order, failures, and keyvals freed while attached.
#include "object/attribute.h"

#include <gtest/gtest.h>

#include <string>

#include "object/communicator.h"
#include "object/pool.h"

namespace vicinity::object {
namespace {

std::string deleted;  // the values that delete callbacks saw, in order
int fail_with = MPI_SUCCESS;

int note_delete(MPI_Comm, int, void* value, void*) {
  if (fail_with != MPI_SUCCESS) return fail_with;
  deleted += static_cast<char>(reinterpret_cast<uintptr_t>(value));
  return MPI_SUCCESS;
}
int copy_next(MPI_Comm, int, void*, void* in, void* out, int* flag) {
  *static_cast<void**>(out) = static_cast<char*>(in) + 1;
  *flag = 1;
  return fail_with;
}

void* letter(char c) { return reinterpret_cast<void*>(static_cast<uintptr_t>(c)); }

struct AttributeTest : testing::Test {
  Communicator* comm = make<Communicator>();
  int keyval = make_keyval(nullptr);
  void SetUp() override { deleted.clear(), fail_with = MPI_SUCCESS; }
  void TearDown() override { release(comm); }
  static int make_keyval(void* copy) {
    return keyval_create(Kind::kComm, copy, reinterpret_cast<void*>(&note_delete), nullptr).value();
  }
  char get(int key) {
    void* value = nullptr;
    bool found = false;
    EXPECT_TRUE(attribute_get(*comm, comm->attributes, key, &value, &found).ok());
    return found ? static_cast<char>(reinterpret_cast<uintptr_t>(value)) : '-';
  }
  Status set(int key, char c) { return attribute_set(*comm, comm->attributes, key, letter(c)); }
};

TEST_F(AttributeTest, SettingAgainDeletesTheOldValue) {
  EXPECT_EQ(get(keyval), '-');
  ASSERT_TRUE(set(keyval, 'a').ok());
  ASSERT_TRUE(set(keyval, 'b').ok());
  EXPECT_EQ(get(keyval), 'b');
  EXPECT_EQ(deleted, "a");
  ASSERT_TRUE(attribute_delete(*comm, comm->attributes, keyval).ok());
  EXPECT_EQ(deleted, "ab");
  EXPECT_EQ(get(keyval), '-');
}

TEST_F(AttributeTest, DeleteAllGoesBackwardsAndStopsAtFailure) {
  const int second = make_keyval(nullptr);
  ASSERT_TRUE(set(keyval, '1').ok());
  ASSERT_TRUE(set(second, '2').ok());
  fail_with = MPI_ERR_OTHER;
  EXPECT_EQ(attributes_delete_all(*comm, comm->attributes).code(), MPI_ERR_OTHER);
  EXPECT_EQ(comm->attributes.list.size(), 2u);
  fail_with = MPI_SUCCESS;
  EXPECT_TRUE(attributes_delete_all(*comm, comm->attributes).ok());
  EXPECT_EQ(deleted, "21");
}

TEST_F(AttributeTest, CopyAsksEachCallback) {
  const int copied = make_keyval(reinterpret_cast<void*>(&copy_next));
  const int dup = make_keyval(reinterpret_cast<void*>(MPI_COMM_DUP_FN));
  ASSERT_TRUE(set(keyval, 'n').ok());
  ASSERT_TRUE(set(copied, 'c').ok());
  ASSERT_TRUE(set(dup, 'd').ok());
  Attributes into;
  ASSERT_TRUE(attributes_copy(*comm, comm->attributes, into).ok());
  ASSERT_EQ(into.list.size(), 2u);
  EXPECT_EQ(into.list[0].value, letter('d'));  // 'c' + 1
  EXPECT_EQ(into.list[1].value, letter('d'));
  fail_with = MPI_ERR_ARG;
  Attributes broken;
  EXPECT_EQ(attributes_copy(*comm, comm->attributes, broken).code(), MPI_ERR_ARG);
}

TEST_F(AttributeTest, FreedKeyvalLivesWhileAttached) {
  ASSERT_TRUE(set(keyval, 'x').ok());
  ASSERT_TRUE(keyval_free(Kind::kComm, keyval).ok());
  EXPECT_TRUE(keyval_free(Kind::kComm, keyval).ok());
  EXPECT_EQ(get(keyval), 'x');
  EXPECT_TRUE(attributes_delete_all(*comm, comm->attributes).ok());
  EXPECT_EQ(deleted, "x");
  EXPECT_EQ(set(keyval, 'y').code(), MPI_ERR_KEYVAL);
  EXPECT_EQ(keyval_free(Kind::kComm, keyval).code(), MPI_ERR_KEYVAL);
}

TEST_F(AttributeTest, WrongClassAndPredefinedKeysAreErrors) {
  const int of_types = keyval_create(Kind::kDatatype, nullptr, nullptr, nullptr).value();
  EXPECT_EQ(set(of_types, 'x').code(), MPI_ERR_KEYVAL);
  EXPECT_EQ(keyval_free(Kind::kComm, of_types).code(), MPI_ERR_KEYVAL);
  EXPECT_EQ(set(MPI_TAG_UB, 'x').code(), MPI_ERR_KEYVAL);
  EXPECT_EQ(set(MPI_KEYVAL_INVALID, 'x').code(), MPI_ERR_KEYVAL);
}

}  // namespace
}  // namespace vicinity::object
