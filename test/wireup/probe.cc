// SPDX-License-Identifier: BSD-3-Clause
// A wire-up client for tests: opens, publishes values that no text protocol likes, fences, reads those of
// all, and prints one line. `probe bytes` chooses the length; `probe abort`, `probe hang`, ... misbehave.
// `probe spawn FOLDER` starts two more, and waits until they have left files there.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "base/param.h"
#include "wireup/wireup.h"

using namespace vicinity;

namespace {

std::string value_of(int rank, size_t length) {
  std::string value = "rank " + std::to_string(rank) + "\n;=\\\0'\"";
  while (value.size() < length) value += static_cast<char>(value.size() * 31 + static_cast<size_t>(rank));
  return value;
}

[[noreturn]] void die(const char* where, base::Status status) {
  std::fprintf(stderr, "probe: %s: %s\n", where, base::failure_text(status.code()));
  std::exit(1);
}

void exchange(wireup::Wireup& wireup, size_t length) {
  const wireup::Identity& me = wireup.identity();
  for (const char* key : {"card", "second"})
    if (auto status = wireup.put(key, value_of(me.rank, length)); !status.ok()) die("put", status);
  if (auto status = wireup.fence(); !status.ok()) die("fence", status);
  for (int rank = 0; rank < me.size; ++rank)
    for (const char* key : {"card", "second"}) {
      auto value = wireup.get(rank, key);
      if (!value.ok()) die("get", value.status());
      if (*value != value_of(rank, length)) {
        std::fprintf(stderr, "probe: value of rank %d came back wrong\n", rank);
        std::exit(1);
      }
    }
  if (auto status = wireup.fence(); !status.ok()) die("second fence", status);
}

constexpr const char* kPort = "a:port=with 'everything'";

std::string file_of(const std::string& folder, int rank) { return folder + "/" + std::to_string(rank); }

// The spawned ones tell that they have found the port.
void be_child(wireup::Wireup& wireup, const std::string& folder) {
  const wireup::Identity& me = wireup.identity();
  if (me.size != 2 || wireup.parent_port() != kPort || std::getenv("VICINITY_PARENT_PORT")) {
    std::fprintf(stderr, "probe: %d spawned, with port `%s`\n", me.size, wireup.parent_port().c_str());
    std::exit(1);
  }
  if (FILE* file = std::fopen(file_of(folder, me.rank).c_str(), "w")) std::fclose(file);
}

void spawn(wireup::Wireup& wireup, const std::string& program, const std::string& folder) {
  if (!wireup.parent_port().empty()) {
    std::fprintf(stderr, "probe: nobody has spawned this process, but it has a port\n");
    std::exit(1);
  }
  wireup::SpawnCommand command{.processes = 2, .argv = {program, "child", folder}};
  if (auto status = wireup.spawn({command}, kPort); !status.ok()) die("spawn", status);
  for (int tries = 0; tries < 600; ++tries, usleep(50000))
    if (access(file_of(folder, 0).c_str(), F_OK) == 0 && access(file_of(folder, 1).c_str(), F_OK) == 0)
      return;
  std::fprintf(stderr, "probe: the spawned processes have not come\n");
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "100";
  if (auto status = base::params_load(); !status.ok()) die("parameters", status);
  auto opened = wireup::open();
  if (!opened.ok()) die("open", opened.status());
  wireup::Wireup& wireup = **opened;
  const wireup::Identity& me = wireup.identity();
  exchange(wireup, static_cast<size_t>(std::atol(how)));
  const bool alone = std::strcmp(how, "spawn") == 0 || std::strcmp(how, "child") == 0;
  if (std::strcmp(how, "spawn") == 0 && me.rank == 0) spawn(wireup, argv[0], argv[2]);
  if (std::strcmp(how, "child") == 0) be_child(wireup, argv[2]);
  if (std::strcmp(how, "abort") == 0 && me.rank == me.size - 1) wireup.abort(7, "probe was told to abort");
  if (std::strcmp(how, "leave") == 0 && me.rank == me.size - 1) std::exit(0);  // without close()
  if (std::strcmp(how, "crash") == 0 && me.rank == me.size - 1) std::abort();
  if (std::strcmp(how, "code") == 0 && me.rank == me.size - 1) std::exit(3);
  if (!alone && std::isalpha(static_cast<unsigned char>(*how)))
    while (wireup.check().ok()) usleep(50000);
  std::printf("rank %d of %d appnum %d universe %d job %s launcher %s\n", me.rank, me.size, me.appnum,
              me.universe_size, me.job.c_str(), me.launcher.c_str());
  std::fflush(stdout);
  if (auto status = wireup.close(); !status.ok()) die("close", status);
  return 0;
}
