// SPDX-License-Identifier: BSD-3-Clause
// Checks of a door, one by one, with stand-ins for the error handlers of world/.
#include "door.h"

#include <gtest/gtest.h>

#include "object/error.h"
#include "object/pool.h"
#include "world/raise.h"

namespace vicinity {
namespace {

struct Raised {
  int calls = 0;
  int code = 0;
  std::string function, text;
  object::Communicator* comm = nullptr;
  object::Window* window = nullptr;
} raised;

int record(const char* function, base::Status status, object::Communicator* comm) {
  ++raised.calls;
  raised.code = status.code();
  raised.function = function;
  raised.text = base::failure_text(status.code());
  raised.comm = comm;
  return status.code();
}

}  // namespace

namespace world {
std::atomic<State> state = State::kRunning;
void attend_to_news() { state = State::kRunning; }
int raise(const char* function, base::Status status, object::Communicator* comm) {
  return record(function, status, comm);
}
int raise_window(const char* function, base::Status status, object::Window& window) {
  raised.window = &window;
  return record(function, status, nullptr);
}
int raise_session(const char* function, base::Status status, MPI_Session) {
  return record(function, status, nullptr);
}
int raise_file(const char* function, base::Status status, MPI_File) {
  return record(function, status, nullptr);
}
}  // namespace world

namespace {

using door::Door;
using object::Communicator;
using object::Datatype;

class DoorTest : public ::testing::Test {
 protected:
  DoorTest() {
    raised = {};
    world::state = world::State::kRunning;
    group.procs = {0, 1, 2, 3};
    comm = object::make<Communicator>();
    comm->group = &group;
    type = object::make<Datatype>();
  }
  ~DoorTest() override {
    object::destroy(comm);
    object::destroy(type);
  }
  MPI_Comm comm_handle() const { return object::handle_of(*comm); }
  MPI_Datatype type_handle() const { return object::handle_of(*type); }

  object::Group group;
  Communicator* comm;
  Datatype* type;
};

TEST_F(DoorTest, SucceedsWithoutAHandler) {
  Door door("MPI_X");
  Communicator* found = nullptr;
  EXPECT_TRUE(door.running() && door.handle(comm_handle(), found, "comm") && door.dest(3, *found, "dest") &&
              door.tag(object::kTagUpperBound, "tag") && door.count(0, "count"));
  EXPECT_EQ(found, comm);
  EXPECT_EQ(door.finish(), MPI_SUCCESS);
  EXPECT_EQ(raised.calls, 0);
}

TEST_F(DoorTest, NamesTheFunctionTheValueAndTheRemedy) {
  Door door("MPI_X");
  Communicator* found = nullptr;
  EXPECT_FALSE(door.handle(comm_handle(), found, "comm") && door.dest(4, *found, "dest"));
  EXPECT_EQ(door.finish(), MPI_ERR_RANK);
  EXPECT_EQ(raised.function, "MPI_X");
  EXPECT_EQ(raised.comm, comm);
  EXPECT_EQ(raised.text, "argument `dest` is 4, the communicator has 4 ranks");
}

TEST_F(DoorTest, AWindowTakesItsErrorsItself) {
  auto* window = object::make<object::Window>();
  object::Window* found = nullptr;
  Datatype* none = nullptr;
  {
    Door door("MPI_X");
    EXPECT_FALSE(door.handle(object::handle_of(*window), found, "win") &&
                 door.handle(MPI_DATATYPE_NULL, none, "datatype"));
    EXPECT_EQ(door.finish(), MPI_ERR_TYPE);
    EXPECT_EQ(raised.window, window);
  }
  raised = {};
  {
    Door door("MPI_X");
    EXPECT_FALSE(door.handle(MPI_WIN_NULL, found, "win"));
    EXPECT_EQ(door.finish(), MPI_ERR_WIN);
    EXPECT_EQ(raised.window, nullptr);
  }
  {
    Door door("MPI_X");
    object::blame(window);  // as a request of a window does
    door.take(object::fail(MPI_ERR_RMA_RANGE, "somewhere else"));
    EXPECT_EQ(door.finish(), MPI_ERR_RMA_RANGE);
    EXPECT_EQ(raised.window, window);
    EXPECT_EQ(object::blamed_window(), nullptr);
  }
  object::destroy(window);
}

TEST_F(DoorTest, AttendsToNewsFirst) {
  world::state = world::State::kNews;
  Door door("MPI_X");
  EXPECT_TRUE(door.running());
  EXPECT_EQ(world::state, world::State::kRunning);
}

TEST_F(DoorTest, RefusesBeforeAndAfter) {
  for (auto state : {world::State::kBefore, world::State::kAfter}) {
    world::state = state;
    Door door("MPI_X");
    EXPECT_FALSE(door.running());
    EXPECT_EQ(door.finish(), MPI_ERR_OTHER);
    EXPECT_NE(raised.text.find(state == world::State::kBefore ? "before" : "after"), std::string::npos);
  }
}

TEST_F(DoorTest, RefusesHandlesThatAreNone) {
  object::Communicator* found = nullptr;
  Communicator* freed = object::make<Communicator>();
  const MPI_Comm stale = object::handle_of(*freed);
  object::destroy(freed);
  for (MPI_Comm handle : {MPI_COMM_NULL, MPI_Comm(nullptr), stale, reinterpret_cast<MPI_Comm>(type_handle()),
                          reinterpret_cast<MPI_Comm>(MPI_INT)}) {
    Door door("MPI_X");
    EXPECT_FALSE(door.handle(handle, found, "comm"));
    EXPECT_EQ(door.finish(), MPI_ERR_COMM);
    EXPECT_EQ(raised.comm, nullptr);
    EXPECT_NE(raised.text.find("`comm`"), std::string::npos);
  }
}

TEST_F(DoorTest, RanksAndTagsOfReceives) {
  Door door("MPI_X");
  EXPECT_TRUE(door.source(MPI_ANY_SOURCE, *comm, "source"));
  EXPECT_TRUE(door.source(MPI_PROC_NULL, *comm, "source"));
  EXPECT_TRUE(door.recv_tag(MPI_ANY_TAG, "tag"));
  EXPECT_TRUE(door.dest(MPI_PROC_NULL, *comm, "dest"));
  EXPECT_FALSE(door.dest(MPI_ANY_SOURCE, *comm, "dest"));
  EXPECT_FALSE(door.member(MPI_PROC_NULL, *comm, "rank"));
  EXPECT_FALSE(door.source(MPI_ROOT, *comm, "source"));
  EXPECT_FALSE(door.tag(MPI_ANY_TAG, "tag"));
  EXPECT_FALSE(door.recv_tag(-1, "tag"));
  EXPECT_FALSE(door.tag(object::kTagUpperBound + 1, "tag"));
}

TEST_F(DoorTest, RanksOfAnIntercommunicatorAreThoseOfTheRemoteGroup) {
  object::Group remote;
  remote.procs = {4};
  comm->remote = &remote;
  Door door("MPI_X");
  EXPECT_TRUE(door.dest(0, *comm, "dest"));
  EXPECT_FALSE(door.dest(1, *comm, "dest"));
  comm->remote = nullptr;
}

TEST_F(DoorTest, DatatypesMustBeCommitted) {
  Datatype* found = nullptr;
  Door door("MPI_X");
  EXPECT_FALSE(door.committed(type_handle(), found, "datatype"));
  EXPECT_EQ(door.finish(), MPI_ERR_TYPE);
  EXPECT_NE(raised.text.find("MPI_Type_commit"), std::string::npos);
  type->committed = true;
  EXPECT_TRUE(door.committed(type_handle(), found, "datatype"));
}

TEST_F(DoorTest, NullBuffersAreForDerivedTypes) {
  Door door("MPI_X");
  type->size = 4;
  EXPECT_TRUE(door.buffer(nullptr, 1, *type, "buf"));
  Datatype builtin;
  builtin.handle = reinterpret_cast<uintptr_t>(MPI_INT);
  builtin.size = 4;
  EXPECT_TRUE(door.buffer(nullptr, 0, builtin, "buf"));
  EXPECT_FALSE(door.buffer(nullptr, 1, builtin, "buf"));
  EXPECT_EQ(door.finish(), MPI_ERR_BUFFER);
}

TEST_F(DoorTest, ArraysMayBeMissingWhenEmpty) {
  Door door("MPI_X");
  EXPECT_TRUE(door.array(nullptr, 0, "values"));
  EXPECT_FALSE(door.array(nullptr, 2, "values"));
  EXPECT_FALSE(door.count(-1, "count"));
  EXPECT_EQ(door.finish(), MPI_ERR_COUNT);
}

TEST_F(DoorTest, OutputsAreWrittenAfterSuccessOnly) {
  MPI_Comm out = MPI_COMM_SELF;
  int number = 7;
  Door good("MPI_X");
  good.give(&out, comm, MPI_COMM_NULL);
  good.narrow(&number, MPI_Count{1} << 40);
  EXPECT_EQ(out, comm_handle());
  EXPECT_EQ(number, MPI_UNDEFINED);
  good.give(&out, static_cast<Communicator*>(nullptr), MPI_COMM_NULL);
  EXPECT_EQ(out, MPI_COMM_NULL);
  Door bad("MPI_X");
  bad.take(base::Status(MPI_ERR_ARG));
  bad.give(&out, comm, MPI_COMM_NULL);
  bad.narrow(&number, 1);
  EXPECT_EQ(out, MPI_COMM_NULL);
  EXPECT_EQ(number, MPI_UNDEFINED);
}

TEST_F(DoorTest, BlameTakesThePlaceOfACommunicator) {
  object::blame(comm);
  Door door("MPI_Wait");
  door.take(base::Status(MPI_ERR_TRUNCATE));
  EXPECT_EQ(door.finish(), MPI_ERR_TRUNCATE);
  EXPECT_EQ(raised.comm, comm);
  EXPECT_EQ(object::blamed(), nullptr);
}

TEST_F(DoorTest, ToolsInterfaceCallsNoHandler) {
  Door door("MPI_T_x");
  door.take(base::Status(MPI_T_ERR_INVALID_INDEX));
  EXPECT_EQ(door.finish_tool(), MPI_T_ERR_INVALID_INDEX);
  EXPECT_EQ(raised.calls, 0);
}

}  // namespace
}  // namespace vicinity
