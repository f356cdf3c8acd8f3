// SPDX-License-Identifier: BSD-3-Clause
// The texts of PMI-1 and PMI-2: bytes to messages and back. Pure functions, no input or output, so that
// the client here and the server in launch/ share them and a fuzzer can drive them.
//
//   PMI-1   cmd=put kvsname=job key=a value=b\n       words separated by spaces; a word without '='
//                                                     continues the value before it (error texts)
//   PMI-2   000031cmd=kvs-put;key=a;value=b;          six characters of length, fields ended by ';',
//                                                     a ';' inside of a value is doubled
//
// Anything else is refused with words that say what was wrong; nothing is guessed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace vicinity::wireup {

// Longest text that either end accepts; the standard lengths (64 and 1024) stay far below.
inline constexpr size_t kTextLimit = 16 * 1024;
inline constexpr size_t kFieldLimit = 64;
inline constexpr size_t kPmi2LengthBytes = 6;

struct Field {
  std::string key;
  std::string value;
};

struct Message {
  std::string command;
  std::vector<Field> fields;
  const std::string* find(std::string_view key) const;  // nullptr when there is no such field
};

base::Result<Message> parse_pmi1(std::string_view line);  // without the newline
base::Result<Message> parse_pmi2(std::string_view body);  // without the length
// The length in front of a PMI-2 text; refused above kTextLimit.
base::Result<size_t> parse_pmi2_length(std::string_view six);

base::Result<std::string> format_pmi1(const Message& message);  // with the newline
base::Result<std::string> format_pmi2(const Message& message);  // with the length

// A whole number in decimal, optionally negative, nothing before or after.
base::Result<int> parse_number(std::string_view text);

}  // namespace vicinity::wireup
