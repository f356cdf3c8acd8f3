// SPDX-License-Identifier: BSD-3-Clause
// Runs a libFuzzer entry point without libFuzzer: `fuzz_x [SECONDS [SEED]]` feeds it random bytes and says
// which seed to give to see a failure again; `fuzz_x FILE...` runs it once for each file.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

int run_file(const char* path) {
  FILE* file = std::fopen(path, "rb");
  if (!file) {
    std::perror(path);
    return 1;
  }
  std::vector<uint8_t> data;
  for (int c; (c = std::fgetc(file)) != EOF;) data.push_back(static_cast<uint8_t>(c));
  std::fclose(file);
  return LLVMFuzzerTestOneInput(data.data(), data.size());
}

}  // namespace

int main(int argc, char** argv) {
  char* end = nullptr;
  const double seconds = argc > 1 ? std::strtod(argv[1], &end) : 5;
  if (end && *end) {
    int failures = 0;
    for (int i = 1; i < argc; i++) failures += run_file(argv[i]) != 0;
    return failures != 0;
  }
  const unsigned long first = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
  const double stop = now() + seconds;
  unsigned long seed = first;
  std::vector<uint8_t> data;
  do {
    // A crash leaves this line as the last one.
    if (seed % 256 == first % 256) std::fprintf(stderr, "seeds from %lu\n", seed);
    std::mt19937 random(static_cast<uint32_t>(seed));
    data.resize(random() % 512);
    // Small values make more sense of most formats than evenly spread ones.
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(random() % (random() % 2 ? 256 : 16));
    LLVMFuzzerTestOneInput(data.data(), data.size());
    seed++;
  } while (now() < stop);
  std::fprintf(stderr, "%lu inputs\n", seed - first);
  return 0;
}
