// SPDX-License-Identifier: BSD-3-Clause
// Encoding and checked decoding of the start message.
#include "launch/start.h"

#include <utility>

namespace vicinity::launch {
namespace {

void write_pairs(FrameWriter& out, const wireup::Pairs& pairs) {
  out.number(static_cast<uint32_t>(pairs.size()));
  for (const auto& [key, value] : pairs) out.text(key).text(value);
}

wireup::Pairs read_pairs(FrameReader& in) {
  wireup::Pairs pairs;
  for (uint32_t count = in.number(); count > 0 && in.ok(); --count) {
    std::string key(in.text());
    pairs.emplace_back(std::move(key), in.text());
  }
  return pairs;
}

}  // namespace

std::string Start::encode() const {
  FrameWriter out(FrameType::kStart);
  out.text(job).text(host).text(mapping).text(bind_to).text(map_by);
  out.number(static_cast<uint32_t>(size)).number(static_cast<uint32_t>(universe_size));
  out.number(keep_environment).number(claim_cpus).number(verbose).number(recovery);
  write_pairs(out, preput);
  out.number(static_cast<uint32_t>(apps.size()));
  for (const App& app : apps) out.texts(app.argv).texts(app.environment).text(app.directory).text(app.path);
  out.number(static_cast<uint32_t>(ranks.size()));
  for (const LocalRank& rank : ranks)
    out.number(static_cast<uint32_t>(rank.rank))
        .number(static_cast<uint32_t>(rank.app))
        .number(rank.has_stdin);
  return out.take();
}

base::Result<Start> Start::decode(std::string_view payload) {
  FrameReader in(payload);
  Start start;
  start.job = in.text();
  start.host = in.text();
  start.mapping = in.text();
  start.bind_to = in.text();
  start.map_by = in.text();
  start.size = in.signed_number();
  start.universe_size = in.signed_number();
  start.keep_environment = in.number() != 0;
  start.claim_cpus = in.number() != 0;
  start.verbose = in.number() != 0;
  start.recovery = in.number() != 0;
  start.preput = read_pairs(in);
  for (uint32_t count = in.number(); count > 0 && in.ok(); --count) {
    App app;
    app.argv = in.texts();
    app.environment = in.texts();
    app.directory = in.text();
    app.path = in.text();
    if (in.ok() && app.argv.empty())
      return base::fail(base::kOther, "a program without a name was to be started");
    start.apps.push_back(std::move(app));
  }
  for (uint32_t count = in.number(); count > 0 && in.ok(); --count) {
    LocalRank rank;
    rank.rank = in.signed_number();
    rank.app = in.signed_number();
    rank.has_stdin = in.number() != 0;
    if (in.ok() && (rank.rank < 0 || rank.rank >= start.size || rank.app < 0 ||
                    static_cast<size_t>(rank.app) >= start.apps.size()))
      return base::fail(base::kOther, "rank %d of program %d does not exist", rank.rank, rank.app);
    start.ranks.push_back(rank);
  }
  if (!in.complete()) return base::fail(base::kOther, "the start message is damaged");
  return start;
}

std::string SpawnRequest::encode() const {
  FrameWriter out(FrameType::kSpawn);
  out.number(static_cast<uint32_t>(rank)).number(0).number(static_cast<uint32_t>(commands.size()));
  for (const wireup::SpawnCommand& command : commands) {
    out.number(static_cast<uint32_t>(command.processes)).texts(command.argv);
    write_pairs(out, command.info);
  }
  write_pairs(out, preput);
  return out.take();
}

base::Result<SpawnRequest> SpawnRequest::decode(std::string_view payload) {
  FrameReader in(payload);
  SpawnRequest request;
  request.rank = in.signed_number();
  in.number();
  for (uint32_t count = in.number(); count > 0 && in.ok(); --count) {
    wireup::SpawnCommand command;
    command.processes = in.signed_number();
    command.argv = in.texts();
    command.info = read_pairs(in);
    if (in.ok() && (command.argv.empty() || command.processes < 1))
      return base::fail(base::kOther, "a spawn request without a program");
    request.commands.push_back(std::move(command));
  }
  request.preput = read_pairs(in);
  if (!in.complete()) return base::fail(base::kOther, "the spawn request is damaged");
  return request;
}

}  // namespace vicinity::launch
