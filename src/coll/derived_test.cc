// SPDX-License-Identifier: BSD-3-Clause
// Derived datatypes, and different types with equal signatures at the two ends, through every algorithm.
#include "coll/test_support.h"
#include "object/datatype_create.h"

namespace vicinity::coll::testing {
namespace {

Datatype& ready(object::Result<Datatype*> made) {
  EXPECT_TRUE(made.ok());
  object::commit(**made);
  return **made;
}
// Two values, three places apart; elements five places apart.
Datatype& gappy() {
  static Datatype& type =
      ready(object::type_resized(ready(object::type_vector(2, 1, 3, u64(), false)), 0, 40, false));
  return type;
}
// The same signature, backwards: extent and lower bound are negative.
Datatype& backward() {
  static Datatype& type =
      ready(object::type_resized(ready(object::type_vector(2, 1, -1, u64(), false)), -8, -16, false));
  return type;
}
Datatype& pair() {
  static Datatype& type = ready(object::type_contiguous(2, u64(), false));
  return type;
}

// A buffer with room for `count` elements of `type` around `at`, and the values in it.
class Space {
 public:
  Space(Datatype& type, MPI_Count count) : memory_(kHalf * 2, kUntouched), type_(type), count_(count) {}
  void* at() { return memory_.data() + kHalf; }
  Typed typed() { return {at(), count_, &type_}; }
  void set(const Vector& values) { object::unpack(values.data(), at(), count_, type_); }
  Vector get() {
    Vector values(typed().bytes() / 8);
    object::pack(at(), count_, type_, values.data());
    return values;
  }
  // Everything that no element covers is untouched.
  bool gaps_untouched() {
    Vector blank(typed().bytes() / 8, kUntouched);
    set(blank);
    for (uint64_t word : memory_)
      if (word != kUntouched) return false;
    return true;
  }

 private:
  static constexpr size_t kHalf = 1200;
  Vector memory_;
  Datatype& type_;
  MPI_Count count_;
};

Datatype& type_of_rank(int rank) { return rank % 3 == 0 ? gappy() : rank % 3 == 1 ? backward() : pair(); }

TEST(Derived, Bcast) {
  for (MPI_Count count : {1, 2, 40})
    each_case(Kind::kBcast, true, [&](const Case& c) {
      for (int root : roots_of(c.ranks)) {
        sim::Simulation simulation(c.ranks, c.seed);
        const Vector values = inputs(1, static_cast<size_t>(count) * 2)[0];
        std::vector<Space> spaces;
        for (int rank = 0; rank < c.ranks; ++rank) spaces.emplace_back(type_of_rank(rank), count);
        spaces[static_cast<size_t>(root)].set(values);
        for (int rank = 0; rank < c.ranks; ++rank) {
          Plan plan = simulation.plan(rank, c.kind);
          build_bcast(plan, spaces[static_cast<size_t>(rank)].typed(), root);
        }
        run(simulation, c.name);
        for (Space& space : spaces) {
          ASSERT_EQ(space.get(), values) << c.name;
          ASSERT_TRUE(space.gaps_untouched()) << c.name;
        }
      }
    });
}

TEST(Derived, GatherAndScatter) {
  for (Kind kind : {Kind::kGather, Kind::kScatter})
    each_case(kind, true, [&](const Case& c) {
      for (int root : roots_of(c.ranks)) {
        const MPI_Count count = 3;
        sim::Simulation simulation(c.ranks, c.seed);
        const bool gather = kind == Kind::kGather;
        Space all(root % 2 ? gappy() : backward(), count * c.ranks);
        const Vector values = inputs(1, static_cast<size_t>(count * c.ranks) * 2)[0];
        std::vector<Space> spaces;
        auto mine = [&](int rank) {
          return Vector(values.begin() + rank * count * 2, values.begin() + (rank + 1) * count * 2);
        };
        for (int rank = 0; rank < c.ranks; ++rank) {
          spaces.emplace_back(type_of_rank(rank), count);
          if (gather) spaces.back().set(mine(rank));
        }
        if (!gather) all.set(values);
        const Blocks blocks(all.at(), count, *all.typed().type);
        for (int rank = 0; rank < c.ranks; ++rank) {
          Plan plan = simulation.plan(rank, kind);
          const Blocks seen = rank == root ? blocks : Blocks();
          const Typed own = spaces[static_cast<size_t>(rank)].typed();
          gather ? build_gather(plan, own, seen, root) : build_scatter(plan, seen, own, root);
        }
        run(simulation, c.name);
        if (gather) {
          ASSERT_EQ(all.get(), values) << c.name;
        }
        for (int rank = 0; rank < c.ranks && !gather; ++rank)
          ASSERT_EQ(spaces[static_cast<size_t>(rank)].get(), mine(rank)) << c.name;
        ASSERT_TRUE(all.gaps_untouched()) << c.name;
      }
    });
}

TEST(Derived, AllgatherAndAlltoall) {
  for (Kind kind : {Kind::kAllgather, Kind::kAlltoall})
    each_case(kind, true, [&](const Case& c) {
      const MPI_Count count = 2;
      const bool alltoall = kind == Kind::kAlltoall;
      sim::Simulation simulation(c.ranks, c.seed);
      const auto n = static_cast<size_t>(c.ranks);
      const auto values = inputs(c.ranks, n * static_cast<size_t>(count) * 2);
      std::vector<Space> from, to;
      for (int rank = 0; rank < c.ranks; ++rank) {
        from.emplace_back(type_of_rank(rank), alltoall ? count * c.ranks : count);
        from.back().set(values[static_cast<size_t>(rank)]);
        to.emplace_back(type_of_rank(rank + 1), count * c.ranks);
      }
      for (int rank = 0; rank < c.ranks; ++rank) {
        Plan plan = simulation.plan(rank, kind);
        Space &f = from[static_cast<size_t>(rank)], &t = to[static_cast<size_t>(rank)];
        const Blocks recv(t.at(), count, *t.typed().type);
        if (alltoall) {
          build_alltoall(plan, Blocks(f.at(), count, *f.typed().type), recv);
        } else {
          build_allgather(plan, f.typed(), recv);
        }
      }
      run(simulation, c.name);
      for (size_t rank = 0; rank < n; ++rank) {
        Vector expected;
        for (size_t peer = 0; peer < n; ++peer) {
          const auto first = values[peer].begin() + static_cast<ptrdiff_t>(alltoall ? rank * 4 : 0);
          expected.insert(expected.end(), first, first + 4);
        }
        ASSERT_EQ(to[rank].get(), expected) << c.name << " rank " << rank;
        ASSERT_TRUE(to[rank].gaps_untouched()) << c.name;
      }
    });
}

// A user's operation on a type with gaps: it walks the extent, so temporaries must have the layout.
Datatype* reduced_type;
void compose_pairs(void* in, void* inout, int* count, MPI_Datatype* handle) {
  EXPECT_EQ(object::lookup<Datatype>(*handle), reduced_type);
  for (int i = 0; i < *count; ++i) {
    uint64_t a[2], b[2];
    void* at = shift(inout, i * reduced_type->extent);
    object::pack(shift(in, i * reduced_type->extent), 1, *reduced_type, a);
    object::pack(at, 1, *reduced_type, b);
    for (int k = 0; k < 2; ++k) b[k] = compose(a[k], b[k]);
    object::unpack(b, at, 1, *reduced_type);
  }
}

void reduce_derived(Kind kind, bool commutative_tree,
                    const std::function<void(Plan&, const Reduction&)>& build,
                    const std::function<Vector(const std::vector<Vector>&, int)>& expected) {
  Op op;
  op.commutative = commutative_tree;
  op.user = compose_pairs;
  for (Datatype* type : {&gappy(), &backward()})
    each_case(kind, commutative_tree, [&](const Case& c) {
      reduced_type = type;
      for (MPI_Count count : {1, 5, 30})
        for (bool in_place : {false, true}) {
          sim::Simulation simulation(c.ranks, c.seed);
          const auto values = inputs(c.ranks, static_cast<size_t>(count) * 2);
          std::vector<Space> from, to;
          for (int rank = 0; rank < c.ranks; ++rank) {
            from.emplace_back(*type, count);
            to.emplace_back(*type, count);
            (in_place ? to : from).back().set(values[static_cast<size_t>(rank)]);
          }
          for (int rank = 0; rank < c.ranks; ++rank) {
            Plan plan = simulation.plan(rank, kind, &op);
            void* recv = to[static_cast<size_t>(rank)].at();
            build(plan, {in_place ? recv : from[static_cast<size_t>(rank)].at(), recv, count, type,
                         op.commutative});
          }
          run(simulation, c.name);
          for (int rank = 0; rank < c.ranks; ++rank) {
            const Vector wanted = expected(values, rank);
            if (wanted.empty()) continue;
            ASSERT_EQ(to[static_cast<size_t>(rank)].get(), wanted)
                << c.name << " count " << count << " rank " << rank;
            ASSERT_TRUE(to[static_cast<size_t>(rank)].gaps_untouched()) << c.name;
          }
        }
    });
}

TEST(Derived, Allreduce) {
  reduce_derived(
      Kind::kAllreduce, false, [](Plan& plan, const Reduction& r) { build_allreduce(plan, r); },
      [](const std::vector<Vector>& in, int) { return fold(in, 0, in.size(), compose_op()); });
}

TEST(Derived, Reduce) {
  reduce_derived(
      Kind::kReduce, false,
      [](Plan& plan, const Reduction& r) {
        Reduction mine = r;
        if (plan.rank != 0) mine.recv = nullptr;
        build_reduce(plan, mine, 0);
      },
      [](const std::vector<Vector>& in, int rank) {
        return rank == 0 ? fold(in, 0, in.size(), compose_op()) : Vector();
      });
}

TEST(Derived, Scan) {
  reduce_derived(
      Kind::kScan, false, [](Plan& plan, const Reduction& r) { build_scan(plan, r); },
      [](const std::vector<Vector>& in, int rank) {
        return fold(in, 0, static_cast<size_t>(rank) + 1, compose_op());
      });
}

}  // namespace
}  // namespace vicinity::coll::testing
