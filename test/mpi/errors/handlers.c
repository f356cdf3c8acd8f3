// SPDX-License-Identifier: BSD-3-Clause
// Error handlers: user functions on communicators, inheritance, own classes, codes and strings.
#include "check.h"

static int called, last_code;
static MPI_Comm last_comm;

static void handler(MPI_Comm* comm, int* code, ...) {
  called++;
  last_comm = *comm;
  last_code = *code;
}

static void user_handlers(void) {
  MPI_Errhandler mine, got;
  MPI_Comm dup;
  int data = 0;
  OK(MPI_Comm_create_errhandler(handler, &mine));
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
  OK(MPI_Comm_get_errhandler(dup, &got));
  CHECK(got == MPI_ERRORS_RETURN);  // a dup inherits
  OK(MPI_Errhandler_free(&got));
  OK(MPI_Comm_set_errhandler(dup, mine));
  OK(MPI_Errhandler_free(&mine));
  CHECK(mine == MPI_ERRHANDLER_NULL);
  int code = MPI_Send(&data, 1, MPI_INT, size, 0, dup);
  EQUAL(called, 1);
  CHECK(last_comm == dup);
  EQUAL(last_code, code);
  EQUAL(class_of(code), MPI_ERR_RANK);
  MPI_Comm third;
  OK(MPI_Comm_dup(dup, &third));
  CHECK(MPI_Bcast(&data, -1, MPI_INT, 0, third) != MPI_SUCCESS);
  EQUAL(called, 2);
  CHECK(last_comm == third);
  OK(MPI_Comm_call_errhandler(third, MPI_ERR_OTHER));
  EQUAL(called, 3);
  EQUAL(last_code, MPI_ERR_OTHER);
  OK(MPI_Comm_free(&third));
  OK(MPI_Comm_free(&dup));
}

static void own_codes(void) {
  int class, code, got, length, *last, flag, before;
  char text[MPI_MAX_ERROR_STRING];
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
  EQUAL(flag, 1);
  before = *last;
  CHECK(before >= MPI_ERR_LASTCODE);
  OK(MPI_Add_error_class(&class));
  CHECK(class > before);
  OK(MPI_Add_error_code(class, &code));
  OK(MPI_Add_error_string(code, "the sky is falling"));
  OK(MPI_Error_class(code, &got));
  EQUAL(got, class);
  OK(MPI_Error_string(code, text, &length));
  CHECK(strcmp(text, "the sky is falling") == 0);
  EQUAL(length, strlen(text));
  OK(MPI_Error_string(class, text, &length));
  EQUAL(length, strlen(text));
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
  CHECK(*last >= class);
  OK(MPI_Remove_error_string(code));
  OK(MPI_Remove_error_code(code));
  OK(MPI_Remove_error_class(class));
}

static void every_class_has_words(void) {
  for (int class = MPI_ERR_BUFFER; class <= MPI_ERR_ABI; class ++) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, got = -1;
    OK(MPI_Error_string(class, text, &length));
    CHECK(length > 5 && (int)strlen(text) == length);
    OK(MPI_Error_class(class, &got));
    EQUAL(got, class);
  }
}

// After an error on one communicator the others still work.
static void isolation(void) {
  int sum = 0, one = 1;
  CHECK(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_SELF) != MPI_SUCCESS);
  OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  EQUAL(sum, size);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  user_handlers();
  own_codes();
  every_class_has_words();
  isolation();
  return finish();
}
