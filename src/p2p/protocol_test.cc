// SPDX-License-Identifier: BSD-3-Clause
// One endpoint against a peer that the test plays message by message.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>

#include "base/param.h"
#include "p2p/test_world.h"

namespace vicinity::p2p {
namespace {

using channel::fake::Message;
using test::World;

class ProtocolTest : public testing::Test {
 protected:
  ProtocolTest() { peer_.attach(0, nullptr); }

  // What the endpoint has sent to the peer by now.
  bool heard(Message& message) {
    base::progress();
    return peer_.take(message);
  }
  Message expect(Packet kind) {
    Message message;
    EXPECT_TRUE(heard(message)) << "nothing was sent";
    EXPECT_EQ(message.envelope.kind, static_cast<uint8_t>(kind));
    return message;
  }
  void expect_silence() {
    Message message;
    EXPECT_FALSE(heard(message));
  }
  void say(const Envelope& e, const void* body = nullptr, size_t bytes = 0) {
    ASSERT_EQ(peer_.send(e, body, bytes), channel::Answer::kDone);
    base::progress();
  }
  template <class Body>
  static Body body_of(const Message& message) {
    Body body{};
    EXPECT_EQ(message.data.size(), sizeof body);
    std::memcpy(&body, message.data.data(), std::min(sizeof body, message.data.size()));
    return body;
  }
  Request* start_send(const void* buf, size_t bytes, int tag, Mode mode = Mode::kStandard) {
    Request* request = nullptr;
    EXPECT_TRUE(
        isend(buf, static_cast<MPI_Count>(bytes), byte_, 1, tag, comm_, Lane::kUser, mode, &request).ok());
    return request;
  }
  Request* start_receive(void* buf, size_t bytes, int source, int tag) {
    Request* request = nullptr;
    EXPECT_TRUE(
        irecv(buf, static_cast<MPI_Count>(bytes), byte_, source, tag, comm_, Lane::kUser, &request).ok());
    return request;
  }
  Envelope user(Packet kind, int tag, uint32_t word = 0, uint8_t flags = 0) {
    return envelope(kind, comm_.wire_context(Lane::kUser), tag, word, flags);
  }
  // Expect: the peer is lost, and a new operation with it says why.
  void expect_lost(const char* words) {
    EXPECT_TRUE(engine().is_lost(1));
    const Status status = finish(start_receive(nullptr, 0, 1, 0));
    EXPECT_EQ(status.code(), MPI_ERR_PROC_ABORTED);
    EXPECT_NE(std::strstr(base::failure_text(MPI_ERR_PROC_ABORTED), words), nullptr)
        << base::failure_text(MPI_ERR_PROC_ABORTED);
  }

  static test::Script script() {
    test::Script s;
    s.largest = 100;
    return s;
  }
  World world_{2, [](Proc, Proc) { return script(); }};
  channel::fake::FakeEnd& peer_ = world_.end(1, 0);
  Communicator& comm_ = world_.enter(0);
  Datatype& byte_ = object::builtin(MPI_BYTE);
  char small_[8] = "1234567";
};

TEST_F(ProtocolTest, ASmallSendIsOneMessageAndNoRequest) {
  Request* request = start_send(small_, 8, 5);
  EXPECT_EQ(request, &done_send);
  const Message m = expect(Packet::kEager);
  EXPECT_EQ(m.envelope.context, comm_.wire_context(Lane::kUser));
  EXPECT_EQ(m.envelope.tag, 5);
  EXPECT_EQ(m.envelope.word, 0u);
  EXPECT_EQ(m.data.size(), 8u);
  EXPECT_TRUE(finish(request).ok());
}

TEST_F(ProtocolTest, ASynchronousSendWaitsForFin) {
  Request* request = start_send(small_, 8, 5, Mode::kSynchronous);
  const Message m = expect(Packet::kEager);
  EXPECT_EQ(m.envelope.flags, kAckWanted);
  EXPECT_FALSE(request->complete);
  say(envelope(Packet::kFin, 0, 0, m.envelope.word));
  EXPECT_TRUE(request->complete);
  EXPECT_TRUE(finish(request).ok());
}

TEST_F(ProtocolTest, AFullChannelKeepsTheOrder) {
  world_.end(0, 1).script().capacity = 1;
  Request* requests[3];
  for (int i = 0; i < 3; ++i) requests[i] = start_send(small_, 8, i);
  EXPECT_TRUE(requests[0]->complete);
  EXPECT_FALSE(requests[1]->complete);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(expect(Packet::kEager).envelope.tag, i);
  for (Request* request : requests) EXPECT_TRUE(finish(request).ok());
}

TEST_F(ProtocolTest, ALargeSendIsAnnouncedAndStreamed) {
  std::vector<char> data(1000);
  std::iota(data.begin(), data.end(), 0);
  Request* request = start_send(data.data(), data.size(), 3);
  const Message m = expect(Packet::kRts);
  EXPECT_EQ(m.envelope.flags, kReadable);
  const RtsBody rts = body_of<RtsBody>(m);
  EXPECT_EQ(rts.bytes, 1000u);
  EXPECT_EQ(rts.address, reinterpret_cast<uint64_t>(data.data()));
  const CtsBody cts{50, 900, 4711, 0};
  say(envelope(Packet::kCts, 0, 0, m.envelope.word), &cts, sizeof cts);
  // Expect: bytes 50 to 900 in order, no message longer than the channel allows.
  uint64_t next = 50;
  Message d;
  while (next < 900 && heard(d)) {
    EXPECT_EQ(d.envelope.kind, static_cast<uint8_t>(Packet::kData));
    EXPECT_EQ(d.envelope.word, 4711u);
    ASSERT_EQ(data_offset(d.envelope), next);
    ASSERT_LE(d.data.size(), 100u);
    EXPECT_EQ(std::memcmp(d.data.data(), &data[next], d.data.size()), 0);
    next += d.data.size();
  }
  EXPECT_EQ(next, 900u);
  EXPECT_TRUE(finish(request).ok());
  expect_silence();
}

TEST_F(ProtocolTest, ALargeReceiveAsksForNoMoreThanItHasRoomFor) {
  char buffer[301];
  buffer[300] = 'x';
  Request* request = start_receive(buffer, 300, MPI_ANY_SOURCE, MPI_ANY_TAG);
  const RtsBody rts{500, 0};
  say(user(Packet::kRts, 9, 77), &rts, sizeof rts);
  const Message m = expect(Packet::kCts);
  EXPECT_EQ(m.envelope.word, 77u);
  const CtsBody cts = body_of<CtsBody>(m);
  EXPECT_EQ(cts.from, 0u);
  EXPECT_EQ(cts.to, 300u);
  char chunk[100];
  for (uint64_t at = 0; at < 300; at += 100) {
    std::memset(chunk, static_cast<int>('a' + at / 100), 100);
    say(data_envelope(Packet::kData, at, cts.receiver), chunk, 100);
  }
  EXPECT_EQ(buffer[299], 'c');
  EXPECT_EQ(buffer[300], 'x');
  MPI_Status status;
  EXPECT_EQ(finish(request, &status).code(), MPI_ERR_TRUNCATE);
  EXPECT_NE(std::strstr(base::failure_text(MPI_ERR_TRUNCATE), "500 bytes"), nullptr);
  EXPECT_EQ(status.MPI_SOURCE, 1);
  EXPECT_EQ(object::get_bytes(status), 300);
  expect_silence();
}

TEST_F(ProtocolTest, ALargeMessageForNoRoomIsFinishedAtOnce) {
  const RtsBody rts{500, 0};
  say(user(Packet::kRts, 9, 77), &rts, sizeof rts);
  Request* request = start_receive(nullptr, 0, 1, 9);
  EXPECT_EQ(expect(Packet::kFin).envelope.word, 77u);
  EXPECT_EQ(finish(request).code(), MPI_ERR_TRUNCATE);
}

TEST_F(ProtocolTest, ARefusedReadGoesOnThroughTheChannel) {
  base::ParamBase* from = base::params_find("VICINITY_SINGLE_COPY_FROM");
  ASSERT_TRUE(from->parse("0", "the test").ok());
  world_.at(0).connections[1].allow_single_copy(true, "a test");  // process 0 cannot be read
  char buffer[200];
  Request* request = start_receive(buffer, 200, 1, 9);
  const RtsBody rts{200, 4096};
  say(user(Packet::kRts, 9, 77, kReadable), &rts, sizeof rts);
  const CtsBody cts = body_of<CtsBody>(expect(Packet::kCts));
  EXPECT_EQ(cts.from, 0u);
  EXPECT_EQ(cts.to, 200u);
  EXPECT_FALSE(world_.at(0).connections[1].single_copy());
  char chunk[100] = {};
  say(data_envelope(Packet::kData, 0, cts.receiver), chunk, 100);
  say(data_envelope(Packet::kData, 100, cts.receiver), chunk, 100);
  EXPECT_TRUE(finish(request).ok());
  ASSERT_TRUE(from->parse(std::to_string(INT64_MAX).c_str(), "the test").ok());
}

TEST_F(ProtocolTest, AnUnmatchedSendCanBeCancelled) {
  Request* request = start_send(small_, 8, 5, Mode::kSynchronous);
  const uint32_t id = expect(Packet::kEager).envelope.word;
  EXPECT_TRUE(cancel_send(*request).ok());
  EXPECT_TRUE(cancel_send(*request).ok());  // Expect: asks once
  EXPECT_EQ(expect(Packet::kCancel).envelope.word, id);
  expect_silence();
  say(envelope(Packet::kCancelAnswer, 0, 0, id, kCancelled));
  EXPECT_TRUE(request->complete);
  EXPECT_TRUE(get_cancelled(request->status));
  EXPECT_TRUE(finish(request).ok());
}

TEST_F(ProtocolTest, AMatchedSendIsNotCancelled) {
  Request* request = start_send(small_, 8, 5, Mode::kSynchronous);
  const uint32_t id = expect(Packet::kEager).envelope.word;
  EXPECT_TRUE(cancel_send(*request).ok());
  say(envelope(Packet::kFin, 0, 0, id));
  say(envelope(Packet::kCancelAnswer, 0, 0, id));  // Expect: too late, and ignored
  EXPECT_FALSE(get_cancelled(request->status));
  EXPECT_TRUE(finish(request).ok());
  EXPECT_FALSE(engine().is_lost(1));
}

TEST_F(ProtocolTest, ACancelledMessageIsGone) {
  say(user(Packet::kEager, 5, 66, kAckWanted), small_, 8);
  EXPECT_EQ(engine().counters.unexpected, 1u);
  say(user(Packet::kCancel, 5, 66));
  const Message yes = expect(Packet::kCancelAnswer);
  EXPECT_EQ(yes.envelope.word, 66u);
  EXPECT_EQ(yes.envelope.flags, kCancelled);
  EXPECT_EQ(engine().counters.unexpected, 0u);
  say(user(Packet::kCancel, 5, 66));
  EXPECT_EQ(expect(Packet::kCancelAnswer).envelope.flags, 0);
}

TEST_F(ProtocolTest, MessagesOfAnUnknownContextWait) {
  say(envelope(Packet::kEager, 4000, 1, 0), small_, 8);
  EXPECT_EQ(engine().counters.unexpected, 1u);
  object::Communicator other;
  other.handle = 1;
  other.context = 4000;
  other.group = comm_.group;
  char buffer[8] = "";
  MPI_Status status;
  EXPECT_TRUE(recv(buffer, 8, byte_, 1, 1, other, Lane::kUser, &status).ok());
  EXPECT_STREQ(buffer, small_);
  forget(other);
}

TEST_F(ProtocolTest, ALostPeerFailsEverythingThatNeedsIt) {
  char buffer[8];
  Request* named = start_receive(buffer, 8, 1, 1);
  Request* any = start_receive(buffer, 8, MPI_ANY_SOURCE, 1);
  Request* own = start_receive(buffer, 8, 0, 1);
  Request* synchronous = start_send(small_, 8, 5, Mode::kSynchronous);
  std::vector<char> data(1000);
  Request* large = start_send(data.data(), data.size(), 5);
  engine().lost(1, "killed by signal 9");
  for (Request* request : {named, any, synchronous, large}) {
    ASSERT_TRUE(request->complete);
    EXPECT_EQ(finish(request).code(), MPI_ERR_PROC_ABORTED);
    EXPECT_NE(std::strstr(base::failure_text(MPI_ERR_PROC_ABORTED), "killed by signal 9"), nullptr);
  }
  EXPECT_FALSE(own->complete);
  EXPECT_TRUE(cancel_receive(*own).ok());
  EXPECT_TRUE(finish(own).ok());
  EXPECT_EQ(finish(start_send(data.data(), data.size(), 5)).code(), MPI_ERR_PROC_ABORTED);
  expect_lost("killed by signal 9");
}

TEST_F(ProtocolTest, AQueuedSendFailsWhenItsConnectionDoes) {
  world_.end(0, 1).script().capacity = 0;
  Request* request = start_send(small_, 8, 5, Mode::kSynchronous);
  engine().lost(1, "gone");
  EXPECT_FALSE(request->complete);  // Expect: the connection still holds it
  world_.at(0).connections[1].lose("gone");
  base::progress();
  ASSERT_TRUE(request->complete);
  EXPECT_EQ(finish(request).code(), MPI_ERR_PROC_ABORTED);
}

TEST_F(ProtocolTest, AMessageThatCameBeforeTheEndIsDelivered) {
  say(user(Packet::kEager, 5), small_, 8);
  engine().lost(1, "gone");
  char buffer[8] = "";
  EXPECT_TRUE(finish(start_receive(buffer, 8, 1, 5)).ok());
  EXPECT_STREQ(buffer, small_);
}

// Each of these is a lie; none may do more than end the peer.
TEST_F(ProtocolTest, FinForNothing) {
  say(envelope(Packet::kFin, 0, 0, 12345));
  expect_lost("acknowledged");
}
TEST_F(ProtocolTest, CtsForNothing) {
  const CtsBody cts{0, 10, 1, 0};
  say(envelope(Packet::kCts, 0, 0, 0), &cts, sizeof cts);
  expect_lost("did not announce");
}
TEST_F(ProtocolTest, CtsBeyondTheEnd) {
  std::vector<char> data(1000);
  Request* request = start_send(data.data(), data.size(), 3);
  const CtsBody cts{0, 1001, 1, 0};
  say(envelope(Packet::kCts, 0, 0, expect(Packet::kRts).envelope.word), &cts, sizeof cts);
  EXPECT_EQ(finish(request).code(), MPI_ERR_PROC_ABORTED);
  expect_lost("beyond the end");
}
TEST_F(ProtocolTest, ControlOfTheWrongSize) {
  say(envelope(Packet::kCts, 0, 0, 1), small_, 3);
  expect_lost("wrong size");
}
TEST_F(ProtocolTest, ControlThatIsTooLong) {
  const char body[90] = {};
  say(envelope(Packet::kCts, 0, 0, 1), body, sizeof body);
  expect_lost("longer than 64");
}
TEST_F(ProtocolTest, UnknownKind) {
  say(envelope(static_cast<Packet>(kFirstOneSided - 1), 0, 0, 1));
  expect_lost("unknown kind");
}
TEST_F(ProtocolTest, AWindowThatNeverWas) {
  say(envelope(static_cast<Packet>(kFirstOneSided), 0, 0, 1));
  expect_lost("there was never a window");
}
TEST_F(ProtocolTest, ImpossibleLength) {
  const RtsBody rts{UINT64_MAX, 0};
  say(user(Packet::kRts, 9, 77), &rts, sizeof rts);
  expect_lost("impossible length");
}
TEST_F(ProtocolTest, DataThatDoesNotFollow) {
  for (const uint64_t offset : {uint64_t{100}, uint64_t{1} << 40, UINT64_MAX}) {
    World world(2, [](Proc, Proc) { return script(); });
    Communicator& comm = world.enter(0);
    channel::fake::FakeEnd& peer = world.end(1, 0);
    peer.attach(0, nullptr);
    char buffer[200];
    Request* request = nullptr;
    ASSERT_TRUE(irecv(buffer, 200, byte_, 1, 9, comm, Lane::kUser, &request).ok());
    const RtsBody rts{200, 0};
    ASSERT_EQ(peer.send(envelope(Packet::kRts, comm.context, 9, 7), &rts, sizeof rts),
              channel::Answer::kDone);
    base::progress();
    Message m;
    ASSERT_TRUE(peer.take(m));
    ASSERT_EQ(peer.send(data_envelope(Packet::kData, offset, body_of<CtsBody>(m).receiver), buffer, 50),
              channel::Answer::kDone);
    base::progress();
    EXPECT_EQ(finish(request).code(), MPI_ERR_PROC_ABORTED);
  }
  world_.enter(0);
}
TEST_F(ProtocolTest, DataForNobody) {
  say(data_envelope(Packet::kData, 0, 99), small_, 8);
  expect_lost("does not follow");
}

}  // namespace
}  // namespace vicinity::p2p
