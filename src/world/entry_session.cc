// SPDX-License-Identifier: BSD-3-Clause
// Sessions and communicators without parents (MPI 5.0, 11.3, 7.4.2).
//
// MPI_Session_init is local. The first communicator made from a group connects the whole job.
#include <errno.h>
#include <pthread.h>
#include <strings.h>
#include <time.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "base/log.h"
#include "base/param.h"
#include "entry_world.h"
#include "object/pool.h"
#include "p2p/p2p.h"
#include "peer/peer.h"
#include "world/construct.h"
#include "world/context.h"
#include "world/environment.h"
#include "world/instance.h"
#include "world/progress_thread.h"
#include "world/introduce.h"
#include "world/session.h"

namespace vicinity::world {
namespace {

constexpr const char* kSets[] = {"mpi://WORLD", "mpi://SELF"};
constexpr int kSetCount = 2;

Result<Session*> session_of(MPI_Session handle) {
  Session* session = object::lookup<Session>(handle);
  if (!session) return fail(MPI_ERR_SESSION, "argument `session` is no session");
  return session;
}

// Without a wish a session has the level that is in force already (MPI 5.0, 11.3.1 leaves it open).
int wished_level(const Info* info) {
  const std::string* wish = info ? info->find("thread_level") : nullptr;
  for (int level : {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE})
    if (wish && *wish == thread_level_name(level)) return level;
  return instance().world_begun ? instance().thread_level : MPI_THREAD_SINGLE;
}

base::Param<int64_t> reminder_s{
    "VICINITY_SESSION_REMINDER",
    "world",
    10,
    1,
    86400,
    "Seconds after which a session's first communicator that still waits for other processes says so."};

// Says, from a thread of its own, what a first communicator waits for: processes outside of its group need
// not come soon, and who looks at a silent job should learn why.
class Reminder {
 public:
  explicit Reminder(const char* function) : function_(function) {
    started_ = pthread_create(&thread_, nullptr, wait, this) == 0;  // without it nothing is said, that is all
  }
  Reminder(const Reminder&) = delete;
  Reminder& operator=(const Reminder&) = delete;
  ~Reminder() {
    if (!started_) return;
    pthread_mutex_lock(&lock_);
    over_ = true;
    pthread_cond_signal(&changed_);
    pthread_mutex_unlock(&lock_);
    pthread_join(thread_, nullptr);
  }

 private:
  static void* wait(void* self) {
    static_cast<Reminder*>(self)->watch();
    return nullptr;
  }
  void watch() {
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += static_cast<time_t>(reminder_s.get());
    pthread_mutex_lock(&lock_);
    int answer = 0;
    while (!over_ && answer != ETIMEDOUT) answer = pthread_cond_timedwait(&changed_, &lock_, &until);
    if (!over_)
      VICINITY_LOG(kWarn,
                   "%s has waited %lld s for other processes: the first communicator connects all %d of the "
                   "job, also those outside of its group. It goes on when each has made one or called "
                   "MPI_Init",
                   function_, static_cast<long long>(reminder_s.get()), instance().identity.size);
    pthread_mutex_unlock(&lock_);
  }

  const char* function_;
  pthread_t thread_;
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
  bool started_ = false, over_ = false;
};

Status connect_with_reminder(const char* function) {
  if (instance().connected) return kOk;
  Reminder reminder(function);
  return connect();
}

Status check_tag(const char* tag) {
  if (!tag) return fail(MPI_ERR_ARG, "argument `stringtag` is a null pointer");
  if (strnlen(tag, MPI_MAX_STRINGTAG_LEN) >= MPI_MAX_STRINGTAG_LEN)
    return fail(MPI_ERR_ARG, "argument `stringtag` is longer than %d characters", MPI_MAX_STRINGTAG_LEN - 1);
  return kOk;
}

// FNV-1a over the words and the members, so that concurrent constructions talk past each other.
int hashed_tag(const char* text, const Group* group) {
  uint64_t hash = 14695981039346656037ull;
  const auto mix = [&hash](uint64_t value) { hash = (hash ^ value) * 1099511628211ull; };
  for (const char* at = text; *at; ++at) mix(static_cast<unsigned char>(*at));
  if (group)
    for (Proc proc : group->procs) mix(proc + 256);
  return group_tag(static_cast<int>((hash >> 32 ^ hash) & object::kTagUpperBound));
}

Participants members_of(const Group& group, int tag) {
  std::vector<int> ranks(group.procs.begin(), group.procs.end());  // in the bootstrap communicator
  return some(*instance().bootstrap, std::move(ranks), group.rank, tag);
}

Status check_member(const Group& group, const char* name) {
  return group.rank != MPI_UNDEFINED
             ? kOk
             : fail(MPI_ERR_GROUP, "argument `%s` does not contain the calling process", name);
}

void adopt(Communicator& comm, const Group& group, object::Errhandler& errhandler, const Info* info) {
  object::release(comm.errhandler);
  comm.errhandler = object::retain(&errhandler);
  comm.session = group.session;
  accept_hints(comm.hints, info);
}

Result<Group*> copy_group(const Group& group) {
  Group* copy = object::make_group(group.procs, instance().self());
  if (!copy) return fail(MPI_ERR_NO_MEM, "no memory for a group");
  copy->session = group.session;
  return copy;
}

}  // namespace

void Session::finish(Session* session) {
  object::release(session->errhandler);
  if (session->hints) object::release(session->hints);
  object::destroy(session);
}

Result<Group*> pset_group(const char* name) {
  std::vector<Proc> procs;
  const auto same = [name](const char* set) { return name && strcasecmp(name, set) == 0; };
  if (same(kSets[0])) {
    for (int rank = 0; rank < instance().identity.size; ++rank) procs.push_back(static_cast<Proc>(rank));
  } else if (same(kSets[1])) {
    procs.push_back(instance().self());
  } else {
    return fail(MPI_ERR_ARG, "there is no process set %s; there are mpi://WORLD and mpi://SELF",
                name ? name : "(null)");
  }
  Group* group = object::make_group(std::move(procs), instance().self());
  if (!group) return fail(MPI_ERR_NO_MEM, "no memory for a group");
  return group;
}

namespace entry {

Status session_init(Info* info, object::Errhandler& errhandler, MPI_Session* session) {
  const WithoutProgressThread alone;
  VICINITY_TRY(open());
  Session* made = object::make<Session>();
  if (!made) return fail(MPI_ERR_NO_MEM, "no memory for a session");
  made->errhandler = object::retain(&errhandler);
  made->thread_level = wished_level(info);
  accept_hints(made->hints, info);
  if (!instance().world_begun && instance().users == 0) instance().main_thread = pthread_self();
  grant_threads(made->thread_level);
  enter();
  *session = object::handle_of(*made);
  return kOk;
}

Status session_finalize(MPI_Session* handle) {
  Result<Session*> session = session_of(*handle);
  if (!session.ok()) return session.status();
  const WithoutProgressThread alone;
  if (instance().connected) VICINITY_TRY(p2p::drain());
  object::release(*session);
  *handle = MPI_SESSION_NULL;
  leave();
  return kOk;
}

Status session_get_info(MPI_Session handle, Info** info_used) {
  Result<Session*> session = session_of(handle);
  if (!session.ok()) return session.status();
  Info* report = report_hints((*session)->hints);
  if (!report) return fail(MPI_ERR_NO_MEM, "no memory for an info object");
  report->set("thread_level", thread_level_name((*session)->thread_level));
  *info_used = report;
  return kOk;
}

Status session_get_num_psets(MPI_Session handle, Info*, int* npset_names) {
  Result<Session*> session = session_of(handle);
  if (!session.ok()) return session.status();
  *npset_names = kSetCount;
  return kOk;
}

// `pset_len` counts the null, in and out; 0 asks for the length only.
Status session_get_nth_pset(MPI_Session handle, Info*, int n, int* pset_len, char* pset_name) {
  Result<Session*> session = session_of(handle);
  if (!session.ok()) return session.status();
  if (n < 0 || n >= kSetCount)
    return fail(MPI_ERR_ARG, "argument `n` is %d, there are %d process sets", n, kSetCount);
  if (*pset_len > 0 && pset_name) std::snprintf(pset_name, static_cast<size_t>(*pset_len), "%s", kSets[n]);
  *pset_len = static_cast<int>(std::strlen(kSets[n])) + 1;
  return kOk;
}

Status session_get_pset_info(MPI_Session handle, const char* pset_name, Info** info) {
  Result<Session*> session = session_of(handle);
  if (!session.ok()) return session.status();
  Result<Group*> group = pset_group(pset_name);
  if (!group.ok()) return group.status();
  Info* made = object::copy_info(nullptr);
  if (made) made->set("mpi_size", std::to_string((*group)->size()).c_str());
  object::release(*group);
  if (!made) return fail(MPI_ERR_NO_MEM, "no memory for an info object");
  *info = made;
  return kOk;
}

Status group_from_session_pset(MPI_Session handle, const char* pset_name, Group** newgroup) {
  Result<Session*> session = session_of(handle);
  if (!session.ok()) return session.status();
  Result<Group*> group = pset_group(pset_name);
  if (!group.ok()) return group.status();
  (*group)->session = reinterpret_cast<uintptr_t>(handle);
  *newgroup = *group;
  return kOk;
}

Status comm_create_from_group(Group& group, const char* stringtag, Info* info, object::Errhandler& errhandler,
                              Communicator** newcomm) {
  VICINITY_TRY(check_tag(stringtag));
  if (group.size() == 0) return kOk;
  VICINITY_TRY(check_member(group, "group"));
  VICINITY_TRY(connect_with_reminder("MPI_Comm_create_from_group"));
  start_progress_thread();
  ContextSearch search(members_of(group, hashed_tag(stringtag, &group)), 1, false);
  Result<uint32_t> context = agree(search);
  if (!context.ok()) return context.status();
  Result<Group*> mine = copy_group(group);
  if (!mine.ok()) return mine.status();
  Communicator* made = assemble(Parts{.context = *context, .group = *mine});
  if (!made) return fail(MPI_ERR_NO_MEM, "no memory for a communicator");
  adopt(*made, group, errhandler, info);
  *newcomm = made;
  return kOk;
}

Status intercomm_create_from_groups(Group& local_group, int local_leader, MPI_Group remote_group,
                                    int remote_leader, const char* stringtag, Info* info,
                                    object::Errhandler& errhandler, Communicator** newintercomm) {
  VICINITY_TRY(check_tag(stringtag));
  VICINITY_TRY(check_member(local_group, "local_group"));
  if (local_leader < 0 || local_leader >= local_group.size())
    return fail(MPI_ERR_ARG, "argument `local_leader` is %d, the group has %d processes", local_leader,
                local_group.size());
  VICINITY_TRY(connect_with_reminder("MPI_Intercomm_create_from_groups"));
  start_progress_thread();
  Introduction mine{.tag = hashed_tag(stringtag, nullptr)};
  // Only the leader knows the remote group for certain (7.6.2).
  if (local_group.rank == local_leader) {
    const Group* remote = object::lookup<Group>(remote_group);
    if (!remote) return fail(MPI_ERR_GROUP, "argument `remote_group` is no group");
    if (remote_leader < 0 || remote_leader >= remote->size())
      return fail(MPI_ERR_ARG, "argument `remote_leader` is %d, the group has %d processes", remote_leader,
                  remote->size());
    mine.bridge = instance().bootstrap;
    mine.remote_leader = static_cast<int>(remote->procs[static_cast<size_t>(remote_leader)]);
    mine.low = static_cast<int>(instance().self()) < mine.remote_leader;
  }
  Participants who = members_of(local_group, hashed_tag(stringtag, &local_group));
  Result<Acquaintance> other = introduce(who, local_leader, local_group, mine);
  if (!other.ok()) return other.status();
  Result<Group*> own = copy_group(local_group);
  if (!own.ok()) return own.status();
  VICINITY_TRY(join(std::move(who), local_leader, mine, *other, *own, nullptr, newintercomm));
  adopt(**newintercomm, local_group, errhandler, info);
  return kOk;
}

}  // namespace entry
}  // namespace vicinity::world
