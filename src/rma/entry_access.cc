// SPDX-License-Identifier: BSD-3-Clause
// MPI_Put, MPI_Get and their request forms (MPI 5.0, 12.3).
#include <cstring>
#include <mutex>

#include "entry_rma.h"
#include "p2p/engine.h"
#include "rma/outbound.h"
#include "rma/request.h"
#include "rma/runs.h"

namespace vicinity::rma {
namespace {

struct Call {
  What what;
  void* buf;
  MPI_Count count;
  Datatype& type;
  MPI_Aint disp;
  MPI_Count target_count;
  Datatype& target_type;
};

// A constant size becomes a load and a store.
inline void move(void* to, const void* from, size_t bytes) {
  switch (bytes) {
    case 0:  // the address may be a null pointer, which memmove does not allow
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    default:
      std::memmove(to, from, bytes);
  }
}

// All of a small access between runs of bytes; false: it has to go the long way.
inline bool moved_at_once(const Peer& peer, const Call& call) {
  if (!peer.mapped || !call.type.dense || !call.target_type.dense) return false;
  int64_t bytes, there, at;
  if (__builtin_mul_overflow(call.count, call.type.size, &bytes) ||
      __builtin_mul_overflow(call.target_count, call.target_type.size, &there) || bytes != there)
    return false;
  if (call.disp < 0 || __builtin_mul_overflow(static_cast<int64_t>(call.disp), peer.unit, &at) ||
      __builtin_add_overflow(at, call.target_type.true_lb, &at) || at < 0)
    return false;
  const auto size = static_cast<uint64_t>(bytes), begin = static_cast<uint64_t>(at);
  if (size > peer.size || begin > peer.size - size) return false;
  if (call.what == What::kPut) {
    note_stores(*peer.window);
    move(peer.base + begin, object::data_start(call.buf, call.type), size);
  } else {
    move(object::data_start(call.buf, call.type), peer.base + begin, size);
  }
  return true;
}

// Memory that we reach, and anything but runs of bytes.
void move_typed(const Peer& peer, const Call& call, int64_t at) {
  char* there = at_offset(peer, at);
  note_stores(*peer.window);
  if (call.what == What::kPut) {
    object::copy_typed(call.buf, call.count, call.type, there, call.target_count, call.target_type);
  } else {
    object::copy_typed(there, call.target_count, call.target_type, call.buf, call.count, call.type);
  }
}

Status send_access(Peer& peer, const Call& call, const Range& range, Operation** visible) {
  Operation* operation = take_operation();
  if (!operation) return fail(MPI_ERR_NO_MEM, "no memory for an operation");
  operation->peer = &peer;
  operation->what = call.what;
  operation->basic = object::Basic::kBytes;
  operation->total = range.bytes;
  operation->types[0] = object::retain(&call.type);
  operation->types[1] = object::retain(&call.target_type);
  object::PackCursor& own = call.what == What::kPut ? operation->source : operation->result;
  own.reset(call.buf, call.count, call.type);
  operation->target.reset(reinterpret_cast<void*>(range.at), call.target_count, call.target_type);
  launch_for(*operation, visible);
  return kOk;
}

[[gnu::noinline]] Status access_anyhow(const Call& call, Peer& peer, Operation** visible) {
  std::lock_guard hold(base::engine_lock);  // the doors do not
  Range range;
  VICINITY_TRY(check_range(peer, call.disp, call.target_count, call.target_type, &range));
  VICINITY_TRY(check_amounts(call.count, call.type, range.bytes, "origin"));
  if (range.bytes == 0) return kOk;
  if (!peer.direct) return send_access(peer, call, range, visible);
  VICINITY_TRY(check_attached(peer, range, call.target_count, call.target_type));
  move_typed(peer, call, range.at);
  return kOk;
}

// `visible`: where the request goes, nullptr when none is wanted. It stays null when all is done.
Status access(const Call& call, int rank, object::Window& win, Operation** visible) {
  Peer* peer = nullptr;
  VICINITY_TRY(find_peer(of(win), rank, &peer));
  if (!peer) return kOk;
  VICINITY_TRY(begin_access(*peer));
  if (moved_at_once(*peer, call)) [[likely]]
    return kOk;
  return access_anyhow(call, *peer, visible);
}

Status access_with_request(const Call& call, int rank, object::Window& win, MPI_Request* request) {
  VICINITY_TRY(check_request_epoch(of(win)));
  Operation* operation = nullptr;
  VICINITY_TRY(access(call, rank, win, &operation));
  *request = request_of(operation);
  return kOk;
}

}  // namespace

namespace entry {

Status put(const void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, object::Window& win) {
  return access({What::kPut, const_cast<void*>(origin_addr), origin_count, origin_datatype, target_disp,
                 target_count, target_datatype},
                target_rank, win, nullptr);
}

Status get(void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, object::Window& win) {
  return access({What::kGet, origin_addr, origin_count, origin_datatype, target_disp, target_count,
                 target_datatype},
                target_rank, win, nullptr);
}

Status rput(const void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype, int target_rank,
            MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, object::Window& win,
            MPI_Request* request) {
  return access_with_request({What::kPut, const_cast<void*>(origin_addr), origin_count, origin_datatype,
                              target_disp, target_count, target_datatype},
                             target_rank, win, request);
}

Status rget(void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype, int target_rank,
            MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, object::Window& win,
            MPI_Request* request) {
  return access_with_request({What::kGet, origin_addr, origin_count, origin_datatype, target_disp,
                              target_count, target_datatype},
                             target_rank, win, request);
}

}  // namespace entry
}  // namespace vicinity::rma
