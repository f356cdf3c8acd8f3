// SPDX-License-Identifier: BSD-3-Clause
// Events of the tools interface (MPI 5.0, 15.3.8): what there are, callbacks, what they may read, dropped
// ones, the end. With an argument also that a change of channel is told.
#include "../check.h"

typedef struct {
  int calls, dropped, freed, source, tag, channel;
  MPI_Count bytes, time;
} Seen;

static int event_of(const char* name) {
  int index = -1;
  OK(MPI_T_event_get_index(name, &index));
  return index;
}

static void unexpected(MPI_T_event_instance instance, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void* user_data) {
  struct {
    int source, tag;
    MPI_Count bytes;
  } all;
  Seen* seen = user_data;
  int source = -1, tag = -1;
  MPI_Count bytes = -1, time = 0;
  CHECK(registration != NULL && safety == MPI_T_CB_REQUIRE_MPI_RESTRICTED);
  OK(MPI_T_event_read(instance, 1, &tag));
  if (tag != 41 && tag != 42) return;  // of a collective
  OK(MPI_T_event_read(instance, 0, &source));
  OK(MPI_T_event_read(instance, 2, &bytes));
  FAILS(MPI_T_ERR_INVALID_INDEX, MPI_T_event_read(instance, 3, &tag));
  OK(MPI_T_event_copy(instance, &all));
  CHECK(all.source == source && all.tag == tag && all.bytes == bytes);
  OK(MPI_T_event_get_timestamp(instance, &time));
  CHECK(time >= seen->time);
  OK(MPI_T_event_get_source(instance, &seen->source));
  EQUAL(source, 1);
  seen->tag = tag, seen->bytes = bytes, seen->time = time, ++seen->calls;
}

// Without restrictions, though a little later.
static void free_to_call(MPI_T_event_instance instance, MPI_T_event_registration registration,
                         MPI_T_cb_safety safety, void* user_data) {
  Seen* seen = user_data;
  int tag = -1, got = 0;
  MPI_Count time = 0;
  CHECK(registration != NULL && safety == MPI_T_CB_REQUIRE_NONE);
  OK(MPI_T_event_read(instance, 1, &tag));
  OK(MPI_T_event_get_timestamp(instance, &time));
  if (tag != 41 && tag != 42) return;
  CHECK(time >= seen->time && time > 0);
  OK(MPI_Sendrecv(&tag, 1, MPI_INT, 0, 9, &got, 1, MPI_INT, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  EQUAL(got, tag);
  OK(MPI_T_event_read(instance, 0, &seen->source));
  seen->tag = tag, seen->time = time, ++seen->calls;
}

static void freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* user_data) {
  (void)registration, (void)safety;
  ++((Seen*)user_data)->freed;
}

static void dropped(MPI_Count count, MPI_T_event_registration registration, int source,
                    MPI_T_cb_safety safety, void* user_data) {
  (void)registration, (void)safety;
  EQUAL(source, 0);
  ((Seen*)user_data)->dropped += (int)count;
}

static void description(void) {
  int events = 0, sources = 0, count = 0;
  OK(MPI_T_event_get_num(&events));
  OK(MPI_T_source_get_num(&sources));
  CHECK(events >= 3 && sources == 1);
  for (int i = 0; i < events; ++i) {
    char name[100], text[300];
    int name_length = sizeof name, text_length = sizeof text, verbosity = -1, elements = 8;
    int bind = -1, again = -1;
    MPI_Datatype types[8];
    MPI_Aint at[8];
    MPI_T_enum enumtype;
    MPI_Info info = MPI_INFO_NULL;
    OK(MPI_T_event_get_info(i, name, &name_length, &verbosity, types, at, &elements, &enumtype, &info, text,
                            &text_length, &bind));
    CHECK(elements >= 1 && elements <= 8 && bind == MPI_T_BIND_NO_OBJECT && info != MPI_INFO_NULL);
    for (int e = 0; e < elements; ++e) CHECK((types[e] == MPI_INT || types[e] == MPI_COUNT) && at[e] >= 0);
    OK(MPI_Info_free(&info));
    OK(MPI_T_event_get_index(name, &again));
    EQUAL(again, i);
  }
  char name[20];
  int length = sizeof name, category = -1, listed[8];
  MPI_T_source_order order;
  MPI_Count ticks = 0, most = 0, first = 0, second = 0;
  MPI_Info info;
  OK(MPI_T_source_get_info(0, name, &length, NULL, NULL, &order, &ticks, &most, &info));
  CHECK(strcmp(name, "vicinity") == 0 && order == MPI_T_SOURCE_UNORDERED && ticks == 1000000000 && most > 0);
  OK(MPI_Info_free(&info));
  OK(MPI_T_source_get_timestamp(0, &first));
  OK(MPI_T_source_get_timestamp(0, &second));
  CHECK(second >= first);
  OK(MPI_T_category_get_index("p2p", &category));
  OK(MPI_T_category_get_num_events(category, &count));
  EQUAL(count, 1);
  OK(MPI_T_category_get_events(category, 8, listed));
  EQUAL(listed[0], event_of("message_unexpected"));
  FAILS(MPI_T_ERR_INVALID_INDEX, MPI_T_source_get_timestamp(1, &first));
  FAILS(MPI_T_ERR_INVALID_NAME, MPI_T_event_get_index("no such event", &count));
}

// The other rank sends one message with this tag, and it is here before its receive.
static void let_come(int tag) {
  int got = 0;
  if (rank == 1) OK(MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_WORLD));
  if (rank != 0) return;
  OK(MPI_Probe(1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  OK(MPI_Recv(&got, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  EQUAL(got, tag);
}

// More in one call than can wait.
static void overflow(void) {
  enum { kMany = 5000 };
  int word = 0;
  OK(MPI_Barrier(MPI_COMM_WORLD));  // or some of these are counted with those before
  if (rank == 1)
    for (int i = 0; i <= kMany; ++i) OK(MPI_Send(&word, 1, MPI_INT, 0, i == kMany ? 45 : 44, MPI_COMM_WORLD));
  if (rank != 0) return;
  OK(MPI_Probe(1, 45, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int i = 0; i <= kMany; ++i)
    OK(MPI_Recv(&word, 1, MPI_INT, 1, i == kMany ? 45 : 44, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void callbacks(void) {
  Seen seen = {0}, late = {0};
  MPI_T_event_registration one = NULL, two = NULL;
  MPI_Info info;
  const int event = event_of("message_unexpected");
  OK(MPI_T_event_handle_alloc(event, NULL, MPI_INFO_NULL, &one));
  OK(MPI_T_event_handle_alloc(event, NULL, MPI_INFO_NULL, &two));
  OK(MPI_T_event_register_callback(one, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, &seen, unexpected));
  OK(MPI_T_event_register_callback(two, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &late, free_to_call));
  OK(MPI_T_event_set_dropped_handler(two, dropped));
  FAILS(MPI_T_ERR_INVALID,
        MPI_T_event_register_callback(one, (MPI_T_cb_safety)1, MPI_INFO_NULL, NULL, unexpected));
  OK(MPI_T_event_callback_get_info(one, MPI_T_CB_REQUIRE_MPI_RESTRICTED, &info));
  OK(MPI_Info_free(&info));
  OK(MPI_T_event_handle_get_info(one, &info));
  OK(MPI_Info_free(&info));
  let_come(41), let_come(42);
  if (rank == 0) {
    CHECK(seen.calls == 2 && seen.tag == 42 && seen.bytes == 4 && seen.source == 0 && seen.time > 0);
    MPI_Barrier(MPI_COMM_SELF);  // any call will do
    CHECK(late.calls == 2 && late.dropped == 0 && late.tag == 42 && late.source == 1);
  }
  overflow();
  if (rank == 0) CHECK(late.dropped > 0);
  OK(MPI_T_event_handle_free(one, &seen, freed));
  OK(MPI_T_event_handle_free(two, NULL, NULL));
  EQUAL(seen.freed, 1);
  FAILS(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_set_dropped_handler(two, dropped));
  OK(MPI_Barrier(MPI_COMM_WORLD));  // or the last message comes too early
  let_come(42);
  EQUAL(seen.calls, rank == 0 ? 2 : 0);
}

static void changed(MPI_T_event_instance instance, MPI_T_event_registration registration,
                    MPI_T_cb_safety safety, void* user_data) {
  (void)registration, (void)safety;
  Seen* seen = user_data;
  OK(MPI_T_event_read(instance, 1, &seen->channel));
  ++seen->calls;
}

static void go_on_until(const Seen* seen, int channel) {
  for (int all = 0; !all;) {
    int here = seen->channel == channel;
    let_come(43);
    OK(MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  }
}

// Off shared memory and back, as p2p/changing does.
static void channels(void) {
  Seen seen = {0};
  MPI_T_event_registration handle;
  MPI_T_cvar_handle wish;
  int variable = -1, count = 0, yes = 1, no = 0;
  OK(MPI_T_event_handle_alloc(event_of("channel_changed"), NULL, MPI_INFO_NULL, &handle));
  OK(MPI_T_event_register_callback(handle, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &seen,
                                   changed));
  OK(MPI_T_cvar_get_index("VICINITY_SUSPEND", &variable));
  OK(MPI_T_cvar_handle_alloc(variable, NULL, &wish, &count));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_T_cvar_write(wish, &yes));
  go_on_until(&seen, 3);
  OK(MPI_T_cvar_write(wish, &no));
  go_on_until(&seen, 2);
  CHECK(seen.calls >= 2);
  OK(MPI_T_cvar_handle_free(&wish));
  OK(MPI_T_event_handle_free(handle, NULL, NULL));
}

int main(int argc, char** argv) {
  int provided;
  begin(&argc, &argv);
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  description();
  callbacks();
  if (argc > 1 && share_memory(MPI_COMM_WORLD))
    channels();
  else if (argc > 1 && rank == 0)
    puts("changes of channel are left out: these ranks share no memory");
  OK(MPI_T_finalize());
  return finish();
}
