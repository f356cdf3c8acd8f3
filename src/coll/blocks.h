// SPDX-License-Identifier: BSD-3-Clause
// Blocks: one piece of a user's buffer per rank, however the call describes them.
//
//   MPI_Gather ...    base, count, type               block i at element i * count
//   MPI_Gatherv ...   base, counts, displs, type      block i at element displs[i]
//   MPI_Alltoallw     base, counts, displs, types     block i at byte displs[i], of types[i]
#pragma once

#include <algorithm>

#include "coll/schedule.h"

namespace vicinity::coll {

using object::CountArray;

class Blocks {
 public:
  Blocks() = default;
  Blocks(void* base, MPI_Count count, Datatype& type) : base_(base), count_(count), type_(&type) {}
  Blocks(void* base, CountArray counts, CountArray displs, Datatype& type)
      : base_(base), counts_(counts), displs_(displs), type_(&type) {}
  // The handles have been checked.
  Blocks(void* base, CountArray counts, CountArray displs, const MPI_Datatype* types)
      : base_(base), counts_(counts), displs_(displs), types_(types) {}

  bool uniform() const { return !counts_; }
  // The type of an empty block of alltoallw need not be one.
  Datatype& type(int i) const {
    if (!types_) return *type_;
    if (Datatype* type = object::lookup<Datatype>(types_[i])) return *type;
    return object::builtin(MPI_BYTE);
  }
  MPI_Count count(int i) const { return counts_ ? counts_[static_cast<size_t>(i)] : count_; }
  Typed operator[](int i) const {
    const auto index = static_cast<size_t>(i);
    if (types_) return {shift(base_, displs_[index]), counts_[index], &type(i)};
    const MPI_Count first = displs_ ? displs_[index] : i * count_;
    return {shift(base_, first * type_->extent), count(i), type_};
  }
  uint64_t bytes(int i) const {
    return static_cast<uint64_t>(count(i)) * static_cast<uint64_t>(type(i).size);
  }
  // `some` uniform blocks from number `first` on, as one typed buffer.
  Typed range(int first, int some) const {
    return {shift(base_, first * count_ * type_->extent), some * count_, type_};
  }
  uint64_t largest(int ranks) const {
    uint64_t most = bytes(0);
    if (!uniform())
      for (int i = 1; i < ranks; ++i) most = std::max(most, bytes(i));
    return most;
  }
  uint64_t total(int ranks) const {
    if (uniform()) return static_cast<uint64_t>(ranks) * bytes(0);
    uint64_t sum = 0;
    for (int i = 0; i < ranks; ++i) sum += bytes(i);
    return sum;
  }

 private:
  void* base_ = nullptr;
  MPI_Count count_ = 0;
  CountArray counts_, displs_;
  Datatype* type_ = nullptr;
  const MPI_Datatype* types_ = nullptr;
};

}  // namespace vicinity::coll
