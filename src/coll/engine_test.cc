// SPDX-License-Identifier: BSD-3-Clause
// The engine's failures, choices, mismatches, temporaries and argument checks.
#include "base/status.h"
#include "coll/arguments.h"
#include "coll/mismatch.h"
#include "coll/test_support.h"
#include "object/datatype_create.h"

namespace vicinity::coll::testing {
namespace {

bool says(int code, const char* words) {
  return std::string(base::failure_text(code)).find(words) != std::string::npos;
}

TEST(Engine, DifferentCountsAreAnErrorOnBothSidesOfTheMistake) {
  for (int given : {3, 5}) {
    sim::Simulation simulation(2, 1);
    Vector data[2] = {Vector(8), Vector(8)};
    for (int rank = 0; rank < 2; ++rank) {
      Plan plan = simulation.plan(rank, Kind::kBcast);
      build_bcast(plan, {data[rank].data(), rank == 0 ? given : 4, &u64()}, 0);
    }
    ASSERT_TRUE(simulation.run());
    const Status status = simulation.schedules[1]->status;
    EXPECT_EQ(status.code(), given == 5 ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT);
    EXPECT_TRUE(says(status.code(), "rank 0 sent")) << base::failure_text(status.code());
    EXPECT_TRUE(says(status.code(), "MPI_Bcast"));
  }
}

// One rank's mistake reaches every rank that depends on it; nobody hangs, no message is left over, and the
// next call works.
TEST(Engine, FailureTravelsAlongAndLeavesTheRanksInStep) {
  for (const char* algorithm : {"binomial", "chain", "scatter_allgather", "linear"})
    for (int wrong = 0; wrong < 8; ++wrong) {
      force(Kind::kBcast, algorithm);
      sim::Simulation simulation(8, 1);
      auto data = inputs(8, 200);
      const auto before = data;
      for (int rank = 0; rank < 8; ++rank) {
        Plan plan = simulation.plan(rank, Kind::kBcast);
        build_bcast(plan, {data[static_cast<size_t>(rank)].data(), 100, &u64()}, 0);
        if (rank == wrong) plan.fail(Status(MPI_ERR_NO_MEM));
      }
      ASSERT_TRUE(simulation.run()) << algorithm << " wrong " << wrong;
      EXPECT_EQ(simulation.network.left_over(), 0u);
      for (int rank = 0; rank < 8; ++rank) {
        const auto r = static_cast<size_t>(rank);
        const int code = simulation.schedules[r]->status.code();
        if (rank == wrong) {
          EXPECT_EQ(code, MPI_ERR_NO_MEM);
          EXPECT_EQ(data[r], before[r]) << "a failed rank wrote to its buffer";
        } else if (wrong == 0) {
          EXPECT_EQ(code, MPI_ERR_COUNT) << algorithm << " rank " << rank;
        } else if (code == MPI_SUCCESS) {
          EXPECT_TRUE(std::equal(before[0].begin(), before[0].begin() + 100, data[r].begin()));
        }
      }
      force(Kind::kBcast, "auto");
    }
}

TEST(Engine, AllreduceWithOneWrongCountFailsEverywhere) {
  for (const char* algorithm : {"doubling", "halving", "ring", "reduce_first"}) {
    force(Kind::kAllreduce, algorithm);
    sim::Simulation simulation(4, 1);
    const auto in = inputs(4, 100);
    std::vector<Vector> out(4, Vector(100));
    for (int rank = 0; rank < 4; ++rank) {
      const auto r = static_cast<size_t>(rank);
      Plan plan = simulation.plan(rank, Kind::kAllreduce, sum_op().op);
      build_allreduce(plan, {in[r].data(), out[r].data(), rank == 0 ? 10 : 100, &u64(), true});
    }
    ASSERT_TRUE(simulation.run()) << algorithm;
    EXPECT_EQ(simulation.network.left_over(), 0u);
    for (auto& schedule : simulation.schedules) EXPECT_FALSE(schedule->status.ok()) << algorithm;
  }
  force(Kind::kAllreduce, "auto");
}

TEST(Engine, GivingUpAbandonsWhatIsUnderWay) {
  sim::Simulation simulation(3, 1);
  Vector out(6), in(2);
  Plan plan = simulation.plan(0, Kind::kGatherv);
  build_gather(plan, {in.data(), 2, &u64()}, Blocks(out.data(), 2, u64()), 0);
  ASSERT_FALSE(simulation.run());  // the others have not even begun; the simulator sees that nothing moves
  Schedule& schedule = *simulation.schedules[0];
  using E = Engine<sim::RankTransport>;
  E::give_up(schedule, *simulation.transports[0], Status(MPI_ERR_OTHER));
  EXPECT_EQ(simulation.transports[0]->abandoned, 2);
  EXPECT_TRUE(E::advance(schedule, *simulation.transports[0]));
  EXPECT_EQ(schedule.status.code(), MPI_ERR_OTHER);
}

TEST(Engine, NoMemoryTouchesNoBuffer) {
  sim::Simulation simulation(2, 1);
  Vector data(4);
  for (int rank = 0; rank < 2; ++rank) {
    Plan plan = simulation.plan(rank, Kind::kBcast);
    const Typed from = rank == 0 ? plan.packed(uint64_t{1} << 60) : Typed{data.data(), 4, &u64()};
    rank == 0 ? plan.send(from, 1) : plan.recv(from, 0);
  }
  ASSERT_TRUE(simulation.run());
  EXPECT_EQ(simulation.schedules[0]->status.code(), MPI_ERR_NO_MEM);
  EXPECT_EQ(simulation.schedules[1]->status.code(), MPI_ERR_COUNT);
}

TEST(Mismatch, NamesWhatTheOtherRankCalled) {
  Schedule schedule;
  schedule.kind = Kind::kReduce;
  Step step;
  step.peer = 2;
  const int ours = make_tag(Kind::kReduce, 0, 10);
  EXPECT_TRUE(judge(schedule, step, ours, ours).ok());
  EXPECT_FALSE(judge(schedule, step, ours, make_tag(Kind::kBcast, 0, 10)).ok());
  EXPECT_TRUE(says(MPI_ERR_OTHER, "rank 2 sent for MPI_Bcast while this rank is in MPI_Reduce"));
  EXPECT_EQ(judge(schedule, step, ours, make_tag(Kind::kReduce, 1, 10)).code(), MPI_ERR_OTHER);
  EXPECT_FALSE(judge(schedule, step, ours, make_tag(Kind::kScan, 0, 12)).ok());
  EXPECT_TRUE(says(MPI_ERR_OTHER, "MPI_Scan, 2 calls later"));
  EXPECT_FALSE(judge(schedule, step, ours, make_tag(Kind::kScan, 0, 9)).ok());
  EXPECT_TRUE(says(MPI_ERR_OTHER, "MPI_Scan, 1 calls earlier"));
}

TEST(Mismatch, ANonblockingCallTakesOnlyItsOwnNumberForProof) {
  Schedule schedule;
  schedule.kind = Kind::kReduce;
  schedule.form = Form::kNonblocking;
  Step step;
  step.peer = 2;
  const int ours = make_tag(Kind::kReduce, 0, 10, Form::kNonblocking);
  EXPECT_TRUE(judge(schedule, step, ours, make_tag(Kind::kBcast, 0, 11, Form::kNonblocking)).ok());
  EXPECT_TRUE(judge(schedule, step, ours, make_tag(Kind::kBcast, 0, 9)).ok());
  EXPECT_FALSE(judge(schedule, step, ours, make_tag(Kind::kBcast, 0, 10, Form::kNonblocking)).ok());
  EXPECT_TRUE(says(MPI_ERR_OTHER, "rank 2 sent for MPI_Ibcast while this rank is in MPI_Ireduce"));
  EXPECT_FALSE(judge(schedule, step, ours, make_tag(Kind::kReduce, 0, 10)).ok());
  EXPECT_TRUE(says(MPI_ERR_OTHER, "rank 2 sent for MPI_Reduce while this rank is in MPI_Ireduce"));
}

TEST(Name, SaysTheForm) {
  EXPECT_STREQ(mpi_name(Kind::kReduceScatterBlock).text, "MPI_Reduce_scatter_block");
  EXPECT_STREQ(mpi_name(Kind::kNeighborAlltoallw, Form::kNonblocking).text, "MPI_Ineighbor_alltoallw");
  EXPECT_STREQ(mpi_name(Kind::kReduceScatterBlock, Form::kPersistent).text, "MPI_Reduce_scatter_block_init");
}

// A persistent call builds once and runs many times, with whatever is in the buffers then.
TEST(Engine, AScheduleRunsAgain) {
  each_case(Kind::kAllreduce, false, [](const Case& c) {
    sim::Simulation simulation(c.ranks, c.seed);
    const auto ranks = static_cast<size_t>(c.ranks);
    std::vector<Vector> in(ranks, Vector(40)), out(ranks, Vector(40));
    const TestOp op = compose_op();
    for (size_t r = 0; r < ranks; ++r) {
      Plan plan = simulation.plan(static_cast<int>(r), c.kind, op.op);
      build_allreduce(plan, {in[r].data(), out[r].data(), 40, &u64(), false});
    }
    for (int round = 0; round < 3; ++round) {
      for (size_t r = 0; r < ranks; ++r)
        for (size_t i = 0; i < 40; ++i) in[r][i] = value_of(static_cast<int>(r) + 10 * round, i);
      for (auto& schedule : simulation.schedules) schedule->next = schedule->oldest = 0;
      run(simulation, c.name);
      for (auto& result : out) ASSERT_EQ(result, fold(in, 0, ranks, op)) << c.name << " round " << round;
    }
  });
}

TEST(Mismatch, ANoticeIsProofOnlyForTheSameCall) {
  Schedule schedule;
  schedule.kind = Kind::kGather;
  const int ours = make_tag(Kind::kGather, 0, 10);
  auto code = [&](Kind kind, uint32_t sequence) {
    return judge_notice(schedule, Side::kOwn, 3, ours, make_tag(kind, 0, sequence) | kNoticeBits).code();
  };
  EXPECT_EQ(code(Kind::kGather, 10), MPI_SUCCESS);
  EXPECT_EQ(code(Kind::kScatter, 9), MPI_SUCCESS);
  EXPECT_EQ(code(Kind::kScatter, 10), MPI_ERR_OTHER);
  EXPECT_TRUE(says(MPI_ERR_OTHER, "rank 3 waits in MPI_Scatter while this rank is in MPI_Gather"));
}

TEST(Tag, KeepsItsParts) {
  for (uint32_t sequence : {0u, 1u, kSequenceMask})
    for (uint32_t root : {0u, 30u, 31u, 32u, ~0u})
      for (int k = 1; k < kKinds; ++k) {
        const int tag = make_tag(static_cast<Kind>(k), root, sequence);
        EXPECT_GE(tag, 0);
        EXPECT_EQ(kind_of(tag), static_cast<Kind>(k));
        EXPECT_EQ(sequence_of(tag), sequence);
        EXPECT_FALSE(is_notice(tag));
        EXPECT_EQ(kind_of(tag | kNoticeBits), static_cast<Kind>(k));
      }
}

TEST(Choice, EveryKindHasAnAnswerThatIsAble) {
  for (int k = 1; k < kKinds; ++k)
    for (int ranks = 1; ranks < 40; ++ranks)
      for (uint64_t bytes : {0ull, 100ull, 10ull << 10, 1ull << 20, 1ull << 40})
        for (bool commutative : {false, true}) {
          const Facts facts{bytes, ranks, commutative};
          Algorithm list[16];
          const int n = able(static_cast<Kind>(k), facts, list, 16);
          EXPECT_NE(std::find(list, list + n, choose(static_cast<Kind>(k), facts)), list + n)
              << mpi_name(static_cast<Kind>(k)).text << " ranks " << ranks << " bytes " << bytes;
        }
}

TEST(Choice, AParameterIsObeyedWhereTheAlgorithmIsAble) {
  force(Kind::kAllgather, "doubling");
  EXPECT_EQ(choose(Kind::kAllgather, {1 << 30, 4}), Algorithm::kDoubling);
  EXPECT_NE(choose(Kind::kAllgather, {1 << 30, 5}), Algorithm::kDoubling);
  force(Kind::kAllgather, "auto");
  EXPECT_FALSE(base::params_find("VICINITY_COLL_BCAST")->parse("magic", "the test").ok());
}

TEST(Temporary, BlocksAreUsedAgainAndLargeOnesGoBack) {
  const Temporary a = take_temporary(1000);
  give_temporary(a);
  const Temporary b = take_temporary(900);
  EXPECT_EQ(a.memory, b.memory);
  give_temporary(b);
  EXPECT_EQ(take_temporary(size_t{1} << 60).memory, nullptr);
  give_temporary(take_temporary(kKept * 2));
  drop_temporaries();
}

class Arguments : public ::testing::Test {
 protected:
  Arguments() {
    group.procs = {0, 1, 2};
    remote.procs = {3, 4};
    intra.group = &group;
    inter.group = &group;
    inter.remote = &remote;
  }
  object::Group group, remote;
  Communicator intra, inter;
  int buffer[8] = {};
  const MPI_Count bad_[3] = {1, -2, 1}, good_[3] = {1, 0, 1};
};

TEST_F(Arguments, Root) {
  for (int root : {0, 2}) EXPECT_TRUE(check_root(intra, root).ok());
  for (int root : {-1, 3, MPI_ROOT, MPI_PROC_NULL}) EXPECT_EQ(check_root(intra, root).code(), MPI_ERR_ROOT);
  for (int root : {0, 1, MPI_ROOT, MPI_PROC_NULL}) EXPECT_TRUE(check_root(inter, root).ok());
  for (int root : {-1, 2}) EXPECT_EQ(check_root(inter, root).code(), MPI_ERR_ROOT);
  EXPECT_TRUE(says(MPI_ERR_ROOT, "is 2"));
}

TEST_F(Arguments, OneBuffer) {
  auto code = [&](const void* at, MPI_Count count, MPI_Datatype type) {
    return one_buffer(at, count, type, kSendNames).status().code();
  };
  EXPECT_EQ(code(buffer, 3, MPI_INT), MPI_SUCCESS);
  EXPECT_EQ(code(nullptr, 0, MPI_INT), MPI_SUCCESS);
  EXPECT_EQ(code(nullptr, 1, MPI_INT), MPI_ERR_BUFFER);
  EXPECT_EQ(code(MPI_IN_PLACE, 1, MPI_INT), MPI_ERR_BUFFER);
  EXPECT_EQ(code(buffer, -1, MPI_INT), MPI_ERR_COUNT);
  EXPECT_TRUE(says(MPI_ERR_COUNT, "`sendcount` is -1"));
  EXPECT_EQ(code(buffer, 1, MPI_DATATYPE_NULL), MPI_ERR_TYPE);
  auto raw = object::type_contiguous(2, u64(), false);
  EXPECT_EQ(code(buffer, 1, object::handle_of(**raw)), MPI_ERR_TYPE);  // not committed
  object::release(raw.value());
}

TEST_F(Arguments, Arrays) {
  auto code = [&](const MPI_Count* counts, const MPI_Count* displs) {
    return varied_blocks(buffer, CountArray(counts), CountArray(displs), MPI_INT, 3, kRecvNamesV)
        .status()
        .code();
  };
  EXPECT_EQ(code(good_, good_), MPI_SUCCESS);
  EXPECT_EQ(code(good_, nullptr), MPI_ERR_ARG);
  EXPECT_EQ(code(nullptr, good_), MPI_ERR_ARG);
  EXPECT_EQ(code(bad_, good_), MPI_ERR_COUNT);
  EXPECT_TRUE(says(MPI_ERR_COUNT, "`recvcounts[1]` is -2"));
  const MPI_Datatype types[3] = {MPI_INT, MPI_DATATYPE_NULL, MPI_INT};
  auto mixed = [&](const MPI_Count* counts) {
    return mixed_blocks(buffer, CountArray(counts), CountArray(good_), types, 3, kRecvNamesW).status().code();
  };
  EXPECT_EQ(mixed(good_), MPI_SUCCESS);
  const MPI_Count all[3] = {1, 1, 1};
  EXPECT_EQ(mixed(all), MPI_ERR_TYPE);
}

TEST_F(Arguments, OwnBlock) {
  const Typed a{buffer, 2, &builtin(MPI_INT)}, b{buffer + 4, 2, &builtin(MPI_INT)};
  EXPECT_TRUE(check_own(a, b).ok());
  EXPECT_EQ(check_alias(a, a).code(), MPI_ERR_BUFFER);
  EXPECT_TRUE(check_alias(a, b).ok());
  EXPECT_EQ(check_own(a, b.part(0, 1)).code(), MPI_ERR_TRUNCATE);
  EXPECT_EQ(check_own(a.part(0, 1), b).code(), MPI_ERR_COUNT);
}

TEST_F(Arguments, Reduction) {
  Op& sum = const_cast<Op&>(*sum_op().op);
  ReductionArguments a{buffer, buffer + 4, 2, MPI_INT, &sum};
  auto check = [&](const Communicator& comm) {
    auto type = check_reduction(a);
    return type.ok() ? check_reduction_buffers(a, **type, comm).code() : type.status().code();
  };
  EXPECT_EQ(check(intra), MPI_SUCCESS);
  a.recv = buffer;
  EXPECT_EQ(check(intra), MPI_ERR_BUFFER);
  a.send = MPI_IN_PLACE;
  EXPECT_EQ(check(intra), MPI_SUCCESS);
  EXPECT_EQ(check(inter), MPI_ERR_BUFFER);
  a.recv = MPI_IN_PLACE;
  EXPECT_EQ(check(intra), MPI_ERR_BUFFER);
  a.type = MPI_CHAR;  // no arithmetic on characters
  EXPECT_EQ(check(intra), MPI_ERR_OP);
}

}  // namespace
}  // namespace vicinity::coll::testing
