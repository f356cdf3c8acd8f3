// SPDX-License-Identifier: BSD-3-Clause
// Value and index pairs without a name of their own (MPI_Type_get_value_index, MPI 5.0, 6.9.4): their
// Basic encodes the two parts as kFirstPair + 4 * value + index.
#pragma once

#include <iterator>

#include "object/datatype.h"

namespace vicinity::object {

inline constexpr Basic kPairValues[] = {Basic::kI8,  Basic::kU8,  Basic::kI16, Basic::kU16,
                                        Basic::kI32, Basic::kU32, Basic::kI64, Basic::kU64,
                                        Basic::kF32, Basic::kF64, Basic::kF80, Basic::kF128};
inline constexpr Basic kPairIndices[] = {Basic::kI32, Basic::kU32, Basic::kI64, Basic::kU64};

inline bool is_unnamed_pair(Basic basic) { return static_cast<uint8_t>(basic) >= kFirstPair; }
inline Basic pair_value(Basic basic) { return kPairValues[(static_cast<uint8_t>(basic) - kFirstPair) / 4]; }
inline Basic pair_index(Basic basic) { return kPairIndices[(static_cast<uint8_t>(basic) - kFirstPair) % 4]; }

// kNone when no such pair exists.
inline Basic pair_basic(Basic value, Basic index) {
  for (size_t v = 0; v < std::size(kPairValues); v++)
    for (size_t i = 0; i < std::size(kPairIndices); i++)
      if (kPairValues[v] == value && kPairIndices[i] == index)
        return static_cast<Basic>(kFirstPair + 4 * v + i);
  return Basic::kNone;
}

}  // namespace vicinity::object
