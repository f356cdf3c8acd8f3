// SPDX-License-Identifier: BSD-3-Clause
// Construction of windows (MPI 5.0, 12.2): here, because each needs a communicator of its own.
#include "entry_world.h"
#include "object/pool.h"
#include "rma/rma.h"
#include "world/construct.h"
#include "world/context.h"
#include "world/instance.h"

namespace vicinity::world {
namespace {

using object::Window;

// The same processes, with a context that only the window's messages use.
Result<Communicator*> own_communicator(Communicator& comm) {
  if (comm.inter()) return fail(MPI_ERR_COMM, "a window is made over an intracommunicator");
  ContextSearch search(everyone(comm), 1, false);
  Result<uint32_t> context = agree(search);
  if (!context.ok()) return context.status();
  Communicator* own =
      assemble(Parts{.context = *context, .group = object::retain(comm.group), .parent = &comm});
  if (!own) return fail(MPI_ERR_NO_MEM, "no memory for the communicator of a window");
  return own;
}

Status make(const rma::Plan& plan, Communicator& comm, Window** out) {
  VICINITY_TRY(rma::check_plan(plan));
  Result<Communicator*> own = own_communicator(comm);
  if (!own.ok()) return own.status();
  Result<Window*> made = rma::create(**own, plan);
  if (!made.ok()) {
    object::release(*own);
    return made.status();
  }
  *out = *made;
  return kOk;
}

Status make_allocated(const rma::Plan& plan, Communicator& comm, void* baseptr, Window** out) {
  VICINITY_TRY(make(plan, comm, out));
  *static_cast<void**>(baseptr) = (*out)->base;
  return kOk;
}

}  // namespace

namespace entry {

Status win_create(void* base, MPI_Aint size, MPI_Count disp_unit, Info* info, Communicator& comm,
                  Window** win) {
  return make({MPI_WIN_FLAVOR_CREATE, base, size, disp_unit, info}, comm, win);
}

Status win_allocate(MPI_Aint size, MPI_Count disp_unit, Info* info, Communicator& comm, void* baseptr,
                    Window** win) {
  return make_allocated({MPI_WIN_FLAVOR_ALLOCATE, nullptr, size, disp_unit, info}, comm, baseptr, win);
}

Status win_allocate_shared(MPI_Aint size, MPI_Count disp_unit, Info* info, Communicator& comm, void* baseptr,
                           Window** win) {
  return make_allocated({MPI_WIN_FLAVOR_SHARED, nullptr, size, disp_unit, info}, comm, baseptr, win);
}

Status win_create_dynamic(Info* info, Communicator& comm, Window** win) {
  return make({MPI_WIN_FLAVOR_DYNAMIC, MPI_BOTTOM, 0, 1, info}, comm, win);
}

}  // namespace entry
}  // namespace vicinity::world
