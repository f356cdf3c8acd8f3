// SPDX-License-Identifier: BSD-3-Clause
// The direct path between forked processes: right results in random order, slots that slow readers still
// need, boards that are claimed again, ranks that disagree or die.
#include "coll/direct.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <functional>
#include <random>
#include <vector>

#include "coll/claim.h"
#include "coll/coll.h"
#include "entry_coll.h"
#include "object/group.h"
#include "p2p/p2p.h"
#include "peer/fork_test.h"
#include "peer/peer.h"

namespace vicinity::coll {
namespace {

Communicator& make_comm(std::vector<object::Proc> procs, uint32_t context) {
  auto* comm = new Communicator;
  comm->kind = object::Kind::kComm;
  comm->context = context;
  comm->group = object::make_group(std::move(procs), peer::self());
  comm->rank = comm->group->rank;
  return *comm;
}

Communicator& world_of(int size, uint32_t context = 8) {
  std::vector<object::Proc> all;
  for (int i = 0; i < size; ++i) all.push_back(static_cast<object::Proc>(i));
  return make_comm(std::move(all), context);
}

// Runs `body` in `size` processes that have the library up to p2p.
int run(int size, const std::function<void(int rank, Communicator& world, peer::test::Board& board)>& body) {
  return peer::test::run_ranks(size, [&](int rank, wireup::Wireup& wireup) {
    CHECK_OR(90, p2p::start().ok() && peer::start(wireup, p2p::sink()).ok());
    body(rank, world_of(size), *static_cast<peer::test::ForkWireup&>(wireup).board());
    CHECK_OR(91, p2p::drain().ok());
    return 0;
  });
}

Op& sum() { return *object::HandleTraits<Op>::predefined(reinterpret_cast<uintptr_t>(MPI_SUM)); }

// Associative, not commutative: (a, b) op (c, d) = (a * c, b * c + d). The pairs travel as complex numbers.
void affine(void* in, void* inout, int* count, MPI_Datatype*) {
  auto* x = static_cast<uint64_t*>(in);
  auto* y = static_cast<uint64_t*>(inout);
  for (int i = 0; i < *count; ++i) {
    const uint64_t a = x[2 * i], b = x[2 * i + 1];
    y[2 * i + 1] = b * y[2 * i] + y[2 * i + 1];
    y[2 * i] = a * y[2 * i];
  }
}

uint64_t value(int rank, uint64_t round, size_t i) {
  return round * 1000003 + static_cast<uint64_t>(rank) * 7919 + i * 31 + 1;
}
std::vector<uint64_t> input(int rank, uint64_t round, size_t count) {
  std::vector<uint64_t> data(count);
  for (size_t i = 0; i < count; ++i) data[i] = value(rank, round, i);
  return data;
}

struct Round {
  Communicator& comm;
  uint64_t number;
  size_t count;
  int root;
  int size() const { return comm.size(); }
  size_t ranks() const { return static_cast<size_t>(comm.size()); }
};

void round_bcast(const Round& r) {
  auto data = input(r.comm.rank == r.root ? r.root : 99, r.number, r.count);
  CHECK_OR(1, entry::bcast(data.data(), MPI_Count(r.count), MPI_UINT64_T, r.root, r.comm).ok());
  CHECK_OR(2, data == input(r.root, r.number, r.count));
}

void round_reduce(const Round& r, bool all) {
  const auto mine = input(r.comm.rank, r.number, r.count);
  std::vector<uint64_t> out(r.count), expected(r.count);
  const Status status =
      all ? entry::allreduce(mine.data(), out.data(), MPI_Count(r.count), MPI_UINT64_T, sum(), r.comm)
          : entry::reduce(mine.data(), out.data(), MPI_Count(r.count), MPI_UINT64_T, sum(), r.root, r.comm);
  CHECK_OR(3, status.ok());
  for (int rank = 0; rank < r.size(); ++rank)
    for (size_t i = 0; i < r.count; ++i) expected[i] += value(rank, r.number, i);
  if (all || r.comm.rank == r.root) CHECK_OR(4, out == expected);
}

void round_affine(const Round& r) {
  Op op;
  op.kind = object::Kind::kOp;
  op.handle = 0x7fff0000;
  op.commutative = false;
  op.user = affine;
  auto data = input(r.comm.rank, r.number, 2 * r.count);
  std::vector<uint64_t> expected = input(r.size() - 1, r.number, 2 * r.count);
  int many = static_cast<int>(r.count);
  for (int rank = r.size() - 2; rank >= 0; --rank)
    affine(input(rank, r.number, 2 * r.count).data(), expected.data(), &many, nullptr);
  Datatype& pair = object::builtin(MPI_C_DOUBLE_COMPLEX);
  const Reduction reduction{data.data(), data.data(), MPI_Count(r.count), &pair, false};
  Direct* direct = direct_way({}, r.comm, Kind::kAllreduce, reduction.input().bytes());
  if (!direct || !Direct::can_combine(reduction, op)) return;
  CHECK_OR(5, direct->allreduce(reduction, op).ok());
  CHECK_OR(6, data == expected);
}

void round_alltoall(const Round& r) {
  const auto mine = input(r.comm.rank, r.number, r.count * r.ranks());
  std::vector<uint64_t> out(r.count * r.ranks()), same = mine;
  CHECK_OR(7, entry::alltoall(mine.data(), MPI_Count(r.count), MPI_UINT64_T, out.data(), MPI_Count(r.count),
                              MPI_UINT64_T, r.comm)
                  .ok());
  CHECK_OR(
      8, entry::alltoall(MPI_IN_PLACE, 0, MPI_UINT64_T, same.data(), MPI_Count(r.count), MPI_UINT64_T, r.comm)
             .ok());
  for (int rank = 0; rank < r.size(); ++rank)
    for (size_t i = 0; i < r.count; ++i)
      CHECK_OR(9, out[static_cast<size_t>(rank) * r.count + i] ==
                      value(rank, r.number, static_cast<size_t>(r.comm.rank) * r.count + i));
  CHECK_OR(10, same == out);
}

void round_gather(const Round& r, bool all) {
  const auto mine = input(r.comm.rank, r.number, r.count);
  std::vector<uint64_t> out(r.count * r.ranks());
  const auto n = MPI_Count(r.count);
  const Status status =
      all ? entry::allgather(mine.data(), n, MPI_UINT64_T, out.data(), n, MPI_UINT64_T, r.comm)
          : entry::gather(mine.data(), n, MPI_UINT64_T, out.data(), n, MPI_UINT64_T, r.root, r.comm);
  CHECK_OR(11, status.ok());
  if (!all && r.comm.rank != r.root) return;
  for (int rank = 0; rank < r.size(); ++rank)
    for (size_t i = 0; i < r.count; ++i)
      CHECK_OR(12, out[static_cast<size_t>(rank) * r.count + i] == value(rank, r.number, i));
}

void round_scatter(const Round& r) {
  const auto all = input(r.root, r.number, r.count * r.ranks());
  std::vector<uint64_t> out(r.count);
  const auto n = MPI_Count(r.count);
  CHECK_OR(13, entry::scatter(all.data(), n, MPI_UINT64_T, out.data(), n, MPI_UINT64_T, r.root, r.comm).ok());
  for (size_t i = 0; i < r.count; ++i)
    CHECK_OR(14, out[i] == value(r.root, r.number, static_cast<size_t>(r.comm.rank) * r.count + i));
}

void round_scan(const Round& r, bool exclusive) {
  auto data = input(r.comm.rank, r.number, r.count);
  const auto n = MPI_Count(r.count);
  const Status status = exclusive ? entry::exscan(MPI_IN_PLACE, data.data(), n, MPI_UINT64_T, sum(), r.comm)
                                  : entry::scan(MPI_IN_PLACE, data.data(), n, MPI_UINT64_T, sum(), r.comm);
  CHECK_OR(15, status.ok());
  if (exclusive && r.comm.rank == 0) return;
  for (size_t i = 0; i < r.count; ++i) {
    uint64_t expected = 0;
    for (int rank = 0; rank < r.comm.rank + !exclusive; ++rank) expected += value(rank, r.number, i);
    CHECK_OR(16, data[i] == expected);
  }
}

void round_reduce_scatter(const Round& r) {
  const auto mine = input(r.comm.rank, r.number, r.count * r.ranks());
  std::vector<uint64_t> out(r.count);
  CHECK_OR(17, entry::reduce_scatter_block(mine.data(), out.data(), MPI_Count(r.count), MPI_UINT64_T, sum(),
                                           r.comm)
                   .ok());
  for (size_t i = 0; i < r.count; ++i) {
    uint64_t expected = 0;
    for (int rank = 0; rank < r.size(); ++rank)
      expected += value(rank, r.number, static_cast<size_t>(r.comm.rank) * r.count + i);
    CHECK_OR(18, out[i] == expected);
  }
}

// How many elements go from one rank to another where each pair has a number of its own.
size_t some(const Round& r, int from, int to) {
  const uint64_t which = (static_cast<uint64_t>(from) * 3 + static_cast<uint64_t>(to) * 3 + r.number) % 5;
  return which == 0 ? 0 : which == 1 ? 1 : which == 2 ? 3 * r.count : r.count;
}

// A buffer with a run for each rank, one element apart.
struct Runs {
  std::vector<int> counts, displs;
  std::vector<uint64_t> data;
  Runs(const Round& r, const std::function<size_t(int)>& count) {
    for (int rank = 0; rank < r.size(); ++rank) {
      counts.push_back(static_cast<int>(count(rank)));
      displs.push_back(static_cast<int>(data.size()));
      data.resize(data.size() + count(rank) + 1);
    }
  }
  CountArray all() const { return CountArray(counts.data()); }
  CountArray places() const { return CountArray(displs.data()); }
  void fill(const Round& r, int rank, int from, int to) {
    const auto run = input(from * 64 + to, r.number, static_cast<size_t>(counts[static_cast<size_t>(rank)]));
    std::copy(run.begin(), run.end(), data.begin() + displs[static_cast<size_t>(rank)]);
  }
};

void round_gatherv(const Round& r) {
  const int me = r.comm.rank;
  const auto mine = input(me * 64 + r.root, r.number, some(r, me, r.root));
  Runs out(r, [&](int rank) { return some(r, rank, r.root); }), expected = out;
  for (int rank = 0; rank < r.size(); ++rank) expected.fill(r, rank, rank, r.root);
  CHECK_OR(50, entry::gatherv(mine.data(), MPI_Count(mine.size()), MPI_UINT64_T, out.data.data(), out.all(),
                              out.places(), MPI_UINT64_T, r.root, r.comm)
                   .ok());
  if (me == r.root) CHECK_OR(51, out.data == expected.data);
}

void round_scatterv(const Round& r) {
  const int me = r.comm.rank;
  Runs all(r, [&](int rank) { return some(r, r.root, rank); });
  for (int rank = 0; rank < r.size(); ++rank) all.fill(r, rank, r.root, rank);
  std::vector<uint64_t> mine(some(r, r.root, me));
  CHECK_OR(52, entry::scatterv(all.data.data(), all.all(), all.places(), MPI_UINT64_T, mine.data(),
                               MPI_Count(mine.size()), MPI_UINT64_T, r.root, r.comm)
                   .ok());
  CHECK_OR(53, mine == input(r.root * 64 + me, r.number, mine.size()));
}

void round_alltoallv(const Round& r, bool in_place) {
  const int me = r.comm.rank;
  Runs send(r, [&](int rank) { return some(r, me, rank); }), out = send, expected = send;
  for (int rank = 0; rank < r.size(); ++rank) send.fill(r, rank, me, rank), expected.fill(r, rank, rank, me);
  if (in_place) out = send;
  CHECK_OR(54, entry::alltoallv(in_place ? MPI_IN_PLACE : send.data.data(), send.all(), send.places(),
                                MPI_UINT64_T, out.data.data(), out.all(), out.places(), MPI_UINT64_T, r.comm)
                   .ok());
  CHECK_OR(55, out.data == expected.data);
}

// The elements have gaps, and the number of a rank belongs to the largest value.
void round_located_scan(const Round& r) {
  struct Pair {
    double value;
    int rank;
  };
  const auto largest = [&](size_t i, int ranks) {
    return static_cast<int>((i + r.number) % static_cast<size_t>(ranks));
  };
  std::vector<Pair> in(r.count), out(r.count);
  for (size_t i = 0; i < r.count; ++i)
    in[i] = {r.comm.rank == largest(i, r.comm.rank + 1) ? 1.0 + r.comm.rank : 0.0, r.comm.rank};
  Op& maxloc = *object::HandleTraits<Op>::predefined(reinterpret_cast<uintptr_t>(MPI_MAXLOC));
  CHECK_OR(56, entry::scan(in.data(), out.data(), MPI_Count(r.count), MPI_DOUBLE_INT, maxloc, r.comm).ok());
  for (size_t i = 0; i < r.count; ++i) {
    int highest = 0;
    for (int rank = 0; rank <= r.comm.rank; ++rank)
      if (rank == largest(i, rank + 1)) highest = rank;
    CHECK_OR(57, out[i].rank == highest && out[i].value == 1.0 + highest);
  }
}

// In place, rank k gets k times as much as rank 1.
void round_uneven_reduce_scatter(const Round& r) {
  std::vector<int> counts;
  size_t all = 0, first = 0;
  for (int rank = 0; rank < r.size(); ++rank) {
    counts.push_back(rank * static_cast<int>(r.count));
    if (rank < r.comm.rank) first += static_cast<size_t>(counts.back());
    all += static_cast<size_t>(counts.back());
  }
  auto data = input(r.comm.rank, r.number, all);
  CHECK_OR(23, entry::reduce_scatter(MPI_IN_PLACE, data.data(), CountArray(counts.data()), MPI_UINT64_T,
                                     sum(), r.comm)
                   .ok());
  for (size_t i = 0; i < static_cast<size_t>(r.comm.rank) * r.count; ++i) {
    uint64_t expected = 0;
    for (int rank = 0; rank < r.size(); ++rank) expected += value(rank, r.number, first + i);
    CHECK_OR(24, data[i] == expected);
  }
}

void play(const Round& r, uint32_t what) {
  switch (what) {
    case 0:
      CHECK_OR(19, entry::barrier(r.comm).ok());
      return;
    case 1:
      return round_bcast(r);
    case 2:
    case 3:
      return round_reduce(r, what == 3);
    case 4:
      return round_affine(r);
    case 5:
      return round_alltoall(r);
    case 6:
    case 7:
      return round_gather(r, what == 7);
    case 8:
      return round_scatter(r);
    case 9:
    case 10:
      return round_scan(r, what == 10);
    case 11:
      return round_uneven_reduce_scatter(r);
    case 12:
      return round_gatherv(r);
    case 13:
      return round_scatterv(r);
    case 14:
    case 15:
      return round_alltoallv(r, what == 15);
    case 16:
      return round_located_scan(r);
    default:
      return round_reduce_scatter(r);
  }
}
constexpr uint32_t kPlays = 18;

// Who leaves is gone for those that still wait for somebody else.
void leave_together(Communicator& comm) { CHECK_OR(22, entry::barrier(comm).ok()); }

// All ranks draw the same numbers; each is late now and then.
void random_rounds(Communicator& comm, uint32_t seed, int rounds) {
  static constexpr size_t kCounts[] = {1, 2, 6, 7, 50, 512, 513, 3000, 8192, 20000, 40000};
  std::mt19937 common(seed), own(seed * 31 + peer::self());
  for (int round = 0; round < rounds; ++round) {
    const uint32_t what = common() % kPlays, size_class = common() % 64;
    const size_t count = kCounts[size_class < 44 ? size_class % 5 : size_class % 11];
    const int root = static_cast<int>(common() % static_cast<uint32_t>(comm.size()));
    if (own() % 50 == 0) usleep(own() % 400);
    play(Round{comm, static_cast<uint64_t>(round), count, root}, what);
  }
  leave_together(comm);
}

TEST(Direct, EveryCollectiveInRandomOrder) {
  for (int size : {2, 3, 5})
    EXPECT_EQ(run(size,
                  [&](int, Communicator& world, peer::test::Board&) {
                    random_rounds(world, 4711u + static_cast<uint32_t>(size), 700);
                    CHECK_OR(20, world.coll->direct != nullptr);
                  }),
              0)
        << size << " ranks";
}

TEST(Direct, MoreRanksThanReadEachOther) {
  EXPECT_EQ(run(18, [](int, Communicator& world, peer::test::Board&) { random_rounds(world, 5, 60); }), 0);
}

// Of one-way collectives a root can be many calls ahead; what a slow reader needs must stay.
TEST(Direct, NothingIsOverwrittenUnderASlowReader) {
  for (size_t count : {1u, 100u, 2000u, 4000u, 9000u})
    EXPECT_EQ(run(3,
                  [&](int rank, Communicator& world, peer::test::Board&) {
                    for (uint64_t round = 0; round < 150; ++round) {
                      if (rank == 1 && round % 40 == 3) usleep(3000);
                      round_bcast(Round{world, round, count, 0});
                      if (rank == 2 && round % 50 == 7) usleep(3000);
                      round_reduce(Round{world, round, count, 2}, false);
                      round_scatter(Round{world, round, count, 0});
                      if (rank == 1 && round % 60 == 9) usleep(3000);
                      round_gather(Round{world, round, count + round % 2 * 9000, 2}, false);
                      round_scatterv(Round{world, round, count, 1});
                      round_gatherv(Round{world, round, count, 0});
                    }
                    leave_together(world);
                  }),
              0)
        << count;
}

// Slots and halves are the same memory; barriers change which of them meet.
TEST(Direct, LongAndShortPartsDoNotOverwriteEachOther) {
  EXPECT_EQ(run(3,
                [](int rank, Communicator& world, peer::test::Board&) {
                  for (uint64_t round = 0; round < 120; ++round) {
                    if (rank == 1 && round % 3 == 1) usleep(1000);
                    round_scatter(Round{world, 2 * round, 2000, 0});
                    if (rank == 1 && round % 4 == 1) usleep(1000);
                    round_scatter(Round{world, 2 * round + 1, 9000, 0});
                    if (round % 5 == 0) CHECK_OR(25, entry::barrier(world).ok());
                  }
                  leave_together(world);
                }),
            0);
}

// Ranks of a scan may be a call ahead; some scans go round through all places, others use a few of them.
TEST(Direct, ScansRunAheadOfSlowRanks) {
  EXPECT_EQ(run(4,
                [](int rank, Communicator& world, peer::test::Board&) {
                  static constexpr size_t kCounts[] = {90000, 9000, 9000, 70000, 40000, 20000};
                  for (uint64_t round = 0; round < 90; ++round) {
                    if (rank == static_cast<int>(round / 7 % 4)) usleep(1500);
                    round_scan(Round{world, round, kCounts[round % 6], 0}, round % 4 == 1);
                    if (round % 20 == 19) round_gather(Round{world, round, 20000, 1}, false);
                  }
                  leave_together(world);
                }),
            0);
}

// A root that fills the slots of two broadcasts counts the pieces of both in one place.
TEST(Direct, ARootGoesOnWhileReadersSleep) {
  EXPECT_EQ(run(3,
                [](int rank, Communicator& world, peer::test::Board&) {
                  for (uint64_t round = 0; round < 60; ++round) {
                    if (rank != 0 && round % 10 == 3) usleep(3000);
                    round_bcast(Round{world, round, 4000, 0});
                    round_bcast(Round{world, round, 2000, 0});
                  }
                  leave_together(world);
                }),
            0);
}

// Boards are claimed, left at different times and claimed again; communicators without one go by messages.
TEST(Direct, BoardsAreUsedAgain) {
  EXPECT_EQ(run(3,
                [](int rank, Communicator&, peer::test::Board&) {
                  std::vector<Communicator*> kept;
                  uint32_t with = 0;
                  for (uint32_t i = 0; i < 60; ++i) {
                    Communicator& comm = world_of(3, 16 + 8 * i);
                    if (rank == static_cast<int>(i % 3)) usleep(200);
                    for (uint64_t round = 0; round < 5; ++round)
                      round_bcast(Round{comm, round, 3, int(i % 3)});
                    round_reduce(Round{comm, i, 9000, 0}, true);
                    with += comm.coll->direct != nullptr;
                    if (i % 3 == 0) {
                      kept.push_back(&comm);
                    } else {
                      forget(comm);
                    }
                  }
                  CHECK_OR(21, with >= 16 && with < 60);  // 20 are kept, there are 16 boards
                  for (Communicator* comm : kept) {
                    round_reduce(Round{*comm, 1, 3, 0}, true);
                    forget(*comm);
                  }
                }),
            0);
}

TEST(Direct, RanksInDifferentCollectivesAreToldSo) {
  EXPECT_EQ(run(2,
                [](int rank, Communicator& world, peer::test::Board&) {
                  uint64_t in[8] = {}, out[8];
                  CHECK_OR(30, entry::barrier(world).ok());
                  // All wait and nobody shows anything.
                  Status status = rank == 0
                                      ? entry::gather(in, 1, MPI_UINT64_T, out, 1, MPI_UINT64_T, 0, world)
                                      : entry::scatter(in, 1, MPI_UINT64_T, out, 1, MPI_UINT64_T, 0, world);
                  CHECK_OR(31, !status.ok());
                  CHECK_OR(32, entry::barrier(world).ok());  // and they are in step again
                  // Different counts.
                  status = entry::bcast(in, rank == 0 ? 2 : 1, MPI_UINT64_T, 0, world);
                  CHECK_OR(33, status.ok() == (rank == 0));
                  if (rank == 1) CHECK_OR(34, status.code() == MPI_ERR_TRUNCATE);
                  CHECK_OR(35, entry::barrier(world).ok());
                  // One knows the lengths of all, the other only its own.
                  const int ones[2] = {1, 1}, at[2] = {0, 1};
                  const CountArray counts(ones), displs(at);
                  status = rank == 0 ? entry::allreduce(in, out, 1, MPI_UINT64_T, sum(), world)
                                     : entry::alltoallv(in, counts, displs, MPI_UINT64_T, out, counts, displs,
                                                        MPI_UINT64_T, world);
                  CHECK_OR(36, !status.ok());
                }),
            0);
}

TEST(Direct, ADeadRankIsAnErrorForTheOthers) {
  const int result = run(3, [](int rank, Communicator& world, peer::test::Board&) {
    Status status;
    const int counts[] = {30000, 1, 0}, places[] = {0, 30000, 30001};  // some by messages
    std::vector<uint64_t> in(90000), out(90000);
    for (int i = 0; status.ok() && i < 2000000; ++i) {
      if (rank == 1 && i == 1000) _exit(0);  // without a farewell, as if killed
      if (i % 4 == 0) {
        const int all[] = {counts[rank], counts[rank], counts[rank]};
        status = entry::alltoallv(in.data(), CountArray(all), CountArray(places), MPI_UINT64_T, out.data(),
                                  CountArray(counts), CountArray(places), MPI_UINT64_T, world);
      } else {
        status = entry::barrier(world);
      }
    }
    CHECK_OR(40, status.code() == MPI_ERR_PROC_ABORTED);
    _exit(0);
  });
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace vicinity::coll
