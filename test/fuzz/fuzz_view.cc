// SPDX-License-Identifier: BSD-3-Clause
// Bytes -> a filetype and a view of it; then everything that io/ asks of a view, against a model that only
// packs: where each byte of the stream is, how many lie before an offset, runs, windows, lists of runs, and
// lists of runs that are random bytes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "io/runs.h"
#include "object/datatype_create.h"
#include "standalone.h"

namespace vicinity::io {
namespace {

#define REQUIRE(what)                                                 \
  do {                                                                \
    if (!(what)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
      std::abort();                                                   \
    }                                                                 \
  } while (0)

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), left_(size) {}
  unsigned byte() { return left_ ? (left_--, *data_++) : 0; }
  unsigned below(unsigned n) { return byte() % n; }
  int64_t wide() {
    int64_t value = 0;
    for (int i = 0; i < 8; ++i) value = static_cast<int64_t>(static_cast<uint64_t>(value) << 8 | byte());
    return value;
  }

 private:
  const uint8_t* data_;
  size_t left_;
};

constexpr MPI_Count kMost = 4096;  // bytes that a filetype reaches over

base::Result<Datatype*> construct(Input& in, Datatype& old) {
  MPI_Count lengths[4], at[4];
  for (int i = 0; i < 4; ++i) {
    lengths[i] = in.below(5);
    at[i] = in.below(8) ? in.below(40) : static_cast<int8_t>(in.byte());
  }
  const MPI_Count n = in.below(5);
  switch (in.below(8)) {
    case 0:
      return object::type_contiguous(in.below(6), old, false);
    case 1:
      return object::type_vector(in.below(6), in.below(4), in.below(8), old, false);
    case 2:
      return object::type_hvector(in.below(6), in.below(4), in.below(60), old, false);
    case 3:
      return object::type_indexed(n, lengths, at, old, true);
    case 4:
      return object::type_hindexed(n, lengths, at, old, true);
    case 5: {
      const MPI_Count size[] = {1 + in.below(9), 1 + in.below(9)}, sub[] = {1 + in.below(9), 1 + in.below(9)};
      const MPI_Count start[] = {in.below(9), in.below(9)};
      return object::type_subarray(2, size, sub, start, in.below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old,
                                   true);
    }
    case 6:
      return object::type_indexed_block(n, lengths[0], at, old, true);
    default:
      return object::type_resized(old, 0, in.below(200), false);
  }
}

// Where each data byte of one tile is, told by packing the number of each byte, twice eight bits.
std::vector<int64_t> model_of(const Datatype& type) {
  std::vector<uint8_t> memory(kMost), low(static_cast<size_t>(type.size)), high(low.size());
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i);
  object::pack(memory.data(), 1, type, low.data());
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i >> 8);
  object::pack(memory.data(), 1, type, high.data());
  std::vector<int64_t> at(low.size());
  for (size_t i = 0; i < at.size(); ++i) at[i] = high[i] << 8 | low[i];
  return at;
}

// The offsets of `tiles` tiles, one for each byte.
std::vector<int64_t> stream_of(const View& view, int tiles) {
  const std::vector<int64_t> tile = model_of(*view.layout);
  std::vector<int64_t> all;
  for (int i = 0; i < tiles; ++i)
    for (int64_t at : tile) all.push_back(view.disp + i * view.layout->extent + at);
  return all;
}

void check_places(Input& in, const View& view, const std::vector<int64_t>& model) {
  for (int i = 0; i < 20; ++i) {
    const size_t at = (in.byte() << 8 | in.byte()) % (model.size() / 4 * 3);  // not in the last tile
    int64_t offset = 0;
    REQUIRE(find_offset(view, static_cast<int64_t>(at), &offset) && offset == model[at]);
    if (!view.orderly) continue;
    const int64_t before = model[at] + in.below(5) - 2;
    const auto wanted = std::lower_bound(model.begin(), model.end(), before) - model.begin();
    REQUIRE(stream_before(view, before) == wanted);
  }
}

void check_runs(Input& in, const View& view, const std::vector<int64_t>& model) {
  size_t at = (in.byte() << 8 | in.byte()) % model.size();
  FileRuns runs(view, static_cast<int64_t>(at));
  while (at < model.size()) {
    int64_t offset = 0, bytes = 0;
    const auto most = std::min<int64_t>(1 + in.below(50), static_cast<int64_t>(model.size() - at));
    REQUIRE(runs.next(most, &offset, &bytes) && bytes > 0 && bytes <= most);
    for (int64_t i = 0; i < bytes; ++i) REQUIRE(model[at++] == offset + i);
  }
}

void check_windows(Input& in, const View& view, const std::vector<int64_t>& model) {
  size_t at = (in.byte() << 8 | in.byte()) % model.size();
  const size_t end = at + (in.byte() << 8 | in.byte()) % (model.size() - at) + 1;
  WindowRuns runs(view, static_cast<int64_t>(at), static_cast<int64_t>(end));
  const int64_t last = model[end - 1] + 1;
  RunList list;
  for (Window window{model[at] - in.below(20), 0}; window.begin < last; window.begin = window.end) {
    window.end = window.begin + 1 + (in.below(4) ? in.byte() : 1000);
    REQUIRE(runs.list(window, &list) && !list.failed());
    REQUIRE(valid(list.groups(), list.size(), window, list.bytes()));
    for_each_run(list.groups(), list.size(), window.begin, [&](int64_t offset, int64_t bytes) {
      REQUIRE(offset >= window.begin && offset + bytes <= window.end);
      for (int64_t i = 0; i < bytes; ++i) REQUIRE(at < end && model[at++] == offset + i);
    });
  }
  REQUIRE(at == end);
}

// What a process that is not ours might send.
void check_lies(Input& in) {
  RunGroup groups[3];
  for (RunGroup& group : groups)
    group = in.below(2) ? RunGroup{in.below(20), in.below(20), in.below(20)}
                        : RunGroup{in.wide(), in.wide(), in.wide()};
  const Window window{in.below(100), 100 + in.below(200)};
  int64_t sum = 0;
  for (const RunGroup& group : groups)
    sum = static_cast<int64_t>(static_cast<uint64_t>(sum) +
                               static_cast<uint64_t>(group.bytes) * static_cast<uint64_t>(group.times));
  if (!valid(groups, 3, window, sum)) return;
  for_each_run(groups, 3, window.begin, [&](int64_t offset, int64_t bytes) {
    REQUIRE(offset >= window.begin && bytes > 0 && offset + bytes <= window.end);
  });
}

void check(Input& in, Datatype& type) {
  if (type.size <= 0 || type.true_lb < 0 || type.true_lb + type.true_extent > kMost || type.extent > kMost)
    return;
  object::commit(type);
  View view;
  const int64_t disp = in.below(2) ? in.byte() : in.wide();
  const Representation& rep = *find_datarep(in.below(4) ? "native" : "external32");
  Datatype& etype = object::builtin(MPI_BYTE);
  if (!make_view(disp, etype, type, rep, &view).ok()) {
    REQUIRE(!view.layout);
    return;
  }
  if (view.disp < int64_t{1} << 50) {
    const std::vector<int64_t> model = stream_of(view, 4);
    const bool rising =
        std::adjacent_find(model.begin(), model.end(), [](auto a, auto b) { return a >= b; }) == model.end();
    REQUIRE(rising || !view.orderly);
    check_places(in, view, model);
    check_runs(in, view, model);
    if (view.orderly) check_windows(in, view, model);
  }
  drop_view(view);
}

void run(Input in) {
  static const MPI_Datatype kBases[] = {MPI_BYTE, MPI_INT, MPI_LONG, MPI_DOUBLE, MPI_SHORT_INT};
  Datatype* type = object::retain(&object::builtin(kBases[in.below(5)]));
  for (unsigned depth = 1 + in.below(3); depth > 0; --depth) {
    auto made = construct(in, *type);
    if (!made.ok()) continue;
    object::release(type);
    type = *made;
  }
  check(in, *type);
  object::release(type);
  check_lies(in);
}

}  // namespace
}  // namespace vicinity::io

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vicinity::io::run({data, size});
  return 0;
}

#ifndef VICINITY_LIBFUZZER
int main(int argc, char** argv) {
  std::mt19937 random(1);
  std::vector<std::string> seeds(400);
  for (std::string& seed : seeds) {
    seed.resize(random() % 400);
    for (char& byte : seed) byte = static_cast<char>(random());
  }
  return vicinity::fuzz::run(argc, argv, seeds);
}
#endif
