// SPDX-License-Identifier: BSD-3-Clause
// The list of performance variables and where their values come from.
#include <cstring>

#include "p2p/counters.h"
#include "p2p/p2p.h"
#include "peer/peer.h"
#include "world/instance.h"
#include "world/tool/tool.h"

namespace vicinity::world::tool {
namespace {

using P2pCounter = uint64_t p2p::Counters::*;
using PeerCounter = uint64_t peer::Counters::*;

constexpr P2pCounter kP2p[] = {
    &p2p::Counters::unexpected,
    &p2p::Counters::unexpected_most,
    &p2p::Counters::unexpected_bytes,
    &p2p::Counters::unexpected_total,
    &p2p::Counters::posted,
    &p2p::Counters::posted_most,
    &p2p::Counters::eager_messages,
    &p2p::Counters::eager_bytes,
    &p2p::Counters::read_messages,
    &p2p::Counters::read_bytes,
    &p2p::Counters::streamed_messages,
    &p2p::Counters::streamed_bytes,
    &p2p::Counters::received_messages,
    &p2p::Counters::received_bytes,
    &p2p::Counters::match_attempts,
};

uint64_t read_p2p(int argument, uint32_t) { return p2p::counters().*kP2p[argument]; }

constexpr PeerCounter kPeer[] = {&peer::Counters::messages_sent, &peer::Counters::bytes_sent,
                                 &peer::Counters::messages_received, &peer::Counters::bytes_received};
constexpr const char* kChannels[] = {"self", "ring", "ucx"};

uint64_t read_peer(int argument, uint32_t peer) {
  if (!instance().connected || peer >= peer::process_count()) return 0;
  return peer::connection(peer).counters().*kPeer[argument];
}

// Over all peers that the channel reaches.
uint64_t read_channel(int argument, uint32_t) {
  if (!instance().connected) return 0;
  uint64_t sum = 0;
  for (uint32_t peer = 0; peer < peer::process_count(); ++peer) {
    peer::VirtualConnection& connection = peer::connection(peer);
    if (std::strcmp(connection.channel_name(), kChannels[argument / 4]) == 0)
      sum += connection.counters().*kPeer[argument % 4];
  }
  return sum;
}

uint64_t read_present(int, uint32_t) {
  uint64_t here = 0;
  for (uint32_t peer = 0; instance().connected && peer < peer::process_count(); ++peer)
    here += peer::present(peer);
  return here;
}

constexpr int kLevel = MPI_T_PVAR_CLASS_LEVEL, kMost = MPI_T_PVAR_CLASS_HIGHWATERMARK,
              kCounter = MPI_T_PVAR_CLASS_COUNTER, kAggregate = MPI_T_PVAR_CLASS_AGGREGATE;

}  // namespace

const std::vector<PerformanceVariable>& performance_variables() {
  static const auto* made = new std::vector<PerformanceVariable>{
      {"unexpected_queue_length", "messages that wait for a receive, now", kLevel, Unit::kP2p, false,
       read_p2p, 0},
      {"unexpected_queue_most", "most messages that ever waited for a receive", kMost, Unit::kP2p, false,
       read_p2p, 1},
      {"unexpected_queue_bytes", "payload held for messages that wait for a receive, now", kLevel, Unit::kP2p,
       false, read_p2p, 2},
      {"unexpected_messages", "messages that came before their receive", kCounter, Unit::kP2p, false,
       read_p2p, 3},
      {"posted_queue_length", "receives that wait for a message, now", kLevel, Unit::kP2p, false, read_p2p,
       4},
      {"posted_queue_most", "most receives that ever waited for a message", kMost, Unit::kP2p, false,
       read_p2p, 5},
      {"eager_messages_sent", "messages sent in one piece", kCounter, Unit::kP2p, false, read_p2p, 6},
      {"eager_bytes_sent", "bytes sent in one piece", kAggregate, Unit::kP2p, false, read_p2p, 7},
      {"read_messages_received", "messages read from the sender's memory", kCounter, Unit::kP2p, false,
       read_p2p, 8},
      {"read_bytes_received", "bytes read from senders' memory", kAggregate, Unit::kP2p, false, read_p2p, 9},
      {"streamed_messages_sent", "messages sent as a pipeline of pieces", kCounter, Unit::kP2p, false,
       read_p2p, 10},
      {"streamed_bytes_sent", "bytes sent as a pipeline of pieces", kAggregate, Unit::kP2p, false, read_p2p,
       11},
      {"messages_received", "receives completed with a message", kCounter, Unit::kP2p, false, read_p2p, 12},
      {"bytes_received", "bytes of all received messages", kAggregate, Unit::kP2p, false, read_p2p, 13},
      {"match_attempts", "queue elements looked at while matching", kCounter, Unit::kP2p, false, read_p2p,
       14},
      {"processes_present", "processes in memory that we share, with this one, at this moment", kLevel,
       Unit::kChannel, false, read_present, 0},
      {"self_messages_sent", "messages sent by the self channel", kCounter, Unit::kChannel, false,
       read_channel, 0},
      {"self_bytes_sent", "bytes sent by the self channel", kAggregate, Unit::kChannel, false, read_channel,
       1},
      {"self_messages_received", "messages received by the self channel", kCounter, Unit::kChannel, false,
       read_channel, 2},
      {"self_bytes_received", "bytes received by the self channel", kAggregate, Unit::kChannel, false,
       read_channel, 3},
      {"ring_messages_sent", "messages sent by the ring channel", kCounter, Unit::kChannel, false,
       read_channel, 4},
      {"ring_bytes_sent", "bytes sent by the ring channel", kAggregate, Unit::kChannel, false, read_channel,
       5},
      {"ring_messages_received", "messages received by the ring channel", kCounter, Unit::kChannel, false,
       read_channel, 6},
      {"ring_bytes_received", "bytes received by the ring channel", kAggregate, Unit::kChannel, false,
       read_channel, 7},
      {"network_messages_sent", "messages sent by the network", kCounter, Unit::kChannel, false, read_channel,
       8},
      {"network_bytes_sent", "bytes sent by the network", kAggregate, Unit::kChannel, false, read_channel, 9},
      {"network_messages_received", "messages received by the network", kCounter, Unit::kChannel, false,
       read_channel, 10},
      {"network_bytes_received", "bytes received by the network", kAggregate, Unit::kChannel, false,
       read_channel, 11},
      {"peer_messages_sent", "messages sent to each process", kCounter, Unit::kChannel, true, read_peer, 0},
      {"peer_bytes_sent", "bytes sent to each process", kAggregate, Unit::kChannel, true, read_peer, 1},
      {"peer_messages_received", "messages received from each process", kCounter, Unit::kChannel, true,
       read_peer, 2},
      {"peer_bytes_received", "bytes received from each process", kAggregate, Unit::kChannel, true, read_peer,
       3},
  };
  return *made;
}

}  // namespace vicinity::world::tool
