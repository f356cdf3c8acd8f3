// SPDX-License-Identifier: BSD-3-Clause
// Runs a libFuzzer entry without libFuzzer, for a bounded time: mutations of the given seeds by a
// generator with a fixed seed, so that every run does the same. `fuzz_x FILE...` replays files;
// `fuzz_x -seconds=N` and `-seed=N` choose.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace vicinity::fuzz {

inline std::string mutated(const std::vector<std::string>& seeds, std::mt19937_64& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % (n ? n : 1)); };
  std::string text = seeds[below(seeds.size())];
  for (size_t changes = 1 + below(8); changes > 0; --changes) {
    const size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        text.insert(at, 1, static_cast<char>(random()));
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 2:
        text.erase(at, below(8));
        break;
      case 3:
        text.insert(at, text.substr(below(text.size() + 1), below(64)));
        break;
      case 4:
        text.insert(at, seeds[below(seeds.size())]);
        break;
      default:
        text.insert(at, below(300), "=;: \n\0"[below(6)]);
        break;
    }
  }
  return text;
}

inline int run(int argc, char** argv, const std::vector<std::string>& seeds) {
  double seconds = 2;
  uint64_t seed = 1;
  bool replayed = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "-seconds=", 9) == 0)
      seconds = std::atof(argv[i] + 9);
    else if (std::strncmp(argv[i], "-seed=", 6) == 0)
      seed = std::strtoull(argv[i] + 6, nullptr, 0);
    else {
      std::ifstream file(argv[i], std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
      replayed = true;
    }
  }
  if (replayed) return 0;
  std::mt19937_64 random(seed);
  size_t runs = 0;
  for (const std::string& text : seeds)
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (; runs % 64 || std::chrono::steady_clock::now() < until; ++runs) {
    const std::string text = mutated(seeds, random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  }
  std::printf("%zu inputs, no failure\n", runs);
  return 0;
}

}  // namespace vicinity::fuzz

// With -DVICINITY_LIBFUZZER the engine brings its own main().
#ifdef VICINITY_LIBFUZZER
#define VICINITY_FUZZ_MAIN(...)
#else
#define VICINITY_FUZZ_MAIN(...) \
  int main(int argc, char** argv) { return vicinity::fuzz::run(argc, argv, {__VA_ARGS__}); }
#endif
