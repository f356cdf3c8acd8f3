// SPDX-License-Identifier: BSD-3-Clause
// What mpiexec and its proxies (one per host) say to each other over the proxy's standard input and output.
//
//   frame  = length u32 (of what follows), type u8, payload
//   number = 4 bytes, little endian;  text = length u32, bytes;  list = count u32, elements
//
// The two ends are the same program in the same version (kHello checks it), so the format has no
// provision for others. Readers still check every length: a login shell may print into the stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace vicinity::launch {

enum class FrameType : uint8_t {
  // to the proxy
  kStart = 1,   // Start (start.h): everything about the job
  kBarrierOut,  // list of key, value: what the ranks of other hosts have put
  kStdin,       // rank, text; an empty text is the end of input
  kSignal,      // number of a signal for every rank
  kStop,        // SIGTERM now, SIGKILL after so many milliseconds
  kQuit,        // end every descendant, then yourself
  kSpawned,     // rank, text: why not; empty: they run
  kDied,        // rank: it has died inside MPI, and the job goes on
  kSpawnLost,   // port, text: why those who were spawned with it never come
  // to mpiexec
  kHello,       // text: magic and version
  kOutput,      // rank, stream (1 or 2), text
  kStdinTaken,  // bytes
  kBarrierIn,   // list of key, value: what the ranks of this host have put
  kAbort,       // rank, exit code, text
  kExited,      // rank, wait status, RankEnd
  kTrouble,     // rank or -1, exit code, text: what went wrong on this host
  kNote,        // text for -verbose
  kSpawn,       // rank, 0, a SpawnRequest (start.h)
  kStarted,     // all ranks of this host run
  kGuests,      // rank, how many processes of other jobs it is connected with
  kArrived,     // rank, which was spawned, has met those who have spawned it
};
inline constexpr uint8_t kFrameTypeMax = static_cast<uint8_t>(FrameType::kArrived);
inline constexpr uint32_t kFrameLimit = 256u << 20;

// How far a rank had come in MPI when it ended.
enum class RankEnd : uint32_t { kNeverInMpi, kInsideMpi, kFinalized };

// What is said of a rank that others wait for in a barrier, and that has ended.
inline const char* ended_too_early(RankEnd end) {
  return end == RankEnd::kNeverInMpi
             ? "ended without calling MPI_Init, while others wait for it; ending the job"
             : "ended while others wait for it in MPI_Init or a first communicator; ending the job";
}

class FrameWriter {
 public:
  explicit FrameWriter(FrameType type) : bytes_(4, '\0') { bytes_ += static_cast<char>(type); }
  FrameWriter& number(uint32_t value);
  FrameWriter& text(std::string_view value);
  FrameWriter& texts(const std::vector<std::string>& values);
  FrameWriter& raw(std::string_view payload) {
    bytes_ += payload;
    return *this;
  }
  std::string take();  // the whole frame

 private:
  std::string bytes_;
};

// Reads a payload. After any failure all further reads give zeros and ok() is false.
class FrameReader {
 public:
  explicit FrameReader(std::string_view payload) : left_(payload) {}
  uint32_t number();
  int signed_number() { return static_cast<int>(number()); }
  std::string_view text();
  std::vector<std::string> texts();
  bool ok() const { return ok_; }
  // Everything was there, and nothing remains.
  bool complete() const { return ok_ && left_.empty(); }

 private:
  std::string_view left_;
  bool ok_ = true;
};

struct Frame {
  FrameType type;
  std::string payload;
};

// Cuts a stream of bytes into frames.
class FrameStream {
 public:
  void append(const char* bytes, size_t length) { buffer_.append(bytes, length); }
  // The next whole frame, nothing when more bytes are needed; a failure is final.
  base::Result<std::optional<Frame>> next();

 private:
  std::string buffer_;
  size_t at_ = 0;
};

}  // namespace vicinity::launch
