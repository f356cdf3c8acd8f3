// SPDX-License-Identifier: BSD-3-Clause
// Collectives on intercommunicators of several shapes: ranks below `low` are one group, the rest the other.
#include "coll/test_support.h"

namespace vicinity::coll::testing {
namespace {

struct Shape {
  int low, high;
  int ranks() const { return low + high; }
  bool in_low(int rank) const { return rank < low; }
  int local(int rank) const { return in_low(rank) ? rank : rank - low; }
  int group(int rank) const { return in_low(rank) ? low : high; }
  int other(int rank) const { return in_low(rank) ? high : low; }
  // Global rank of rank `peer` of the other group.
  int across(int rank, int peer) const { return in_low(rank) ? low + peer : peer; }
  // The global ranks of the group that `rank` is not in.
  size_t first_across(int rank) const { return static_cast<size_t>(in_low(rank) ? low : 0); }
  size_t past_across(int rank) const { return static_cast<size_t>(in_low(rank) ? ranks() : low); }
};
const Shape kShapes[] = {{1, 1}, {1, 3}, {3, 1}, {2, 5}, {4, 4}, {5, 3}};

void each_shape(const std::function<void(const Shape&, uint64_t)>& body) {
  for (uint64_t seed = 1; seed <= 5; ++seed)
    for (const Shape& shape : kShapes) body(shape, seed);
}
std::string text(const Shape& s) {
  return "groups of " + std::to_string(s.low) + " and " + std::to_string(s.high);
}

// What `rank` passes as root when the root is global rank `root`.
int root_argument(const Shape& s, int rank, int root) {
  if (rank == root) return MPI_ROOT;
  if (s.in_low(rank) == s.in_low(root)) return MPI_PROC_NULL;
  return s.local(root);
}

TEST(Inter, Barrier) {
  each_shape([](const Shape& s, uint64_t seed) {
    sim::Simulation simulation(s.ranks(), seed, s.low);
    for (int rank = 0; rank < s.ranks(); ++rank) {
      Plan plan = simulation.plan(rank, Kind::kBarrier);
      build_barrier(plan);
    }
    run(simulation, text(s));
    // Without one rank of a group, nobody of the other gets through.
    for (int late = 0; late < s.ranks(); ++late) {
      sim::Simulation held(s.ranks(), seed, s.low);
      for (int rank = 0; rank < s.ranks(); ++rank) {
        Plan plan = held.plan(rank, Kind::kBarrier);
        if (rank != late) build_barrier(plan);
      }
      EXPECT_FALSE(held.run());
      for (int rank = 0; rank < s.ranks(); ++rank) {
        const Schedule& schedule = *held.schedules[static_cast<size_t>(rank)];
        if (s.in_low(rank) == s.in_low(late)) continue;
        EXPECT_LT(schedule.oldest, schedule.steps.size()) << text(s) << " late " << late << " rank " << rank;
      }
    }
  });
}

TEST(Inter, Bcast) {
  each_shape([](const Shape& s, uint64_t seed) {
    for (int root = 0; root < s.ranks(); ++root) {
      sim::Simulation simulation(s.ranks(), seed, s.low);
      auto data = inputs(s.ranks(), 5);
      const auto before = data;
      for (int rank = 0; rank < s.ranks(); ++rank) {
        Plan plan = simulation.plan(rank, Kind::kBcast);
        build_bcast(plan, {data[static_cast<size_t>(rank)].data(), 5, &u64()}, root_argument(s, rank, root));
      }
      run(simulation, text(s));
      for (int rank = 0; rank < s.ranks(); ++rank) {
        const bool receives = s.in_low(rank) != s.in_low(root);
        const auto from = static_cast<size_t>(receives ? root : rank);
        ASSERT_EQ(data[static_cast<size_t>(rank)], before[from]) << text(s) << " root " << root;
      }
    }
  });
}

TEST(Inter, GatherAndScatter) {
  each_shape([](const Shape& s, uint64_t seed) {
    for (int root = 0; root < s.ranks(); ++root)
      for (bool gather : {true, false}) {
        sim::Simulation simulation(s.ranks(), seed, s.low);
        auto mine = inputs(s.ranks(), 3);
        const auto before = mine;
        Vector all = inputs(1, 3 * static_cast<size_t>(s.other(root)))[0];
        const Vector all_before = all;
        for (int rank = 0; rank < s.ranks(); ++rank) {
          Plan plan = simulation.plan(rank, gather ? Kind::kGather : Kind::kScatter);
          const Typed own{mine[static_cast<size_t>(rank)].data(), 3, &u64()};
          const Blocks blocks = rank == root ? Blocks(all.data(), 3, u64()) : Blocks();
          const int argument = root_argument(s, rank, root);
          gather ? build_gather(plan, own, blocks, argument) : build_scatter(plan, blocks, own, argument);
        }
        run(simulation, text(s));
        for (int peer = 0; peer < s.other(root); ++peer) {
          const auto global = static_cast<size_t>(s.across(root, peer));
          const auto at = (gather ? all : all_before).begin() + peer * 3;
          ASSERT_EQ((gather ? before : mine)[global], Vector(at, at + 3)) << text(s) << " root " << root;
        }
      }
  });
}

TEST(Inter, Allgather) {
  each_shape([](const Shape& s, uint64_t seed) {
    for (int count : {0, 2}) {
      sim::Simulation simulation(s.ranks(), seed, s.low);
      auto in = inputs(s.ranks(), 9);
      std::vector<Vector> out(in.size());
      std::vector<std::vector<MPI_Count>> counts(in.size()), displs(in.size());
      // Blocks differ: rank i of the low group gives count + i values, of the high group twice that.
      auto amount = [&](int rank) { return (count + s.local(rank) % 2) * (s.in_low(rank) ? 1 : 2); };
      for (int rank = 0; rank < s.ranks(); ++rank) {
        const auto r = static_cast<size_t>(rank);
        MPI_Count at = 0;
        for (int peer = 0; peer < s.other(rank); ++peer) {
          counts[r].push_back(amount(s.across(rank, peer)));
          displs[r].push_back(at);
          at += counts[r].back();
        }
        out[r].resize(static_cast<size_t>(at));
        Plan plan = simulation.plan(rank, Kind::kAllgatherv);
        build_allgather(
            plan, {in[r].data(), amount(rank), &u64()},
            Blocks(out[r].data(), CountArray(counts[r].data()), CountArray(displs[r].data()), u64()));
      }
      run(simulation, text(s));
      for (int rank = 0; rank < s.ranks(); ++rank) {
        Vector expected;
        for (int peer = 0; peer < s.other(rank); ++peer) {
          const int global = s.across(rank, peer);
          const auto first = in[static_cast<size_t>(global)].begin();
          expected.insert(expected.end(), first, first + amount(global));
        }
        ASSERT_EQ(out[static_cast<size_t>(rank)], expected) << text(s) << " count " << count;
      }
    }
  });
}

TEST(Inter, Alltoall) {
  each_shape([](const Shape& s, uint64_t seed) {
    sim::Simulation simulation(s.ranks(), seed, s.low);
    auto in = inputs(s.ranks(), 10);
    std::vector<Vector> out(in.size(), Vector(10));
    for (int rank = 0; rank < s.ranks(); ++rank) {
      const auto r = static_cast<size_t>(rank);
      Plan plan = simulation.plan(rank, Kind::kAlltoall);
      build_alltoall(plan, Blocks(in[r].data(), 2, u64()), Blocks(out[r].data(), 2, u64()));
    }
    run(simulation, text(s));
    for (int rank = 0; rank < s.ranks(); ++rank)
      for (int peer = 0; peer < s.other(rank); ++peer)
        for (int k = 0; k < 2; ++k)
          ASSERT_EQ(out[static_cast<size_t>(rank)][static_cast<size_t>(peer * 2 + k)],
                    in[static_cast<size_t>(s.across(rank, peer))][static_cast<size_t>(s.local(rank) * 2 + k)])
              << text(s);
  });
}

TEST(Inter, Reductions) {
  for (const TestOp& op : {sum_op(), compose_op()})
    each_shape([&](const Shape& s, uint64_t seed) {
      for (int root = 0; root < s.ranks(); ++root) {
        sim::Simulation simulation(s.ranks(), seed, s.low);
        const auto in = inputs(s.ranks(), 4);
        Vector out(4);
        for (int rank = 0; rank < s.ranks(); ++rank) {
          Plan plan = simulation.plan(rank, Kind::kReduce, op.op);
          Reduction r{in[static_cast<size_t>(rank)].data(), out.data(), 4, &u64(), op.op->commutative};
          if (rank == root)
            r.send = nullptr;
          else
            r.recv = nullptr;
          build_reduce(plan, r, root_argument(s, rank, root));
        }
        run(simulation, text(s));
        ASSERT_EQ(out, fold(in, s.first_across(root), s.past_across(root), op))
            << text(s) << " root " << root;
      }
      sim::Simulation simulation(s.ranks(), seed, s.low);
      const auto in = inputs(s.ranks(), 4);
      std::vector<Vector> out(in.size(), Vector(4));
      for (int rank = 0; rank < s.ranks(); ++rank) {
        const auto r = static_cast<size_t>(rank);
        Plan plan = simulation.plan(rank, Kind::kAllreduce, op.op);
        build_allreduce(plan, {in[r].data(), out[r].data(), 4, &u64(), op.op->commutative});
      }
      run(simulation, text(s));
      for (int rank = 0; rank < s.ranks(); ++rank)
        ASSERT_EQ(out[static_cast<size_t>(rank)], fold(in, s.first_across(rank), s.past_across(rank), op))
            << text(s);
    });
}

TEST(Inter, ReduceScatter) {
  for (const TestOp& op : {sum_op(), compose_op()})
    each_shape([&](const Shape& s, uint64_t seed) {
      const MPI_Count total = s.low * s.high * 2;  // both groups cut the same vector into equal blocks
      sim::Simulation simulation(s.ranks(), seed, s.low);
      const auto in = inputs(s.ranks(), static_cast<size_t>(total));
      std::vector<Vector> out(in.size());
      for (int rank = 0; rank < s.ranks(); ++rank) {
        const auto r = static_cast<size_t>(rank);
        const MPI_Count each = total / s.group(rank);
        out[r].resize(static_cast<size_t>(each));
        Plan plan = simulation.plan(rank, Kind::kReduceScatterBlock, op.op);
        build_reduce_scatter(plan, {in[r].data(), out[r].data(), total, &u64(), op.op->commutative},
                             Pieces{each, CountArray()});
      }
      run(simulation, text(s));
      for (int rank = 0; rank < s.ranks(); ++rank) {
        const Vector whole = fold(in, s.first_across(rank), s.past_across(rank), op);
        const MPI_Count each = total / s.group(rank);
        const auto first = whole.begin() + s.local(rank) * each;
        ASSERT_EQ(out[static_cast<size_t>(rank)], Vector(first, first + each)) << text(s) << " rank " << rank;
      }
    });
}

}  // namespace
}  // namespace vicinity::coll::testing
