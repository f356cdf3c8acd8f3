// SPDX-License-Identifier: BSD-3-Clause
// What windows tell of themselves: attributes, names, info, group, shared memory; and attached memory.
#include "rma/windows.h"

static int copied, deleted;
static int delete_it(MPI_Win win, int keyval, void* value, void* extra) {
  (void)win, (void)keyval, (void)value, (void)extra;
  deleted++;
  return MPI_SUCCESS;
}

static void attributes(void) {
  static const int kWanted[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED,
                                MPI_WIN_FLAVOR_DYNAMIC};
  for (int flavor = 0; flavor < kFlavors; flavor++) {
    if (!possible(flavor, MPI_COMM_WORLD)) continue;
    Window w = open_window(flavor, 1000, 8, MPI_COMM_WORLD);
    void* base = NULL;
    MPI_Aint* bytes = NULL;
    int *number = NULL, flag = 0, keyval, length = -1;
    OK(MPI_Win_get_attr(w.win, MPI_WIN_CREATE_FLAVOR, &number, &flag));
    CHECK(flag && *number == kWanted[flavor]);
    OK(MPI_Win_get_attr(w.win, MPI_WIN_BASE, &base, &flag));
    CHECK(flag && base == (flavor == kDynamic ? MPI_BOTTOM : w.base));
    OK(MPI_Win_get_attr(w.win, MPI_WIN_SIZE, &bytes, &flag));
    CHECK(flag && *bytes == (flavor == kDynamic ? 0 : 1000));
    OK(MPI_Win_get_attr(w.win, MPI_WIN_DISP_UNIT, &number, &flag));
    CHECK(flag && *number == (flavor == kDynamic ? 1 : 8));
    OK(MPI_Win_get_attr(w.win, MPI_WIN_MODEL, &number, &flag));
    CHECK(flag && *number == MPI_WIN_UNIFIED);
    FAILS(MPI_ERR_KEYVAL, MPI_Win_set_attr(w.win, MPI_WIN_SIZE, NULL));
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_it, &keyval, NULL));
    OK(MPI_Win_set_attr(w.win, keyval, &copied));
    OK(MPI_Win_get_attr(w.win, keyval, &base, &flag));
    CHECK(flag && base == &copied);
    OK(MPI_Win_free_keyval(&keyval));
    char name[MPI_MAX_OBJECT_NAME];
    OK(MPI_Win_get_name(w.win, name, &length));
    EQUAL(length, 0);
    OK(MPI_Win_set_name(w.win, "a window"));
    OK(MPI_Win_get_name(w.win, name, &length));
    CHECK(length == 8 && strcmp(name, "a window") == 0);
    MPI_Group group, world;
    int same = MPI_UNEQUAL;
    OK(MPI_Win_get_group(w.win, &group));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &same);
    EQUAL(same, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    deleted = 0;
    close_window(&w);
    EQUAL(deleted, 1);
  }
}

static void infos(void) {
  MPI_Info info, used;
  MPI_Win win;
  void* base;
  char text[64];
  int flag = 0, room = sizeof text;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  MPI_Info_set(info, "accumulate_ordering", "rar,waw");
  MPI_Info_set(info, "nonsense", "true");
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096");
  OK(MPI_Win_allocate(100, 1, info, MPI_COMM_WORLD, &base, &win));
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  EQUAL((uintptr_t)base % 4096, 0);
  OK(MPI_Win_get_info(win, &used));
  OK(MPI_Info_get_string(used, "no_locks", &room, text, &flag));
  CHECK(flag && strcmp(text, "true") == 0);
  room = sizeof text;
  OK(MPI_Info_get_string(used, "accumulate_ordering", &room, text, &flag));
  CHECK(flag && strcmp(text, "rar,waw") == 0);
  room = sizeof text;
  OK(MPI_Info_get_string(used, "nonsense", &room, text, &flag));
  CHECK(!flag);
  MPI_Info_free(&used);
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
  OK(MPI_Win_free(&win));
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "100");
  FAILS(MPI_ERR_INFO_VALUE, MPI_Win_allocate(100, 1, info, MPI_COMM_WORLD, &base, &win));
  MPI_Info_free(&info);
}

// Parts of different sizes, one empty, follow each other without gaps; all ranks see all of them.
static void shared(void) {
  const MPI_Aint bytes = rank == 0 && size > 1 ? 0 : 100 + rank;
  MPI_Win win;
  char *base, *before = NULL;
  MPI_Aint length;
  int unit;
  OK(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  OK(MPI_Win_fence(0, win));
  memset(base, rank + 1, (size_t)bytes);
  OK(MPI_Win_fence(0, win));
  for (int other = 0; other < size; other++) {
    char* part = NULL;
    OK(MPI_Win_shared_query(win, other, &length, &unit, &part));
    EQUAL(length, other == 0 && size > 1 ? 0 : 100 + other);
    EQUAL(unit, 1);
    if (before) CHECK(part == before);
    before = part + length;
    for (int i = 0; i < length; i++) EQUAL(part[i], other + 1);
  }
  char* first = NULL;
  OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &length, &unit, &first));
  EQUAL(length, size > 1 ? 101 : 100);
  EQUAL(first[0], size > 1 ? 2 : 1);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Win_free(&win));
  // Memory of MPI_Win_allocate is shared as well.
  OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  base[0] = (char)(rank + 3);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Win_shared_query(win, (rank + 1) % size, &length, &unit, &first));
  EQUAL(length, 64);
  EQUAL(first[0], (rank + 1) % size + 3);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Win_free(&win));
}

static void attached(void) {
  MPI_Win win;
  static char memory[300];
  MPI_Aint address, length;
  int unit, value = 7;
  void* base;
  OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  OK(MPI_Win_attach(win, memory, 100));
  OK(MPI_Win_attach(win, memory + 200, 100));
  FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, memory + 50, 100));
  FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_detach(win, memory + 50));
  FAILS(MPI_ERR_RMA_FLAVOR, MPI_Win_shared_query(win, 0, &length, &unit, &base));
  const int to = (rank + 1) % size;
  address = (MPI_Aint)memory;
  MPI_Aint* all = malloc((size_t)size * sizeof *all);
  OK(MPI_Allgather(&address, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
  OK(MPI_Put(&value, 1, MPI_INT, to, MPI_Aint_add(all[to], 204), 1, MPI_INT, win));
  OK(MPI_Win_unlock(to, win));
  MPI_Barrier(MPI_COMM_WORLD);
  EQUAL(*(int*)(memory + 204), 7);
  // Memory that is not attached is refused, at once by ourselves, with the next flush by others.
  OK(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
  int code = MPI_Put(&value, 1, MPI_INT, to, MPI_Aint_add(all[to], 98), 1, MPI_INT, win);
  if (to != rank) {
    EQUAL(code, MPI_SUCCESS);
    code = MPI_Win_flush(to, win);
  }
  FAILS(MPI_ERR_RMA_RANGE, code);
  code = MPI_Get(&value, 1, MPI_INT, to, MPI_Aint_add(all[to], 150), 1, MPI_INT, win);
  if (to != rank) code = MPI_Win_flush_local(to, win);
  FAILS(MPI_ERR_RMA_RANGE, code);
  OK(MPI_Win_unlock(to, win));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_Win_detach(win, memory));
  OK(MPI_Win_detach(win, memory + 200));
  OK(MPI_Win_free(&win));
  free(all);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  attributes();
  infos();
  if (possible(kShared, MPI_COMM_WORLD)) shared();
  attached();
  return finish();
}
