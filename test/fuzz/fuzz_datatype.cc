// SPDX-License-Identifier: BSD-3-Clause
// Bytes -> a sequence of type constructors with any arguments, some of them wild; then packing, unpacking,
// seeking and external32 with the types that came out. Checks what must hold for every type; the sanitizers
// check memory, buffers being exactly as large as the type says.
#include <sys/uio.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "object/datatype_create.h"
#include "standalone.h"

namespace vicinity::object {
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
  bool empty() const { return left_ == 0; }
  unsigned byte() { return left_ ? (left_--, *data_++) : 0; }
  MPI_Count small(unsigned below) { return byte() % below; }
  // Mostly small numbers of either sign, sometimes a power of two or the ends of the range.
  MPI_Count number() {
    const unsigned kind = byte();
    if (kind < 200) return static_cast<int8_t>(byte());
    if (kind < 240) return (MPI_Count{1} << (byte() % 63)) * (kind % 2 ? 1 : -1);
    return kind % 2 ? INT64_MAX : INT64_MIN;
  }
  int integer() { return static_cast<int>(std::clamp<MPI_Count>(number(), INT32_MIN, INT32_MAX)); }

 private:
  const uint8_t* data_;
  size_t left_;
};

constexpr size_t kArray = 4;

struct Arrays {
  MPI_Count lengths[kArray], at[kArray], other[kArray];
  int a[kArray], b[kArray], c[kArray];
  MPI_Datatype types[kArray];
};

using Pool = std::vector<Datatype*>;

Datatype& any(Input& in, const Pool& pool) {
  const unsigned which = in.byte();
  if (which < 160 && !pool.empty()) return *pool[which % pool.size()];
  Datatype* named = lookup<Datatype>(reinterpret_cast<MPI_Datatype>(uintptr_t{0x200} + which));
  return named ? *named : builtin(MPI_INT);
}

Result<Datatype*> grid(Input& in, Arrays& x, Datatype& old, bool large) {
  const int kinds[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, 99};
  const int ndims = static_cast<int>(in.small(kArray + 1));
  int size = 1;
  for (int d = 0; d < ndims; d++) {
    x.lengths[d] = in.small(9) ? in.small(30) : in.number();
    x.a[d] = kinds[in.small(4)];
    x.b[d] = in.small(2) ? MPI_DISTRIBUTE_DFLT_DARG : in.integer();
    x.c[d] = static_cast<int>(in.small(4));
    size *= x.c[d];
  }
  const int rank = static_cast<int>(in.small(8));
  return type_darray(
      {size, rank, ndims, x.lengths, x.a, x.b, x.c, in.small(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN}, old,
      large);
}

Result<Datatype*> box(Input& in, Arrays& x, Datatype& old, bool large) {
  const int ndims = static_cast<int>(in.small(kArray + 1));
  for (int d = 0; d < ndims; d++) {
    x.lengths[d] = in.small(9) ? in.small(12) : in.number();
    x.at[d] = in.small(9) ? in.small(6) : in.number();
    x.other[d] = in.small(9) ? in.small(6) : in.number();
  }
  return type_subarray(ndims, x.lengths, x.at, x.other, in.small(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old,
                       large);
}

Result<Datatype*> construct(Input& in, const Pool& pool) {
  Arrays x;
  const unsigned op = in.byte() % 14;
  Datatype& old = any(in, pool);
  const bool large = in.small(2) != 0;
  const auto n = static_cast<MPI_Count>(in.small(kArray + 1));
  for (size_t i = 0; i < kArray; i++) {
    x.lengths[i] = in.small(12) ? in.small(5) : in.number();
    x.at[i] = in.number();
    x.types[i] = op == 8 ? handle_of(any(in, pool)) : MPI_DATATYPE_NULL;
  }
  switch (op) {
    case 0:
      return type_contiguous(x.lengths[0], old, large);
    case 1:
      return type_vector(x.lengths[0], x.lengths[1], x.at[0], old, large);
    case 2:
      return type_hvector(x.lengths[0], x.lengths[1], x.at[0], old, large);
    case 3:
      return type_indexed(n, x.lengths, x.at, old, large);
    case 4:
      return type_hindexed(n, x.lengths, x.at, old, large);
    case 5:
      return type_indexed_block(n, x.lengths[0], x.at, old, large);
    case 6:
      return type_hindexed_block(n, x.lengths[0], x.at, old, large);
    case 7:
      return type_resized(old, x.at[0], x.at[1], large);
    case 8:
      return type_struct(n, x.lengths, x.at, x.types, large);
    case 9:
      return box(in, x, old, large);
    case 10:
      return grid(in, x, old, large);
    case 11:
      return type_dup(old);
    case 12:
      return type_f90_real(static_cast<int>(in.small(40)), static_cast<int>(in.small(99)));
    default:
      return type_match_size(MPI_TYPECLASS_REAL, static_cast<int>(in.small(20)));
  }
}

// Without touching memory: sizes, seeking, and that all pieces lie within the true bounds.
void walk(Input& in, const Datatype& type) {
  REQUIRE(type.size >= 0 && type.true_extent >= 0 && type.basic_count >= 0);
  REQUIRE(bytes_of(type, type.basic_count) == type.size);
  REQUIRE(elements_in(type, type.size) == type.basic_count);
  REQUIRE(external_bytes(type) <= type.size);
  if (type.size == 0) return;
  const MPI_Count middle = type.basic_count / 2;
  REQUIRE(elements_in(type, bytes_of(type, middle)) == middle);
  PackCursor cursor(nullptr, 1, type);
  REQUIRE(cursor.total() == static_cast<uint64_t>(type.size));
  for (int i = 0; i < 4; i++) {
    const uint64_t at = static_cast<uint64_t>(in.number()) % cursor.total();
    cursor.seek(at);
    iovec pieces[8];
    const size_t used = cursor.pieces(pieces, 8, 1 + in.byte());
    REQUIRE(used > 0);
    uint64_t sum = 0;
    for (size_t p = 0; p < used; p++) {
      const auto begin = reinterpret_cast<MPI_Count>(pieces[p].iov_base);
      REQUIRE(begin >= type.true_lb);
      REQUIRE(begin - type.true_lb + static_cast<MPI_Count>(pieces[p].iov_len) <= type.true_extent);
      sum += pieces[p].iov_len;
    }
    REQUIRE(cursor.position() == at + sum);
  }
}

// Exactly the memory that `count` elements occupy.
struct Buffer {
  Buffer(const Datatype& type, MPI_Count count, uint8_t fill) {
    const MPI_Count last = type.extent * (count - 1);
    low = type.true_lb + std::min<MPI_Count>(0, last);
    const MPI_Count high = type.true_lb + type.true_extent + std::max<MPI_Count>(0, last);
    bytes = static_cast<size_t>(high - low);
    memory.reset(new uint8_t[bytes]);
    for (size_t i = 0; i < bytes; i++) memory[i] = static_cast<uint8_t>(fill + i * 7);
  }
  void* address() const {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory.get()) - static_cast<uintptr_t>(low));
  }
  MPI_Count low;
  size_t bytes;
  std::unique_ptr<uint8_t[]> memory;
};

constexpr MPI_Count kMost = 1 << 14;

bool modest(const Datatype& type) {
  auto near = [](MPI_Count value) { return value > -kMost && value < kMost; };
  return type.size > 0 && type.size < kMost && near(type.true_lb) && near(type.true_extent) &&
         near(type.extent);
}

void move(Input& in, const Datatype& type) {
  const MPI_Count count = 1 + in.small(4);
  const Buffer from(type, count, 1), to(type, count, 99);
  const size_t total = static_cast<size_t>(type.size * count);
  std::unique_ptr<uint8_t[]> whole(new uint8_t[total]), parts(new uint8_t[total]);
  pack(from.address(), count, type, whole.get());
  PackCursor cursor(from.address(), count, type), back(to.address(), count, type);
  for (size_t done = 0; done < total;) {
    const size_t most = std::min<size_t>(1 + in.byte(), total - done);
    REQUIRE(cursor.pack(parts.get() + done, most) == most);
    REQUIRE(back.unpack(parts.get() + done, most) == most);
    done += most;
  }
  REQUIRE(std::memcmp(whole.get(), parts.get(), total) == 0);
  // Entries that overlap carry the same bytes, so the order of writing does not matter.
  pack(to.address(), count, type, parts.get());
  REQUIRE(std::memcmp(whole.get(), parts.get(), total) == 0);
  const Buffer third(type, count, 3);
  REQUIRE(copy_typed(from.address(), count, type, third.address(), count, type) == total);
  pack(third.address(), count, type, parts.get());
  REQUIRE(std::memcmp(whole.get(), parts.get(), total) == 0);
  const size_t external = static_cast<size_t>(external_bytes(type) * count);
  std::unique_ptr<uint8_t[]> portable(new uint8_t[external]);
  if (pack_external(from.address(), count, type, portable.get()).ok())
    REQUIRE(unpack_external(portable.get(), to.address(), count, type).ok());
}

}  // namespace

void run(Input in) {
  Pool pool;
  while (!in.empty() && pool.size() < 40) {
    Result<Datatype*> made = construct(in, pool);
    if (!made.ok()) {
      REQUIRE(base::failure_text(made.status().code())[0]);
      continue;
    }
    walk(in, **made);
    if (modest(**made)) move(in, **made);
    if (!(*made)->permanent) pool.push_back(*made);
    // Types are let go in any order; others that contain them keep them alive.
    if (in.small(8) == 0 && !pool.empty()) {
      const size_t victim = in.byte() % pool.size();
      release(pool[victim]);
      pool.erase(pool.begin() + static_cast<std::ptrdiff_t>(victim));
    }
  }
  for (Datatype* type : pool) release(type);
}

}  // namespace vicinity::object

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vicinity::object::run({data, size});
  return 0;
}

#ifndef VICINITY_LIBFUZZER
// Small numbers make more sense of the scripts above than evenly spread ones; both occur.
int main(int argc, char** argv) {
  std::mt19937 random(1);
  std::vector<std::string> seeds(400);
  for (std::string& seed : seeds) {
    seed.resize(random() % 512);
    for (char& byte : seed) byte = static_cast<char>(random() % (random() % 2 ? 256 : 16));
  }
  return vicinity::fuzz::run(argc, argv, seeds);
}
#endif
