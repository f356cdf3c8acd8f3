// SPDX-License-Identifier: BSD-3-Clause
// Hints as text and as numbers.
#include "io/hints.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace vicinity::io {
namespace {

// A whole number within the bounds; false: there is none.
bool number(const object::Info& info, const char* key, int base, int64_t least, int64_t most,
            int64_t* value) {
  const std::string* text = info.find(key);
  if (!text || text->empty()) return false;
  char* end = nullptr;
  errno = 0;
  const long long read = strtoll(text->c_str(), &end, base);
  if (errno != 0 || *end || read < least || read > most) return false;
  *value = read;
  return true;
}

void buffering(const object::Info& info, const char* key, Buffering* value) {
  const std::string* text = info.find(key);
  if (!text) return;
  if (*text == "enable" || *text == "true") *value = Buffering::kAlways;
  if (*text == "disable" || *text == "false") *value = Buffering::kNever;
  if (*text == "automatic") *value = Buffering::kAutomatic;
}

const char* word(Buffering value) {
  return value == Buffering::kAlways ? "enable" : value == Buffering::kNever ? "disable" : "automatic";
}

}  // namespace

void read_hints(const object::Info& info, Hints* hints) {
  number(info, "cb_buffer_size", 10, 4096, int64_t{1} << 30, &hints->buffer_bytes);
  number(info, "cb_block_size", 10, 1, int64_t{1} << 30, &hints->block_bytes);
  number(info, "cb_nodes", 10, 1, INT32_MAX, &hints->nodes);
  Buffering both = hints->read == hints->write ? hints->read : Buffering::kAutomatic;
  if (info.find("collective_buffering")) {
    buffering(info, "collective_buffering", &both);
    hints->read = hints->write = both;
  }
  buffering(info, "romio_cb_read", &hints->read);
  buffering(info, "romio_cb_write", &hints->write);
  if (const std::string* style = info.find("access_style");
      style && style->size() < sizeof hints->access_style)
    snprintf(hints->access_style, sizeof hints->access_style, "%s", style->c_str());
}

void show_hints(const Hints& hints, int aggregators, object::Info* info) {
  info->set("cb_buffer_size", std::to_string(hints.buffer_bytes).c_str());
  info->set("cb_block_size", std::to_string(hints.block_bytes).c_str());
  info->set("cb_nodes", std::to_string(aggregators).c_str());
  const bool off = hints.read == Buffering::kNever && hints.write == Buffering::kNever;
  info->set("collective_buffering", off ? "false" : "true");
  info->set("romio_cb_read", word(hints.read));
  info->set("romio_cb_write", word(hints.write));
  if (hints.access_style[0]) info->set("access_style", hints.access_style);
}

unsigned permissions(const object::Info* info, unsigned usual) {
  int64_t value = usual;
  if (info) number(*info, "file_perm", 8, 0, 07777, &value);
  return static_cast<unsigned>(value);
}

int advice(const Hints& hints) {
  // A list of words; the first that says something counts.
  const auto has = [&](const char* word) { return strstr(hints.access_style, word) != nullptr; };
  if (has("random")) return POSIX_FADV_RANDOM;
  if (has("sequential") && !has("reverse_sequential")) return POSIX_FADV_SEQUENTIAL;
  return POSIX_FADV_NORMAL;
}

}  // namespace vicinity::io
