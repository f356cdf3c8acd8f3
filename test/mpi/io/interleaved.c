// SPDX-License-Identifier: BSD-3-Clause
// Collective accesses whose pieces interleave: random views, the same seeds on all processes, checked byte by
// byte against a model in memory. Bytes that belong to nobody must stay what they were (MPI 5.0, 14.3, 14.4).
//
//   interleaved [SEEDS [FIRST]]
#include <fcntl.h>
#include <unistd.h>

#include "check.h"

enum { kMostTile = 600, kMostTiles = 40, kHole = 0xee };

static char name[256];
static unsigned long long state;

static unsigned below(unsigned n) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33) % n;
}

// Which process owns which byte of a tile of the file; -1: none. The same everywhere.
struct Pattern {
  int tile, tiles, disp;
  int owner[kMostTile];
  int bytes[64];  // of each process in a tile
};

static void make_pattern(struct Pattern* p) {
  memset(p->bytes, 0, sizeof p->bytes);
  p->tile = 1 + (int)below(kMostTile);
  p->tiles = 1 + (int)below(kMostTiles);
  p->disp = (int)below(3) * (int)below(5000);
  const int holes = (int)below(3), longest = 1 + (int)below(40);
  for (int at = 0; at < p->tile;) {
    const int length = 1 + (int)below((unsigned)longest);
    const int owner = holes && below(4) == 0 ? -1 : (int)below((unsigned)size);
    for (int i = 0; i < length && at < p->tile; ++i, ++at) {
      p->owner[at] = owner;
      if (owner >= 0) ++p->bytes[owner];
    }
  }
}

static MPI_Datatype filetype_of(const struct Pattern* p, int who) {
  static int lengths[kMostTile];
  static MPI_Aint at[kMostTile];
  MPI_Datatype pieces, type;
  int count = 0;
  for (int i = 0; i < p->tile; ++i) {
    if (p->owner[i] != who) continue;
    if (i > 0 && p->owner[i - 1] == who) {
      ++lengths[count - 1];
    } else {
      at[count] = i;
      lengths[count++] = 1;
    }
  }
  OK(MPI_Type_create_hindexed(count, lengths, at, MPI_BYTE, &pieces));
  OK(MPI_Type_create_resized(pieces, 0, p->tile, &type));
  OK(MPI_Type_commit(&type));
  OK(MPI_Type_free(&pieces));
  return type;
}

// Byte `i` of the stream of process `who`.
static unsigned char value(unsigned seed, int who, long long i) {
  return (unsigned char)(i * 37 + i / 251 + who * 101 + seed * 13);
}

// The file as it must be when each process has written [from[who], to[who]) of its stream.
static void check_file(const struct Pattern* p, unsigned seed, const long long* from, const long long* to) {
  static unsigned char bytes[5000 * 3 + kMostTile * kMostTiles];
  long long at[64] = {0};
  const int fd = open(name, O_RDONLY);
  const ssize_t got = pread(fd, bytes, sizeof bytes, 0);
  close(fd);
  long long bad = 0;
  for (int i = 0; i < p->disp && i < got; ++i) bad += bytes[i] != kHole;
  for (int i = 0; i < p->tile * p->tiles; ++i) {
    const int who = p->owner[i % p->tile];
    const long long index = who < 0 ? 0 : at[who]++;
    const int written = who >= 0 && index >= from[who] && index < to[who];
    const unsigned char wanted = written ? value(seed, who, index) : kHole;
    bad += p->disp + i >= got || bytes[p->disp + i] != wanted;
  }
  if (bad) printf("seed %u: %lld bytes of the file are wrong\n", seed, bad);
  CHECK(bad == 0);
}

static MPI_Info hints(void) {
  const char* const modes[] = {"automatic", "enable", "enable", "disable"};
  char text[32];
  MPI_Info info;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "romio_cb_write", modes[below(4)]));
  OK(MPI_Info_set(info, "romio_cb_read", modes[below(4)]));
  snprintf(text, sizeof text, "%d", 1 + (int)below((unsigned)size));
  OK(MPI_Info_set(info, "cb_nodes", text));
  OK(MPI_Info_set(info, "cb_buffer_size", below(2) ? "4096" : "1048576"));
  OK(MPI_Info_set(info, "cb_block_size", below(2) ? "1" : "512"));
  return info;
}

// The user's memory: all bytes in a row, or every second one.
static void write_part(MPI_File file, int form, long long from, void* memory, int count, MPI_Datatype type) {
  MPI_Status status;
  int got;
  if (form == 0) {
    OK(MPI_File_write_at_all(file, from, memory, count, type, &status));
  } else if (form == 1) {
    OK(MPI_File_seek(file, from, MPI_SEEK_SET));
    OK(MPI_File_write_all(file, memory, count, type, &status));
  } else {
    OK(MPI_File_write_at_all_begin(file, from, memory, count, type));
    OK(MPI_File_write_at_all_end(file, memory, &status));
  }
  OK(MPI_Get_elements(&status, type, &got));
  EQUAL(got, count);
}

static int read_part(MPI_File file, int form, long long from, void* memory, int count, MPI_Datatype type) {
  MPI_Status status;
  int got;
  if (form == 0) {
    OK(MPI_File_read_at_all(file, from, memory, count, type, &status));
  } else if (form == 1) {
    OK(MPI_File_seek(file, from, MPI_SEEK_SET));
    OK(MPI_File_read_all(file, memory, count, type, &status));
  } else {
    OK(MPI_File_read_at_all_begin(file, from, memory, count, type));
    OK(MPI_File_read_at_all_end(file, memory, &status));
  }
  OK(MPI_Get_elements(&status, type, &got));
  return got;
}

static void prepare_file(const struct Pattern* p) {
  if (rank == 0) {
    static unsigned char bytes[5000 * 3 + kMostTile * kMostTiles];
    memset(bytes, kHole, sizeof bytes);
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    const size_t all = (size_t)p->disp + (size_t)p->tile * (size_t)p->tiles;
    CHECK(write(fd, bytes, all) == (ssize_t)all);
    close(fd);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void one(unsigned seed) {
  static unsigned char memory[2 * kMostTile * kMostTiles + 2];
  struct Pattern p;
  MPI_File file;
  MPI_Datatype spaced;
  long long from[64], to[64];
  state = seed * 0x9e3779b97f4a7c15ULL + 1;
  make_pattern(&p);
  for (int i = 0; i < size; ++i) {
    const long long all = (long long)p.bytes[i] * p.tiles;
    from[i] = below(3) ? 0 : below((unsigned)all + 1);
    to[i] = below(3) ? all : from[i] + below((unsigned)(all - from[i]) + 1);
  }
  const int form = (int)below(3), step = 1 + (int)below(2);
  MPI_Info info = hints();
  prepare_file(&p);
  OK(MPI_Type_create_resized(MPI_BYTE, 0, step, &spaced));
  OK(MPI_Type_commit(&spaced));
  OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, info, &file));
  MPI_Datatype filetype = p.bytes[rank] ? filetype_of(&p, rank) : MPI_BYTE;
  OK(MPI_File_set_view(file, p.disp, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
  const int count = (int)(to[rank] - from[rank]);
  for (int i = 0; i < count; ++i) memory[i * step] = value(seed, rank, from[rank] + i);
  write_part(file, form, from[rank], memory, count, spaced);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) check_file(&p, seed, from, to);
  // Everything, and beyond the end, which cuts each short where its last byte is.
  const int all = p.bytes[rank] * p.tiles, wanted = all ? all + 1 + (int)below(100) % (p.bytes[rank] + 1) : 0;
  memset(memory, 0, sizeof memory);
  const int got = read_part(file, form, 0, memory, wanted > kMostTile * kMostTiles ? all : wanted, spaced);
  EQUAL(got, all);
  long long bad = 0;
  for (int i = 0; i < all; ++i) {
    const int written = i >= from[rank] && i < to[rank];
    bad += memory[i * step] != (written ? value(seed, rank, i) : kHole);
  }
  if (bad) printf("seed %u: %lld of %d bytes read are wrong\n", seed, bad, all);
  CHECK(bad == 0);
  OK(MPI_File_close(&file));
  if (p.bytes[rank]) OK(MPI_Type_free(&filetype));
  OK(MPI_Type_free(&spaced));
  OK(MPI_Info_free(&info));
}

// In the order of ranks from the shared pointer on, all with one view that has gaps.
static void ordered(const char* mode) {
  enum { kCount = 30 };
  int values[kCount], again[kCount];
  MPI_File file;
  MPI_Datatype type;
  MPI_Info info;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "romio_cb_write", mode));
  OK(MPI_Info_set(info, "romio_cb_read", mode));
  OK(MPI_Type_create_resized(MPI_INT, 0, 12, &type));
  OK(MPI_Type_commit(&type));
  OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
  OK(MPI_File_set_size(file, 0));
  OK(MPI_File_set_view(file, 4, MPI_INT, type, "native", MPI_INFO_NULL));
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < kCount; ++i) values[i] = 1000 * turn + 100 * rank + i;
    OK(MPI_File_write_ordered(file, values, kCount, MPI_INT, MPI_STATUS_IGNORE));
  }
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  OK(MPI_File_read_ordered(file, again, kCount, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < kCount; ++i) EQUAL(again[i], 100 * rank + i);
  int bytes[3] = {0};
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at(file, 12 * (kCount * (size + rank) + 5), bytes, 12, MPI_BYTE, MPI_STATUS_IGNORE));
  EQUAL(bytes[1], 1000 + 100 * rank + 5);
  EQUAL(bytes[0] | bytes[2], 0);
  OK(MPI_File_close(&file));
  OK(MPI_Type_free(&type));
  OK(MPI_Info_free(&info));
}

// One process cannot take part: the others are not kept waiting.
static void failing(void) {
  MPI_File file;
  MPI_Datatype type;
  MPI_Info info;
  char bytes[64] = {0};
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "collective_buffering", "true"));
  OK(MPI_Type_create_resized(MPI_CHAR, 0, size, &type));
  OK(MPI_Type_commit(&type));
  OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
  OK(MPI_File_set_view(file, rank, MPI_CHAR, type, "native", MPI_INFO_NULL));
  if (rank == 0)
    FAILS(MPI_ERR_ARG, MPI_File_write_at_all(file, -1, bytes, 64, MPI_CHAR, MPI_STATUS_IGNORE));
  else
    OK(MPI_File_write_at_all(file, 0, bytes, 64, MPI_CHAR, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  // An aggregator that cannot write: everybody learns of it.
  OK(MPI_Info_set(info, "romio_cb_write", "enable"));
  if (access("/dev/full", W_OK) == 0) {
    OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, info, &file));
    OK(MPI_File_set_view(file, rank, MPI_CHAR, type, "native", MPI_INFO_NULL));
    FAILS(MPI_ERR_NO_SPACE, MPI_File_write_at_all(file, 0, bytes, 64, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
  }
  OK(MPI_Type_free(&type));
  OK(MPI_Info_free(&info));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int seeds = argc > 1 ? atoi(argv[1]) : 150, first = argc > 2 ? atoi(argv[2]) : 1;
  int pid = (int)getpid();
  MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(name, sizeof name, "/tmp/vicinity-test-io-interleaved-%d", pid);
  for (int i = 0; i < seeds; ++i) one((unsigned)(first + i));
  ordered("enable");
  ordered("automatic");
  failing();
  if (rank == 0) OK(MPI_File_delete(name, MPI_INFO_NULL));
  return finish();
}
