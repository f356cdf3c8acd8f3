// SPDX-License-Identifier: BSD-3-Clause
// The tools interface: control and performance variables, categories, enumerations, before and without
// MPI_Init.
#include "check.h"

static void control_variables(void) {
  int n = 0;
  OK(MPI_T_cvar_get_num(&n));
  CHECK(n >= 0);
  for (int i = 0; i < n; i++) {
    char name[256], text[1024];
    int name_length = sizeof name, text_length = sizeof text, verbosity, bind, scope, index = -1;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    OK(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &enumeration, text, &text_length, &bind,
                           &scope));
    CHECK(name_length == (int)strlen(name) + 1 && name_length > 1);
    CHECK(text_length == (int)strlen(text) + 1);
    OK(MPI_T_cvar_get_index(name, &index));
    EQUAL(index, i);
    if (bind != MPI_T_BIND_NO_OBJECT) continue;
    MPI_T_cvar_handle handle;
    int count = 0;
    OK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count));
    CHECK(count >= 1);
    char* value = calloc(count + 1, 16);
    OK(MPI_T_cvar_read(handle, value));
    free(value);
    OK(MPI_T_cvar_handle_free(&handle));
    CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
  }
  char name[8];
  int eight = 8, index, verbosity, bind, scope, zero = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  EQUAL(MPI_T_cvar_get_info(n, name, &eight, &verbosity, &type, NULL, NULL, &zero, &bind, &scope),
        MPI_T_ERR_INVALID_INDEX);
  EQUAL(MPI_T_cvar_get_index("no such variable", &index), MPI_T_ERR_INVALID_NAME);
}

static void performance_variables(void) {
  MPI_T_pvar_session session;
  int n = 0;
  OK(MPI_T_pvar_get_num(&n));
  OK(MPI_T_pvar_session_create(&session));
  for (int i = 0; i < n; i++) {
    char name[256], text[1024];
    int name_length = sizeof name, text_length = sizeof text, verbosity, class, bind, readonly, continuous,
        atomic;
    int index = -1, count = 0;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_pvar_handle handle;
    OK(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &enumeration, text, &text_length,
                           &bind, &readonly, &continuous, &atomic));
    OK(MPI_T_pvar_get_index(name, class, &index));
    EQUAL(index, i);
    if (bind != MPI_T_BIND_NO_OBJECT) continue;
    OK(MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count));
    if (!continuous) OK(MPI_T_pvar_start(session, handle));
    char* value = calloc(count + 1, 16);
    OK(MPI_T_pvar_read(session, handle, value));
    free(value);
    if (!continuous) OK(MPI_T_pvar_stop(session, handle));
    OK(MPI_T_pvar_handle_free(session, &handle));
    CHECK(handle == MPI_T_PVAR_HANDLE_NULL);
  }
  OK(MPI_T_pvar_session_free(&session));
  CHECK(session == MPI_T_PVAR_SESSION_NULL);
}

static void categories(void) {
  int n = 0;
  OK(MPI_T_category_get_num(&n));
  for (int i = 0; i < n; i++) {
    char name[256], text[1024];
    int name_length = sizeof name, text_length = sizeof text, cvars, pvars, children, index = -1, list[512];
    OK(MPI_T_category_get_info(i, name, &name_length, text, &text_length, &cvars, &pvars, &children));
    OK(MPI_T_category_get_index(name, &index));
    EQUAL(index, i);
    OK(MPI_T_category_get_cvars(i, cvars < 512 ? cvars : 512, list));
    OK(MPI_T_category_get_pvars(i, pvars < 512 ? pvars : 512, list));
    OK(MPI_T_category_get_categories(i, children < 512 ? children : 512, list));
  }
  int stamp;
  OK(MPI_T_category_changed(&stamp));
}

int main(int argc, char** argv) {
  int provided, n;
  EQUAL(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  control_variables();
  begin(&argc, &argv);
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));  // counted
  control_variables();
  performance_variables();
  categories();
  int sources = -1, events = -1;
  OK(MPI_T_source_get_num(&sources));
  OK(MPI_T_event_get_num(&events));
  CHECK(sources >= 0 && events >= 0);
  OK(MPI_T_finalize());
  OK(MPI_T_cvar_get_num(&n));
  OK(MPI_T_finalize());
  EQUAL(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
  return finish();
}
