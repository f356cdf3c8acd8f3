// SPDX-License-Identifier: BSD-3-Clause
// Buffered mode (MPI 5.0, 3.6). A message is packed into a segment of the attached buffer and sent from
// there; the segment is free again when the send is complete.
//
// A segment begins with its header, inside the user's buffer, and takes less than MPI_BSEND_OVERHEAD more
// than its data; segments are listed by address, and the first gap that is large enough is taken. With
// MPI_BUFFER_AUTOMATIC segments come from payload memory. The buffer of the communicator goes before
// that of its session, and that before the one of the process.
#include "p2p/buffered.h"

#include <memory>
#include <new>
#include <vector>

#include "entry_p2p.h"
#include "object/pool.h"
#include "p2p/completion.h"
#include "p2p/engine.h"

namespace vicinity::p2p {

struct Segment {
  base::Link link;
  AttachedBuffer* buffer;
  uint64_t number;  // in the order of the sends
  size_t bytes;     // with this header
  char* data() { return reinterpret_cast<char*>(this + 1); }
};
static_assert(sizeof(Segment) + 2 * alignof(Segment) < MPI_BSEND_OVERHEAD);

struct Flush : object::Request {
  uint64_t upto = 0;  // complete when no segment with a lower number is left
};

struct AttachedBuffer {
  char* memory = nullptr;
  MPI_Count size = 0;
  bool automatic = false;
  uint64_t next_number = 0;
  base::List<Segment, &Segment::link> segments;
  base::List<object::Request, &object::Request::link> flushes;
};

}  // namespace vicinity::p2p

template <>
struct vicinity::object::HandleTraits<vicinity::p2p::Flush> {
  using Handle = MPI_Request;
  static constexpr Kind kKind = Kind::kRequest;
};

namespace vicinity::p2p {
namespace {

AttachedBuffer* of_process = nullptr;
struct OfSession {
  uintptr_t session;
  AttachedBuffer* buffer;
};
std::vector<OfSession> of_sessions;

AttachedBuffer** session_slot(uintptr_t session) {
  for (OfSession& entry : of_sessions)
    if (entry.session == session) return &entry.buffer;
  of_sessions.push_back({session, nullptr});
  return &of_sessions.back().buffer;
}

AttachedBuffer* buffer_for(Communicator& comm) {
  if (comm.buffer) return comm.buffer;
  if (comm.session)
    for (OfSession& entry : of_sessions)
      if (entry.session == comm.session && entry.buffer) return entry.buffer;
  return of_process;
}

size_t segment_bytes(size_t data) {
  return (sizeof(Segment) + data + alignof(Segment) - 1) / alignof(Segment) * alignof(Segment);
}

// The first gap of at least `bytes` bytes; nullptr: none. `before` is the segment after it.
char* find_gap(AttachedBuffer& buffer, size_t bytes, Segment*& before) {
  const auto start = reinterpret_cast<uintptr_t>(buffer.memory);
  uintptr_t at = (start + alignof(Segment) - 1) / alignof(Segment) * alignof(Segment);
  for (before = buffer.segments.front(); before; before = buffer.segments.after(before)) {
    const auto next = reinterpret_cast<uintptr_t>(before);
    if (next - at >= bytes) return reinterpret_cast<char*>(at);
    at = next + before->bytes;
  }
  const uintptr_t end = start + static_cast<size_t>(buffer.size);
  return end >= at && end - at >= bytes ? reinterpret_cast<char*>(at) : nullptr;
}

Segment* take_segment(AttachedBuffer& buffer, size_t data) {
  const size_t bytes = segment_bytes(data);
  Segment* before = nullptr;
  char* memory = buffer.automatic ? take_payload(bytes) : find_gap(buffer, bytes, before);
  if (!memory) return nullptr;
  Segment* segment = new (memory) Segment{{}, &buffer, buffer.next_number++, bytes};
  if (before) {  // in front of it, in order of addresses
    segment->link.next = &before->link;
    segment->link.prev = before->link.prev;
    before->link.prev->next = &segment->link;
    before->link.prev = &segment->link;
  } else {
    buffer.segments.push_back(segment);
  }
  return segment;
}

// No segment that a flush waits for is left.
bool flushed(AttachedBuffer& buffer, uint64_t upto) {
  for (Segment* s = buffer.segments.front(); s; s = buffer.segments.after(s))
    if (s->number < upto) return false;
  return true;
}

void segment_sent(Transfer& send) {
  Segment* segment = static_cast<Segment*>(send.owner);
  AttachedBuffer& buffer = *segment->buffer;
  segment->link.unlink();
  if (buffer.automatic) give_payload(reinterpret_cast<char*>(segment), segment->bytes);
  for (Request *request = buffer.flushes.front(), *next; request; request = next) {
    next = buffer.flushes.after(request);
    if (!flushed(buffer, static_cast<Flush*>(request)->upto)) continue;
    request->link.unlink();
    mark_complete(*request);
  }
}

Status start_buffered(object::Request& request) {
  Transfer& t = static_cast<Transfer&>(request);
  t.complete = false;
  VICINITY_TRY(send_buffered(t.buf, t.count, *t.type, t.rank, t.tag, *t.comm));
  t.complete = true;
  return object::kOk;
}

// MPI 5.0, 3.6: one buffer at a time in each place.
Status attach(AttachedBuffer*& slot, void* memory, MPI_Count size) {
  if (slot)
    return object::fail(MPI_ERR_BUFFER, "a buffer of %lld bytes is attached already; detach it first",
                        static_cast<long long>(slot->size));
  const bool automatic = memory == MPI_BUFFER_AUTOMATIC;
  if (!automatic && !memory && size > 0)
    return object::fail(MPI_ERR_BUFFER, "argument `buffer` is a null pointer and `size` is %lld",
                        static_cast<long long>(size));
  slot = new AttachedBuffer;
  slot->memory = static_cast<char*>(memory);
  slot->size = automatic ? 0 : size;
  slot->automatic = automatic;
  return object::kOk;
}

void flush(AttachedBuffer* buffer) {
  if (!buffer) return;
  const uint64_t upto = buffer->next_number;
  base::wait_until([&] { return flushed(*buffer, upto); });
}

Status detach(AttachedBuffer*& slot, void* address, MPI_Count* size) {
  void*& memory = *static_cast<void**>(address);
  memory = nullptr;
  *size = 0;
  if (!slot) return object::kOk;
  flush(slot);
  memory = slot->memory;
  *size = slot->size;
  delete slot;
  slot = nullptr;
  return object::kOk;
}

void free_flush(object::Request& request) {
  if (request.link.linked()) request.link.unlink();
  object::destroy(static_cast<Flush*>(&request));
}
const object::RequestOps kFlushOps{nullptr, nullptr, nullptr, free_flush};

Status iflush(AttachedBuffer* buffer, MPI_Request* handle) {
  *handle = object::handle_of(done_send);
  if (!buffer || flushed(*buffer, buffer->next_number)) return object::kOk;
  Flush* request = object::make<Flush>();
  if (!request) return object::fail(MPI_ERR_NO_MEM, "no memory for one more request");
  request->ops = &kFlushOps;
  request->upto = buffer->next_number;
  buffer->flushes.push_back(request);
  *handle = object::handle_of(*request);
  return object::kOk;
}

Status session_buffer(MPI_Session handle, AttachedBuffer**& slot) {
  const auto value = reinterpret_cast<uintptr_t>(handle);
  if (value < object::kFirstAddress || value % alignof(object::Object) != 0 ||
      reinterpret_cast<object::Object*>(value)->kind != object::Kind::kSession)
    return object::fail(MPI_ERR_SESSION, "argument `session` (%p) is no session", static_cast<void*>(handle));
  slot = session_slot(value);
  return object::kOk;
}

}  // namespace

const object::RequestOps kBufferedOps{start_buffered, cancel_send, describe, free_transfer};

Status send_buffered(const void* buf, MPI_Count count, Datatype& type, int dest, int tag,
                     Communicator& comm) {
  if (dest == MPI_PROC_NULL) return object::kOk;
  uint64_t bytes = 0;
  VICINITY_TRY(measure(count, type, bytes));
  AttachedBuffer* buffer = buffer_for(comm);
  if (!buffer) return object::fail(MPI_ERR_BUFFER, "no buffer is attached; call MPI_Buffer_attach first");
  Segment* segment = take_segment(*buffer, bytes);
  if (!segment) {
    base::progress();  // what has gone out makes room
    segment = take_segment(*buffer, bytes);
  }
  if (!segment)
    return object::fail(MPI_ERR_BUFFER,
                        "the attached buffer of %lld bytes has no room for a message of %llu bytes and "
                        "MPI_BSEND_OVERHEAD (%d)",
                        static_cast<long long>(buffer->size), static_cast<unsigned long long>(bytes),
                        MPI_BSEND_OVERHEAD);
  object::pack(buf, count, type, segment->data());
  auto made = make_transfer(true, segment->data(), static_cast<MPI_Count>(bytes), object::builtin(MPI_BYTE),
                            dest, tag, comm, Lane::kUser, Mode::kBuffered);
  if (!made.ok()) {
    segment->link.unlink();
    return made.status();
  }
  Transfer& send = **made;
  send.user_freed = true;
  ++engine().freed_sends;
  send.owner = segment;
  send.done = segment_sent;
  launch_send(send);
  return object::kOk;
}

// A communicator with pending sends is held by them, so its buffer is empty when it dies.
void drop_buffer(Communicator& comm) {
  delete comm.buffer;
  comm.buffer = nullptr;
}

void wait_buffers() {
  flush(of_process);
  for (OfSession& entry : of_sessions) flush(entry.buffer);
}

namespace entry {

Status buffer_attach(void* buffer, MPI_Count size) { return attach(of_process, buffer, size); }
Status buffer_detach(void* address, MPI_Count* size) { return detach(of_process, address, size); }
Status buffer_flush() { return flush(of_process), object::kOk; }
Status buffer_iflush(MPI_Request* request) { return iflush(of_process, request); }

Status comm_attach_buffer(Communicator& comm, void* buffer, MPI_Count size) {
  return attach(comm.buffer, buffer, size);
}
Status comm_detach_buffer(Communicator& comm, void* address, MPI_Count* size) {
  return detach(comm.buffer, address, size);
}
Status comm_flush_buffer(Communicator& comm) { return flush(comm.buffer), object::kOk; }
Status comm_iflush_buffer(Communicator& comm, MPI_Request* request) { return iflush(comm.buffer, request); }

Status session_attach_buffer(MPI_Session session, void* buffer, MPI_Count size) {
  AttachedBuffer** slot = nullptr;
  VICINITY_TRY(session_buffer(session, slot));
  return attach(*slot, buffer, size);
}
Status session_detach_buffer(MPI_Session session, void* address, MPI_Count* size) {
  AttachedBuffer** slot = nullptr;
  VICINITY_TRY(session_buffer(session, slot));
  return detach(*slot, address, size);
}
Status session_flush_buffer(MPI_Session session) {
  AttachedBuffer** slot = nullptr;
  VICINITY_TRY(session_buffer(session, slot));
  return flush(*slot), object::kOk;
}
Status session_iflush_buffer(MPI_Session session, MPI_Request* request) {
  AttachedBuffer** slot = nullptr;
  VICINITY_TRY(session_buffer(session, slot));
  return iflush(*slot, request);
}

}  // namespace entry
}  // namespace vicinity::p2p
