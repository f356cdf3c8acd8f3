// SPDX-License-Identifier: BSD-3-Clause
// Cartesian topologies (MPI 5.0, 8.5). Ranks are never reordered: on one host there is nothing to win.
#include <memory>
#include <new>
#include <numeric>
#include <vector>

#include "entry_world.h"
#include "object/pool.h"
#include "world/instance.h"
#include "world/split.h"
#include "world/topology.h"

namespace vicinity::world {
namespace {

// The number of nodes of a grid; MPI_ERR_DIMS or MPI_ERR_ARG unless it fits into the communicator.
Result<int> grid_size(const Communicator& comm, int ndims, const int* dims) {
  if (ndims < 0) return fail(MPI_ERR_DIMS, "argument `ndims` is %d", ndims);
  int64_t nodes = 1;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] <= 0) return fail(MPI_ERR_DIMS, "dims[%d] is %d", i, dims[i]);
    nodes *= dims[i];
    if (nodes > comm.size())
      return fail(MPI_ERR_DIMS, "the grid has more nodes than the communicator's %d processes", comm.size());
  }
  return static_cast<int>(nodes);
}

Status check_intra(const Communicator& comm) {
  return comm.inter() ? fail(MPI_ERR_COMM, "topologies are for intracommunicators") : kOk;
}

// Attaches a grid to a new communicator whose ranks are in grid order.
Status attach_grid(Communicator& comm, std::vector<int> dims, std::vector<int> periods) {
  auto* grid = new (std::nothrow) Topology;
  if (!grid) return fail(MPI_ERR_NO_MEM, "no memory for a topology");
  grid->kind = MPI_CART;
  grid->dims = std::move(dims);
  grid->periods = std::move(periods);
  grid->coords = grid->coords_of(comm.rank);
  comm.topology = grid;
  return kOk;
}

Status check_rank(const Communicator& comm, int rank) {
  if (rank < 0 || rank >= comm.size())
    return fail(MPI_ERR_RANK, "argument `rank` is %d, the communicator has %d processes", rank, comm.size());
  return kOk;
}

Status check_room(int room, const Topology& grid) {
  if (room < static_cast<int>(grid.dims.size()))
    return fail(MPI_ERR_ARG, "argument `maxdims` is %d, the grid has %zu dimensions", room, grid.dims.size());
  return kOk;
}

}  // namespace

namespace entry {

Status cart_create(Communicator& comm, int ndims, const int* dims, const int* periods, int,
                   Communicator** comm_cart) {
  VICINITY_TRY(check_intra(comm));
  Result<int> nodes = grid_size(comm, ndims, dims);
  if (!nodes.ok()) return nodes.status();
  Group* group = nullptr;
  if (comm.rank < *nodes) {
    std::vector<Proc> procs(comm.group->procs.begin(), comm.group->procs.begin() + *nodes);
    group = object::make_group(std::move(procs), instance().self());
    if (!group) return fail(MPI_ERR_NO_MEM, "no memory for a group");
  }
  Result<Communicator*> made = construct(comm, group, nullptr);
  if (!made.ok() || !*made) return made.status();
  std::vector<int> wraps;
  for (int i = 0; i < ndims; ++i) wraps.push_back(periods[i] != 0);
  VICINITY_TRY(attach_grid(**made, {dims, dims + ndims}, std::move(wraps)));
  *comm_cart = *made;
  return kOk;
}

Status cart_map(Communicator& comm, int ndims, const int* dims, const int*, int* newrank) {
  Result<int> nodes = grid_size(comm, ndims, dims);
  if (!nodes.ok()) return nodes.status();
  *newrank = comm.rank < *nodes ? comm.rank : int{MPI_UNDEFINED};
  return kOk;
}

Status cartdim_get(Communicator& comm, int* ndims) {
  Result<Topology*> grid = topology_of(comm, MPI_CART);
  if (!grid.ok()) return grid.status();
  *ndims = static_cast<int>((*grid)->dims.size());
  return kOk;
}

Status cart_get(Communicator& comm, int maxdims, int* dims, int* periods, int* coords) {
  Result<Topology*> grid = topology_of(comm, MPI_CART);
  if (!grid.ok()) return grid.status();
  VICINITY_TRY(check_room(maxdims, **grid));
  std::copy((*grid)->dims.begin(), (*grid)->dims.end(), dims);
  std::copy((*grid)->periods.begin(), (*grid)->periods.end(), periods);
  std::copy((*grid)->coords.begin(), (*grid)->coords.end(), coords);
  return kOk;
}

Status cart_rank(Communicator& comm, const int* coords, int* rank) {
  Result<Topology*> found = topology_of(comm, MPI_CART);
  if (!found.ok()) return found.status();
  const Topology& grid = **found;
  std::vector<int> at(grid.dims.size());
  for (size_t i = 0; i < at.size(); ++i) {
    int64_t coordinate = coords[i];
    if (!grid.wrap(i, coordinate))
      return fail(MPI_ERR_ARG, "coords[%zu] is %d, dimension %zu has %d nodes and is not periodic", i,
                  coords[i], i, grid.dims[i]);
    at[i] = static_cast<int>(coordinate);
  }
  *rank = grid.rank_at(at.data());
  return kOk;
}

Status cart_coords(Communicator& comm, int rank, int maxdims, int* coords) {
  Result<Topology*> grid = topology_of(comm, MPI_CART);
  if (!grid.ok()) return grid.status();
  VICINITY_TRY(check_rank(comm, rank));
  VICINITY_TRY(check_room(maxdims, **grid));
  const std::vector<int> at = (*grid)->coords_of(rank);
  std::copy(at.begin(), at.end(), coords);
  return kOk;
}

Status cart_shift(Communicator& comm, int direction, int disp, int* rank_source, int* rank_dest) {
  Result<Topology*> found = topology_of(comm, MPI_CART);
  if (!found.ok()) return found.status();
  const Topology& grid = **found;
  if (direction < 0 || direction >= static_cast<int>(grid.dims.size()))
    return fail(MPI_ERR_ARG, "argument `direction` is %d, the grid has %zu dimensions", direction,
                grid.dims.size());
  *rank_source = grid.beside(static_cast<size_t>(direction), -int64_t{disp});
  *rank_dest = grid.beside(static_cast<size_t>(direction), disp);
  return kOk;
}

Status cart_sub(Communicator& comm, const int* remain_dims, Communicator** newcomm) {
  Result<Topology*> found = topology_of(comm, MPI_CART);
  if (!found.ok()) return found.status();
  const Topology& grid = **found;
  // The colour counts the dropped coordinates, the key the kept ones.
  int color = 0, key = 0;
  std::vector<int> dims, periods;
  for (size_t i = 0; i < grid.dims.size(); ++i) {
    int& number = remain_dims[i] ? key : color;
    number = number * grid.dims[i] + grid.coords[i];
    if (!remain_dims[i]) continue;
    dims.push_back(grid.dims[i]);
    periods.push_back(grid.periods[i]);
  }
  Result<Communicator*> made = split(comm, color, key);
  if (!made.ok()) return made.status();
  VICINITY_TRY(attach_grid(**made, std::move(dims), std::move(periods)));
  *newcomm = *made;
  return kOk;
}

Status dims_create(int nnodes, int ndims, int* dims) {
  if (nnodes < 1) return fail(MPI_ERR_DIMS, "argument `nnodes` is %d", nnodes);
  if (ndims < 0) return fail(MPI_ERR_DIMS, "argument `ndims` is %d", ndims);
  return balance_dims(nnodes, ndims, dims);
}

Status topo_test(Communicator& comm, int* status) {
  *status = comm.topology ? comm.topology->kind : int{MPI_UNDEFINED};
  return kOk;
}

}  // namespace entry
}  // namespace vicinity::world
