// SPDX-License-Identifier: BSD-3-Clause
// One function per concern; texts are made and checked by wireup/pmi_messages.h alone.
#include "launch/pmi_server.h"

#include <algorithm>
#include <cstring>

#include "wireup/codec.h"

namespace vicinity::launch {

namespace pmi1 = wireup::pmi1;
using base::fail;
using base::kOther;
using base::Status;
using wireup::Message;
using wireup::Shape;

namespace {

// As a last value in a line, where spaces do no harm.
std::string in_words(const std::string& text) {
  std::string words = text.substr(0, pmi1::kValueMax - 1);
  for (char& c : words) c = c == '=' ? ':' : static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c;
  return words;
}

}  // namespace

PmiServer::PmiServer(const Start& job)
    : job_(job.job), universe_size_(job.universe_size), clients_(job.ranks.size()) {
  for (size_t i = 0; i < clients_.size(); ++i) clients_[i].appnum = job.ranks[i].app;
  for (const auto& [key, value] : job.preput) values_[key] = value;
  // A mapping that is too long for a value is left out; clients then compare host names.
  if (job.mapping.size() < static_cast<size_t>(pmi1::kValueMax)) values_["PMI_process_mapping"] = job.mapping;
}

Status PmiServer::receive(int local, std::string_view bytes) {
  Client& client = clients_[static_cast<size_t>(local)];
  client.input += bytes;
  size_t start = 0;
  for (size_t end; (end = client.input.find('\n', start)) != std::string::npos; start = end + 1)
    VICINITY_TRY(handle_line(local, std::string_view(client.input).substr(start, end - start)));
  client.input.erase(0, start);
  if (client.input.size() > wireup::kTextLimit)
    return fail(kOther, "sent a PMI line of more than %zu bytes", wireup::kTextLimit);
  return base::kOk;
}

Status PmiServer::handle_line(int local, std::string_view line) {
  Client& client = clients_[static_cast<size_t>(local)];
  if (client.spawn.inside()) return spawn_line(local, line);
  if (line == "mcmd=spawn") {
    client.spawn.begin();
    return base::kOk;
  }
  auto request = wireup::parse_pmi1(line);
  if (!request.ok()) return request.status();
  for (const Shape* shape : pmi1::kAll)
    if (request->command == shape->request) {
      VICINITY_TRY(wireup::check_request(*shape, *request));
      return handle(local, *shape, *request);
    }
  // Name publishing and whatever else: the client learns that it is refused and goes on.
  refuse(client, (request->command.substr(0, 64) + "_result").c_str(),
         "this mpiexec does not know this request");
  return base::kOk;
}

Status PmiServer::spawn_line(int local, std::string_view line) {
  Client& client = clients_[static_cast<size_t>(local)];
  auto complete = client.spawn.line(line);
  VICINITY_TRY(complete.status());
  if (!*complete) return base::kOk;
  if (client.progress != RankEnd::kInsideMpi) return fail(kOther, "sent `spawn` outside of MPI");
  Pairs preput = client.spawn.preput();
  spawns_.push_back({local, client.spawn.take_commands(), std::move(preput)});
  return base::kOk;
}

void PmiServer::answer_spawn(int local, const std::string& trouble) {
  Client& client = clients_[static_cast<size_t>(local)];
  if (trouble.empty()) return answer(client, pmi1::kSpawn, {"0"});
  auto line = wireup::format_pmi1({pmi1::kSpawn.reply, {{"rc", "-1"}, {"msg", in_words(trouble)}}});
  if (line.ok()) client.output += *line;
}

Status PmiServer::handle(int local, const Shape& shape, const Message& request) {
  Client& client = clients_[static_cast<size_t>(local)];
  const auto is = [&](const Shape& other) { return &shape == &other; };
  if (client.waits) return fail(kOther, "sent `%s` while it waits in a barrier", shape.request);
  if (client.progress == RankEnd::kNeverInMpi && !is(pmi1::kInit) && !is(pmi1::kAbort))
    return fail(kOther, "sent `%s` before `init`", shape.request);
  if (is(pmi1::kInit)) {
    if (client.progress != RankEnd::kNeverInMpi) return fail(kOther, "sent `init` twice");
    if (*request.find("pmi_version") != "1") {
      refuse(client, shape.reply, "only version 1 is spoken here");
      return base::kOk;
    }
    client.progress = RankEnd::kInsideMpi;
    answer(client, shape, {"1", "1", "0"});
  } else if (is(pmi1::kMaxes)) {
    answer(
        client, shape,
        {std::to_string(pmi1::kKvsNameMax), std::to_string(pmi1::kKeyMax), std::to_string(pmi1::kValueMax)});
  } else if (is(pmi1::kAppnum)) {
    answer(client, shape, {std::to_string(client.appnum)});
  } else if (is(pmi1::kKvsName)) {
    answer(client, shape, {job_});
  } else if (is(pmi1::kUniverse)) {
    answer(client, shape, {std::to_string(universe_size_)});
  } else if (is(pmi1::kPut)) {
    return put(local, request);
  } else if (is(pmi1::kGet)) {
    get(client, request);
  } else if (is(pmi1::kBarrier)) {
    client.waits = true;
    ++waiting_;
  } else if (is(pmi1::kFinalize)) {
    client.progress = RankEnd::kFinalized;
    answer(client, shape);
  } else if (is(pmi1::kGuests)) {
    auto count = wireup::parse_number(*request.find("count"));
    if (count.ok()) guests_.emplace_back(local, *count);
  } else if (is(pmi1::kArrived)) {
    arrivals_.push_back(local);
  } else {
    auto code = wireup::parse_number(*request.find("exitcode"));
    const std::string* message = request.find("message");
    if (!abort_) abort_ = AbortRequest{local, code.ok() ? *code : 1, message ? *message : ""};
  }
  return base::kOk;
}

Status PmiServer::put(int local, const Message& request) {
  Client& client = clients_[static_cast<size_t>(local)];
  const std::string& key = *request.find("key");
  const std::string& value = *request.find("value");
  if (*request.find("kvsname") != job_) {
    refuse(client, pmi1::kPut.reply, "there is no such job");
  } else if (key.empty() || key.size() >= pmi1::kKeyMax || value.size() >= pmi1::kValueMax) {
    refuse(client, pmi1::kPut.reply, "key or value is too long");
  } else {
    const auto old = values_.find(key);
    const size_t gone = old == values_.end() ? 0 : std::min(client.bytes, key.size() + old->second.size());
    const size_t bytes = client.bytes - gone + key.size() + value.size();
    if (bytes > kMostBytes)
      return fail(kOther,
                  "has put more than %zu KiB of keys and values into the key-value store of this job (PMI); "
                  "the key that did not fit is `%s`",
                  kMostBytes >> 10, key.c_str());
    client.bytes = bytes;
    values_.insert_or_assign(key, value);
    fresh_.insert_or_assign(key, value);
    answer(client, pmi1::kPut, {"0"});
  }
  return base::kOk;
}

void PmiServer::get(Client& client, const Message& request) {
  const auto found = values_.find(*request.find("key"));
  if (*request.find("kvsname") != job_ || found == values_.end())
    refuse(client, pmi1::kGet.reply, "no such key");
  else
    answer(client, pmi1::kGet, {"0", found->second});
}

void PmiServer::answer(Client& client, const Shape& shape, std::initializer_list<std::string_view> values) {
  auto line = wireup::format_pmi1(wireup::make_reply(shape, values));
  if (line.ok()) client.output += *line;  // values were checked when they came in
}

void PmiServer::refuse(Client& client, const char* reply, std::string_view reason) {
  // Words are joined: clients of PMI-1 end a value at the first space.
  std::string words(reason);
  for (char& c : words) c = c == ' ' ? '_' : c;
  auto line = wireup::format_pmi1({reply, {{"rc", "-1"}, {"msg", words}, {"value", "unknown"}}});
  if (line.ok()) client.output += *line;
}

Pairs PmiServer::take_pairs() {
  Pairs pairs(fresh_.begin(), fresh_.end());
  fresh_.clear();
  return pairs;
}

bool PmiServer::barrier_is_full() {
  if (full_reported_ || waiting_ < clients_.size()) return false;
  return full_reported_ = true;
}

void PmiServer::release(const Pairs& pairs) {
  for (const auto& [key, value] : pairs) values_.insert_or_assign(key, value);
  for (Client& client : clients_) {
    if (client.waits) answer(client, pmi1::kBarrier);
    client.waits = false;
  }
  waiting_ = 0;
  full_reported_ = false;
}

void PmiServer::spawn_lost(const std::string& port, const std::string& why) {
  values_[wireup::spawn_failure_key(port)] = in_words(why);
}

Status PmiServer::died(int rank) {
  dead_.insert(rank);
  std::string list = wireup::format_ranks(dead_);
  if (list.size() >= static_cast<size_t>(pmi1::kValueMax))
    return fail(kOther, "so many processes have died that no list of them fits into a value of PMI");
  values_[pmi1::kDeadKey] = std::move(list);
  return base::kOk;
}

}  // namespace vicinity::launch
