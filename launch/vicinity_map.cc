// SPDX-License-Identifier: BSD-3-Clause
// vicinity map: the matrix of channels of a job, from the rows that its ranks wrote.
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "launch/map_file.h"
#include "launch/vicinity.h"

namespace vicinity::launch {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMatrixLimit = 64;  // wider ones are only counted

// Where src/peer/map.cc puts them.
std::vector<fs::path> bases() {
  std::vector<fs::path> out;
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime && *runtime)
    out.push_back(fs::path(runtime) / "vicinity");
  out.push_back("/tmp/vicinity-" + std::to_string(getuid()));
  return out;
}

bool is_row(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("map.") && name.size() > 4 && name.find_first_not_of("0123456789", 4) == name.npos;
}

// The directory of this job, or of the newest.
fs::path find_job(const std::string& job) {
  fs::path best;
  fs::file_time_type newest = fs::file_time_type::min();
  std::error_code error;
  for (const fs::path& base : bases())
    for (const auto& entry : fs::directory_iterator(base, error)) {
      if (!entry.is_directory(error) || (!job.empty() && entry.path().filename() != job)) continue;
      for (const auto& file : fs::directory_iterator(entry.path(), error)) {
        if (!is_row(file.path())) continue;
        const auto time = file.last_write_time(error);
        if (time > newest) newest = time, best = entry.path();
      }
    }
  return best;
}

std::vector<MapRow> read_rows(const fs::path& folder) {
  std::vector<MapRow> rows;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!is_row(entry.path())) continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    auto row = parse_map(text);
    if (row.ok())
      rows.push_back(std::move(*row));
    else
      std::fprintf(stderr, "vicinity map: %s: %s\n", entry.path().c_str(),
                   base::failure_text(row.status().code()));
  }
  std::sort(rows.begin(), rows.end(), [](const MapRow& a, const MapRow& b) { return a.rank < b.rank; });
  return rows;
}

// "self" is one copy by nature; elsewhere that is worth telling.
std::string label_of(const MapPeer& peer) {
  return peer.channel + (peer.copies == 1 && peer.channel != "self" ? "+1copy" : "");
}

void print_matrix(const std::vector<MapRow>& rows) {
  // One letter per kind of channel; its first letter where that is free.
  std::map<std::string, char> letters;
  std::map<std::string, size_t> pairs;
  std::string used;
  for (const MapRow& row : rows)
    for (const MapPeer& peer : row.peers) {
      const std::string label = label_of(peer);
      ++pairs[label];
      if (letters.contains(label)) continue;
      char letter = static_cast<char>(label.find("+1copy") == label.npos ? label[0] : std::toupper(label[0]));
      while (used.find(letter) != used.npos) letter = letter == 'z' ? 'A' : static_cast<char>(letter + 1);
      used += letter;
      letters[label] = letter;
    }
  if (rows.size() <= kMatrixLimit) {
    const int size = rows.front().size;
    std::printf("%16s  ", "to");
    for (int to = 0; to < size; ++to) std::printf("%3d", to);
    std::printf("\n");
    for (const MapRow& row : rows) {
      std::string cells(static_cast<size_t>(size), '.');
      for (const MapPeer& peer : row.peers) cells[static_cast<size_t>(peer.peer)] = letters[label_of(peer)];
      std::printf("%4d %-11.11s  ", row.rank, row.host.c_str());
      for (char cell : cells) std::printf("%3c", cell);
      std::printf("\n");
    }
  }
  for (const auto& [label, letter] : letters)
    std::printf("%c  %-12s %zu pair%s\n", letter, label.c_str(), pairs[label], pairs[label] == 1 ? "" : "s");
}

void print_details(const std::vector<MapRow>& rows) {
  std::printf("\n%5s %5s  %-12s %12s %16s %12s %16s  %s\n", "rank", "peer", "channel", "sent", "bytes",
              "received", "bytes", "reason");
  for (const MapRow& row : rows)
    for (const MapPeer& peer : row.peers)
      std::printf("%5d %5d  %-12s %12" PRIu64 " %16" PRIu64 " %12" PRIu64 " %16" PRIu64 "  %s\n", row.rank,
                  peer.peer, label_of(peer).c_str(), peer.messages_sent, peer.bytes_sent,
                  peer.messages_received, peer.bytes_received, peer.reason.c_str());
}

}  // namespace

int show_map(const Arguments& arguments) {
  std::string job;
  bool details = false;
  for (const std::string& argument : arguments) {
    if (argument == "-v" || argument == "--verbose") {
      details = true;
    } else if (job.empty() && argument[0] != '-') {
      job = argument;
    } else {
      std::fprintf(stderr, "vicinity map: `%s` is not known; see vicinity --help\n", argument.c_str());
      return 2;
    }
  }
  const fs::path folder = find_job(job);
  if (folder.empty()) {
    std::fprintf(stderr, "vicinity map: no map of %s%s%s; run the job with VICINITY_MAP=1\n",
                 job.empty() ? "any job of this user" : "job `", job.c_str(), job.empty() ? "" : "`");
    return 1;
  }
  const std::vector<MapRow> rows = read_rows(folder);
  if (rows.empty()) return 1;
  std::printf("job %s, %d process%s", rows.front().job.c_str(), rows.front().size,
              rows.front().size == 1 ? "" : "es");
  if (rows.size() < static_cast<size_t>(rows.front().size))
    std::printf(" (%zu wrote their row)", rows.size());
  std::printf("\n");
  print_matrix(rows);
  if (details) print_details(rows);
  return 0;
}

}  // namespace vicinity::launch
