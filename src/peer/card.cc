// SPDX-License-Identifier: BSD-3-Clause
// Making, writing and reading cards.
#include "peer/card.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cinttypes>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/log.h"
#include "base/param.h"
#include "channel/ring/port.h"
#include "peer/channels.h"

namespace vicinity::peer {
namespace {

using base::fail;
using base::Status;

base::Param<std::string> host_id_param{
    "VICINITY_HOST_ID", "peer", "", nullptr,
    "Identity of the kernel this process runs under; processes with the same one try to share memory. "
    "Empty: the boot id."};
base::Param<std::string> region_param{
    "VICINITY_REGION", "peer", "auto", "auto|memfd|file|no",
    "What processes of one kernel share: a memfd, a file in VICINITY_REGION_DIR, whichever works (auto), or "
    "nothing (no)."};
base::Param<int64_t> ring_lines{
    "VICINITY_RING_LINES",
    "channel",
    0,
    0,
    65536,
    "Lines of 64 bytes in the ring of each directed pair; 0: by the number of local processes."};
base::Param<int64_t> ring_buffers{"VICINITY_RING_BUFFERS",
                                  "channel",
                                  64,
                                  4,
                                  4096,
                                  "Bulk buffers of one process, for messages that do not fit into ring "
                                  "lines; more and smaller ones where many "
                                  "processes share a host.",
                                  "MV2_SMP_NUM_SEND_BUFFER"};
base::Param<int64_t> ring_buffer_bytes{
    "VICINITY_RING_BUFFER_BYTES", "channel", 16384, 1024, 1 << 20, "Size of a bulk buffer.",
    "MV2_SMP_SEND_BUF_SIZE"};
base::Param<int64_t> ring_eager{
    "VICINITY_RING_EAGER",
    "channel",
    262144,
    1024,
    1 << 20,
    "Largest message that a ring takes in one piece; longer ones are sent in several, or copied once.",
    "MV2_SMP_EAGERSIZE"};

std::string read_line(const char* path) {
  char line[128] = "";
  if (FILE* file = std::fopen(path, "re")) {
    if (!std::fgets(line, sizeof line, file)) line[0] = '\0';
    std::fclose(file);
  }
  line[strcspn(line, "\n")] = '\0';
  return line;
}

uint64_t inode_of(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 ? info.st_ino : 0;
}

// Host names and ids are shown to people and compared: printable, without spaces.
std::string clean(std::string text, size_t most) {
  if (text.size() > most) text.resize(most);
  for (char& c : text)
    if (c <= ' ' || c > '~') c = '_';
  return text.empty() ? "unknown" : text;
}

bool is_clean(std::string_view text, size_t most) {
  if (text.empty() || text.size() > most) return false;
  for (char c : text)
    if (c <= ' ' || c > '~') return false;
  return true;
}

bool unhex(std::string_view text, uint8_t* bytes, size_t count) {
  if (text.size() != 2 * count) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (value < 0) return false;
    bytes[i / 2] = static_cast<uint8_t>(i % 2 ? bytes[i / 2] << 4 | value : value);
  }
  return true;
}

template <class T>
bool number(std::string_view text, T* out, uint64_t most) {
  if (text.empty() || text.size() > 20) return false;
  uint64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    if (__builtin_mul_overflow(value, uint64_t{10}, &value)) return false;
    if (__builtin_add_overflow(value, static_cast<uint64_t>(c - '0'), &value)) return false;
  }
  if (value > most) return false;
  *out = static_cast<T>(value);
  return true;
}

// One field; the order of the fields is fixed and each must be there.
class Reader {
 public:
  Reader(std::string_view text, int rank) : rest_(text), rank_(rank) {}
  std::string_view next(const char* name) {
    field_ = name;
    const size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    const size_t width = std::strlen(name);
    if (line.size() <= width || line.substr(0, width) != name || line[width] != ' ') {
      good_ = false;
      return {};
    }
    return line.substr(width + 1);
  }
  // `fine`: what next() returned could be understood.
  bool expect(bool fine) { return good_ = good_ && fine; }
  Status error() const {
    return fail(base::kOther,
                "the card of rank %d is damaged at `%s`; do all ranks use the same build of "
                "Vicinity MPI?",
                rank_, field_);
  }

 private:
  std::string_view rest_;
  int rank_;
  const char* field_ = "";
  bool good_ = true;
};

}  // namespace

std::string hex(const uint8_t* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

std::string format_card(const Card& card) {
  char numbers[512];
  std::snprintf(numbers, sizeof numbers,
                "pidns %" PRIu64 "\nuserns %" PRIu64 "\nuid %u\npid %d\nfd %d\nat %" PRIu64
                "\nmembarrier %d\nchannels %u\nlines %u\nbuffers %u\n"
                "buffer %u\nlargest %u\n",
                card.pid_namespace, card.user_namespace, card.uid, card.pid, card.memfd + 1,
                card.token_address, card.membarrier, card.channels, card.ring_lines, card.buffers,
                card.buffer_bytes, card.largest);
  uint8_t token[sizeof card.token];
  std::memcpy(token, &card.token, sizeof token);
  return "vicinity " + std::to_string(kCardVersion) + "\nhost " + card.host + "\nid " + card.host_id + "\n" +
         numbers + "nonce " + hex(card.nonce.bytes, sizeof card.nonce.bytes) + "\ntoken " +
         hex(token, sizeof token) + "\nbacking " + card.backing + "\ndir " + card.directory + "\ndevice " +
         std::to_string(card.directory_device) + "\ninode " + std::to_string(card.directory_inode) +
         "\nhostregion " + card.host_region + "\ncpus " + card.cpus.text() + "\n";
}

base::Status parse_card(std::string_view text, int rank, Card* out) {
  Reader reader(text, rank);
  int version = 0;
  if (!reader.expect(number(reader.next("vicinity"), &version, 1000000))) return reader.error();
  if (version != kCardVersion)
    return fail(base::kOther,
                "rank %d speaks wire-up version %d, this rank %d; use one build of Vicinity MPI in "
                "the whole job",
                rank, version, kCardVersion);
  Card card;
  auto word = [&](const char* name, std::string* to, size_t most) {
    const std::string_view value = reader.next(name);
    *to = value;
    return reader.expect(is_clean(value, most));
  };
  auto count = [&](const char* name, auto* to, uint64_t most) {
    return reader.expect(number(reader.next(name), to, most));
  };
  uint8_t token[sizeof card.token];
  const bool good =
      word("host", &card.host, 255) && word("id", &card.host_id, 127) &&
      count("pidns", &card.pid_namespace, UINT64_MAX) && count("userns", &card.user_namespace, UINT64_MAX) &&
      count("uid", &card.uid, UINT32_MAX) && count("pid", &card.pid, INT_MAX) &&
      count("fd", &card.memfd, INT_MAX) && count("at", &card.token_address, UINT64_MAX) &&
      count("membarrier", &card.membarrier, 1) && count("channels", &card.channels, UINT32_MAX) &&
      count("lines", &card.ring_lines, 65536) && count("buffers", &card.buffers, 65536) &&
      count("buffer", &card.buffer_bytes, 1 << 20) && count("largest", &card.largest, 1 << 20) &&
      reader.expect(unhex(reader.next("nonce"), card.nonce.bytes, sizeof card.nonce.bytes)) &&
      reader.expect(unhex(reader.next("token"), token, sizeof token)) && word("backing", &card.backing, 15) &&
      word("dir", &card.directory, 255) && count("device", &card.directory_device, UINT64_MAX) &&
      count("inode", &card.directory_inode, UINT64_MAX) && word("hostregion", &card.host_region, 32) &&
      reader.expect(CpuSet::parse(reader.next("cpus"), &card.cpus));
  if (!good) return reader.error();
  std::memcpy(&card.token, token, sizeof token);
  card.memfd -= 1;
  *out = card;
  return base::kOk;
}

base::Status make_card(bool reserve_memfd, Card* out) {
  Card card;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  card.host = clean(host, 255);
  card.host_id = clean(
      host_id_param.get().empty() ? read_line("/proc/sys/kernel/random/boot_id") : host_id_param.get(), 127);
  card.pid_namespace = inode_of("/proc/self/ns/pid");
  card.user_namespace = inode_of("/proc/self/ns/user");
  card.uid = getuid();
  card.pid = getpid();
  if (getrandom(card.nonce.bytes, sizeof card.nonce.bytes, 0) != sizeof card.nonce.bytes)
    return fail(base::kOther, "getrandom: %s", strerror(errno));
  card.token = channel::cma::own_token();
  card.token_address = reinterpret_cast<uintptr_t>(&channel::cma::own_token());
  card.membarrier = channel::ring::Port::register_membarrier();
  VICINITY_TRY(allowed_channels(&card.channels));
  card.backing = region_param.get();
  card.directory = clean(region::File::directory(), 255);
  if (struct stat info; stat(card.directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    card.directory_device = info.st_dev;
    card.directory_inode = info.st_ino;
  }
  card.ring_lines = static_cast<uint32_t>(ring_lines.get());
  card.buffers = static_cast<uint32_t>(ring_buffers.get());
  card.buffer_bytes = static_cast<uint32_t>(ring_buffer_bytes.get() + 63) & ~63u;
  card.largest = static_cast<uint32_t>(ring_eager.get());
  card.cpus = CpuSet::allowed();
  if (reserve_memfd && (card.backing == "auto" || card.backing == "memfd")) {
    base::Result<int> fd = region::Memfd::reserve();
    if (fd.ok()) {
      card.memfd = *fd;
    } else {
      VICINITY_LOG(kInfo, "no memfd, a file will be used: %s", base::failure_text(fd.status().code()));
    }
  }
  *out = std::move(card);
  return base::kOk;
}

}  // namespace vicinity::peer
