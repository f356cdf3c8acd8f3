// SPDX-License-Identifier: BSD-3-Clause
// The life of topologies, and the arithmetic of MPI_Dims_create.
#include "world/topology.h"

#include <algorithm>
#include <cmath>

namespace vicinity::world {

using object::fail;

const char* topology_name(int kind) {
  switch (kind) {
    case MPI_CART:
      return "Cartesian topology";
    case MPI_GRAPH:
      return "graph topology";
    case MPI_DIST_GRAPH:
      return "distributed graph topology";
    default:
      return "topology";
  }
}

object::Result<Topology*> topology_of(const object::Communicator& comm, int kind) {
  if (!comm.topology || comm.topology->kind != kind)
    return fail(MPI_ERR_TOPOLOGY, "the communicator has no %s", topology_name(kind));
  return comm.topology;
}

void share_topology(const object::Communicator& from, object::Communicator& to) {
  if (!from.topology) return;
  ++from.topology->references;
  to.topology = from.topology;
}

void drop_topology(object::Communicator& comm) {
  if (comm.topology && --comm.topology->references == 0) delete comm.topology;
  comm.topology = nullptr;
}

namespace {

// The prime factors of n, greatest first.
std::vector<int> factors_of(int n) {
  std::vector<int> factors;
  for (int p = 2; p <= n / p; ++p)
    for (; n % p == 0; n /= p) factors.push_back(p);
  if (n > 1) factors.push_back(n);
  std::reverse(factors.begin(), factors.end());
  return factors;
}

std::vector<int> divisors_of(int n) {
  std::vector<int> divisors;
  for (int d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    divisors.push_back(d);
    if (d != n / d) divisors.push_back(n / d);
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

// "As close to each other as possible" (8.5.2): the least difference between the greatest and the least
// factor; among equals the greater least factor, then the greater next one.
bool closer(const std::vector<int>& one, const std::vector<int>& other) {
  const int spread = one.front() - one.back(), other_spread = other.front() - other.back();
  if (spread != other_spread) return spread < other_spread;
  return std::lexicographical_compare(other.rbegin(), other.rend(), one.rbegin(), one.rend());
}

// The prime factors dealt out, greatest first, each to the smallest product so far: a good first guess.
std::vector<int> deal(int n, size_t count) {
  std::vector<int> dims(count, 1);
  for (int factor : factors_of(n)) *std::min_element(dims.begin(), dims.end()) *= factor;
  std::sort(dims.rbegin(), dims.rend());
  return dims;
}

// Looks through the factorisations in falling order whose spread is not above that of the best so far. The
// budget ends the search for numbers with absurdly many of them; what is best then is good enough.
class Search {
 public:
  Search(int n, size_t count) : best_(deal(n, count)), divisors_(divisors_of(n)) {
    root_ = std::pow(static_cast<double>(n), 1.0 / static_cast<double>(count));
    extend(n, count, n);
  }
  const std::vector<int>& best() const { return best_; }

 private:
  int spread() const { return best_.front() - best_.back(); }

  void extend(int n, size_t count, int most) {
    if (count == 0) {
      if (n == 1 && closer(taken_, best_)) best_ = taken_;
      return;
    }
    if (--budget_ < 0) return;
    for (int d : divisors_) {
      if (d > most || d > n) return;
      // The least factor is at most the root, so a greater first one only spreads further.
      if (taken_.empty() && d - root_ > spread()) return;
      if (!taken_.empty() && taken_.front() - d > spread()) continue;
      if (n % d != 0 || std::pow(d, static_cast<double>(count)) * 1.000001 < n) continue;
      taken_.push_back(d);
      extend(n / d, count - 1, d);
      taken_.pop_back();
    }
  }

  std::vector<int> best_, taken_, divisors_;
  double root_;
  int budget_ = 20000;
};

}  // namespace

object::Status balance_dims(int nodes, int count, int* dims) {
  int free = 0;
  int64_t fixed = 1;
  for (int i = 0; i < count; ++i) {
    if (dims[i] < 0) return fail(MPI_ERR_DIMS, "dims[%d] is %d", i, dims[i]);
    if (dims[i] == 0)
      ++free;
    else
      fixed *= dims[i];
    if (fixed > nodes) break;
  }
  if (fixed > nodes || nodes % fixed != 0)
    return fail(MPI_ERR_DIMS, "%d nodes cannot be divided by the given dimensions, whose product is %lld",
                nodes, static_cast<long long>(fixed));
  if (free == 0) {
    if (fixed != nodes && count > 0)
      return fail(MPI_ERR_DIMS, "the given dimensions hold %lld nodes, not %d", static_cast<long long>(fixed),
                  nodes);
    return object::kOk;
  }
  const int rest = static_cast<int>(nodes / fixed);
  const std::vector<int> best = Search(rest, static_cast<size_t>(free)).best();
  size_t next = 0;
  for (int i = 0; i < count; ++i)
    if (dims[i] == 0) dims[i] = best[next++];
  return object::kOk;
}

}  // namespace vicinity::world
