// SPDX-License-Identifier: BSD-3-Clause
// Status and Result: how every room reports success or failure, without exceptions.
//
// A Status is one int: 0, or the number of an MPI error class. `base` gives names only to the
// few classes that rooms below `object` need; their numbers are those of the standard ABI, so that
// nothing has to be translated on the way up (object/error.cc asserts it).
//
// The words that belong to a failure (which value, where, what to do) are kept per thread by
// fail() and read once, where the error is reported. Decide and describe an error where it is
// first noticed; everybody above passes the Status on.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace vicinity::base {

enum Fault : int {
  kArgument = 13,
  kOther = 16,
  kInternal = 17,
  kNoMemory = 39,
  kUnsupported = 55,
  kProcAborted = 58,
};

class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  constexpr explicit Status(int code) : code_(code) {}
  constexpr bool ok() const { return code_ == 0; }
  constexpr int code() const { return code_; }

 private:
  int code_ = 0;
};

inline constexpr Status kOk{};

// Makes a failure of class `code` and remembers the formatted text for this thread.
Status fail(int code, const char* format, ...) __attribute__((format(printf, 2, 3), cold));

// The text of the newest fail() of this thread, if it was of class `code`; else "".
const char* failure_text(int code);
void forget_failure();

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(status) {}
  bool ok() const { return status_.ok(); }
  Status status() const { return status_; }
  T& value() { return value_; }
  const T& value() const { return value_; }
  T& operator*() { return value_; }
  T* operator->() { return &value_; }

 private:
  Status status_;
  T value_{};
};

}  // namespace vicinity::base

// Leaves the function with the Status of `expr` unless that is success.
#define VICINITY_TRY(expr)                                                \
  do {                                                                    \
    if (::vicinity::base::Status try_status_ = (expr); !try_status_.ok()) \
      return try_status_;                                                 \
  } while (0)
