// SPDX-License-Identifier: BSD-3-Clause
// put and get of any bytes over put_text and get_text.
#include "wireup/kvs.h"

#include "wireup/codec.h"

namespace vicinity::wireup {

using base::fail;
using base::kArgument;
using base::Result;
using base::Status;

Status KvsWireup::put(std::string_view key, std::string_view value) {
  auto parts = split_value(value, value_max_);
  if (!parts.ok()) return parts.status();
  for (size_t i = 0; i < parts->size(); ++i) {
    auto name = part_key(identity_.rank, key, i, key_max_);
    if (!name.ok()) return name.status();
    VICINITY_TRY(put_text(*name, (*parts)[i]));
  }
  return base::kOk;
}

Result<std::string> KvsWireup::get(int rank, std::string_view key) {
  if (rank < 0 || rank >= identity_.size)
    return fail(kArgument, "rank %d is not in this job of %d", rank, identity_.size);
  auto fetch = [&](size_t part) -> Result<std::string> {
    auto name = part_key(rank, key, part, key_max_);
    if (!name.ok()) return name.status();
    return get_text(rank, *name);
  };
  auto first = fetch(0);
  if (!first.ok()) return first.status();
  auto head = parse_first_part(*first);
  if (!head.ok()) return head.status();
  std::string text(head->text);
  for (size_t i = 1; i < head->parts; ++i) {
    auto part = fetch(i);
    if (!part.ok()) return part.status();
    text += *part;
  }
  return decode_text(text);
}

}  // namespace vicinity::wireup
