// SPDX-License-Identifier: BSD-3-Clause
// The few types and functions of UCP (libucp.so.0) that the channel needs, as its binary interface has them.
//
// Each structure is the head of UCP's own: UCP reads only the fields that the mask names, and adds new ones
// behind. layout_test.cc compares with the installed headers where there are some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace vicinity::channel::ucx::abi {

// The interface that we ask for; a newer library serves it.
inline constexpr unsigned kMajor = 1, kMinor = 10;

using StatusCode = int8_t;  // ucs_status_t, a packed enum
inline constexpr StatusCode kOk = 0, kInProgress = 1, kNoResource = -2, kBusy = -15, kLastError = -100;

using Context = struct OpaqueContext*;
using Worker = struct OpaqueWorker*;
using Endpoint = struct OpaqueEndpoint*;
using Config = struct OpaqueConfig*;
using Address = struct OpaqueAddress;
using Datatype = uint64_t;

inline constexpr uint64_t kFeatureWakeup = 1u << 4, kFeatureActiveMessages = 1u << 6;

struct ContextParams {
  uint64_t mask;
  uint64_t features;
};
inline constexpr uint64_t kContextFeatures = 1u << 0;

struct WorkerParams {
  uint64_t mask;
  int thread_mode;
};
inline constexpr uint64_t kWorkerThreadMode = 1u << 0;
inline constexpr int kSerialized = 1;  // several threads, one at a time: the engine lock sees to it

using ErrorCallback = void (*)(void* arg, Endpoint endpoint, StatusCode status);
struct EndpointParams {
  uint64_t mask;
  const Address* address;
  int error_mode;
  ErrorCallback on_error;
  void* on_error_arg;
};
inline constexpr uint64_t kEndpointAddress = 1u << 0, kEndpointErrorMode = 1u << 1,
                          kEndpointErrorHandler = 1u << 2;
inline constexpr int kErrorModePeer = 1;

using SendCallback = void (*)(void* request, StatusCode status, void* user);
using ReceiveCallback = void (*)(void* request, StatusCode status, size_t length, void* user);
struct RequestParam {
  uint32_t mask;
  uint32_t flags;
  void* request;
  union {
    SendCallback sent;
    ReceiveCallback received;
  };
  Datatype datatype;
  void* user;
};
inline constexpr uint32_t kParamCallback = 1u << 1, kParamUser = 1u << 2, kParamDatatype = 1u << 3,
                          kParamFlags = 1u << 4;
inline constexpr uint32_t kSendEager = 1u << 1, kSendRendezvous = 1u << 2;  // of an active message
inline constexpr uint32_t kCloseForce = 1u << 0;                           // of an endpoint

struct ArrivalParam {
  uint64_t attributes;
  Endpoint reply;
};
inline constexpr uint64_t kArrivalMayKeep = 1u << 16;    // data may be kept by answering kInProgress
inline constexpr uint64_t kArrivalRendezvous = 1u << 17;  // data is a descriptor: fetch it

using ArrivalCallback = StatusCode (*)(void* arg, const void* header, size_t header_bytes, void* data,
                                       size_t bytes, const ArrivalParam* param);
struct HandlerParam {
  uint64_t mask;
  unsigned id;
  uint32_t flags;
  ArrivalCallback callback;
  void* arg;
};
inline constexpr uint64_t kHandlerId = 1u << 0, kHandlerFlags = 1u << 1, kHandlerCallback = 1u << 2,
                          kHandlerArg = 1u << 3;
inline constexpr uint32_t kHandlerWholeMessage = 1u << 0;

// How data that is no run of bytes is written, piece by piece.
struct GenericType {
  void* (*start_pack)(void* context, const void* buffer, size_t count);
  void* (*start_unpack)(void* context, void* buffer, size_t count);
  size_t (*packed_size)(void* state);
  size_t (*pack)(void* state, size_t offset, void* to, size_t most);
  StatusCode (*unpack)(void* state, size_t offset, const void* from, size_t bytes);
  void (*finish)(void* state);
};

// What a call that may go on later answers: nullptr (done), a small negative number, or a request.
inline bool is_error(const void* answer) {
  return reinterpret_cast<uintptr_t>(answer) >= static_cast<uintptr_t>(intptr_t{kLastError});
}
inline StatusCode error_of(const void* answer) {
  return static_cast<StatusCode>(reinterpret_cast<intptr_t>(answer));
}

// The functions, by their names in the library.
struct Functions {
  const char* (*get_version_string)();
  StatusCode (*config_read)(const char* prefix, const char* file, Config* out);
  StatusCode (*config_modify)(Config config, const char* name, const char* value);
  void (*config_release)(Config config);
  StatusCode (*init_version)(unsigned major, unsigned minor, const ContextParams*, Config, Context* out);
  void (*cleanup)(Context context);
  StatusCode (*worker_create)(Context context, const WorkerParams* params, Worker* out);
  void (*worker_destroy)(Worker worker);
  StatusCode (*worker_get_address)(Worker worker, Address** out, size_t* bytes);
  void (*worker_release_address)(Worker worker, Address* address);
  unsigned (*worker_progress)(Worker worker);
  StatusCode (*worker_get_efd)(Worker worker, int* fd);
  StatusCode (*worker_arm)(Worker worker);
  void* (*worker_flush_nbx)(Worker worker, const RequestParam* param);
  StatusCode (*worker_set_am_recv_handler)(Worker worker, const HandlerParam* param);
  StatusCode (*ep_create)(Worker worker, const EndpointParams* params, Endpoint* out);
  void* (*ep_close_nbx)(Endpoint endpoint, const RequestParam* param);
  void* (*am_send_nbx)(Endpoint endpoint, unsigned id, const void* header, size_t header_bytes,
                       const void* data, size_t bytes, const RequestParam* param);
  void* (*am_recv_data_nbx)(Worker worker, void* descriptor, void* buffer, size_t count,
                            const RequestParam* param);
  void (*am_data_release)(Worker worker, void* data);
  StatusCode (*request_check_status)(void* request);
  void (*request_free)(void* request);
  StatusCode (*dt_create_generic)(const GenericType* type, void* context, Datatype* out);
  void (*dt_destroy)(Datatype type);
  void (*ep_print_info)(Endpoint endpoint, FILE* stream);  // or nullptr
  const char* (*status_string)(StatusCode status);  // of libucs
};

}  // namespace vicinity::channel::ucx::abi
