// SPDX-License-Identifier: BSD-3-Clause
// Every class has a name and words; users' codes are counted, guarded and never used twice.
#include "object/error.h"

#include <gtest/gtest.h>

#include <cstring>

namespace vicinity::object {
namespace {

TEST(Error, EveryPredefinedClassHasWords) {
  for (int code = 0; code <= MPI_ERR_ABI; ++code) {
    ASSERT_NE(error_text(code), nullptr) << code;
    EXPECT_GT(std::strlen(error_text(code)), 5u) << code;
    EXPECT_LT(std::strlen(error_text(code)), size_t{MPI_MAX_ERROR_STRING});
    EXPECT_EQ(error_class(code), code);
  }
  for (int code = MPI_T_ERR_CANNOT_INIT; code <= MPI_T_ERR_PVAR_NO_ATOMIC; ++code)
    EXPECT_EQ(error_class(code), code);
  EXPECT_STREQ(error_name(MPI_ERR_TRUNCATE), "MPI_ERR_TRUNCATE");
  EXPECT_STREQ(error_name(MPI_T_ERR_PVAR_NO_ATOMIC), "MPI_T_ERR_PVAR_NO_ATOMIC");
}

TEST(Error, WhatIsNoCodeHasNoWords) {
  for (int code : {-1, 900, 1000, 1019, int{MPI_ERR_LASTCODE} + 1000}) {
    EXPECT_EQ(error_text(code), nullptr) << code;
    EXPECT_EQ(error_class(code), -1) << code;
  }
}

TEST(Error, UsersClassesAndCodes) {
  const int of_class = add_error_class().value();
  EXPECT_GT(of_class, MPI_ERR_LASTCODE);
  EXPECT_EQ(last_used_code(), of_class);
  const int code = add_error_code(of_class).value();
  EXPECT_EQ(error_class(code), of_class);
  EXPECT_STREQ(error_text(code), "");
  EXPECT_TRUE(add_error_string(code, "the kettle is empty").ok());
  EXPECT_STREQ(error_text(code), "the kettle is empty");

  EXPECT_FALSE(remove_error_class(of_class).ok());
  EXPECT_FALSE(remove_error_code(code).ok());  // has a string
  EXPECT_TRUE(remove_error_string(code).ok());
  EXPECT_FALSE(remove_error_string(code).ok());
  EXPECT_TRUE(remove_error_code(code).ok());
  EXPECT_FALSE(remove_error_code(code).ok());
  EXPECT_TRUE(remove_error_class(of_class).ok());
  EXPECT_EQ(error_class(of_class), -1);
  EXPECT_GT(add_error_class().value(), code) << "numbers are never used twice";
}

TEST(Error, PredefinedOnesCannotBeChanged) {
  EXPECT_FALSE(add_error_string(MPI_ERR_ARG, "mine").ok());
  EXPECT_FALSE(remove_error_class(0).ok());
  EXPECT_FALSE(remove_error_code(MPI_ERR_ARG).ok());
  EXPECT_FALSE(remove_error_string(0).ok());
  EXPECT_TRUE(add_error_code(MPI_ERR_OTHER).ok());
  EXPECT_FALSE(add_error_code(12345678).ok());
}

}  // namespace
}  // namespace vicinity::object
