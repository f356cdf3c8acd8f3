// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical collectives: every collective x divisions x roots x counts x in place, against naive
// references; and how much crosses from one part to another: what a slow level must carry, and nothing twice.
#include <numeric>

#include "coll/division.h"
#include "coll/test_support.h"

namespace vicinity::coll::testing {
namespace {

using Places = std::vector<uint32_t>;

// How ranks lie in hosts, and in the kernels of them.
struct Layout {
  std::string name;
  Places hosts, kernels;
  std::unique_ptr<const Division> division() const { return divide({hosts, kernels}); }
  int ranks() const { return static_cast<int>(hosts.size()); }
  bool in_order() const { return division()->in_order; }
};

uint64_t different(Places places) {
  std::sort(places.begin(), places.end());
  return static_cast<uint64_t>(std::unique(places.begin(), places.end()) - places.begin());
}

Layout layout(const char* name, int ranks, const std::function<uint32_t(uint32_t)>& host,
              const std::function<uint32_t(uint32_t)>& kernel) {
  Layout made{std::string(name) + " " + std::to_string(ranks), {}, {}};
  for (uint32_t rank = 0; rank < static_cast<uint32_t>(ranks); ++rank) {
    made.hosts.push_back(host(rank));
    made.kernels.push_back(host(rank) * 1000 + kernel(rank));
  }
  return made;
}

// Those that divide anything.
std::vector<Layout> layouts() {
  std::vector<Layout> all;
  const auto one = [](uint32_t) { return 0u; };
  for (int n : {3, 4, 5, 6, 8, 9, 12, 17}) {
    const auto ranks = static_cast<uint32_t>(n);
    std::mt19937 random(ranks);
    const auto any = [&](uint32_t most) {
      return [&random, most](uint32_t) { return static_cast<uint32_t>(random() % most); };
    };
    all.push_back(layout("pairs", n, [](uint32_t r) { return r / 2; }, one));
    all.push_back(layout("halves", n, [&](uint32_t r) { return 2 * r / ranks; }, one));
    all.push_back(layout("round", n, [](uint32_t r) { return r % 2; }, one));
    all.push_back(layout("round three", n, [](uint32_t r) { return r % 3; }, one));
    all.push_back(layout("last alone", n, [&](uint32_t r) { return r == ranks - 1; }, one));
    all.push_back(layout("one host, two kernels", n, one, [](uint32_t r) { return r / 2 % 2; }));
    all.push_back(layout(
        "three levels", n, [&](uint32_t r) { return 2 * r / ranks; }, [](uint32_t r) { return r / 2; }));
    all.push_back(layout(
        "three levels, mixed", n, [](uint32_t r) { return r % 2; }, [](uint32_t r) { return r / 2 % 2; }));
    Places hosts, kernels;
    for (uint32_t rank = 0; rank < ranks; ++rank) hosts.push_back(any(3)(0)), kernels.push_back(any(2)(0));
    all.push_back(
        layout("random", n, [&](uint32_t r) { return hosts[r]; }, [&](uint32_t r) { return kernels[r]; }));
  }
  std::erase_if(all, [](const Layout& one) { return !one.division(); });
  return all;
}

// Every layout with a simulation of it, for each root.
struct Trial {
  const Layout& layout;
  const int ranks, root;
  const std::unique_ptr<const Division> division;
  sim::Simulation simulation;
  std::string name;
  Trial(const Layout& layout, int root, uint64_t seed)
      : layout(layout),
        ranks(layout.ranks()),
        root(root),
        division(layout.division()),
        simulation(ranks, seed),
        name(layout.name + ", root " + std::to_string(root)) {
    simulation.division = division.get();
  }
  sim::Traffic between_hosts() const { return simulation.network.crossing(layout.hosts); }
};
void each_layout(const std::function<void(const Layout&)>& body) {
  const std::vector<Layout> all = layouts();
  ASSERT_GT(all.size(), 40u);
  for (const Layout& layout : all) body(layout);
}

// A level that has all ranks together, or each alone, is none; crossing counts only what levels divide.
bool divides(const Places& places) { return different(places) > 1 && different(places) < places.size(); }

// One message into (or out of) each place but the root's.
void expect_one_each(const Trial& trial) {
  for (const Places* places : {&trial.layout.hosts, &trial.layout.kernels}) {
    if (!divides(*places)) continue;
    EXPECT_EQ(trial.simulation.network.crossing(*places).messages, different(*places) - 1) << trial.name;
  }
}

TEST(Division, PartsLeadersAndOrder) {
  const auto division = divide({{0, 1, 0, 1, 0, 1}, {0, 3, 2, 3, 0, 3}});
  ASSERT_TRUE(division);
  ASSERT_EQ(division->parts.size(), 2u);
  EXPECT_EQ(division->parts[0].ranks, (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(division->leaders, (std::vector<int>{0, 1}));
  EXPECT_EQ(division->index, (std::vector<int>{0, 0, 1, 1, 2, 2}));
  EXPECT_FALSE(division->in_order);
  ASSERT_TRUE(division->parts[0].inside);
  EXPECT_EQ(division->parts[0].inside->parts[0].ranks, (std::vector<int>{0, 2}));  // counted in the part
  EXPECT_FALSE(division->parts[1].inside);
  EXPECT_TRUE(divide({{7, 7, 3}})->in_order);
  EXPECT_EQ(divide({{1, 1, 1}, {1, 1, 1}}), nullptr);                 // all together
  EXPECT_EQ(divide({{0, 1, 2}, {0, 1, 2}}), nullptr);                 // each alone
  EXPECT_EQ(divide({{0, 0, 0, 0}, {0, 0, 1, 1}})->parts.size(), 2u);  // the level above divides nothing
}

TEST(Levels, Barrier) {
  force(Kind::kBarrier, "levels");
  each_layout([](const Layout& layout) {
    Trial trial(layout, 0, 3);
    for (int rank = 0; rank < trial.ranks; ++rank) {
      Plan plan = trial.simulation.plan(rank, Kind::kBarrier);
      build_barrier(plan);
    }
    run(trial.simulation, trial.name);
    const uint64_t hosts = different(layout.hosts);
    uint64_t rounds = 0;
    while (uint64_t{1} << rounds < hosts) ++rounds;
    if (divides(layout.hosts)) {
      EXPECT_EQ(trial.between_hosts().messages, hosts * rounds) << trial.name;
    }
  });
  force(Kind::kBarrier, "auto");
}

TEST(Levels, NobodyLeavesABarrierEarly) {
  force(Kind::kBarrier, "levels");
  each_layout([](const Layout& layout) {
    for (int late = 0; late < layout.ranks(); ++late) {
      Trial trial(layout, 0, 3);
      for (int rank = 0; rank < trial.ranks; ++rank) {
        Plan plan = trial.simulation.plan(rank, Kind::kBarrier);
        if (rank != late) build_barrier(plan);
      }
      EXPECT_FALSE(trial.simulation.run());
      for (int rank = 0; rank < trial.ranks; ++rank) {
        const Schedule& schedule = *trial.simulation.schedules[static_cast<size_t>(rank)];
        if (rank == late) continue;
        EXPECT_LT(schedule.oldest, schedule.steps.size()) << trial.name << " late " << late;
      }
    }
  });
  force(Kind::kBarrier, "auto");
}

TEST(Levels, BcastCrossesOnce) {
  force(Kind::kBcast, "levels");
  each_layout([](const Layout& layout) {
    for (int root = 0; root < layout.ranks(); ++root)
      for (int count : {1, 7, 100}) {
        Trial trial(layout, root, static_cast<uint64_t>(count));
        auto data = inputs(trial.ranks, static_cast<size_t>(count));
        const Vector expected = data[static_cast<size_t>(root)];
        for (int rank = 0; rank < trial.ranks; ++rank) {
          Plan plan = trial.simulation.plan(rank, Kind::kBcast, nullptr, root);
          build_bcast(plan, {data[static_cast<size_t>(rank)].data(), count, &u64()}, root);
        }
        run(trial.simulation, trial.name);
        for (auto& result : data) ASSERT_EQ(result, expected) << trial.name << " count " << count;
        expect_one_each(trial);
      }
  });
  force(Kind::kBcast, "auto");
}

TEST(Levels, ReduceCrossesOnce) {
  force(Kind::kReduce, "levels");
  each_layout([](const Layout& layout) {
    for (const TestOp& op : {sum_op(), compose_op()})
      for (int root = 0; root < layout.ranks(); ++root)
        for (int count : {1, 100, 6000})
          for (bool in_place : {false, true}) {
            Trial trial(layout, root, static_cast<uint64_t>(count));
            auto in = inputs(trial.ranks, static_cast<size_t>(count));
            const Vector expected = fold(in, 0, in.size(), op);
            Vector result(static_cast<size_t>(count), kUntouched);
            for (int rank = 0; rank < trial.ranks; ++rank) {
              Plan plan = trial.simulation.plan(rank, Kind::kReduce, op.op, root);
              Vector& mine = in[static_cast<size_t>(rank)];
              void* out = rank != root ? nullptr : in_place ? mine.data() : result.data();
              build_reduce(plan, {mine.data(), out, count, &u64(), op.op->commutative}, root);
            }
            run(trial.simulation, trial.name);
            ASSERT_EQ(in_place ? in[static_cast<size_t>(root)] : result, expected)
                << trial.name << " " << count;
            if (op.op->commutative && count <= 100) expect_one_each(trial);
          }
  });
  force(Kind::kReduce, "auto");
}

// A non-commutative operation takes the levels only where that keeps the order of ranks; the root may then
// need the result in one more message.
TEST(Levels, OrderDecidesForReductions) {
  const Facts mixed{100, 6, false, true, false}, ordered{100, 6, false, true, true};
  for (Kind kind : {Kind::kReduce, Kind::kAllreduce}) {
    EXPECT_NE(choose(kind, mixed), Algorithm::kLevels);
    Algorithm list[16];
    const int n = able(kind, ordered, list, 16);
    EXPECT_NE(std::find(list, list + n, Algorithm::kLevels), list + n);
  }
}

void check_allreduce(const char* algorithm) {
  force(Kind::kAllreduce, algorithm);
  each_layout([](const Layout& layout) {
    for (const TestOp& op : {sum_op(), compose_op()})
      for (int count : {0, 1, 100, 6000})
        for (bool in_place : {false, true}) {
          Trial trial(layout, 0, static_cast<uint64_t>(count));
          auto in = inputs(trial.ranks, static_cast<size_t>(count));
          const Vector expected = fold(in, 0, in.size(), op);
          std::vector<Vector> out(in.size(), Vector(static_cast<size_t>(count), kUntouched));
          for (int rank = 0; rank < trial.ranks; ++rank) {
            Plan plan = trial.simulation.plan(rank, Kind::kAllreduce, op.op);
            Vector &mine = in[static_cast<size_t>(rank)], &result = out[static_cast<size_t>(rank)];
            build_allreduce(plan, {mine.data(), in_place ? mine.data() : result.data(), count, &u64(),
                                   op.op->commutative});
          }
          run(trial.simulation, trial.name);
          for (auto& result : in_place ? in : out) ASSERT_EQ(result, expected) << trial.name << " " << count;
          if (!op.op->commutative || different(layout.hosts) != 2) continue;
          // Once each way; in two halves where it is long.
          EXPECT_EQ(trial.between_hosts().bytes, 16u * static_cast<uint64_t>(count)) << trial.name;
          const uint64_t messages = trial.between_hosts().messages;
          EXPECT_TRUE(count != 1 || messages == 2) << trial.name << ": " << messages;
        }
  });
  force(Kind::kAllreduce, "auto");
}
TEST(Levels, AllreduceIsTheSameEverywhere) { check_allreduce("levels"); }
// Where parts are not equal, the usual choice is made.
TEST(Rails, AllreduceIsTheSameEverywhere) { check_allreduce("rails"); }

void check_reduce_scatter(const Layout& layout, const TestOp& op, int each, bool in_place) {
  const Kind kind = each < 0 ? Kind::kReduceScatter : Kind::kReduceScatterBlock;
  Trial trial(layout, 0, 5);
  std::vector<MPI_Count> counts;
  for (int rank = 0; rank < trial.ranks; ++rank) counts.push_back(each < 0 ? rank * 5 % 4 : each);
  const Pieces pieces{each, each < 0 ? CountArray(counts.data()) : CountArray()};
  const MPI_Count total = pieces.first(trial.ranks);
  auto in = inputs(trial.ranks, static_cast<size_t>(total));
  const Vector sum = fold(in, 0, in.size(), op);
  std::vector<Vector> out(in.size());
  for (int rank = 0; rank < trial.ranks; ++rank) {
    Vector &mine = in[static_cast<size_t>(rank)], &result = out[static_cast<size_t>(rank)];
    result.assign(static_cast<size_t>(pieces.count(rank)), kUntouched);
    Plan plan = trial.simulation.plan(rank, kind, op.op);
    void* to = in_place ? mine.data() : result.data();
    build_reduce_scatter(plan, {mine.data(), to, total, &u64(), op.op->commutative}, pieces);
  }
  run(trial.simulation, trial.name);
  for (int rank = 0; rank < trial.ranks; ++rank) {
    const Vector& result = in_place ? in[static_cast<size_t>(rank)] : out[static_cast<size_t>(rank)];
    for (MPI_Count i = 0; i < pieces.count(rank); ++i)
      ASSERT_EQ(result[static_cast<size_t>(i)], sum[static_cast<size_t>(pieces.first(rank) + i)])
          << trial.name << " each " << each;
  }
  if (!op.op->commutative || different(layout.hosts) != 2) return;
  EXPECT_EQ(trial.between_hosts().bytes, 8u * static_cast<uint64_t>(total)) << trial.name << " each " << each;
}

TEST(Levels, ReduceScatterCrossesOnce) {
  for (const char* algorithm : {"levels", "rails"}) {
    force(Kind::kReduceScatter, algorithm);
    each_layout([](const Layout& layout) {
      for (const TestOp& op : {sum_op(), compose_op()})
        for (int each : {-1, 0, 1, 40, 1500})
          for (bool in_place : {false, true}) check_reduce_scatter(layout, op, each, in_place);
    });
  }
  force(Kind::kReduceScatter, "auto");
}

void check_scan(const Layout& layout, const TestOp& op, size_t count, bool exclusive, bool in_place) {
  Trial trial(layout, 0, count);
  auto in = inputs(trial.ranks, count);
  const auto original = in;
  std::vector<Vector> out(in.size(), Vector(count, kUntouched));
  for (int rank = 0; rank < trial.ranks; ++rank) {
    Plan plan = trial.simulation.plan(rank, exclusive ? Kind::kExscan : Kind::kScan, op.op);
    Vector &mine = in[static_cast<size_t>(rank)], &result = out[static_cast<size_t>(rank)];
    build_scan(plan, {mine.data(), in_place ? mine.data() : result.data(), static_cast<MPI_Count>(count),
                      &u64(), op.op->commutative});
  }
  run(trial.simulation, trial.name);
  for (size_t rank = exclusive; rank < in.size(); ++rank)
    ASSERT_EQ(in_place ? in[rank] : out[rank], fold(original, 0, exclusive ? rank : rank + 1, op))
        << trial.name << " rank " << rank << " count " << count;
  if (!layout.in_order() || different(layout.hosts) != 2) return;
  EXPECT_EQ(trial.between_hosts().bytes, 8u * count) << trial.name;
  EXPECT_EQ(trial.between_hosts().messages, count > 0 ? 1u : 0u) << trial.name;
}

// Where parts are not runs of ranks, the usual choice is made.
TEST(Levels, ScanCrossesOnce) {
  force(Kind::kScan, "levels");
  each_layout([](const Layout& layout) {
    for (const TestOp& op : {sum_op(), compose_op()})
      for (size_t count : {0u, 1u, 100u})
        for (bool exclusive : {false, true})
          for (bool in_place : {false, true}) check_scan(layout, op, count, exclusive, in_place);
  });
  force(Kind::kScan, "auto");
}

// Sums of doubles depend on the order in which they are added: all ranks get the same bits all the same, and
// any order of arrival gives them again.
TEST(Levels, AllreduceOfDoublesIsReproducible) {
  force(Kind::kAllreduce, "levels");
  each_layout([](const Layout& layout) {
    for (int count : {3, 3000}) {
      std::vector<double> first;
      for (uint64_t seed : {1, 2, 3}) {
        Trial trial(layout, 0, seed);
        std::vector<std::vector<double>> in,
            out(static_cast<size_t>(trial.ranks), std::vector<double>(static_cast<size_t>(count)));
        for (int rank = 0; rank < trial.ranks; ++rank) {
          in.emplace_back();
          for (int i = 0; i < count; ++i)
            in.back().push_back(1.0 /
                                static_cast<double>(value_of(rank, static_cast<uint64_t>(i)) % 1000 + 3));
        }
        for (int rank = 0; rank < trial.ranks; ++rank) {
          Plan plan = trial.simulation.plan(rank, Kind::kAllreduce, sum_op().op);
          build_allreduce(plan, {in[static_cast<size_t>(rank)].data(), out[static_cast<size_t>(rank)].data(),
                                 count, &builtin(MPI_DOUBLE), true});
        }
        run(trial.simulation, trial.name);
        if (first.empty()) first = out[0];
        for (auto& result : out)
          ASSERT_EQ(memcmp(result.data(), first.data(), first.size() * sizeof(double)), 0) << trial.name;
      }
    }
  });
  force(Kind::kAllreduce, "auto");
}

// Blocks of different sizes, with gaps between them, or (uniform) one after the other.
struct Pattern {
  Pattern(int ranks, int block, bool uniform) : block(block), uniform(uniform) {
    for (int rank = 0; rank < ranks; ++rank) {
      counts.push_back(uniform ? block : (rank * 5 + block) % 4);
      displs.push_back(total);
      total += counts.back() + !uniform;
    }
  }
  Blocks blocks(Vector& at) const {
    if (uniform) return Blocks(at.data(), block, u64());
    return Blocks(at.data(), CountArray(counts.data()), CountArray(displs.data()), u64());
  }
  Vector mine(int rank) const {
    Vector values(static_cast<size_t>(counts[static_cast<size_t>(rank)]));
    for (size_t i = 0; i < values.size(); ++i) values[i] = value_of(rank, i);
    return values;
  }
  void put(int rank, Vector* all) const {
    const Vector values = mine(rank);
    std::copy(values.begin(), values.end(), all->begin() + displs[static_cast<size_t>(rank)]);
  }
  int block;
  bool uniform;
  std::vector<MPI_Count> counts, displs;
  MPI_Count total = 0;
};

void check_allgather(const Layout& layout, int block, bool uniform, bool in_place) {
  const Kind kind = uniform ? Kind::kAllgather : Kind::kAllgatherv;
  Trial trial(layout, 0, static_cast<uint64_t>(block));
  const Pattern pattern(trial.ranks, block, uniform);
  Vector expected(static_cast<size_t>(pattern.total), kUntouched);
  std::vector<Vector> in, out(static_cast<size_t>(trial.ranks), expected);
  for (int rank = 0; rank < trial.ranks; ++rank) {
    in.push_back(pattern.mine(rank));
    pattern.put(rank, &expected);
    if (in_place) pattern.put(rank, &out[static_cast<size_t>(rank)]);
  }
  for (int rank = 0; rank < trial.ranks; ++rank) {
    Plan plan = trial.simulation.plan(rank, kind);
    const Blocks all = pattern.blocks(out[static_cast<size_t>(rank)]);
    Vector& mine = in[static_cast<size_t>(rank)];
    build_allgather(
        plan, in_place ? all[rank] : Typed{mine.data(), static_cast<MPI_Count>(mine.size()), &u64()}, all);
  }
  run(trial.simulation, trial.name);
  for (auto& result : out) ASSERT_EQ(result, expected) << trial.name << " block " << block;
  // Each block goes into every other host once.
  uint64_t bytes = 0;
  for (MPI_Count count : pattern.counts) bytes += 8 * static_cast<uint64_t>(count);
  if (different(layout.hosts) != 2) return;
  EXPECT_EQ(trial.between_hosts().bytes, bytes) << trial.name << " block " << block;
}

TEST(Levels, Allgather) {
  for (const char* algorithm : {"levels", "rails"}) {
    force(Kind::kAllgather, algorithm);
    each_layout([](const Layout& layout) {
      for (int block : {0, 1, 5, 3000})
        for (bool uniform : {true, false})
          for (bool in_place : {false, true}) check_allgather(layout, block, uniform, in_place);
    });
  }
  force(Kind::kAllgather, "auto");
}

void check_gather(const Layout& layout, int root, int block, bool in_place) {
  Trial trial(layout, root, static_cast<uint64_t>(block));
  const Pattern pattern(trial.ranks, block, true);
  Vector expected(static_cast<size_t>(pattern.total)), all = expected;
  std::vector<Vector> in;
  for (int rank = 0; rank < trial.ranks; ++rank)
    in.push_back(pattern.mine(rank)), pattern.put(rank, &expected);
  if (in_place) pattern.put(root, &all);
  for (int rank = 0; rank < trial.ranks; ++rank) {
    Plan plan = trial.simulation.plan(rank, Kind::kGather, nullptr, root);
    const Blocks blocks = rank == root ? pattern.blocks(all) : Blocks();
    build_gather(
        plan,
        in_place && rank == root ? blocks[rank] : Typed{in[static_cast<size_t>(rank)].data(), block, &u64()},
        blocks, root);
  }
  run(trial.simulation, trial.name);
  ASSERT_EQ(all, expected) << trial.name << " block " << block;
  if (block > 0) expect_one_each(trial);
}

void check_scatter(const Layout& layout, int root, int block, bool in_place) {
  Trial trial(layout, root, static_cast<uint64_t>(block));
  const Pattern pattern(trial.ranks, block, true);
  Vector all(static_cast<size_t>(pattern.total));
  for (int rank = 0; rank < trial.ranks; ++rank) pattern.put(rank, &all);
  const Vector before = all;
  std::vector<Vector> out(static_cast<size_t>(trial.ranks), Vector(static_cast<size_t>(block), kUntouched));
  for (int rank = 0; rank < trial.ranks; ++rank) {
    Plan plan = trial.simulation.plan(rank, Kind::kScatter, nullptr, root);
    const Blocks blocks = rank == root ? pattern.blocks(all) : Blocks();
    build_scatter(
        plan, blocks,
        in_place && rank == root ? blocks[rank] : Typed{out[static_cast<size_t>(rank)].data(), block, &u64()},
        root);
  }
  run(trial.simulation, trial.name);
  EXPECT_EQ(all, before);
  for (int rank = 0; rank < trial.ranks; ++rank) {
    const Vector untouched(static_cast<size_t>(block), kUntouched);
    ASSERT_EQ(out[static_cast<size_t>(rank)], in_place && rank == root ? untouched : pattern.mine(rank))
        << trial.name << " block " << block;
  }
  if (block > 0) expect_one_each(trial);
}

TEST(Levels, GatherAndScatterCrossOnce) {
  force(Kind::kGather, "levels");
  force(Kind::kScatter, "levels");
  each_layout([](const Layout& layout) {
    for (int root = 0; root < layout.ranks(); ++root)
      for (int block : {0, 1, 5})
        for (bool in_place : {false, true}) {
          check_gather(layout, root, block, in_place);
          check_scatter(layout, root, block, in_place);
        }
  });
  force(Kind::kGather, "auto");
  force(Kind::kScatter, "auto");
}

}  // namespace
}  // namespace vicinity::coll::testing
