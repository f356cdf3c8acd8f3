// SPDX-License-Identifier: BSD-3-Clause
// Every collective x every algorithm x ranks x counts x roots x in place, against naive references, on
// simulated ranks (simulator.h).
#include "coll/test_support.h"

namespace vicinity::coll::testing {
namespace {

TEST(Collectives, Barrier) {
  each_case(Kind::kBarrier, true, [](const Case& c) {
    sim::Simulation simulation(c.ranks, c.seed);
    for (int rank = 0; rank < c.ranks; ++rank) {
      Plan plan = simulation.plan(rank, c.kind);
      build_barrier(plan);
    }
    run(simulation, c.name);
  });
}

// Nobody leaves a barrier before the last one has come: a rank that never starts holds all others.
TEST(Collectives, BarrierWaitsForAll) {
  each_case(Kind::kBarrier, true, [](const Case& c) {
    for (int late = 0; late < c.ranks && c.ranks > 1; ++late) {
      sim::Simulation simulation(c.ranks, c.seed);
      for (int rank = 0; rank < c.ranks; ++rank) {
        Plan plan = simulation.plan(rank, c.kind);
        if (rank != late) build_barrier(plan);
      }
      EXPECT_FALSE(simulation.run());
      for (int rank = 0; rank < c.ranks; ++rank) {
        const Schedule& schedule = *simulation.schedules[static_cast<size_t>(rank)];
        if (rank == late) continue;
        EXPECT_LT(schedule.oldest, schedule.steps.size()) << c.name << " late " << late;
      }
    }
  });
}

TEST(Collectives, Bcast) {
  ASSERT_TRUE(base::params_find("VICINITY_COLL_SEGMENT")->parse("64", "the test").ok());
  each_case(Kind::kBcast, true, [](const Case& c) {
    for (int root : roots_of(c.ranks))
      for (int count : kCounts) {
        sim::Simulation simulation(c.ranks, c.seed + static_cast<uint64_t>(count));
        auto data = inputs(c.ranks, static_cast<size_t>(count));
        const Vector expected = data[static_cast<size_t>(root)];
        for (int rank = 0; rank < c.ranks; ++rank) {
          Plan plan = simulation.plan(rank, c.kind, nullptr, root);
          build_bcast(plan, {data[static_cast<size_t>(rank)].data(), count, &u64()}, root);
        }
        run(simulation, c.name);
        for (auto& result : data)
          ASSERT_EQ(result, expected) << c.name << " count " << count << " root " << root;
      }
  });
}

// Blocks of equal size, or (for the v forms) of different size at scattered places.
struct Layout {
  std::vector<MPI_Count> counts, displs;
  MPI_Count total = 0;
  Layout(bool uniform, int ranks, int count) {
    for (int i = 0; i < ranks; ++i) {
      counts.push_back(uniform ? count : (count + i) % 5 == 0 ? 0 : count + i % 3);
      displs.push_back(0);
    }
    for (int i = 0; i < ranks; ++i) {  // v: backwards, with a gap before each
      const int at = uniform ? i : ranks - 1 - i;
      displs[static_cast<size_t>(at)] = total + (uniform ? 0 : 1);
      total = displs[static_cast<size_t>(at)] + counts[static_cast<size_t>(at)];
    }
  }
  Blocks blocks(Vector& buffer, bool uniform) const {
    if (uniform) return Blocks(buffer.data(), counts[0], u64());
    return Blocks(buffer.data(), CountArray(counts.data()), CountArray(displs.data()), u64());
  }
};

void test_gather(Kind kind, bool uniform) {
  each_case(kind, true, [&](const Case& c) {
    for (int root : roots_of(c.ranks))
      for (int count : kCounts)
        for (bool in_place : {false, true}) {
          sim::Simulation simulation(c.ranks, c.seed);
          const Layout layout(uniform, c.ranks, count);
          auto in = inputs(c.ranks, static_cast<size_t>(count) + 3);
          Vector out(static_cast<size_t>(layout.total), kUntouched), expected = out;
          for (size_t rank = 0; rank < in.size(); ++rank)
            for (MPI_Count i = 0; i < layout.counts[rank]; ++i)
              expected[static_cast<size_t>(layout.displs[rank] + i)] = in[rank][static_cast<size_t>(i)];
          const Blocks all = layout.blocks(out, uniform);
          for (int rank = 0; rank < c.ranks; ++rank) {
            const auto r = static_cast<size_t>(rank);
            Typed mine{in[r].data(), layout.counts[r], &u64()};
            if (rank == root && in_place) {
              std::copy_n(in[r].begin(), layout.counts[r], out.begin() + layout.displs[r]);
              mine = all[rank];
            }
            Plan plan = simulation.plan(rank, kind, nullptr, root);
            build_gather(plan, mine, rank == root ? all : Blocks(), root);
          }
          run(simulation, c.name);
          ASSERT_EQ(out, expected) << c.name << " count " << count << " root " << root << " in place "
                                   << in_place;
        }
  });
}
TEST(Collectives, Gather) { test_gather(Kind::kGather, true); }
TEST(Collectives, Gatherv) { test_gather(Kind::kGatherv, false); }

void test_scatter(Kind kind, bool uniform) {
  each_case(kind, true, [&](const Case& c) {
    for (int root : roots_of(c.ranks))
      for (int count : kCounts)
        for (bool in_place : {false, true}) {
          sim::Simulation simulation(c.ranks, c.seed);
          const Layout layout(uniform, c.ranks, count);
          Vector in = inputs(1, static_cast<size_t>(layout.total))[0];
          std::vector<Vector> out(static_cast<size_t>(c.ranks));
          const Blocks all = layout.blocks(in, uniform);
          for (int rank = 0; rank < c.ranks; ++rank) {
            const auto r = static_cast<size_t>(rank);
            out[r].assign(static_cast<size_t>(layout.counts[r]), kUntouched);
            Typed mine{out[r].data(), layout.counts[r], &u64()};
            if (rank == root && in_place) mine = all[rank];
            Plan plan = simulation.plan(rank, kind, nullptr, root);
            build_scatter(plan, rank == root ? all : Blocks(), mine, root);
          }
          run(simulation, c.name);
          for (size_t r = 0; r < out.size(); ++r) {
            if (static_cast<int>(r) == root && in_place) continue;
            const auto from = in.begin() + layout.displs[r];
            ASSERT_EQ(out[r], Vector(from, from + layout.counts[r]))
                << c.name << " count " << count << " root " << root;
          }
        }
  });
}
TEST(Collectives, Scatter) { test_scatter(Kind::kScatter, true); }
TEST(Collectives, Scatterv) { test_scatter(Kind::kScatterv, false); }

void test_allgather(Kind kind, bool uniform) {
  each_case(kind, true, [&](const Case& c) {
    for (int count : kCounts)
      for (bool in_place : {false, true}) {
        sim::Simulation simulation(c.ranks, c.seed);
        const Layout layout(uniform, c.ranks, count);
        auto in = inputs(c.ranks, static_cast<size_t>(count) + 3);
        Vector empty(static_cast<size_t>(layout.total), kUntouched), expected = empty;
        std::vector<Vector> out(static_cast<size_t>(c.ranks), empty);
        for (size_t r = 0; r < in.size(); ++r)
          std::copy_n(in[r].begin(), layout.counts[r], expected.begin() + layout.displs[r]);
        for (int rank = 0; rank < c.ranks; ++rank) {
          const auto r = static_cast<size_t>(rank);
          const Blocks all = layout.blocks(out[r], uniform);
          Typed mine{in[r].data(), layout.counts[r], &u64()};
          if (in_place) {
            std::copy_n(in[r].begin(), layout.counts[r], out[r].begin() + layout.displs[r]);
            mine = all[rank];
          }
          Plan plan = simulation.plan(rank, kind);
          build_allgather(plan, mine, all);
        }
        run(simulation, c.name);
        for (auto& result : out)
          ASSERT_EQ(result, expected) << c.name << " count " << count << " in place " << in_place;
      }
  });
}
TEST(Collectives, Allgather) { test_allgather(Kind::kAllgather, true); }
TEST(Collectives, Allgatherv) { test_allgather(Kind::kAllgatherv, false); }

// Rank i sends `amount(i, j)` elements to rank j; buffers are consecutive.
void test_alltoall(Kind kind, bool uniform) {
  each_case(kind, true, [&](const Case& c) {
    for (int count : {0, 1, 3, 40})
      for (bool in_place : {false, true}) {
        sim::Simulation simulation(c.ranks, c.seed);
        const auto n = static_cast<size_t>(c.ranks);
        auto amount = [&](size_t i, size_t j) -> MPI_Count {
          return uniform ? count : (i + j) % 3 == 0 ? 0 : count + static_cast<MPI_Count>(i * j % 4 + i + j);
        };
        struct Rank {
          std::vector<MPI_Count> counts, displs;
          Vector in, out;
        };
        std::vector<Rank> ranks(n);
        std::vector<MPI_Datatype> types(n, MPI_UINT64_T);
        const MPI_Count unit = kind == Kind::kAlltoallw ? 8 : 1;
        for (size_t i = 0; i < n; ++i) {
          MPI_Count total = 0;
          for (size_t j = 0; j < n; ++j) {
            ranks[i].counts.push_back(amount(i, j));
            ranks[i].displs.push_back(total * unit);
            total += amount(i, j);
          }
          ranks[i].in = inputs(static_cast<int>(i) + 1, static_cast<size_t>(total))[i];
          ranks[i].out = in_place ? ranks[i].in : Vector(static_cast<size_t>(total), kUntouched);
        }
        for (size_t i = 0; i < n; ++i) {
          Rank& r = ranks[i];
          const CountArray counts(r.counts.data()), displs(r.displs.data());
          auto blocks = [&](Vector& buffer) {
            if (uniform) return Blocks(buffer.data(), count, u64());
            if (kind == Kind::kAlltoallw) return Blocks(buffer.data(), counts, displs, types.data());
            return Blocks(buffer.data(), counts, displs, u64());
          };
          Plan plan = simulation.plan(static_cast<int>(i), kind);
          const Blocks to = blocks(r.out);
          build_alltoall(plan, in_place ? packed_copy(plan, to, c.ranks) : blocks(r.in), to);
        }
        run(simulation, c.name);
        for (size_t i = 0; i < n; ++i)
          for (size_t j = 0; j < n; ++j)
            for (MPI_Count k = 0; k < amount(i, j); ++k)
              ASSERT_EQ(ranks[j].out[static_cast<size_t>(ranks[j].displs[i] / unit + k)],
                        ranks[i].in[static_cast<size_t>(ranks[i].displs[j] / unit + k)])
                  << c.name << " from " << i << " to " << j << " element " << k << " in place " << in_place;
      }
  });
}
TEST(Collectives, Alltoall) { test_alltoall(Kind::kAlltoall, true); }
TEST(Collectives, Alltoallv) { test_alltoall(Kind::kAlltoallv, false); }
TEST(Collectives, Alltoallw) { test_alltoall(Kind::kAlltoallw, false); }

Reduction reduction(const TestOp& op, const Vector& in, Vector& out, bool in_place) {
  if (in_place) std::copy(in.begin(), in.end(), out.begin());
  return {in_place ? out.data() : in.data(), out.data(), static_cast<MPI_Count>(in.size()), &u64(),
          op.op->commutative};
}

void test_reduce(const TestOp& op) {
  each_case(Kind::kReduce, op.op->commutative, [&](const Case& c) {
    for (int root : roots_of(c.ranks))
      for (int count : kCounts)
        for (bool in_place : {false, true}) {
          sim::Simulation simulation(c.ranks, c.seed);
          const auto in = inputs(c.ranks, static_cast<size_t>(count));
          Vector out(static_cast<size_t>(count), kUntouched);
          for (int rank = 0; rank < c.ranks; ++rank) {
            Plan plan = simulation.plan(rank, c.kind, op.op, root);
            Reduction r = reduction(op, in[static_cast<size_t>(rank)], out, rank == root && in_place);
            if (rank != root) r.recv = nullptr;
            build_reduce(plan, r, root);
          }
          run(simulation, c.name);
          ASSERT_EQ(out, fold(in, 0, in.size(), op))
              << c.name << " count " << count << " root " << root << in_place;
        }
  });
}
TEST(Collectives, ReduceSum) { test_reduce(sum_op()); }
TEST(Collectives, ReduceNonCommutative) { test_reduce(compose_op()); }

void test_allreduce(const TestOp& op) {
  each_case(Kind::kAllreduce, op.op->commutative, [&](const Case& c) {
    for (int count : kCounts)
      for (bool in_place : {false, true}) {
        sim::Simulation simulation(c.ranks, c.seed);
        const auto in = inputs(c.ranks, static_cast<size_t>(count));
        const auto before = in;
        std::vector<Vector> out(in.size(), Vector(static_cast<size_t>(count), kUntouched));
        for (int rank = 0; rank < c.ranks; ++rank) {
          const auto i = static_cast<size_t>(rank);
          Plan plan = simulation.plan(rank, c.kind, op.op);
          build_allreduce(plan, reduction(op, in[i], out[i], in_place));
        }
        run(simulation, c.name);
        ASSERT_EQ(in, before) << c.name << " wrote to a send buffer";
        const Vector expected = fold(in, 0, in.size(), op);
        for (auto& result : out)
          ASSERT_EQ(result, expected) << c.name << " count " << count << " " << in_place;
      }
  });
}
TEST(Collectives, AllreduceSum) { test_allreduce(sum_op()); }
TEST(Collectives, AllreduceNonCommutative) { test_allreduce(compose_op()); }

void test_reduce_scatter(Kind kind, const TestOp& op) {
  each_case(kind, op.op->commutative, [&](const Case& c) {
    for (int count : {0, 1, 3, 20})
      for (bool in_place : {false, true}) {
        sim::Simulation simulation(c.ranks, c.seed);
        std::vector<MPI_Count> counts;
        MPI_Count total = 0;
        for (int i = 0; i < c.ranks; ++i) {
          counts.push_back(kind == Kind::kReduceScatterBlock ? count : i % 3 == 1 ? 0 : count + i);
          total += counts.back();
        }
        const Pieces pieces = kind == Kind::kReduceScatterBlock ? Pieces{count, CountArray()}
                                                                : Pieces{0, CountArray(counts.data())};
        const auto in = inputs(c.ranks, static_cast<size_t>(total));
        std::vector<Vector> out(in.size(), Vector(static_cast<size_t>(total), kUntouched));
        for (int rank = 0; rank < c.ranks; ++rank) {
          const auto i = static_cast<size_t>(rank);
          Plan plan = simulation.plan(rank, kind, op.op);
          build_reduce_scatter(plan, reduction(op, in[i], out[i], in_place), pieces);
        }
        run(simulation, c.name);
        const Vector expected = total > 0 ? fold(in, 0, in.size(), op) : Vector();
        for (int rank = 0; rank < c.ranks; ++rank) {
          const auto i = static_cast<size_t>(rank);
          const auto from = expected.begin() + pieces.first(rank);
          out[i].resize(static_cast<size_t>(counts[i]));
          ASSERT_EQ(out[i], Vector(from, from + counts[i]))
              << c.name << " count " << count << " " << in_place;
        }
      }
  });
}
TEST(Collectives, ReduceScatterSum) { test_reduce_scatter(Kind::kReduceScatter, sum_op()); }
TEST(Collectives, ReduceScatterBlockSum) { test_reduce_scatter(Kind::kReduceScatterBlock, sum_op()); }
TEST(Collectives, ReduceScatterNonCommutative) { test_reduce_scatter(Kind::kReduceScatter, compose_op()); }

void test_scan(Kind kind, const TestOp& op) {
  each_case(kind, op.op->commutative, [&](const Case& c) {
    for (int count : kCounts)
      for (bool in_place : {false, true}) {
        sim::Simulation simulation(c.ranks, c.seed);
        const auto in = inputs(c.ranks, static_cast<size_t>(count));
        std::vector<Vector> out(in.size(), Vector(static_cast<size_t>(count), kUntouched));
        for (int rank = 0; rank < c.ranks; ++rank) {
          const auto i = static_cast<size_t>(rank);
          Plan plan = simulation.plan(rank, kind, op.op);
          build_scan(plan, reduction(op, in[i], out[i], in_place));
        }
        const Vector first = out[0];
        run(simulation, c.name);
        for (size_t i = 0; i < in.size(); ++i) {
          const Vector expected = kind == Kind::kScan ? fold(in, 0, i + 1, op)
                                  : i == 0            ? first
                                                      : fold(in, 0, i, op);
          ASSERT_EQ(out[i], expected)
              << c.name << " count " << count << " rank " << i << " in place " << in_place;
        }
      }
  });
}
TEST(Collectives, ScanSum) { test_scan(Kind::kScan, sum_op()); }
TEST(Collectives, ScanNonCommutative) { test_scan(Kind::kScan, compose_op()); }
TEST(Collectives, ExscanSum) { test_scan(Kind::kExscan, sum_op()); }
TEST(Collectives, ExscanNonCommutative) { test_scan(Kind::kExscan, compose_op()); }

}  // namespace
}  // namespace vicinity::coll::testing
