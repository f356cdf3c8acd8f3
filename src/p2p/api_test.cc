// SPDX-License-Identifier: BSD-3-Clause
// The entries behind the MPI_ functions, between two endpoints of one process.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "entry_p2p.h"
#include "object/datatype_create.h"
#include "p2p/test_world.h"

namespace vicinity::p2p {
namespace {

using test::World;

test::Script script() {
  test::Script s;
  s.largest = 1000;
  s.capacity = 4;
  return s;
}

class ApiTest : public testing::Test {
 protected:
  // Sends `text` from endpoint 0 to endpoint 1 and leaves endpoint 1 current.
  void send(const char* text, int tag) {
    world_.enter(0);
    ASSERT_TRUE(entry::send(text, static_cast<MPI_Count>(std::strlen(text) + 1), char_, 1, tag, zero_).ok());
    world_.enter(1);
  }
  World world_{2, [](Proc, Proc) { return script(); }};
  Communicator& zero_ = world_.at(0).comm;
  Communicator& one_ = world_.at(1).comm;
  Datatype& char_ = object::builtin(MPI_CHAR);
  char buffer_[64] = "";
};

TEST_F(ApiTest, SingleCompletionsLeaveTheErrorFieldAlone) {
  send("hello", 4);
  MPI_Status status;
  status.MPI_ERROR = 12345;
  ASSERT_TRUE(entry::recv(buffer_, 64, char_, MPI_ANY_SOURCE, MPI_ANY_TAG, one_, &status).ok());
  EXPECT_STREQ(buffer_, "hello");
  EXPECT_EQ(status.MPI_SOURCE, 0);
  EXPECT_EQ(status.MPI_TAG, 4);
  EXPECT_EQ(status.MPI_ERROR, 12345);
  MPI_Count count = 0;
  ASSERT_TRUE(entry::get_count(&status, char_, &count).ok());
  EXPECT_EQ(count, 6);
  ASSERT_TRUE(entry::get_count(&status, object::builtin(MPI_INT), &count).ok());
  EXPECT_EQ(count, MPI_UNDEFINED);
}

TEST_F(ApiTest, ProcNull) {
  MPI_Status status;
  MPI_Request request;
  int flag = 0;
  MPI_Message message;
  ASSERT_TRUE(entry::send(nullptr, 0, char_, MPI_PROC_NULL, 1, zero_).ok());
  ASSERT_TRUE(entry::irecv(buffer_, 9, char_, MPI_PROC_NULL, 1, zero_, &request).ok());
  ASSERT_TRUE(entry::wait(&request, &status).ok());
  EXPECT_EQ(request, MPI_REQUEST_NULL);
  EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
  ASSERT_TRUE(entry::improbe(MPI_PROC_NULL, 1, zero_, &flag, &message, &status).ok());
  EXPECT_EQ(message, MPI_MESSAGE_NO_PROC);
  ASSERT_TRUE(entry::mrecv(buffer_, 9, char_, &message, &status).ok());
  EXPECT_EQ(message, MPI_MESSAGE_NULL);
}

TEST_F(ApiTest, MatchedProbeTakesTheMessageAway) {
  send("first", 1);
  send("second", 1);
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  ASSERT_TRUE(entry::mprobe(0, 1, one_, &message, &status).ok());
  MPI_Count count = 0;
  ASSERT_TRUE(entry::get_count(&status, char_, &count).ok());
  EXPECT_EQ(count, 6);
  ASSERT_TRUE(entry::recv(buffer_, 64, char_, 0, 1, one_, nullptr).ok());
  EXPECT_STREQ(buffer_, "second");
  MPI_Message stale = message;
  ASSERT_TRUE(entry::mrecv(buffer_, 64, char_, &message, &status).ok());
  EXPECT_STREQ(buffer_, "first");
  EXPECT_EQ(entry::mrecv(buffer_, 64, char_, &stale, &status).code(), MPI_ERR_ARG);
  int flag = 1;
  ASSERT_TRUE(entry::iprobe(0, 1, one_, &flag, nullptr).ok());
  EXPECT_EQ(flag, 0);
}

TEST_F(ApiTest, WaitallTellsEachErrorInItsStatus) {
  world_.enter(1);
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  ASSERT_TRUE(entry::irecv(buffer_, 2, char_, 0, 1, one_, &requests[0]).ok());
  ASSERT_TRUE(entry::irecv(buffer_ + 8, 9, char_, 0, 2, one_, &requests[2]).ok());
  send("long", 1);
  send("ok", 2);
  MPI_Status statuses[3];
  for (MPI_Status& status : statuses) status.MPI_ERROR = 999;
  EXPECT_EQ(entry::waitall(3, requests, statuses).code(), MPI_ERR_IN_STATUS);
  EXPECT_EQ(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
  EXPECT_EQ(statuses[1].MPI_ERROR, MPI_SUCCESS);
  EXPECT_EQ(statuses[2].MPI_ERROR, MPI_SUCCESS);
  for (MPI_Request request : requests) EXPECT_EQ(request, MPI_REQUEST_NULL);
}

TEST_F(ApiTest, NothingToWaitFor) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int index = 0, flag = 0, outcount = 0, indices[2];
  MPI_Status status;
  ASSERT_TRUE(entry::waitany(2, requests, &index, &status).ok());
  EXPECT_EQ(index, MPI_UNDEFINED);
  EXPECT_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
  status.MPI_ERROR = 777;
  ASSERT_TRUE(entry::wait(&requests[0], &status).ok());
  EXPECT_EQ(status.MPI_ERROR, MPI_SUCCESS);  // Expect: an empty status is empty altogether
  ASSERT_TRUE(entry::testany(2, requests, &index, &flag, &status).ok());
  EXPECT_TRUE(flag && index == MPI_UNDEFINED);
  ASSERT_TRUE(entry::waitsome(2, requests, &outcount, indices, nullptr).ok());
  EXPECT_EQ(outcount, MPI_UNDEFINED);
  ASSERT_TRUE(entry::testall(2, requests, &flag, nullptr).ok());
  EXPECT_EQ(flag, 1);
  ASSERT_TRUE(entry::request_get_status_some(2, requests, &outcount, indices, nullptr).ok());
  EXPECT_EQ(outcount, MPI_UNDEFINED);
}

TEST_F(ApiTest, WaitanyAndWaitsomeTakeWhatIsComplete) {
  world_.enter(1);
  MPI_Request requests[3];
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(entry::irecv(buffer_ + 8 * i, 8, char_, 0, i, one_, &requests[i]).ok());
  send("b", 1);
  int index = -1, outcount = 0, indices[3];
  MPI_Status statuses[3];
  ASSERT_TRUE(entry::waitany(3, requests, &index, statuses).ok());
  EXPECT_EQ(index, 1);
  EXPECT_EQ(requests[1], MPI_REQUEST_NULL);
  send("c", 2);
  send("a", 0);
  while (outcount < 2) {
    int some = 0;
    ASSERT_TRUE(entry::waitsome(3, requests, &some, indices, statuses).ok());
    ASSERT_GT(some, 0);
    outcount += some;
  }
  EXPECT_STREQ(buffer_, "a");
  EXPECT_STREQ(buffer_ + 16, "c");
}

TEST_F(ApiTest, AFreedHandleIsNoticed) {
  world_.enter(1);
  MPI_Request request;
  ASSERT_TRUE(entry::irecv(buffer_, 8, char_, 0, 0, one_, &request).ok());
  MPI_Request stale = request;
  ASSERT_TRUE(entry::cancel(&request).ok());
  MPI_Status status;
  int cancelled = 0;
  ASSERT_TRUE(entry::wait(&request, &status).ok());
  ASSERT_TRUE(entry::test_cancelled(&status, &cancelled).ok());
  EXPECT_EQ(cancelled, 1);
  EXPECT_EQ(entry::wait(&stale, &status).code(), MPI_ERR_REQUEST);
}

TEST_F(ApiTest, PersistentRequestsGoRound) {
  MPI_Request send_request, receive_request;
  char out[4] = "a";
  world_.enter(0);
  ASSERT_TRUE(entry::ssend_init(out, 2, char_, 1, 3, zero_, &send_request).ok());
  world_.enter(1);
  ASSERT_TRUE(entry::recv_init(buffer_, 2, char_, MPI_ANY_SOURCE, 3, one_, &receive_request).ok());
  MPI_Status status;
  ASSERT_TRUE(entry::wait(&receive_request, &status).ok());  // Expect: inactive, so empty
  EXPECT_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
  for (int round = 0; round < 3; ++round) {
    out[0] = static_cast<char>('a' + round);
    world_.enter(0);
    ASSERT_TRUE(entry::start(&send_request).ok());
    EXPECT_EQ(entry::start(&send_request).code(), MPI_ERR_REQUEST);
    world_.enter(1);
    ASSERT_TRUE(entry::startall(1, &receive_request).ok());
    ASSERT_TRUE(entry::wait(&receive_request, &status).ok());
    EXPECT_EQ(status.MPI_SOURCE, 0);
    EXPECT_EQ(buffer_[0], out[0]);
    world_.enter(0);
    ASSERT_TRUE(entry::wait(&send_request, &status).ok());
    EXPECT_NE(send_request, MPI_REQUEST_NULL);
  }
  ASSERT_TRUE(entry::request_free(&send_request).ok());
  EXPECT_EQ(send_request, MPI_REQUEST_NULL);
  world_.enter(1);
  ASSERT_TRUE(entry::request_free(&receive_request).ok());
}

TEST_F(ApiTest, AnActiveRequestMayBeFreed) {
  std::vector<char> data(5000, 'x');
  MPI_Request request;
  world_.enter(0);
  ASSERT_TRUE(entry::isend(data.data(), 5000, char_, 1, 1, zero_, &request).ok());
  ASSERT_TRUE(entry::request_free(&request).ok());
  EXPECT_EQ(engine().freed_sends, 1u);
  std::vector<char> got(5000);
  world_.enter(1);
  ASSERT_TRUE(entry::recv(got.data(), 5000, char_, 0, 1, one_, nullptr).ok());
  EXPECT_EQ(got, data);
  world_.enter(0);
  EXPECT_TRUE(test::eventually([] { return engine().freed_sends == 0; }));
}

TEST_F(ApiTest, BufferedSendsNeedRoom) {
  world_.enter(0);
  EXPECT_EQ(entry::bsend("x", 2, char_, 1, 1, zero_).code(), MPI_ERR_BUFFER);
  std::vector<char> memory(2 * (5000 + MPI_BSEND_OVERHEAD));
  ASSERT_TRUE(entry::buffer_attach(memory.data(), static_cast<MPI_Count>(memory.size())).ok());
  EXPECT_EQ(entry::buffer_attach(memory.data(), 9).code(), MPI_ERR_BUFFER);
  std::vector<char> data(5000, 'q');
  MPI_Request flush;
  ASSERT_TRUE(entry::bsend(data.data(), 5000, char_, 1, 1, zero_).ok());
  ASSERT_TRUE(entry::buffer_iflush(&flush).ok());
  ASSERT_TRUE(entry::bsend(data.data(), 5000, char_, 1, 1, zero_).ok());
  EXPECT_EQ(entry::bsend(data.data(), 5000, char_, 1, 1, zero_).code(), MPI_ERR_BUFFER);
  int flag = 1;
  ASSERT_TRUE(entry::test(&flush, &flag, nullptr).ok());
  EXPECT_EQ(flag, 0);
  for (int i = 0; i < 2; ++i) {
    std::vector<char> got(5000);
    world_.enter(1);
    ASSERT_TRUE(entry::recv(got.data(), 5000, char_, 0, 1, one_, nullptr).ok());
    EXPECT_EQ(got, data);
    world_.enter(0);
    ASSERT_TRUE(entry::wait(&flush, nullptr).ok());
  }
  void* address = nullptr;
  MPI_Count size = 0;
  ASSERT_TRUE(entry::buffer_detach(&address, &size).ok());
  EXPECT_EQ(address, memory.data());
  EXPECT_EQ(size, static_cast<MPI_Count>(memory.size()));
}

TEST_F(ApiTest, TheBufferOfTheCommunicatorGoesFirst) {
  world_.enter(0);
  ASSERT_TRUE(entry::comm_attach_buffer(zero_, MPI_BUFFER_AUTOMATIC, 0).ok());
  ASSERT_TRUE(entry::bsend("auto", 5, char_, 1, 1, zero_).ok());
  world_.enter(1);
  ASSERT_TRUE(entry::recv(buffer_, 5, char_, 0, 1, one_, nullptr).ok());
  EXPECT_STREQ(buffer_, "auto");
  world_.enter(0);
  void* address = nullptr;
  MPI_Count size = 1;
  ASSERT_TRUE(entry::comm_detach_buffer(zero_, &address, &size).ok());
  EXPECT_EQ(address, MPI_BUFFER_AUTOMATIC);
  EXPECT_EQ(size, 0);
}

TEST_F(ApiTest, ReplacingExchange) {
  char a[3000], b[3000];
  std::memset(a, 'a', sizeof a);
  std::memset(b, 'b', sizeof b);
  MPI_Request request;
  world_.enter(0);
  ASSERT_TRUE(entry::isendrecv_replace(a, 3000, char_, 1, 1, 1, 2, zero_, &request).ok());
  world_.enter(1);
  MPI_Status status;
  ASSERT_TRUE(entry::sendrecv_replace(b, 3000, char_, 0, 2, 0, 1, one_, &status).ok());
  EXPECT_EQ(status.MPI_TAG, 1);
  world_.enter(0);
  ASSERT_TRUE(entry::wait(&request, &status).ok());
  EXPECT_EQ(status.MPI_TAG, 2);
  EXPECT_EQ(a[2999], 'b');
  EXPECT_EQ(b[2999], 'a');
}

int queries = 0, frees = 0, cancels = 0;

TEST_F(ApiTest, GeneralizedRequests) {
  MPI_Request request;
  auto query = [](void*, MPI_Status* status) {
    ++queries;
    status->MPI_TAG = 42;
    return MPI_SUCCESS;
  };
  auto release = [](void*) { return ++frees, MPI_SUCCESS; };
  auto cancel = [](void*, int) { return ++cancels, MPI_SUCCESS; };
  ASSERT_TRUE(entry::grequest_start(query, release, cancel, nullptr, &request).ok());
  int flag = 1;
  ASSERT_TRUE(entry::test(&request, &flag, nullptr).ok());
  EXPECT_EQ(flag, 0);
  ASSERT_TRUE(entry::cancel(&request).ok());
  EXPECT_EQ(cancels, 1);
  ASSERT_TRUE(entry::grequest_complete(request).ok());
  MPI_Status status;
  ASSERT_TRUE(entry::wait(&request, &status).ok());
  EXPECT_EQ(status.MPI_TAG, 42);
  EXPECT_EQ(queries, 1);
  EXPECT_EQ(frees, 1);
  // Expect: freed before it is complete: no query, and freed when it is complete.
  ASSERT_TRUE(entry::grequest_start(query, release, cancel, nullptr, &request).ok());
  MPI_Request kept = request;
  ASSERT_TRUE(entry::request_free(&request).ok());
  EXPECT_EQ(frees, 1);
  ASSERT_TRUE(entry::grequest_complete(kept).ok());
  EXPECT_EQ(queries, 1);
  EXPECT_EQ(frees, 2);
}

class PartitionedTest : public ApiTest, public testing::WithParamInterface<uint32_t> {};

// Sender and receiver divide the same ints differently, mark them in random order, and go round.
TEST_P(PartitionedTest, AllBytesArriveInEveryRound) {
  std::mt19937 random(GetParam());
  const int sends = 1 << random() % 5, receives = 1 << random() % 5,
            total = 16 * (1 + static_cast<int>(random() % 200));
  std::vector<int> out(static_cast<size_t>(2 * total)), in(out.size());
  auto vector = object::type_vector(1, 1, 2, object::builtin(MPI_INT), false);
  auto spread = object::type_resized(**vector, 0, 8, false);
  object::commit(**spread);
  Datatype& sparse = **spread;
  Datatype& dense = object::builtin(MPI_INT);
  const bool out_sparse = random() % 2, in_sparse = random() % 2, receive_first = random() % 2;
  MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
  for (int turn = 0; turn < 2; ++turn) {
    if ((turn == 0) == receive_first) {
      world_.enter(1);
      ASSERT_TRUE(entry::precv_init(in.data(), receives, total / receives, in_sparse ? sparse : dense, 0, 7,
                                    one_, nullptr, &receive)
                      .ok());
    } else {
      world_.enter(0);
      ASSERT_TRUE(entry::psend_init(out.data(), sends, total / sends, out_sparse ? sparse : dense, 1, 7,
                                    zero_, nullptr, &send)
                      .ok());
    }
  }
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < total; ++i) out[static_cast<size_t>(out_sparse ? 2 * i : i)] = 1000 * round + i;
    world_.enter(1);
    ASSERT_TRUE(entry::start(&receive).ok());
    world_.enter(0);
    ASSERT_TRUE(entry::start(&send).ok());
    std::vector<int> order(static_cast<size_t>(sends));
    for (int i = 0; i < sends; ++i) order[static_cast<size_t>(i)] = i;
    std::shuffle(order.begin(), order.end(), random);
    for (int partition : order) {
      ASSERT_TRUE(entry::pready(partition, send).ok());
      EXPECT_EQ(entry::pready(partition, send).code(), MPI_ERR_ARG);
    }
    world_.enter(1);
    int arrived = 0;
    const int last = receives - 1;
    ASSERT_TRUE(test::eventually([&] { return entry::parrived(receive, last, &arrived).ok() && arrived; }));
    EXPECT_EQ(in[static_cast<size_t>(in_sparse ? 2 * (total - 1) : total - 1)], 1000 * round + total - 1);
    MPI_Status status;
    ASSERT_TRUE(entry::wait(&receive, &status).ok());
    EXPECT_EQ(object::get_bytes(status), 4 * total);
    world_.enter(0);
    ASSERT_TRUE(entry::wait(&send, nullptr).ok());
    for (int i = 0; i < total; ++i)
      ASSERT_EQ(in[static_cast<size_t>(in_sparse ? 2 * i : i)], 1000 * round + i);
  }
  ASSERT_TRUE(entry::request_free(&send).ok());
  world_.enter(1);
  ASSERT_TRUE(entry::request_free(&receive).ok());
  object::release(&sparse);
  object::release(*vector);
}

INSTANTIATE_TEST_SUITE_P(Seeds, PartitionedTest, testing::Range(1u, 41u));

TEST_F(ApiTest, APartitionedReceiveMayBeFreedUnmatched) {
  MPI_Request receive;
  world_.enter(1);
  ASSERT_TRUE(entry::precv_init(buffer_, 2, 4, char_, 0, 7, one_, nullptr, &receive).ok());
  ASSERT_TRUE(entry::request_free(&receive).ok());
  EXPECT_EQ(engine().counters.posted, 0u);
}

}  // namespace
}  // namespace vicinity::p2p
