// SPDX-License-Identifier: BSD-3-Clause
// An array that grows and survives the end of memory: what does not fit is not kept, failed() says so from
// then on, and whoever built something with it reports MPI_ERR_NO_MEM instead of ending the process.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace vicinity::object {

template <class T>
class Growing {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Growing() = default;
  Growing(Growing&& other) noexcept { *this = std::move(other); }
  Growing& operator=(Growing&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
    failed_ |= other.failed_;
    return *this;
  }
  ~Growing() { ::operator delete(data_); }

  // False, and the array as it was, if there is no memory.
  bool push_back(T value) {
    if (size_ == room_ && !grow(size_ + 1)) return false;
    data_[size_++] = value;
    return true;
  }
  bool append(const T* values, size_t count) {
    if (count == 0) return true;
    if (count > room_ - size_ && !grow(size_ + count)) return false;
    std::memcpy(data_ + size_, values, count * sizeof(T));
    size_ += count;
    return true;
  }
  void clear() { size_ = 0; }
  bool failed() const { return failed_; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  T& back() { return data_[size_ - 1]; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  bool grow(size_t least) {
    size_t room = 2 * room_ < 8 ? 8 : 2 * room_;
    if (room < least) room = least;
    size_t bytes;
    void* memory = __builtin_mul_overflow(room, sizeof(T), &bytes) ? nullptr
                                                                   : ::operator new(bytes, std::nothrow);
    if (!memory) {
      failed_ = true;
      return false;
    }
    if (size_ != 0) std::memcpy(memory, data_, size_ * sizeof(T));
    ::operator delete(data_);
    data_ = static_cast<T*>(memory);
    room_ = room;
    return true;
  }

  T* data_ = nullptr;
  size_t size_ = 0, room_ = 0;
  bool failed_ = false;
};

}  // namespace vicinity::object
