// SPDX-License-Identifier: BSD-3-Clause
// Events and their one source (MPI 5.0, 15.3.8).
//
// All events are told from progress, with the engine lock held: callbacks run where they may call no MPI
// function but those of 15.3.8 that take the event. So the one is called that is registered for the lowest
// level from MPI_T_CB_REQUIRE_MPI_RESTRICTED on. Where only one for MPI_T_CB_REQUIRE_NONE is there the event
// waits for the beginning of the next MPI call of any thread, which is a place for any other call; what finds
// no room to wait is dropped, and the handler for that learns of it at once.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <new>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "base/progress.h"
#include "entry_world.h"
#include "object/info.h"
#include "world/state.h"
#include "world/tool/tool.h"

namespace {
constexpr MPI_T_cb_safety kLevels[] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                       MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
constexpr size_t kLevelCount = sizeof kLevels / sizeof kLevels[0];
}  // namespace

struct MPI_T_event_registration_t {
  int event;
  struct Callback {
    MPI_T_event_cb_function* call = nullptr;
    void* user_data = nullptr;
  };
  Callback callbacks[kLevelCount];
  MPI_T_event_dropped_cb_function* dropped = nullptr;
  size_t waiting = 0;  // events that have been put off
  bool over = false;   // freed while events are being told
};

struct MPI_T_event_instance_t {
  int event;
  const std::byte* elements;
  int64_t time_ns;
};

namespace vicinity::world::tool {

const std::vector<EventType>& event_types() {
  static const auto* made = new std::vector<EventType>{
      {"channel_changed",
       "messages to `process` go by another `channel` from now on: 2 ring, 3 network",
       "channel",
       {{"process", MPI_INT, offsetof(base::ChannelChanged, process), 4},
        {"channel", MPI_INT, offsetof(base::ChannelChanged, channel), 4}}},
      {"process_lost",
       "`process` has died or cannot be reached any more",
       "channel",
       {{"process", MPI_INT, offsetof(base::ProcessLost, process), 4}}},
      {"message_unexpected",
       "a message of so many bytes, perhaps of a collective, came before its receive",
       "p2p",
       {{"source", MPI_INT, offsetof(base::MessageUnexpected, source), 4},
        {"tag", MPI_INT, offsetof(base::MessageUnexpected, tag), 4},
        {"bytes", MPI_COUNT, offsetof(base::MessageUnexpected, bytes), 8}}},
  };
  return *made;
}

namespace {

std::vector<MPI_T_event_registration>& registrations() {
  static auto* made = new std::vector<MPI_T_event_registration>;
  return *made;
}
int telling = 0;                                               // depth, in all threads
thread_local const MPI_T_event_instance_t* current = nullptr;  // the one whose callback runs

// An event for those who want no restrictions.
struct Deferred {
  MPI_T_event_registration registration;
  int event;
  int64_t time_ns;
  std::array<std::byte, 16> elements;
};
static_assert(std::max({sizeof(base::ChannelChanged), sizeof(base::ProcessLost),
                        sizeof(base::MessageUnexpected)}) <= sizeof(Deferred::elements));
constexpr size_t kMostWaiting = 1024;  // of one registration

std::deque<Deferred>& deferred() {
  static auto* made = new std::deque<Deferred>;
  return *made;
}

void listen() {
  base::events_heard = 0;
  for (const MPI_T_event_registration_t* r : registrations())
    for (const auto& callback : r->callbacks)
      if (callback.call && !r->over) base::events_heard |= 1u << r->event;
}

void bury() {
  std::erase_if(deferred(), [](const Deferred& one) { return one.registration->over; });
  std::erase_if(registrations(), [](MPI_T_event_registration r) {
    const bool over = r->over;
    if (over) delete r;
    return over;
  });
}

void defer(MPI_T_event_registration r, const MPI_T_event_instance_t& instance) {
  Deferred one{r, instance.event, instance.time_ns, {}};
  for (const EventElement& element : event_types()[static_cast<size_t>(instance.event)].elements)
    std::memcpy(one.elements.data() + element.offset, instance.elements + element.offset, element.bytes);
  deferred().push_back(one);
  ++r->waiting;
  if (runs()) state = State::kNews;  // before MPI_Init and after MPI_Finalize there is no call to wait for
}

// The callback runs without the engine lock: another thread may come in meanwhile.
void tell_late(const Deferred& one) {
  MPI_T_event_registration r = one.registration;
  --r->waiting;
  const auto callback = r->callbacks[0];
  if (r->over || !callback.call) return;
  MPI_T_event_instance_t instance{one.event, one.elements.data(), one.time_ns};
  const MPI_T_event_instance_t* before = std::exchange(current, &instance);
  ++telling;
  const bool shared = base::threads_multiple();
  const uint32_t depth = shared ? base::engine_lock.release_all() : 0;
  callback.call(&instance, r, MPI_T_CB_REQUIRE_NONE, callback.user_data);
  if (shared) base::engine_lock.acquire_again(depth);
  --telling;
  current = before;
}

void notify(MPI_T_event_registration r, MPI_T_event_instance instance) {
  constexpr MPI_T_cb_safety here = MPI_T_CB_REQUIRE_MPI_RESTRICTED;
  for (size_t level = 1; level < kLevelCount; ++level)
    if (const auto callback = r->callbacks[level]; callback.call)
      return callback.call(instance, r, here, callback.user_data);
  if (!r->callbacks[0].call) return;
  if (r->waiting < kMostWaiting && runs()) return defer(r, *instance);
  if (r->dropped) r->dropped(1, r, 0, here, r->callbacks[0].user_data);
}

void hear(base::Event event, const void* elements) {
  MPI_T_event_instance_t instance{static_cast<int>(event), static_cast<const std::byte*>(elements),
                                  base::now_ns()};
  const MPI_T_event_instance_t* before = current;
  current = &instance;
  ++telling;
  for (size_t i = 0; i < registrations().size(); ++i)  // callbacks may add some
    if (MPI_T_event_registration r = registrations()[i]; r->event == instance.event && !r->over)
      notify(r, &instance);
  current = before;
  if (--telling == 0) bury();
}

Status check_event(int index) {
  VICINITY_TRY(check_begun());
  return check_index(index, event_types().size(), "event");
}

Status check_source(int index) {
  VICINITY_TRY(check_begun());
  return check_index(index, 1, "source");
}

Status check(MPI_T_event_registration r) {
  VICINITY_TRY(check_begun());
  const auto& all = registrations();
  return std::find(all.begin(), all.end(), r) != all.end() && !r->over
             ? kOk
             : fail(MPI_T_ERR_INVALID_HANDLE, "argument `event_registration` is none");
}

Status check(MPI_T_event_registration r, MPI_T_cb_safety safety, size_t* level) {
  VICINITY_TRY(check(r));
  *level = static_cast<size_t>(std::find(kLevels, kLevels + kLevelCount, safety) - kLevels);
  return *level < kLevelCount ? kOk
                              : fail(MPI_T_ERR_INVALID, "argument `cb_safety` is %d, which is no level",
                                     static_cast<int>(safety));
}

// An instance lives as long as its callback runs.
Status check(const MPI_T_event_instance_t* instance) {
  VICINITY_TRY(check_begun());
  return instance && instance == current
             ? kOk
             : fail(MPI_T_ERR_INVALID_HANDLE,
                    "argument `event_instance` is none, or its callback has returned");
}

Status no_hints(object::Info** info) {
  if (!info) return kOk;
  *info = object::copy_info(nullptr);
  return *info ? kOk : fail(MPI_T_ERR_MEMORY, "no memory for an info object");
}

const EventType& type_of(const MPI_T_event_instance_t& instance) {
  return event_types()[static_cast<size_t>(instance.event)];
}

}  // namespace

void forget_events() {
  for (MPI_T_event_registration r : registrations()) r->over = true;
  listen();
  if (telling == 0) bury();
}

}  // namespace vicinity::world::tool

namespace vicinity::world {

// A callback that calls MPI comes here again: the rest is told by the first.
void attend_to_news() {
  thread_local bool attending = false;
  if (std::exchange(attending, true)) return;
  base::engine_lock.lock();
  std::deque<tool::Deferred>& waiting = tool::deferred();
  for (size_t most = waiting.size(); most > 0 && !waiting.empty(); --most) {  // a callback may make more
    const tool::Deferred one = waiting.front();
    waiting.pop_front();
    tool::tell_late(one);
  }
  if (state == State::kNews && waiting.empty()) state = State::kRunning;
  if (tool::telling == 0) tool::bury();
  base::engine_lock.unlock();
  attending = false;
}

}  // namespace vicinity::world

namespace vicinity::world::entry {

using namespace tool;
using object::Info;

Status t_source_get_num(int* num_sources) {
  VICINITY_TRY(check_begun());
  give(num_sources, 1);
  return kOk;
}

Status t_source_get_info(int source_index, char* name, int* name_len, char* desc, int* desc_len,
                         MPI_T_source_order* ordering, MPI_Count* ticks_per_second, MPI_Count* max_ticks,
                         Info** info) {
  VICINITY_TRY(check_source(source_index));
  VICINITY_TRY(no_hints(info));
  give_text("vicinity", name, name_len);
  give_text("what the library itself notices; callbacks without restrictions hear of it later", desc,
            desc_len);
  give(ordering, MPI_T_SOURCE_UNORDERED);
  give(ticks_per_second, 1'000'000'000);
  give(max_ticks, INT64_MAX);
  return kOk;
}

Status t_source_get_timestamp(int source_index, MPI_Count* timestamp) {
  VICINITY_TRY(check_source(source_index));
  give(timestamp, base::now_ns());
  return kOk;
}

Status t_event_get_num(int* num_events) {
  VICINITY_TRY(check_begun());
  give(num_events, event_types().size());
  return kOk;
}

Status t_event_get_info(int event_index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatypes,
                        MPI_Aint* displacements, int* num_elements, MPI_T_enum* enumtype, Info** info,
                        char* desc, int* desc_len, int* bind) {
  VICINITY_TRY(check_event(event_index));
  VICINITY_TRY(no_hints(info));
  const EventType& type = event_types()[static_cast<size_t>(event_index)];
  give_text(type.name, name, name_len);
  give_text(type.text, desc, desc_len);
  give(verbosity, MPI_T_VERBOSITY_USER_BASIC);
  const size_t room = num_elements && *num_elements > 0 ? static_cast<size_t>(*num_elements) : 0;
  for (size_t i = 0; i < std::min(room, type.elements.size()); ++i) {
    if (datatypes) datatypes[i] = type.elements[i].type;
    if (displacements) displacements[i] = static_cast<MPI_Aint>(type.elements[i].offset);
  }
  give(num_elements, type.elements.size());
  if (enumtype) *enumtype = MPI_T_ENUM_NULL;
  give(bind, MPI_T_BIND_NO_OBJECT);
  return kOk;
}

Status t_event_get_index(const char* name, int* event_index) {
  VICINITY_TRY(check_begun());
  for (size_t i = 0; name && i < event_types().size(); ++i)
    if (std::strcmp(event_types()[i].name, name) == 0) return give(event_index, i), kOk;
  return fail(MPI_T_ERR_INVALID_NAME, "there is no event %s", name ? name : "(null)");
}

Status t_event_handle_alloc(int event_index, void*, Info*, MPI_T_event_registration* event_registration) {
  VICINITY_TRY(check_event(event_index));
  if (!event_registration) return fail(MPI_T_ERR_INVALID, "argument `event_registration` is a null pointer");
  auto* made = new (std::nothrow) MPI_T_event_registration_t{};
  if (!made) return fail(MPI_T_ERR_MEMORY, "no memory for an event registration");
  made->event = event_index;
  registrations().push_back(made);
  base::event_hearer = hear;
  *event_registration = made;
  return kOk;
}

Status t_event_handle_free(MPI_T_event_registration event_registration, void* user_data,
                           MPI_T_event_free_cb_function free_cb_function) {
  VICINITY_TRY(check(event_registration));
  event_registration->over = true;
  listen();
  if (free_cb_function) free_cb_function(event_registration, MPI_T_CB_REQUIRE_NONE, user_data);
  if (telling == 0) bury();
  return kOk;
}

Status t_event_handle_get_info(MPI_T_event_registration event_registration, Info** info_used) {
  VICINITY_TRY(check(event_registration));
  return no_hints(info_used);
}

Status t_event_handle_set_info(MPI_T_event_registration event_registration, Info*) {
  return check(event_registration);
}

Status t_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                                 Info*, void* user_data, MPI_T_event_cb_function event_cb_function) {
  size_t level = 0;
  VICINITY_TRY(check(event_registration, cb_safety, &level));
  event_registration->callbacks[level] = {event_cb_function, user_data};
  listen();
  return kOk;
}

Status t_event_callback_get_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                                 Info** info_used) {
  size_t level = 0;
  VICINITY_TRY(check(event_registration, cb_safety, &level));
  return no_hints(info_used);
}

Status t_event_callback_set_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                                 Info*) {
  size_t level = 0;
  return check(event_registration, cb_safety, &level);
}

Status t_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                   MPI_T_event_dropped_cb_function dropped_cb_function) {
  VICINITY_TRY(check(event_registration));
  event_registration->dropped = dropped_cb_function;
  return kOk;
}

Status t_event_read(MPI_T_event_instance event_instance, int element_index, void* buffer) {
  VICINITY_TRY(check(event_instance));
  const auto& elements = type_of(*event_instance).elements;
  VICINITY_TRY(check_index(element_index, elements.size(), "element"));
  const EventElement& element = elements[static_cast<size_t>(element_index)];
  if (buffer) std::memcpy(buffer, event_instance->elements + element.offset, element.bytes);
  return kOk;
}

// Each element at the displacement that MPI_T_event_get_info tells.
Status t_event_copy(MPI_T_event_instance event_instance, void* buffer) {
  VICINITY_TRY(check(event_instance));
  for (const EventElement& element : type_of(*event_instance).elements)
    if (buffer)
      std::memcpy(static_cast<std::byte*>(buffer) + element.offset, event_instance->elements + element.offset,
                  element.bytes);
  return kOk;
}

Status t_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count* event_timestamp) {
  VICINITY_TRY(check(event_instance));
  give(event_timestamp, event_instance->time_ns);
  return kOk;
}

Status t_event_get_source(MPI_T_event_instance event_instance, int* source_index) {
  VICINITY_TRY(check(event_instance));
  give(source_index, 0);
  return kOk;
}

}  // namespace vicinity::world::entry
