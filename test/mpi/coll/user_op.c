// SPDX-License-Identifier: BSD-3-Clause
// User operations: not commutative (2 by 2 matrices) in rank order for every size and root, and on a derived
// type.
#include "forms.h"

typedef struct {
  uint32_t a, b, c, d;
} Matrix;
static int calls, most_length;

static void multiply(void* in, void* inout, int* length, MPI_Datatype* type) {
  Matrix *x = in, *y = inout;
  MPI_Aint lower, extent;
  MPI_Type_get_extent(*type, &lower, &extent);
  if (extent != sizeof(Matrix)) failed(__FILE__, __LINE__, "extent in the user function", "");
  calls++;
  if (*length > most_length) most_length = *length;
  for (int i = 0; i < *length; i++) {
    Matrix r = {x[i].a * y[i].a + x[i].b * y[i].c, x[i].a * y[i].b + x[i].b * y[i].d,
                x[i].c * y[i].a + x[i].d * y[i].c, x[i].c * y[i].b + x[i].d * y[i].d};
    y[i] = r;
  }
}
static void multiply_c(void* in, void* inout, MPI_Count* length, MPI_Datatype* type) {
  int n = (int)*length;
  multiply(in, inout, &n, type);
}

static Matrix element(int r, int i) {
  Matrix m = {(uint32_t)(r + 2), (uint32_t)(i + 1), 1, (uint32_t)(r * 3 + i % 5)};
  return m;
}
static Matrix product(int from, int to, int i) {  // of ranks from..to-1
  Matrix m = element(from, i);
  for (int r = from + 1; r < to; r++) {
    Matrix next = element(r, i);
    Matrix p = {m.a * next.a + m.b * next.c, m.a * next.b + m.b * next.d, m.c * next.a + m.d * next.c,
                m.c * next.b + m.d * next.d};
    m = p;
  }
  return m;
}
static void same(Matrix got, Matrix want) { CHECK(memcmp(&got, &want, sizeof got) == 0); }

static void all(MPI_Op op, MPI_Datatype type, int n) {
  Matrix *in = malloc(n * size * sizeof *in), *out = malloc(n * size * sizeof *out);
  for (int i = 0; i < n * size; i++) in[i] = element(rank, i);
  OK(MPI_Allreduce(in, out, n, type, op, MPI_COMM_WORLD));
  for (int i = 0; i < n; i++) same(out[i], product(0, size, i));
  for (int root = 0; root < size; root++) {
    OK(MPI_Reduce(in, out, n, type, op, root, MPI_COMM_WORLD));
    for (int i = 0; rank == root && i < n; i++) same(out[i], product(0, size, i));
  }
  OK(MPI_Scan(in, out, n, type, op, MPI_COMM_WORLD));
  for (int i = 0; i < n; i++) same(out[i], product(0, rank + 1, i));
  OK(MPI_Exscan(in, out, n, type, op, MPI_COMM_WORLD));
  for (int i = 0; rank && i < n; i++) same(out[i], product(0, rank, i));
  OK(MPI_Reduce_scatter_block(in, out, n, type, op, MPI_COMM_WORLD));
  for (int i = 0; i < n; i++) same(out[i], product(0, size, rank * n + i));
  int* counts = malloc(size * sizeof(int));
  for (int r = 0; r < size; r++) counts[r] = n;
  OK(MPI_Reduce_scatter(in, out, counts, type, op, MPI_COMM_WORLD));
  for (int i = 0; i < n; i++) same(out[i], product(0, size, rank * n + i));
  free(counts), free(in), free(out);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  choose_form(argc, argv);
  MPI_Op op, large;
  MPI_Datatype type;
  int commutes = 1;
  OK(MPI_Op_create(multiply, 0, &op));
  OK(MPI_Op_create_c(multiply_c, 0, &large));
  OK(MPI_Op_commutative(op, &commutes));
  EQUAL(commutes, 0);
  OK(MPI_Type_contiguous(4, MPI_UINT32_T, &type));
  OK(MPI_Type_commit(&type));
  const int kSizes[] = {1, 3, 100, 3000};
  for (int c = 0; c < 4; c++) all(op, type, kSizes[c]), all(large, type, kSizes[c]);
  CHECK(size == 1 || calls > 0);
  Matrix x = element(1, 1), y = element(2, 1);
  OK(MPI_Reduce_local(&x, &y, 1, type, op));
  same(y, product(1, 3, 1));
  FAILS(MPI_ERR_OP, MPI_Op_free(&(MPI_Op){MPI_SUM}));
  OK(MPI_Op_free(&op));
  OK(MPI_Op_free(&large));
  CHECK(op == MPI_OP_NULL);
  OK(MPI_Type_free(&type));
  return finish();
}
