// SPDX-License-Identifier: BSD-3-Clause
// PMI-2 client, as srun --mpi=pmi2 serves it: a greeting as in PMI-1, then texts with a length in front.
#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "wireup/kvs.h"

namespace vicinity::wireup {
namespace {

using base::fail;
using base::kOther;
using base::Result;
using base::Status;
using Values = std::initializer_list<std::string_view>;

class Pmi2 final : public KvsWireup {
 public:
  Pmi2(int fd, const Identity& identity) : KvsWireup(fd) {
    identity_ = identity;
    key_max_ = pmi2::kKeyMax - 1;
    value_max_ = pmi2::kValueMax - 1;
  }
  Status open();
  Status fence() override { return ask(pmi2::kFence).status(); }
  void abort(int exit_code, const char* message) override;
  Status close() override { return ask(pmi2::kFinalize).status(); }

 private:
  Status put_text(const std::string& key, const std::string& text) override {
    return ask(pmi2::kPut, {key, text}).status();
  }
  Result<std::string> get_text(int rank, const std::string& key) override;
  Result<Message> ask(const Shape& shape, Values values = {});
  Status greet();
  int universe_size();
};

Result<Message> Pmi2::ask(const Shape& shape, Values values) {
  auto text = format_pmi2(make_request(shape, values));
  if (!text.ok()) return text.status();
  VICINITY_TRY(link_.send(*text));
  auto six = link_.receive_exact(kPmi2LengthBytes);
  if (!six.ok()) return six.status();
  auto length = parse_pmi2_length(*six);
  if (!length.ok()) return length.status();
  auto body = link_.receive_exact(*length);
  if (!body.ok()) return body.status();
  auto reply = parse_pmi2(*body);
  if (reply.ok()) VICINITY_TRY(check_reply(shape, *reply));
  return reply;
}

Result<std::string> Pmi2::get_text(int rank, const std::string& key) {
  auto reply = ask(pmi2::kGet, {identity_.job, std::to_string(rank), key});
  if (!reply.ok()) return reply.status();
  const std::string* value = reply->find("value");
  if (*reply->find("found") != "TRUE" || !value)
    return fail(kOther, "the launcher has no value `%s` of rank %d", key.c_str(), rank);
  return *value;
}

Status Pmi2::greet() {
  auto text = format_pmi1(make_request(pmi1::kInit, {"2", "0"}));
  if (!text.ok()) return text.status();
  VICINITY_TRY(link_.send(*text));
  auto line = link_.receive_line();
  if (!line.ok()) return line.status();
  auto reply = parse_pmi1(*line);
  if (!reply.ok()) return reply.status();
  VICINITY_TRY(check_reply(pmi1::kInit, *reply));
  if (*reply->find("pmi_version") != "2")
    return fail(kOther, "the launcher speaks PMI version %.20s, not 2", reply->find("pmi_version")->c_str());
  return base::kOk;
}

int Pmi2::universe_size() {
  auto reply = ask(pmi2::kAttribute, {"universeSize", "FALSE"});
  if (!reply.ok()) return -1;
  const std::string* value = reply->find("value");
  if (*reply->find("found") != "TRUE" || !value) return -1;
  auto number = parse_number(*value);
  return number.ok() && *number > 0 ? *number : -1;
}

Status Pmi2::open() {
  VICINITY_TRY(greet());
  // Hydra's parser takes no empty value.
  if (identity_.job.empty()) identity_.job = "unknown";
  auto reply = ask(pmi2::kFullInit, {identity_.job, std::to_string(identity_.rank), "FALSE"});
  if (!reply.ok()) return reply.status();
  auto rank = parse_number(*reply->find("rank"));
  auto size = parse_number(*reply->find("size"));
  if (!rank.ok()) return rank.status();
  if (!size.ok()) return size.status();
  identity_.rank = *rank;
  identity_.size = *size;
  if (const std::string* text = reply->find("appnum"))
    if (auto appnum = parse_number(*text); appnum.ok()) identity_.appnum = *appnum;
  auto job = ask(pmi2::kJobId);
  if (!job.ok()) return job.status();
  identity_.job = *job->find("jobid");
  identity_.universe_size = universe_size();
  return base::kOk;
}

void Pmi2::abort(int exit_code, const char* message) {
  VICINITY_LOG(kError, "%s", message);
  auto text = format_pmi2(make_request(pmi2::kAbort, {"TRUE", message}));
  if (text.ok() && link_.send(*text).ok()) link_.await_end(2000);
  _exit(exit_code & 255 ? exit_code & 255 : 1);
}

}  // namespace

Result<std::unique_ptr<Wireup>> open_pmi2(int fd, const Identity& identity) {
  auto wireup = std::make_unique<Pmi2>(fd, identity);
  VICINITY_TRY(wireup->open());
  return std::unique_ptr<Wireup>(std::move(wireup));
}

}  // namespace vicinity::wireup
