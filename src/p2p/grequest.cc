// SPDX-License-Identifier: BSD-3-Clause
// Generalized requests (MPI 5.0, 13.2): the user's own, completed by MPI_Grequest_complete.
#include "entry_p2p.h"
#include "object/pool.h"
#include "p2p/completion.h"
#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

struct Generalized : object::Request {
  MPI_Grequest_query_function* query = nullptr;
  MPI_Grequest_free_function* release = nullptr;
  MPI_Grequest_cancel_function* cancel = nullptr;
  void* extra = nullptr;
};

}  // namespace
}  // namespace vicinity::p2p

template <>
struct vicinity::object::HandleTraits<vicinity::p2p::Generalized> {
  using Handle = MPI_Request;
  static constexpr Kind kKind = Kind::kRequest;
};

namespace vicinity::p2p {
namespace {

Status cancel_generalized(object::Request& request) {
  Generalized& g = static_cast<Generalized&>(request);
  return g.cancel ? Status(g.cancel(g.extra, g.complete)) : object::kOk;
}

Status query_generalized(object::Request& request) {
  Generalized& g = static_cast<Generalized&>(request);
  return g.query ? Status(g.query(g.extra, &g.status)) : object::kOk;
}

void free_generalized(object::Request& request) {
  Generalized& g = static_cast<Generalized&>(request);
  if (g.release) callback_error = g.release(g.extra);
  object::destroy(&g);
}

const object::RequestOps kGeneralizedOps{nullptr, cancel_generalized, query_generalized, free_generalized};

}  // namespace

namespace entry {

Status grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* release,
                      MPI_Grequest_cancel_function* cancel, void* extra, MPI_Request* handle) {
  Generalized* g = object::make<Generalized>();
  if (!g) return object::fail(MPI_ERR_NO_MEM, "no memory for one more request");
  g->ops = &kGeneralizedOps;
  g->query = query;
  g->release = release;
  g->cancel = cancel;
  g->extra = extra;
  *handle = object::handle_of(*g);
  return object::kOk;
}

Status grequest_complete(MPI_Request handle) {
  Request* request = nullptr;
  VICINITY_TRY(resolve(handle, request));
  if (!request || request->ops != &kGeneralizedOps)
    return object::fail(MPI_ERR_REQUEST, "argument `request` is no generalized request");
  mark_complete(*request);
  return object::kOk;
}

}  // namespace entry
}  // namespace vicinity::p2p
