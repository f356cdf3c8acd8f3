// SPDX-License-Identifier: BSD-3-Clause
// For tests: values, operations with known results, and the loop over ranks and algorithms.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/param.h"
#include "coll/build.h"
#include "coll/choice.h"
#include "coll/simulator.h"

namespace vicinity::coll::testing {

using object::builtin;
using Vector = std::vector<uint64_t>;

inline constexpr int kRanks[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17};
inline constexpr int kCounts[] = {0, 1, 2, 3, 7, 100};
inline constexpr uint64_t kUntouched = 0xdeadbeefdeadbeefull;

// x -> a*x + b modulo 2^32, packed as (a, b): composing them is associative, not commutative.
inline uint64_t compose(uint64_t f, uint64_t g) {
  const auto fa = static_cast<uint32_t>(f >> 32), fb = static_cast<uint32_t>(f);
  const auto ga = static_cast<uint32_t>(g >> 32), gb = static_cast<uint32_t>(g);
  return static_cast<uint64_t>(fa * ga) << 32 | (fa * gb + fb);
}
inline void compose_function(void* in, void* inout, int* count, MPI_Datatype*) {
  auto* a = static_cast<uint64_t*>(in);
  auto* b = static_cast<uint64_t*>(inout);
  for (int i = 0; i < *count; ++i) b[i] = compose(a[i], b[i]);
}

// The two operations under test and what they compute.
struct TestOp {
  const Op* op;
  uint64_t (*apply)(uint64_t, uint64_t);
};
inline TestOp sum_op() {
  return {object::HandleTraits<Op>::predefined(reinterpret_cast<uintptr_t>(MPI_SUM)),
          [](uint64_t a, uint64_t b) { return a + b; }};
}
inline TestOp compose_op() {
  static Op* op = [] {
    Op* made = new Op;
    made->kind = object::Kind::kOp;
    made->commutative = false;
    made->user = compose_function;
    return made;
  }();
  return {op, compose};
}

inline uint64_t value_of(int rank, uint64_t i) {
  uint64_t x = static_cast<uint64_t>(rank + 1) * 0x9e3779b97f4a7c15ull + i * 0xbf58476d1ce4e5b9ull;
  return (x ^ (x >> 29)) | (uint64_t{1} << 32);
}

inline const char* param_name(Kind kind) {
  switch (kind) {
    case Kind::kBarrier:
      return "VICINITY_COLL_BARRIER";
    case Kind::kBcast:
      return "VICINITY_COLL_BCAST";
    case Kind::kGather:
    case Kind::kGatherv:
      return "VICINITY_COLL_GATHER";
    case Kind::kScatter:
    case Kind::kScatterv:
      return "VICINITY_COLL_SCATTER";
    case Kind::kAllgather:
    case Kind::kAllgatherv:
      return "VICINITY_COLL_ALLGATHER";
    case Kind::kReduce:
      return "VICINITY_COLL_REDUCE";
    case Kind::kAllreduce:
      return "VICINITY_COLL_ALLREDUCE";
    case Kind::kScan:
    case Kind::kExscan:
      return "VICINITY_COLL_SCAN";
    case Kind::kReduceScatter:
    case Kind::kReduceScatterBlock:
      return "VICINITY_COLL_REDUCE_SCATTER";
    default:
      return "VICINITY_COLL_ALLTOALL";
  }
}
inline void force(Kind kind, const char* algorithm) {
  ASSERT_TRUE(base::params_find(param_name(kind))->parse(algorithm, "the test").ok());
}

// Runs `body` once per number of ranks, algorithm (forced by its parameter) and seed.
struct Case {
  Kind kind;
  int ranks;
  std::string name;
  uint64_t seed;
};
inline void each_case(Kind kind, bool commutative, const std::function<void(const Case&)>& body) {
  uint64_t seed = 1;
  for (int ranks : kRanks) {
    Algorithm list[16];
    const int n = able(kind, Facts{0, ranks, commutative}, list, 16);
    ASSERT_GT(n, 0);
    for (int i = 0; i <= n; ++i) {
      const char* algorithm = i < n ? name_of(list[i]) : "auto";
      force(kind, algorithm);
      const std::string name =
          std::string(mpi_name(kind).text) + " " + algorithm + ", ranks " + std::to_string(ranks);
      body(Case{kind, ranks, name, ++seed});
    }
    force(kind, "auto");
  }
}

inline std::vector<int> roots_of(int ranks) {
  std::vector<int> roots{0};
  if (ranks > 1) roots.push_back(ranks - 1);
  if (ranks > 3) roots.push_back(ranks / 2);
  return roots;
}

// Runs the simulation and checks that all ranks ended well and no message was left over.
inline void run(sim::Simulation& simulation, const std::string& name) {
  ASSERT_TRUE(simulation.run()) << name << ": deadlock";
  for (auto& schedule : simulation.schedules) ASSERT_TRUE(schedule->status.ok()) << name;
  ASSERT_EQ(simulation.network.left_over(), 0u) << name << ": messages nobody received";
}

inline Datatype& u64() { return builtin(MPI_UINT64_T); }

inline std::vector<Vector> inputs(int ranks, size_t count) {
  std::vector<Vector> all(static_cast<size_t>(ranks), Vector(count));
  for (int rank = 0; rank < ranks; ++rank)
    for (size_t i = 0; i < count; ++i) all[static_cast<size_t>(rank)][i] = value_of(rank, i);
  return all;
}
inline Vector fold(const std::vector<Vector>& in, size_t from, size_t past, const TestOp& op) {
  Vector result = in[from];
  for (size_t rank = from + 1; rank < past; ++rank)
    for (size_t i = 0; i < result.size(); ++i) result[i] = op.apply(result[i], in[rank][i]);
  return result;
}

}  // namespace vicinity::coll::testing
