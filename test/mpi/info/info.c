// SPDX-License-Identifier: BSD-3-Clause
// Info objects: set, get, order of keys, duplicates, limits, MPI_INFO_ENV and MPI_Info_create_env.
#include "check.h"

int main(int argc, char** argv) {
  // Allowed before MPI_Init.
  MPI_Info early;
  CHECK(MPI_Info_create(&early) == MPI_SUCCESS);
  CHECK(MPI_Info_set(early, "before", "init") == MPI_SUCCESS);
  CHECK(MPI_Info_free(&early) == MPI_SUCCESS);
  begin(&argc, &argv);
  MPI_Info info, dup;
  char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
  int flag = -1, length, n = -1;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_get_nkeys(info, &n));
  EQUAL(n, 0);
  for (int i = 0; i < 20; i++) {
    snprintf(key, sizeof key, "key%d", i);
    snprintf(value, sizeof value, "value %d", i);
    OK(MPI_Info_set(info, key, value));
  }
  OK(MPI_Info_set(info, "key3", "changed"));
  OK(MPI_Info_get_nkeys(info, &n));
  EQUAL(n, 20);
  length = sizeof value;
  OK(MPI_Info_get_string(info, "key3", &length, value, &flag));
  CHECK(flag == 1 && strcmp(value, "changed") == 0);
  EQUAL(length, 8);
  length = 4;  // too small: cut, and the needed length comes back
  OK(MPI_Info_get_string(info, "key3", &length, value, &flag));
  CHECK(flag == 1 && strcmp(value, "cha") == 0);
  EQUAL(length, 8);
  length = 0;  // only asks for the length
  OK(MPI_Info_get_string(info, "key3", &length, NULL, &flag));
  EQUAL(length, 8);
  OK(MPI_Info_get_string(info, "absent", &length, value, &flag));
  EQUAL(flag, 0);
  OK(MPI_Info_get_valuelen(info, "key3", &length, &flag));
  CHECK(flag == 1 && length == 7);
  OK(MPI_Info_get(info, "key3", 3, value, &flag));
  CHECK(flag == 1 && strncmp(value, "cha", 3) == 0);
  OK(MPI_Info_dup(info, &dup));
  OK(MPI_Info_delete(info, "key3"));
  OK(MPI_Info_get_nkeys(info, &n));
  EQUAL(n, 19);
  OK(MPI_Info_get_nkeys(dup, &n));
  EQUAL(n, 20);
  int seen = 0;
  for (int i = 0; i < n; i++) {
    OK(MPI_Info_get_nthkey(dup, i, key));
    seen |= 1 << atoi(key + 3);
  }
  EQUAL(seen, (1 << 20) - 1);
  OK(MPI_Info_free(&dup));
  CHECK(dup == MPI_INFO_NULL);
  memset(value, 'v', MPI_MAX_INFO_VAL - 1), value[MPI_MAX_INFO_VAL - 1] = 0;
  OK(MPI_Info_set(info, "long", value));
  length = 0;
  OK(MPI_Info_get_string(info, "long", &length, NULL, &flag));
  EQUAL(length, MPI_MAX_INFO_VAL);
  OK(MPI_Info_free(&info));
  length = sizeof value;
  OK(MPI_Info_get_string(MPI_INFO_ENV, "thread_level", &length, value, &flag));
  if (flag) CHECK(strncmp(value, "MPI_THREAD_", 11) == 0);
  OK(MPI_Info_create_env(argc, argv, &info));
  OK(MPI_Info_get_nkeys(info, &n));
  CHECK(n >= 0);
  OK(MPI_Info_free(&info));
  return finish();
}
