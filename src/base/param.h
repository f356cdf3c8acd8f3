// SPDX-License-Identifier: BSD-3-Clause
// Parameters: declared once, next to the code that uses them, with their full environment name.
//
//   base::Param<int64_t> ring_lines{"VICINITY_RING_LINES", "channel", 256, 16, 65536,
//                                   "64-byte lines in the ring of one directed pair"};
//   ... ring_lines.get() ...
//
// All of them are read from the environment once by params_load(), at the start of MPI_Init or of a
// tool. They appear in `vicinity params`, in the manual and as MPI_T control variables, all from
// the list that params_first() starts. A bad value is an error that names the value, the variable
// and what is allowed. A size may carry a unit: 64K, 1M, 2G.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace vicinity::base {

enum class ParamType { kInt, kBool, kText };

class ParamBase {
 public:
  ParamBase(const char* name, const char* room, ParamType type, const char* text,
            const char* alias = nullptr);
  ParamBase(const ParamBase&) = delete;
  ParamBase& operator=(const ParamBase&) = delete;

  const char* name;     // environment variable
  const char* room;     // where it is declared
  ParamType type;
  const char* text;     // one or two sentences for people
  const char* alias;    // another accepted name (the papers' MV2_... tunables), or nullptr
  bool was_set = false; // by the environment
  // Called after a new value was written while the job runs; nullptr: its value is fixed at the start.
  void (*changed)() = nullptr;
  ParamBase* next;      // list of all parameters

  virtual Status parse(const char* value, const char* from) = 0;
  virtual std::string value_text() const = 0;
  virtual std::string default_text() const = 0;

 protected:
  ~ParamBase() = default;
};

template <class T>
class Param;

template <>
class Param<int64_t> final : public ParamBase {
 public:
  Param(const char* name, const char* room, int64_t fallback, int64_t least, int64_t most,
        const char* text, const char* alias = nullptr)
      : ParamBase(name, room, ParamType::kInt, text, alias),
        value_(fallback), default_(fallback), least_(least), most_(most) {}
  int64_t get() const { return value_; }
  Status set(int64_t value);
  int64_t least() const { return least_; }
  int64_t most() const { return most_; }
  Status parse(const char* value, const char* from) override;
  std::string value_text() const override;
  std::string default_text() const override;

 private:
  int64_t value_, default_, least_, most_;
};

template <>
class Param<bool> final : public ParamBase {
 public:
  Param(const char* name, const char* room, bool fallback, const char* text,
        const char* alias = nullptr)
      : ParamBase(name, room, ParamType::kBool, text, alias), value_(fallback), default_(fallback) {}
  bool get() const { return value_; }
  void set(bool value) { value_ = value; }
  Status parse(const char* value, const char* from) override;  // 0/1, yes/no, on/off, true/false
  std::string value_text() const override;
  std::string default_text() const override;

 private:
  bool value_, default_;
};

template <>
class Param<std::string> final : public ParamBase {
 public:
  // `choices` is "a|b|c", or nullptr when any text will do.
  Param(const char* name, const char* room, const char* fallback, const char* choices,
        const char* text, const char* alias = nullptr)
      : ParamBase(name, room, ParamType::kText, text, alias),
        value_(fallback), default_(fallback), choices_(choices) {}
  const std::string& get() const { return value_; }
  const char* choices() const { return choices_; }
  Status parse(const char* value, const char* from) override;
  std::string value_text() const override;
  std::string default_text() const override;

 private:
  std::string value_, default_;
  const char* choices_;
};

// Reads every declared parameter from the environment; names unknown VICINITY_ variables in a
// warning (with the nearest known name). Calling it again reads anew. A program that does not contain the
// whole library (mpiexec) cannot judge what is unknown.
enum class Unknown : bool { kIgnore, kWarn };
Status params_load(Unknown unknown = Unknown::kWarn);
ParamBase* params_first();
ParamBase* params_find(const char* name);

}  // namespace vicinity::base
