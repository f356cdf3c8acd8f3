// SPDX-License-Identifier: BSD-3-Clause
// Values on their way through a launcher that carries only short plain text: any bytes become letters,
// digits, '-' and '_' (base64 with the URL alphabet, no padding), split over as many keys as needed.
// The first part starts with the number of parts and a dot: "2.aGVs" "bG8".
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace vicinity::wireup {

inline constexpr size_t kPartsLimit = 4096;

std::string encode_text(std::string_view bytes);
base::Result<std::string> decode_text(std::string_view text);

// Parts of at most `part_max` characters each.
base::Result<std::vector<std::string>> split_value(std::string_view bytes, size_t part_max);
// From the first part: how many there are, and where its text starts.
struct FirstPart {
  size_t parts = 0;
  std::string_view text;
};
base::Result<FirstPart> parse_first_part(std::string_view part);

// "v<rank>.<key>" or, for parts after the first, "v<rank>.<key>.<part>".
base::Result<std::string> part_key(int rank, std::string_view key, size_t part, size_t key_max);

// Some of the ranks 0 to size-1 as `1,4-6`, and back.
std::string format_ranks(const std::set<int>& ranks);
base::Result<std::vector<int>> parse_ranks(std::string_view text, int size);

}  // namespace vicinity::wireup
