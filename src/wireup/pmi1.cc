// SPDX-License-Identifier: BSD-3-Clause
// PMI-1 client: one line asked, one line answered, over an inherited descriptor or a connection.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/log.h"
#include "wireup/codec.h"
#include "wireup/kvs.h"
#include "wireup/pmi_spawn.h"

namespace vicinity::wireup {
namespace {

using base::fail;
using base::kOther;
using base::Result;
using base::Status;
using Values = std::initializer_list<std::string_view>;

class Pmi1 final : public KvsWireup {
 public:
  Pmi1(int fd, const Identity& identity) : KvsWireup(fd) { identity_ = identity; }
  Status open(const char* pmi_id);
  Status fence() override { return ask(pmi1::kBarrier).status(); }
  void abort(int exit_code, const char* message) override;
  Status close() override { return ask(pmi1::kFinalize).status(); }
  Status spawn(const std::vector<SpawnCommand>& commands, const std::string& port) override;
  std::string parent_port() override;
  void tell_guests(size_t count) override;
  void tell_arrived() override;
  Status spawned(const std::string& port) override;
  std::vector<int> dead() override;

 private:
  Status put_text(const std::string& key, const std::string& text) override {
    return ask(pmi1::kPut, {identity_.job, key, text}).status();
  }
  Result<std::string> get_text(int, const std::string& key) override {
    return ask_one(pmi1::kGet, "value", {identity_.job, key});
  }
  Result<Message> receive();
  Result<Message> ask(const Shape& shape, Values values = {});
  Result<std::string> ask_one(const Shape& shape, const char* field, Values values = {});
  Result<int> ask_number(const Shape& shape, const char* field);
  Status introduce(const char* pmi_id);
  Status read_limits();
};

Result<Message> Pmi1::receive() {
  auto line = link_.receive_line();
  if (!line.ok()) return line.status();
  return parse_pmi1(*line);
}

Result<Message> Pmi1::ask(const Shape& shape, Values values) {
  auto text = format_pmi1(make_request(shape, values));
  if (!text.ok()) return text.status();
  VICINITY_TRY(link_.send(*text));
  auto reply = receive();
  if (reply.ok()) VICINITY_TRY(check_reply(shape, *reply));
  return reply;
}

Result<std::string> Pmi1::ask_one(const Shape& shape, const char* field, Values values) {
  auto reply = ask(shape, values);
  if (!reply.ok()) return reply.status();
  return *reply->find(field);  // check_reply() has seen it
}

Result<int> Pmi1::ask_number(const Shape& shape, const char* field) {
  auto text = ask_one(shape, field);
  if (!text.ok()) return text.status();
  return parse_number(*text);
}

// Over PMI_PORT the server does not know which process has connected, and tells it what the
// environment tells otherwise.
Status Pmi1::introduce(const char* pmi_id) {
  VICINITY_TRY(ask(pmi1::kInitAck, {pmi_id}).status());
  for (int i = 0; i < 3; ++i) {
    auto line = receive();
    if (!line.ok()) return line.status();
    for (const Field& field : line->fields) {
      auto number = parse_number(field.value);
      if (!number.ok()) return number.status();
      if (field.key == "size") identity_.size = *number;
      if (field.key == "rank") identity_.rank = *number;
    }
  }
  return base::kOk;
}

Status Pmi1::read_limits() {
  auto reply = ask(pmi1::kMaxes);
  if (!reply.ok()) return reply.status();
  auto key = parse_number(*reply->find("keylen_max"));
  auto value = parse_number(*reply->find("vallen_max"));
  if (!key.ok()) return key.status();
  if (!value.ok()) return value.status();
  if (*key < 32 || *value < 64)
    return fail(kOther, "the launcher allows keys of %d and values of %d characters; that is too short", *key,
                *value);
  // Slurm and old versions of Hydra promise values of 1024 and have lines of 1024, with all that stands
  // around the value.
  key_max_ = static_cast<size_t>(std::min(*key, pmi1::kKeyMax)) - 1;
  value_max_ = static_cast<size_t>(std::min(*value, 640)) - 1;
  return base::kOk;
}

Status Pmi1::open(const char* pmi_id) {
  if (pmi_id) VICINITY_TRY(introduce(pmi_id));
  VICINITY_TRY(ask(pmi1::kInit, {"1", "1"}).status());
  VICINITY_TRY(read_limits());
  auto job = ask_one(pmi1::kKvsName, "kvsname");
  if (!job.ok()) return job.status();
  identity_.job = *job;
  // What follows is optional: an old server that does not know it leaves the value unknown.
  if (auto appnum = ask_number(pmi1::kAppnum, "appnum"); appnum.ok()) identity_.appnum = *appnum;
  if (auto universe = ask_number(pmi1::kUniverse, "size"); universe.ok() && *universe > 0)
    identity_.universe_size = *universe;
  return base::kOk;
}

Status Pmi1::spawn(const std::vector<SpawnCommand>& commands, const std::string& port) {
  for (size_t i = 0; i < commands.size(); ++i) {
    auto text = format_spawn(commands[i], i, commands.size(), {{kParentPort, port}});
    if (!text.ok()) return text.status();
    VICINITY_TRY(link_.send(*text));
  }
  auto reply = receive();
  if (!reply.ok()) return reply.status();
  return check_reply(pmi1::kSpawn, *reply);
}

std::string Pmi1::parent_port() {
  if (!std::getenv("PMI_SPAWNED")) return "";
  auto port = get_text(0, kParentPort);
  return port.ok() ? *port : "";
}

void Pmi1::tell_guests(size_t count) {
  if (identity_.launcher != "vicinity") return;
  auto line = format_pmi1(make_request(pmi1::kGuests, {std::to_string(count)}));
  if (line.ok()) (void)link_.send(*line);
}

void Pmi1::tell_arrived() {
  if (identity_.launcher != "vicinity") return;
  auto line = format_pmi1(make_request(pmi1::kArrived));
  if (line.ok()) (void)link_.send(*line);
}

Status Pmi1::spawned(const std::string& port) {
  if (identity_.launcher != "vicinity") return base::kOk;
  auto why = get_text(identity_.rank, spawn_failure_key(port));
  return why.ok() ? fail(kOther, "%s", why->c_str()) : Status(base::kOk);
}

// A server that knows of none, or does not keep this key, refuses the question.
std::vector<int> Pmi1::dead() {
  auto list = get_text(identity_.rank, pmi1::kDeadKey);
  if (!list.ok()) return {};
  auto ranks = parse_ranks(*list, identity_.size);
  return ranks.ok() ? *ranks : std::vector<int>{};
}

void Pmi1::abort(int exit_code, const char* message) {
  const std::string code = std::to_string(exit_code);
  Message request = make_request(pmi1::kAbort, {code});
  // Our mpiexec shows the message itself, in one line with the rank and the host.
  if (identity_.launcher == "vicinity") {
    std::string text = message;
    for (char& c : text)
      if (static_cast<unsigned char>(c) < ' ' || c == 127 || c == '=') c = ' ';
    if (!text.empty()) request.fields.push_back({"message", text.substr(0, 900)});
  } else {
    VICINITY_LOG(kError, "%s", message);
  }
  auto line = format_pmi1(request);
  if (line.ok() && link_.send(*line).ok()) link_.await_end(2000);
  _exit(exit_code & 255 ? exit_code & 255 : 1);
}

}  // namespace

Result<std::unique_ptr<Wireup>> open_pmi1(int fd, const Identity& identity, const char* pmi_id) {
  auto wireup = std::make_unique<Pmi1>(fd, identity);
  VICINITY_TRY(wireup->open(pmi_id));
  return std::unique_ptr<Wireup>(std::move(wireup));
}

}  // namespace vicinity::wireup
