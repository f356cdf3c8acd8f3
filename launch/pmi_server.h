// SPDX-License-Identifier: BSD-3-Clause
// PMI-1 server for the ranks of one host, without input or output: bytes in, bytes out. The proxy moves
// the bytes and, at a barrier, exchanges what was put with the other hosts through mpiexec.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "launch/frame.h"
#include "launch/start.h"
#include "wireup/pmi_messages.h"
#include "wireup/pmi_spawn.h"

namespace vicinity::launch {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct AbortRequest {
  int local;  // index among the ranks of this host
  int exit_code;
  std::string message;
};

class PmiServer {
 public:
  // What one rank may put in all, keys and values: a thousand times what an MPI library needs.
  static constexpr size_t kMostBytes = 1 << 20;

  explicit PmiServer(const Start& job);

  // Bytes that local rank `local` has sent; complete lines are answered into output(). A failure is a
  // violation of the protocol: nothing more is to be read from this rank.
  base::Status receive(int local, std::string_view bytes);
  std::string& output(int local) { return clients_[static_cast<size_t>(local)].output; }
  RankEnd progress(int local) const { return clients_[static_cast<size_t>(local)].progress; }

  // Every local rank waits in the barrier, and this was not asked before.
  bool barrier_is_full();
  // Is any rank waiting in a barrier, so that a rank that has ended is missed?
  bool anyone_waits() const { return waiting_ > 0; }
  // What local ranks have put since the last barrier.
  Pairs take_pairs();
  // The barrier is complete: adds what other hosts have put, lets every local rank go on.
  void release(const Pairs& pairs);
  // A rank of the job has died, and the job goes on: whoever asks is told. Fails when the list gets too long.
  base::Status died(int rank);
  int aborter() const { return abort_ ? abort_->local : -1; }
  std::optional<AbortRequest> take_abort() { return std::exchange(abort_, std::nullopt); }

  // A rank that asks for more processes waits for the answer; `trouble` is empty when they run.
  struct Spawn {
    int local;
    std::vector<wireup::SpawnCommand> commands;
    wireup::Pairs preput;
  };
  std::vector<Spawn> take_spawns() { return std::exchange(spawns_, {}); }
  void answer_spawn(int local, const std::string& trouble);
  // (local, connected processes of other jobs), newest last.
  std::vector<std::pair<int, int>> take_guests() { return std::exchange(guests_, {}); }
  std::vector<int> take_arrivals() { return std::exchange(arrivals_, {}); }
  // Those whom a rank here has spawned with this port never come.
  void spawn_lost(const std::string& port, const std::string& why);

 private:
  struct Client {
    std::string input, output;
    RankEnd progress = RankEnd::kNeverInMpi;
    int appnum = 0;
    size_t bytes = 0;  // of the pairs that it has put
    bool waits = false;
    wireup::SpawnReader spawn;
  };
  base::Status spawn_line(int local, std::string_view line);
  base::Status handle_line(int local, std::string_view line);
  base::Status handle(int local, const wireup::Shape& shape, const wireup::Message& request);
  base::Status put(int local, const wireup::Message& request);
  void get(Client& client, const wireup::Message& request);
  void answer(Client& client, const wireup::Shape& shape,
              std::initializer_list<std::string_view> values = {});
  void refuse(Client& client, const char* reply, std::string_view reason);

  std::string job_;
  int universe_size_;
  std::vector<Client> clients_;
  std::unordered_map<std::string, std::string> values_;
  std::unordered_map<std::string, std::string> fresh_;
  std::set<int> dead_;
  size_t waiting_ = 0;
  bool full_reported_ = false;
  std::optional<AbortRequest> abort_;
  std::vector<Spawn> spawns_;
  std::vector<std::pair<int, int>> guests_;
  std::vector<int> arrivals_;
};

}  // namespace vicinity::launch
