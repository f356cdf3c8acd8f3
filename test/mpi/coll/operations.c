// SPDX-License-Identifier: BSD-3-Clause
// Predefined operations on the types they allow, against a plain loop; MINLOC and MAXLOC pairs; Reduce_local.
#include <complex.h>
#include <stdbool.h>

#include "forms.h"

#define INTEGER(NAME, T, TYPE)                                                                        \
  static void NAME(void) {                                                                            \
    T mine[5], got[5], want[5];                                                                       \
    MPI_Op ops[] = {MPI_MAX, MPI_MIN,  MPI_SUM,  MPI_PROD, MPI_LAND,                                  \
                    MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR,  MPI_BXOR};                                 \
    for (int o = 0; o < 10; o++) {                                                                    \
      for (int r = 0; r < size; r++)                                                                  \
        for (int i = 0; i < 5; i++) {                                                                 \
          T v = (T)((r * 5 + i * 3 + 1) % 4 == 3 && o >= 4 && o <= 6 ? 0 : (r * 5 + i * 3 + 1) % 11); \
          if (r == rank) mine[i] = v;                                                                 \
          if (r == 0) {                                                                               \
            want[i] = o >= 4 && o <= 6 && size > 1 ? v : v;                                           \
            continue;                                                                                 \
          }                                                                                           \
          T a = want[i];                                                                              \
          want[i] = (T)(o == 0   ? (a > v ? a : v)                                                    \
                        : o == 1 ? (a < v ? a : v)                                                    \
                        : o == 2 ? a + v                                                              \
                        : o == 3 ? a * v                                                              \
                        : o == 4 ? (a && v)                                                           \
                        : o == 5 ? (a || v)                                                           \
                        : o == 6 ? (!a != !v)                                                         \
                        : o == 7 ? (a & v)                                                            \
                        : o == 8 ? (a | v)                                                            \
                                 : (a ^ v));                                                          \
        }                                                                                             \
      OK(MPI_Allreduce(mine, got, 5, TYPE, ops[o], MPI_COMM_WORLD));                                  \
      for (int i = 0; i < 5; i++) {                                                                   \
        if (size == 1 && o >= 4 && o <= 6) continue;                                                  \
        if (got[i] != want[i]) printf("%s, operation %d\n", #TYPE, o);                                \
        EQUAL(got[i], want[i]);                                                                       \
      }                                                                                               \
    }                                                                                                 \
  }
INTEGER(i_char, signed char, MPI_SIGNED_CHAR)
INTEGER(i_uchar, unsigned char, MPI_UNSIGNED_CHAR)
INTEGER(i_short, short, MPI_SHORT)
INTEGER(i_ushort, unsigned short, MPI_UNSIGNED_SHORT)
INTEGER(i_int, int, MPI_INT)
INTEGER(i_uint, unsigned, MPI_UNSIGNED)
INTEGER(i_long, long, MPI_LONG)
INTEGER(i_ulong, unsigned long, MPI_UNSIGNED_LONG)
INTEGER(i_llong, long long, MPI_LONG_LONG)
INTEGER(i_int8, int8_t, MPI_INT8_T)
INTEGER(i_int16, int16_t, MPI_INT16_T)
INTEGER(i_int32, int32_t, MPI_INT32_T)
INTEGER(i_int64, int64_t, MPI_INT64_T)
INTEGER(i_uint8, uint8_t, MPI_UINT8_T)
INTEGER(i_uint16, uint16_t, MPI_UINT16_T)
INTEGER(i_uint32, uint32_t, MPI_UINT32_T)
INTEGER(i_uint64, uint64_t, MPI_UINT64_T)

#define REAL(NAME, T, TYPE, OPS)                                          \
  static void NAME(void) {                                                \
    T mine[3], got[3], want[3];                                           \
    MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};                 \
    for (int o = 0; o < OPS; o++) {                                       \
      for (int r = 0; r < size; r++)                                      \
        for (int i = 0; i < 3; i++) {                                     \
          T v = (T)((r + i) % 3 + 1);                                     \
          if (r == rank) mine[i] = v;                                     \
          want[i] = r == 0   ? v                                          \
                    : o == 0 ? want[i] + v                                \
                    : o == 1 ? want[i] * v                                \
                    : o == 2 ? (creal(want[i]) > creal(v) ? want[i] : v)  \
                             : (creal(want[i]) < creal(v) ? want[i] : v); \
        }                                                                 \
      OK(MPI_Allreduce(mine, got, 3, TYPE, ops[o], MPI_COMM_WORLD));      \
      for (int i = 0; i < 3; i++) CHECK(got[i] == want[i]);               \
    }                                                                     \
  }
REAL(r_float, float, MPI_FLOAT, 4)
REAL(r_double, double, MPI_DOUBLE, 4)
REAL(r_long_double, long double, MPI_LONG_DOUBLE, 4)
REAL(r_cfloat, float complex, MPI_C_FLOAT_COMPLEX, 2)
REAL(r_cdouble, double complex, MPI_C_DOUBLE_COMPLEX, 2)
REAL(r_clong, long double complex, MPI_C_LONG_DOUBLE_COMPLEX, 2)

#define PAIR(NAME, T, TYPE)                                                                               \
  static void NAME(void) {                                                                                \
    struct {                                                                                              \
      T value;                                                                                            \
      int index;                                                                                          \
    } mine[4], got[4];                                                                                    \
    for (int what = 0; what < 2; what++) {                                                                \
      for (int i = 0; i < 4; i++) mine[i].value = (T)((rank * 3 + i) % 4), mine[i].index = rank * 10 + i; \
      OK(MPI_Allreduce(mine, got, 4, TYPE, what ? MPI_MAXLOC : MPI_MINLOC, MPI_COMM_WORLD));              \
      for (int i = 0; i < 4; i++) {                                                                       \
        T best = (T)(i % 4);                                                                              \
        int index = i;                                                                                    \
        for (int r = 1; r < size; r++) {                                                                  \
          T v = (T)((r * 3 + i) % 4);                                                                     \
          if (what ? v > best : v < best) best = v, index = r * 10 + i;                                   \
        }                                                                                                 \
        CHECK(got[i].value == best);                                                                      \
        EQUAL(got[i].index, index);                                                                       \
      }                                                                                                   \
    }                                                                                                     \
  }
PAIR(p_float, float, MPI_FLOAT_INT)
PAIR(p_double, double, MPI_DOUBLE_INT)
PAIR(p_long, long, MPI_LONG_INT)
PAIR(p_int, int, MPI_2INT)
PAIR(p_short, short, MPI_SHORT_INT)
PAIR(p_long_double, long double, MPI_LONG_DOUBLE_INT)

static void local(void) {
  int a[3] = {1, 5, 3}, b[3] = {4, 2, 6}, yes = 0;
  OK(MPI_Reduce_local(a, b, 3, MPI_INT, MPI_SUM));
  EQUAL(b[0] + b[1] * 100 + b[2] * 10000, 5 + 700 + 90000);
  FAILS(MPI_ERR_OP, MPI_Reduce_local(a, b, 3, MPI_INT, MPI_REPLACE));  // for one-sided calls only
  OK(MPI_Reduce_local(b, a, 0, MPI_INT, MPI_SUM));
  OK(MPI_Op_commutative(MPI_SUM, &yes));
  EQUAL(yes, 1);
  bool t[2] = {true, rank != 0}, r[2];
  OK(MPI_Allreduce(t, r, 2, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD));
  CHECK(r[0] && !r[1]);
  unsigned char bytes = (unsigned char)(1u << (rank % 8)), all = 0;
  OK(MPI_Allreduce(&bytes, &all, 1, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD));
  EQUAL(all, size >= 8 ? 255 : (1 << size) - 1);
  MPI_Aint place = rank + 1, far = 0;
  OK(MPI_Allreduce(&place, &far, 1, MPI_AINT, MPI_MAX, MPI_COMM_WORLD));
  EQUAL(far, size);
  MPI_Count count = rank, total = 0;
  OK(MPI_Allreduce(&count, &total, 1, MPI_COUNT, MPI_SUM, MPI_COMM_WORLD));
  EQUAL(total, size * (size - 1) / 2);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  choose_form(argc, argv);
  i_char(), i_uchar(), i_short(), i_ushort(), i_int(), i_uint(), i_long(), i_ulong(), i_llong();
  i_int8(), i_int16(), i_int32(), i_int64(), i_uint8(), i_uint16(), i_uint32(), i_uint64();
  r_float(), r_double(), r_long_double(), r_cfloat(), r_cdouble(), r_clong();
  p_float(), p_double(), p_long(), p_int(), p_short(), p_long_double();
  local();
  return finish();
}
