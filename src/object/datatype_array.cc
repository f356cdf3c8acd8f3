// SPDX-License-Identifier: BSD-3-Clause
// Parts of multidimensional arrays: subarray and darray (MPI 5.0, 5.1.3, 5.1.4). Both have the bounds
// of the whole array, so that copies of them follow each other like whole arrays.
#include <cstdint>
#include <utility>

#include "object/datatype_create.h"

namespace vicinity::object {
namespace {

Status check_order(int order) {
  if (order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN) return kOk;
  return fail(MPI_ERR_ARG, "argument `order` is %d, it must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order);
}

// The dimension that is number `i` counted from the one that varies fastest.
int dimension(int i, int ndims, int order) { return order == MPI_ORDER_C ? ndims - 1 - i : i; }

// Sets the bounds of the whole array and makes the type.
Result<Datatype*> whole(TypeMap map, MPI_Count extent, Description&& description) {
  map.lb = 0;
  map.extent = extent;
  map.marked = true;
  return make_type(map, std::move(description));
}

Status check_subarray(int ndims, CountArray sizes, CountArray subsizes, CountArray starts) {
  if (ndims < 1) return fail(MPI_ERR_ARG, "argument `ndims` is %d, it must be positive", ndims);
  for (int i = 0; i < ndims; i++) {
    const auto d = static_cast<size_t>(i);
    const long long size = sizes[d], subsize = subsizes[d], start = starts[d];
    if (size < 1) return fail(MPI_ERR_ARG, "array_of_sizes[%d] is %lld, it must be positive", i, size);
    if (subsize < 1 || subsize > size)
      return fail(MPI_ERR_ARG, "array_of_subsizes[%d] is %lld, it must be from 1 to the size %lld", i,
                  subsize, size);
    if (start < 0 || start > size - subsize)
      return fail(MPI_ERR_ARG, "array_of_starts[%d] is %lld, it must be from 0 to %lld (size - subsize)", i,
                  start, size - subsize);
  }
  return kOk;
}

}  // namespace

Result<Datatype*> type_subarray(int ndims, CountArray sizes, CountArray subsizes, CountArray starts,
                                int order, Datatype& old, bool large) {
  VICINITY_TRY(check_subarray(ndims, sizes, subsizes, starts));
  VICINITY_TRY(check_order(order));
  Growing<Repetition> levels;
  MPI_Count stride = old.extent, displacement = 0;
  for (int i = 0; i < ndims; i++) {
    const auto d = static_cast<size_t>(dimension(i, ndims, order));
    MPI_Count start;
    levels.push_back({subsizes[d], stride});
    if (!multiply(starts[d], stride, &start) || !add(displacement, start, &displacement) ||
        !multiply(stride, sizes[d], &stride))
      return too_large("extent");
  }
  if (levels.failed()) return no_memory_for_type();
  TypeBuilder builder;
  VICINITY_TRY(builder.add(typemap_of(old), displacement, levels.data(), levels.size()));
  Result<TypeMap> map = builder.finish();
  if (!map.ok()) return map.status();
  Description description(MPI_COMBINER_SUBARRAY, large);
  description.integers.push_back(ndims);
  for (const CountArray& values : {sizes, subsizes, starts}) description.count(values, ndims);
  description.integers.push_back(order);
  description.type(old);
  return whole(*map, stride, std::move(description));
}

namespace {

// One dimension of a darray seen by one process.
struct Share {
  MPI_Count gsize;
  MPI_Count block;  // elements of a block
  int processes, rank;
};

Result<Share> share_of(const Distribution& grid, int d, int coordinate) {
  const auto index = static_cast<size_t>(d);
  const MPI_Count gsize = grid.gsizes[index];
  const int darg = grid.dargs[index], processes = grid.psizes[index];
  const bool given = darg != MPI_DISTRIBUTE_DFLT_DARG;
  if (given && darg < 1 && grid.distribs[index] != MPI_DISTRIBUTE_NONE)
    return fail(MPI_ERR_ARG, "array_of_dargs[%d] is %d, it must be positive", d, darg);
  Share share{gsize, darg, processes, coordinate};
  switch (grid.distribs[index]) {
    case MPI_DISTRIBUTE_NONE:
      if (processes != 1)
        return fail(MPI_ERR_ARG, "array_of_psizes[%d] is %d, it must be 1 with MPI_DISTRIBUTE_NONE", d,
                    processes);
      share.block = gsize;
      return share;
    case MPI_DISTRIBUTE_CYCLIC:
      if (!given) share.block = 1;
      return share;
    case MPI_DISTRIBUTE_BLOCK:
      if (!given) share.block = gsize / processes + (gsize % processes != 0);
      if (static_cast<__int128>(share.block) * processes < gsize)
        return fail(MPI_ERR_ARG, "array_of_dargs[%d] is %d: %d blocks of it do not cover the size %lld", d,
                    darg, processes, static_cast<long long>(gsize));
      return share;
    default:
      return fail(MPI_ERR_ARG, "array_of_distribs[%d] is %d, which is no distribution", d,
                  grid.distribs[index]);
  }
}

// The elements of one dimension: blocks dealt out like cards, of which the last may be shorter.
Result<TypeMap> distribute(const TypeMap& map, const Share& share, MPI_Count stride) {
  const MPI_Count blocks = share.gsize / share.block + (share.gsize % share.block != 0);
  const MPI_Count mine = share.rank < blocks ? (blocks - share.rank - 1) / share.processes + 1 : 0;
  const MPI_Count rest = share.gsize % share.block;
  const bool last_is_mine = mine > 0 && rest > 0 && share.rank + (mine - 1) * share.processes == blocks - 1;
  const MPI_Count full = mine - last_is_mine;
  // All of these lie within the array, whose extent has been checked.
  const MPI_Count first = mine > 0 ? share.rank * share.block * stride : 0;
  const MPI_Count pitch = mine > 1 ? static_cast<MPI_Count>(share.processes) * share.block * stride : 0;
  TypeBuilder builder;
  const Repetition blocks_of_mine[] = {{share.block, stride}, {full, pitch}};
  VICINITY_TRY(builder.add(map, first, blocks_of_mine, 2));
  const Repetition shorter{last_is_mine ? rest : 0, stride};
  VICINITY_TRY(builder.add(map, last_is_mine ? first + full * pitch : 0, &shorter, 1));
  return builder.finish();
}

Status check_grid(const Distribution& grid) {
  if (grid.ndims < 1) return fail(MPI_ERR_ARG, "argument `ndims` is %d, it must be positive", grid.ndims);
  if (grid.size < 1) return fail(MPI_ERR_ARG, "argument `size` is %d, it must be positive", grid.size);
  if (grid.rank < 0 || grid.rank >= grid.size)
    return fail(MPI_ERR_ARG, "argument `rank` is %d, it must be from 0 to %d (size - 1)", grid.rank,
                grid.size - 1);
  __int128 product = 1;
  for (int d = 0; d < grid.ndims; d++) {
    const auto index = static_cast<size_t>(d);
    if (grid.gsizes[index] < 1)
      return fail(MPI_ERR_ARG, "array_of_gsizes[%d] is %lld, it must be positive", d,
                  static_cast<long long>(grid.gsizes[index]));
    if (grid.psizes[index] < 1)
      return fail(MPI_ERR_ARG, "array_of_psizes[%d] is %d, it must be positive", d, grid.psizes[index]);
    if (product <= grid.size) product *= grid.psizes[index];
  }
  if (product != grid.size)
    return fail(MPI_ERR_ARG, "argument `size` is %d, but the product of array_of_psizes is not", grid.size);
  return check_order(grid.order);
}

Description describe(const Distribution& grid, Datatype& old, bool large) {
  Description description(MPI_COMBINER_DARRAY, large);
  auto& integers = description.integers;
  const auto n = static_cast<size_t>(grid.ndims);
  for (int value : {grid.size, grid.rank, grid.ndims}) integers.push_back(value);
  description.count(grid.gsizes, grid.ndims);
  for (const int* values : {grid.distribs, grid.dargs, grid.psizes}) integers.append(values, n);
  integers.push_back(grid.order);
  description.type(old);
  return description;
}

}  // namespace

Result<Datatype*> type_darray(const Distribution& grid, Datatype& old, bool large) {
  VICINITY_TRY(check_grid(grid));
  MPI_Count extent = old.extent;
  for (int d = 0; d < grid.ndims; d++)
    if (!multiply(extent, grid.gsizes[static_cast<size_t>(d)], &extent)) return too_large("extent");
  // Processes are numbered in row-major order whatever the order of the array.
  Growing<int> coordinates;
  if (!coordinates.append(grid.psizes, static_cast<size_t>(grid.ndims))) return no_memory_for_type();
  for (int d = grid.ndims - 1, rank = grid.rank; d >= 0; d--) {
    coordinates[static_cast<size_t>(d)] = rank % grid.psizes[d];
    rank /= grid.psizes[d];
  }
  TypeMap map = typemap_of(old);
  hold(map.memory);
  hold(map.signature);
  MPI_Count stride = old.extent;
  for (int i = 0; i < grid.ndims; i++) {
    const int d = dimension(i, grid.ndims, grid.order);
    Result<Share> share = share_of(grid, d, coordinates[static_cast<size_t>(d)]);
    Result<TypeMap> next = share.ok() ? distribute(map, *share, stride) : share.status();
    drop(map);
    if (!next.ok()) return next.status();
    map = *next;
    stride *= grid.gsizes[static_cast<size_t>(d)];
  }
  return whole(map, extent, describe(grid, old, large));
}

}  // namespace vicinity::object
