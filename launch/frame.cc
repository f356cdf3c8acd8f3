// SPDX-License-Identifier: BSD-3-Clause
#include "launch/frame.h"

namespace vicinity::launch {
namespace {

void store(char* to, uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<char>(value >> (8 * i));
}

uint32_t fetch(const char* from) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= uint32_t{static_cast<unsigned char>(from[i])} << (8 * i);
  return value;
}

}  // namespace

FrameWriter& FrameWriter::number(uint32_t value) {
  char bytes[4];
  store(bytes, value);
  bytes_.append(bytes, 4);
  return *this;
}

FrameWriter& FrameWriter::text(std::string_view value) {
  number(static_cast<uint32_t>(value.size()));
  bytes_ += value;
  return *this;
}

FrameWriter& FrameWriter::texts(const std::vector<std::string>& values) {
  number(static_cast<uint32_t>(values.size()));
  for (const std::string& value : values) text(value);
  return *this;
}

std::string FrameWriter::take() {
  store(bytes_.data(), static_cast<uint32_t>(bytes_.size() - 4));
  return std::move(bytes_);
}

uint32_t FrameReader::number() {
  if (left_.size() < 4) ok_ = false;
  if (!ok_) return 0;
  const uint32_t value = fetch(left_.data());
  left_.remove_prefix(4);
  return value;
}

std::string_view FrameReader::text() {
  const uint32_t length = number();
  if (length > left_.size()) ok_ = false;
  if (!ok_) return {};
  const std::string_view value = left_.substr(0, length);
  left_.remove_prefix(length);
  return value;
}

std::vector<std::string> FrameReader::texts() {
  std::vector<std::string> values;
  // No reserve(): the count is not to be believed until the texts are there.
  for (uint32_t count = number(); count > 0 && ok_; --count) values.emplace_back(text());
  return values;
}

base::Result<std::optional<Frame>> FrameStream::next() {
  if (buffer_.size() - at_ < 5) return std::optional<Frame>();
  const uint32_t length = fetch(buffer_.data() + at_);
  const uint8_t type = static_cast<uint8_t>(buffer_[at_ + 4]);
  if (length < 1 || length > kFrameLimit || type < 1 || type > kFrameTypeMax)
    return base::fail(base::kOther, "the other side sent something that is not a frame of this protocol");
  if (buffer_.size() - at_ - 4 < length) return std::optional<Frame>();
  Frame frame{static_cast<FrameType>(type), buffer_.substr(at_ + 5, length - 1)};
  at_ += 4 + length;
  // Give the memory back when everything is read, or when the read part has become large.
  if (at_ == buffer_.size()) {
    buffer_.clear();
    at_ = 0;
  } else if (at_ > (1u << 20)) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  return std::optional<Frame>(std::move(frame));
}

}  // namespace vicinity::launch
