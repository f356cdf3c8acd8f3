// SPDX-License-Identifier: BSD-3-Clause
// A mapping of a region into this process, and checked access to what is in it.
//
// A Mapping owns the address range and, where the backing has one, the descriptor. Memory shared with
// others is untrusted: at<T>() answers nullptr for whatever does not lie inside or is misaligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace vicinity::region {

// What the memory behind a region can do. What a channel may use depends on these, never on a name.
struct Properties {
  bool cacheable = true;     // write-back for every process: plain stores and loads are fast
  bool registrable = false;  // a network adapter may be given this memory
  bool detachable = false;   // may disappear while the job runs (migration)
  bool wakeable = false;     // a sleeper can be woken through a futex word in it
  bool same_kernel = false;  // all who map it run under one kernel (pids, CMA)
};

class Mapping {
 public:
  Mapping() = default;
  Mapping(void* base, size_t bytes, int fd, Properties properties, const char* backing)
      : base_(static_cast<std::byte*>(base)),
        bytes_(bytes),
        fd_(fd),
        properties_(properties),
        backing_(backing) {}
  Mapping(Mapping&& other) noexcept { swap(other); }
  Mapping& operator=(Mapping&& other) noexcept {
    Mapping moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Mapping();

  // A part of this memory as if it were all there is. It owns nothing: this mapping must outlive it.
  Mapping window(uint64_t offset, size_t bytes, Properties properties) const {
    Mapping part(base_ + offset, bytes, -1, properties, backing_);
    part.owns_ = false;
    return part;
  }

  explicit operator bool() const { return base_ != nullptr; }
  std::byte* base() const { return base_; }
  size_t bytes() const { return bytes_; }
  int fd() const { return fd_; }
  // The memory stays mapped; nobody can open it through us any more.
  void close_descriptor();
  const Properties& properties() const { return properties_; }
  const char* backing() const { return backing_; }

  // `count` objects of T at `offset`, or nullptr when they do not lie inside.
  template <class T>
  T* at(uint64_t offset, uint64_t count = 1) const {
    if (offset > bytes_ || offset % alignof(T) != 0) return nullptr;
    if (count > (bytes_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<T*>(base_ + offset);
  }

 private:
  void swap(Mapping& other) {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    std::swap(fd_, other.fd_);
    std::swap(properties_, other.properties_);
    std::swap(backing_, other.backing_);
    std::swap(owns_, other.owns_);
  }

  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
  int fd_ = -1;
  Properties properties_{};
  const char* backing_ = "none";
  bool owns_ = true;
};

}  // namespace vicinity::region
