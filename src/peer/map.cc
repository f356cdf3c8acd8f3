// SPDX-License-Identifier: BSD-3-Clause
// Text of the map, and where it is put.
#include "peer/map.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "base/param.h"

namespace vicinity::peer {
namespace {

base::Param<bool> map_wanted{
    "VICINITY_MAP", "peer", false,
    "Write which channel reaches whom to $XDG_RUNTIME_DIR/vicinity/<job>/map.<rank> (or "
    "/tmp/vicinity-<uid>/<job>/), for `vicinity map`."};

// A directory that is ours and nobody else's; /tmp is full of strangers.
bool make_private(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == getuid();
}

std::string job_directory(const std::string& job) {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  std::string path =
      runtime && *runtime ? std::string(runtime) + "/vicinity" : "/tmp/vicinity-" + std::to_string(getuid());
  if (!make_private(path)) return "";
  std::string name = job.empty() ? "alone" : job;
  for (char& c : name)
    if (c == '/' || c <= ' ' || c > '~') c = '_';
  if (name[0] == '.') name[0] = '_';
  path += "/" + name;
  return make_private(path) ? path : "";
}

}  // namespace

std::string map_head(const MapHead& head) {
  return "vicinity-map 1\njob " + head.job + "\nrank " + std::to_string(head.self) + " size " +
         std::to_string(head.count) + " pid " + std::to_string(getpid()) + " host " + head.host + "\n";
}

std::string map_line(VirtualConnection& connection, const std::string& host) {
  const Counters& counters = connection.counters();
  char line[320];
  std::snprintf(line, sizeof line,
                "peer %u host %s channel %s copies %d sent %" PRIu64 " %" PRIu64 " received %" PRIu64
                " %" PRIu64 " reason ",
                connection.proc(), host.c_str(), connection.channel_name(), connection.single_copy() ? 1 : 2,
                counters.messages_sent, counters.bytes_sent, counters.messages_received,
                counters.bytes_received);
  const std::string lanes = connection.lanes();
  return std::string(line) + connection.reason() + (lanes.empty() ? "" : " (" + lanes + ")") + "\n";
}

void write_map(const std::string& job, Proc self, const std::string& text) {
  if (!map_wanted.get()) return;
  const std::string directory = job_directory(job);
  const std::string path = directory + "/map." + std::to_string(self), fresh = path + ".new";
  const int fd = directory.empty()
                     ? -1
                     : open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  const bool good = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (fd >= 0) close(fd);
  if (!good || rename(fresh.c_str(), path.c_str()) != 0)
    VICINITY_LOG(kWarn, "cannot write the map to %s: %s", path.c_str(), strerror(errno));
}

}  // namespace vicinity::peer
