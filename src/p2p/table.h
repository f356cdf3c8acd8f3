// SPDX-License-Identifier: BSD-3-Clause
// A hash table of what waits in a long queue, beside the queue: elements with equal keys are found, in the
// order in which they came, without a look at all others. Lists in it are intrusive; only the array of them
// is allocated. Where there is no memory for that, there is no table, and the queue is searched.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

#include "base/list.h"

namespace vicinity::p2p {

template <class T, base::Link T::*link>
class Table {
 public:
  using Chain = base::List<T, link>;

  bool on() const { return chains_ != nullptr; }
  // More elements than chains: time for begin() with twice as many.
  bool crowded() const { return size_ >> bits_ != 0; }

  // An empty table for about `expected` elements. What is in it now is forgotten, and must be added again.
  // False: no memory, nothing has changed.
  bool begin(size_t expected) {
    int bits = 6;
    while (bits < 24 && size_t{1} << bits < expected) ++bits;
    std::unique_ptr<Chain[]> chains(new (std::nothrow) Chain[size_t{1} << bits]);
    if (!chains) return false;
    chains_ = std::move(chains);
    bits_ = bits;
    size_ = 0;
    return true;
  }
  void add(uint64_t key, T* element) {
    chain(key).push_back(element);
    ++size_;
  }
  // The last one ends the table.
  void remove(T* element) {
    (element->*link).unlink();
    if (--size_ == 0) chains_.reset();
  }
  // Elements of this key, and others whose keys are as far.
  const Chain& chain_of(uint64_t key) const { return chains_[place(key)]; }

 private:
  Chain& chain(uint64_t key) { return chains_[place(key)]; }
  size_t place(uint64_t key) const { return (key * 0x9e3779b97f4a7c15u) >> (64 - bits_); }

  std::unique_ptr<Chain[]> chains_;
  int bits_ = 6;
  size_t size_ = 0;
};

}  // namespace vicinity::p2p
