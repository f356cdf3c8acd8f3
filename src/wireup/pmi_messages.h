// SPDX-License-Identifier: BSD-3-Clause
// The messages of PMI-1 and PMI-2, each described once: what is asked, what comes back. The client in
// this room and the server in launch/ both build and check their texts from these tables, so that
// the two ends stay equal by construction.
#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/status.h"
#include "wireup/pmi_text.h"

namespace vicinity::wireup {

using FieldNames = std::array<const char*, 4>;  // unused places are nullptr

struct Shape {
  const char* request;
  FieldNames asked;
  const char* reply;    // nullptr: nothing comes back
  FieldNames answered;  // what the reply must have when it is a success
};

namespace pmi1 {
inline constexpr Shape kInit{
    "init", {"pmi_version", "pmi_subversion"}, "response_to_init", {"pmi_version", "pmi_subversion", "rc"}};
inline constexpr Shape kMaxes{"get_maxes", {}, "maxes", {"kvsname_max", "keylen_max", "vallen_max"}};
inline constexpr Shape kAppnum{"get_appnum", {}, "appnum", {"appnum"}};
inline constexpr Shape kKvsName{"get_my_kvsname", {}, "my_kvsname", {"kvsname"}};
inline constexpr Shape kUniverse{"get_universe_size", {}, "universe_size", {"size"}};
inline constexpr Shape kPut{"put", {"kvsname", "key", "value"}, "put_result", {"rc"}};
inline constexpr Shape kGet{"get", {"kvsname", "key"}, "get_result", {"rc", "value"}};
inline constexpr Shape kBarrier{"barrier_in", {}, "barrier_out", {}};
inline constexpr Shape kFinalize{"finalize", {}, "finalize_ack", {}};
inline constexpr Shape kAbort{"abort", {"exitcode"}, nullptr, {}};
// Ours: how many processes of other jobs the sender is connected with.
inline constexpr Shape kGuests{"vicinity_guests", {"count"}, nullptr, {}};
// Ours: the sender, a spawned process, has met those who have spawned it.
inline constexpr Shape kArrived{"vicinity_arrived", {}, nullptr, {}};
inline constexpr const Shape* kAll[] = {&kInit, &kMaxes,   &kAppnum,   &kKvsName, &kUniverse, &kPut,
                                        &kGet,  &kBarrier, &kFinalize, &kAbort,   &kGuests,   &kArrived};
// What is asked in several lines, `mcmd=spawn` ... `endcmd`, one block for each command (pmi_spawn.h).
inline constexpr Shape kSpawn{"spawn", {}, "spawn_result", {"rc"}};
// Over PMI_PORT a client first says who it is; three `set` lines (size, rank, debug) follow the reply.
inline constexpr Shape kInitAck{"initack", {"pmiid"}, "initack", {}};
// What our server allows. The lengths include the ending zero that C clients add.
inline constexpr int kKvsNameMax = 256, kKeyMax = 64, kValueMax = 1024;
// Under this key a server that leaves the others alone after a death (Hydra's -disable-auto-cleanup, our
// -enable-recovery) keeps the ranks that have died, as `1,4-6`.
inline constexpr const char* kDeadKey = "PMI_dead_processes";
}  // namespace pmi1

namespace pmi2 {
inline constexpr Shape kFullInit{
    "fullinit", {"pmijobid", "pmirank", "threaded"}, "fullinit-response", {"rc", "rank", "size"}};
inline constexpr Shape kJobId{"job-getid", {}, "job-getid-response", {"rc", "jobid"}};
inline constexpr Shape kPut{"kvs-put", {"key", "value"}, "kvs-put-response", {"rc"}};
inline constexpr Shape kGet{"kvs-get", {"jobid", "srcid", "key"}, "kvs-get-response", {"rc", "found"}};
inline constexpr Shape kFence{"kvs-fence", {}, "kvs-fence-response", {"rc"}};
inline constexpr Shape kAttribute{
    "info-getjobattr", {"key", "wait"}, "info-getjobattr-response", {"rc", "found"}};
inline constexpr Shape kFinalize{"finalize", {}, "finalize-response", {"rc"}};
inline constexpr Shape kAbort{"abort", {"isworld", "msg"}, nullptr, {}};
inline constexpr int kKeyMax = 64, kValueMax = 1024;
}  // namespace pmi2

// A request or a reply of this shape with these values, in the order of the table.
Message make_message(const char* command, const FieldNames& names,
                     std::initializer_list<std::string_view> values);
inline Message make_request(const Shape& shape, std::initializer_list<std::string_view> values = {}) {
  return make_message(shape.request, shape.asked, values);
}
inline Message make_reply(const Shape& shape, std::initializer_list<std::string_view> values = {}) {
  return make_message(shape.reply, shape.answered, values);
}
// Does the request have every field of its shape?
base::Status check_request(const Shape& shape, const Message& request);
// Is this the reply of that shape, a success (rc, where there is one, is 0), and complete?
base::Status check_reply(const Shape& shape, const Message& reply);

}  // namespace vicinity::wireup
