// SPDX-License-Identifier: BSD-3-Clause
// The accumulates (MPI 5.0, 12.3.4): MPI_Accumulate, MPI_Get_accumulate, MPI_Fetch_and_op,
// MPI_Compare_and_swap and the request forms.
#include <sys/uio.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "entry_rma.h"
#include "rma/combine.h"
#include "rma/request.h"

namespace vicinity::rma {
namespace {

// `type` nullptr: nothing goes out (MPI_NO_OP). `result_type` nullptr: nothing is wanted back.
struct Call {
  const void* origin;
  MPI_Count count;
  Datatype* type;
  void* result;
  MPI_Count result_count;
  Datatype* result_type;
  MPI_Aint disp;
  MPI_Count target_count;
  Datatype& target_type;
  const Op& op;
};

Status find_fold(const Call& call, Fold* fold) {
  if (!call.op.predefined())
    return fail(MPI_ERR_OP, "operations made with MPI_Op_create are not for one-sided communication");
  if (call.target_type.basic == Basic::kNone)
    return fail(MPI_ERR_TYPE, "accumulates need datatypes of which all elements are of one predefined type");
  if (make_fold(call.op, call.target_type.basic, fold)) return kOk;
  return fail(MPI_ERR_OP,
              "the operation is not defined for the elements of `target_datatype` (MPI 5.0, 6.9.2)");
}

// A user's buffer as dense bytes: itself if it is, else a copy.
class Dense {
 public:
  // False: no memory.
  bool open(const void* buf, const Datatype& type, uint64_t bytes) {
    if (type.dense) {
      at_ = static_cast<char*>(object::data_start(buf, type));
      return true;
    }
    copy_.reset(new (std::nothrow) char[bytes]);
    at_ = copy_.get();
    return at_ != nullptr;
  }
  char* at() const { return at_; }
  bool copied() const { return copy_ != nullptr; }

 private:
  std::unique_ptr<char[]> copy_;
  char* at_ = nullptr;
};

inline Status combined(bool done, const Peer& peer) {
  return done ? kOk : refused(peer, {MPI_ERR_PROC_ABORTED, 0, 0, 0});
}

bool combine_pieces(const Peer& peer, const Call& call, const Fold& fold, int64_t at, const char* in,
                    char* old) {
  const Datatype& type = call.target_type;
  const uint64_t bytes = static_cast<uint64_t>(call.target_count) * static_cast<uint64_t>(type.size);
  if (type.dense && !fold.split())
    return combine(peer, fold, at_offset(peer, at) + type.true_lb, in, old, bytes / fold.packed,
                   From::kEntry);
  object::PackCursor target(at_offset(peer, at), call.target_count, type);
  iovec pieces[4];
  for (uint64_t left = bytes; left != 0;) {
    const size_t used = fold.split() ? target.pieces(pieces, 4, fold.packed) : target.pieces(pieces, 1, left);
    if (used == 0) break;
    const size_t here = fold.split() ? fold.packed : pieces[0].iov_len;
    if (!combine(peer, fold, static_cast<char*>(pieces[0].iov_base), in, old, here / fold.packed,
                 From::kEntry))
      return false;
    if (in) in += here;
    if (old) old += here;
    left -= here;
  }
  return true;
}

Status fold_here(const Peer& peer, const Call& call, const Fold& fold, const Range& range) {
  Dense in, old;
  if ((call.type && !in.open(call.origin, *call.type, range.bytes)) ||
      (call.result_type && !old.open(call.result, *call.result_type, range.bytes)))
    return fail(MPI_ERR_NO_MEM, "no memory for %llu bytes", static_cast<unsigned long long>(range.bytes));
  if (in.copied()) object::pack(call.origin, call.count, *call.type, in.at());
  VICINITY_TRY(combined(combine_pieces(peer, call, fold, range.at, in.at(), old.at()), peer));
  if (old.copied()) object::unpack(old.at(), call.result, call.result_count, *call.result_type);
  return kOk;
}

void hold_type(Operation& operation, size_t place, Datatype* type) {
  operation.types[place] = type ? object::retain(type) : nullptr;
}

Status fold_there(Peer& peer, const Call& call, const Fold& fold, const Range& range, Operation** visible) {
  Operation* operation = take_operation();
  if (!operation) return fail(MPI_ERR_NO_MEM, "no memory for an operation");
  operation->peer = &peer;
  operation->what = call.result_type ? What::kFetch : What::kAccumulate;
  operation->op = static_cast<uint8_t>(call.op.handle);
  operation->basic = fold.basic;
  operation->step = fold.packed;
  operation->split = fold.split();
  operation->total = range.bytes;
  hold_type(*operation, 0, call.type);
  hold_type(*operation, 1, call.result_type);
  hold_type(*operation, 2, &call.target_type);
  if (call.type) operation->source.reset(call.origin, call.count, *call.type);
  if (call.result_type) operation->result.reset(call.result, call.result_count, *call.result_type);
  operation->target.reset(reinterpret_cast<void*>(range.at), call.target_count, call.target_type);
  launch_for(*operation, visible);
  return kOk;
}

// The bytes of `peer` between `at` and `at + bytes`, if all of them are mapped here.
inline char* mapped_at(const Peer& peer, MPI_Aint disp, MPI_Aint first, uint64_t bytes) {
  int64_t at;
  if (!peer.mapped || disp < 0 || __builtin_mul_overflow(static_cast<int64_t>(disp), peer.unit, &at) ||
      __builtin_add_overflow(at, first, &at) || at < 0)
    return nullptr;
  const auto begin = static_cast<uint64_t>(at);
  return bytes > peer.size || begin > peer.size - bytes ? nullptr : peer.base + begin;
}

inline bool is_run(MPI_Count count, const Datatype* type, int64_t bytes) {
  int64_t here;
  return !type || (type->dense && !__builtin_mul_overflow(count, type->size, &here) && here == bytes);
}

// Runs of bytes on all sides that we reach at once: where at the target, else nullptr.
inline char* run_of(const Peer& peer, const Call& call, uint64_t* bytes) {
  const Datatype& type = call.target_type;
  int64_t size;
  if (!type.dense || __builtin_mul_overflow(call.target_count, type.size, &size) || size == 0 ||
      !is_run(call.count, call.type, size) || !is_run(call.result_count, call.result_type, size))
    return nullptr;
  *bytes = static_cast<uint64_t>(size);
  return mapped_at(peer, call.disp, type.true_lb, *bytes);
}

inline Status combine_run(const Peer& peer, const Call& call, const Fold& fold, char* at, uint64_t bytes) {
  if (fold.how == How::kNothing && !call.result_type) return kOk;
  const char* in = call.type ? static_cast<char*>(object::data_start(call.origin, *call.type)) : nullptr;
  char* old =
      call.result_type ? static_cast<char*>(object::data_start(call.result, *call.result_type)) : nullptr;
  const size_t count = bytes == fold.packed ? 1 : bytes / fold.packed;  // divisions are slow
  return combined(combine(peer, fold, at, in, old, count, From::kEntry), peer);
}

[[gnu::noinline]] Status accumulate_anyhow(const Call& call, Peer& peer, Operation** visible) {
  std::lock_guard hold(base::engine_lock);  // the doors do not
  Range range;
  VICINITY_TRY(check_range(peer, call.disp, call.target_count, call.target_type, &range));
  if (call.type) VICINITY_TRY(check_amounts(call.count, *call.type, range.bytes, "origin"));
  if (call.result_type)
    VICINITY_TRY(check_amounts(call.result_count, *call.result_type, range.bytes, "result"));
  if (range.bytes == 0) return kOk;
  Fold fold;
  VICINITY_TRY(find_fold(call, &fold));
  if (fold.how == How::kNothing && !call.result_type) return kOk;
  if (!peer.direct) return fold_there(peer, call, fold, range, visible);
  VICINITY_TRY(check_attached(peer, range, call.target_count, call.target_type));
  return fold_here(peer, call, fold, range);
}

// As access() in entry_access.cc.
[[gnu::always_inline]] inline Status accumulate(const Call& call, int rank, object::Window& win,
                                                Operation** visible) {
  Peer* peer = nullptr;
  VICINITY_TRY(find_peer(of(win), rank, &peer));
  if (!peer) return kOk;
  VICINITY_TRY(begin_access(*peer));
  Fold fold;
  uint64_t bytes = 0;
  char* at = run_of(*peer, call, &bytes);
  if (at && make_fold(call.op, call.target_type.basic, &fold) && !fold.split()) [[likely]]
    return combine_run(*peer, call, fold, at, bytes);
  return accumulate_anyhow(call, *peer, visible);
}

bool reads_nothing(const Op& op) { return op.handle == reinterpret_cast<uintptr_t>(MPI_NO_OP); }

// The origin's half of a call is ignored with MPI_NO_OP, so doors leave it alone.
Status check_origin(const void* origin, MPI_Count count, MPI_Datatype handle, const Op& op, Datatype** type) {
  *type = nullptr;
  if (reads_nothing(op)) return kOk;
  Result<Datatype*> found = object::committed(handle, "origin_datatype");
  if (!found.ok()) return found.status();
  *type = *found;
  if (!origin && count > 0 && (*type)->predefined())
    return fail(MPI_ERR_BUFFER, "argument `origin_addr` is a null pointer");
  return kOk;
}

// MPI 5.0, 12.3.4: C and Fortran integers, logicals, MPI_AINT and its like, MPI_BYTE.
bool can_swap(const Datatype& type) {
  if (!type.permanent) return false;
  const Basic basic = type.basic;
  return (basic >= Basic::kBytes && basic <= Basic::kI128) ||
         (basic >= Basic::kBool8 && basic <= Basic::kLogical128);
}

Status swap_here(const Peer& peer, char* at, const void* desired, const void* compare, void* result,
                 const Datatype& type) {
  return combined(swap(peer, at, static_cast<const char*>(compare), static_cast<const char*>(desired),
                       static_cast<char*>(result), static_cast<size_t>(type.size), From::kEntry),
                  peer);
}

Status swap_there(Peer& peer, const void* desired, const void* compare, void* result, Datatype& type,
                  const Range& range) {
  Operation* operation = take_operation();
  if (!operation) return fail(MPI_ERR_NO_MEM, "no memory for an operation");
  operation->peer = &peer;
  operation->what = What::kSwap;
  operation->basic = type.basic;
  operation->step = static_cast<uint32_t>(type.size);
  operation->total = range.bytes;
  std::memcpy(operation->swap, compare, range.bytes);
  std::memcpy(operation->swap + range.bytes, desired, range.bytes);
  operation->result.reset(result, 1, type);
  operation->target.reset(reinterpret_cast<void*>(range.at), 1, type);
  launch(*operation);
  return kOk;
}

}  // namespace

namespace entry {

Status accumulate(const void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype, int target_rank,
                  MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, Op& op,
                  object::Window& win) {
  return rma::accumulate({origin_addr, origin_count, &origin_datatype, nullptr, 0, nullptr, target_disp,
                          target_count, target_datatype, op},
                         target_rank, win, nullptr);
}

Status raccumulate(const void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype,
                   int target_rank, MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype,
                   Op& op, object::Window& win, MPI_Request* request) {
  VICINITY_TRY(check_request_epoch(of(win)));
  Operation* operation = nullptr;
  VICINITY_TRY(rma::accumulate({origin_addr, origin_count, &origin_datatype, nullptr, 0, nullptr, target_disp,
                                target_count, target_datatype, op},
                               target_rank, win, &operation));
  *request = request_of(operation);
  return kOk;
}

Status get_accumulate(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      void* result_addr, MPI_Count result_count, Datatype& result_datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, Op& op,
                      object::Window& win) {
  Datatype* type = nullptr;
  VICINITY_TRY(check_origin(origin_addr, origin_count, origin_datatype, op, &type));
  return rma::accumulate({origin_addr, origin_count, type, result_addr, result_count, &result_datatype,
                          target_disp, target_count, target_datatype, op},
                         target_rank, win, nullptr);
}

Status rget_accumulate(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                       void* result_addr, MPI_Count result_count, Datatype& result_datatype, int target_rank,
                       MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, Op& op,
                       object::Window& win, MPI_Request* request) {
  VICINITY_TRY(check_request_epoch(of(win)));
  Datatype* type = nullptr;
  VICINITY_TRY(check_origin(origin_addr, origin_count, origin_datatype, op, &type));
  Operation* operation = nullptr;
  VICINITY_TRY(rma::accumulate({origin_addr, origin_count, type, result_addr, result_count, &result_datatype,
                                target_disp, target_count, target_datatype, op},
                               target_rank, win, &operation));
  *request = request_of(operation);
  return kOk;
}

Status fetch_and_op(const void* origin_addr, void* result_addr, Datatype& datatype, int target_rank,
                    MPI_Aint target_disp, Op& op, object::Window& win) {
  if (!datatype.permanent)
    return fail(MPI_ERR_TYPE, "MPI_Fetch_and_op is for predefined datatypes; take MPI_Get_accumulate");
  const bool nothing = reads_nothing(op);
  if (!result_addr || (!origin_addr && !nothing))
    return fail(MPI_ERR_BUFFER, "argument `%s` is a null pointer",
                result_addr ? "origin_addr" : "result_addr");
  Peer* peer = nullptr;
  VICINITY_TRY(find_peer(of(win), target_rank, &peer));
  if (!peer) return kOk;
  VICINITY_TRY(begin_access(*peer));
  Fold fold;
  char* at = mapped_at(*peer, target_disp, 0, static_cast<uint64_t>(datatype.true_extent));
  if (at && make_fold(op, datatype.basic, &fold) && !fold.split()) [[likely]]
    return combined(combine(*peer, fold, at, static_cast<const char*>(origin_addr),
                            static_cast<char*>(result_addr), 1, From::kEntry),
                    *peer);
  return rma::accumulate({origin_addr, 1, nothing ? nullptr : &datatype, result_addr, 1, &datatype,
                          target_disp, 1, datatype, op},
                         target_rank, win, nullptr);
}

Status compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr,
                        Datatype& datatype, int target_rank, MPI_Aint target_disp, object::Window& win) {
  if (!can_swap(datatype))
    return fail(MPI_ERR_TYPE, "MPI_Compare_and_swap is for predefined integers, logicals and MPI_BYTE");
  if (!origin_addr || !compare_addr || !result_addr)
    return fail(MPI_ERR_BUFFER, "argument `%s` is a null pointer",
                !origin_addr    ? "origin_addr"
                : !compare_addr ? "compare_addr"
                                : "result_addr");
  Peer* peer = nullptr;
  VICINITY_TRY(find_peer(of(win), target_rank, &peer));
  if (!peer) return kOk;
  VICINITY_TRY(begin_access(*peer));
  char* at = mapped_at(*peer, target_disp, 0, static_cast<uint64_t>(datatype.true_extent));
  if (at) [[likely]]
    return swap_here(*peer, at, origin_addr, compare_addr, result_addr, datatype);
  std::lock_guard hold(base::engine_lock);
  Range range;
  VICINITY_TRY(check_range(*peer, target_disp, 1, datatype, &range));
  if (!peer->direct) return swap_there(*peer, origin_addr, compare_addr, result_addr, datatype, range);
  VICINITY_TRY(check_attached(*peer, range, 1, datatype));
  return swap_here(*peer, at_offset(*peer, range.at), origin_addr, compare_addr, result_addr, datatype);
}

}  // namespace entry
}  // namespace vicinity::rma
