// SPDX-License-Identifier: BSD-3-Clause
// Groups that are not connected find each other (MPI 5.0, 11.9): ports, accept and connect, join.
#include <sys/socket.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/param.h"
#include "entry_world.h"
#include "p2p/p2p.h"
#include "world/bridge.h"
#include "world/encounter.h"
#include "world/instance.h"

namespace vicinity::world {
namespace {

base::Param<int64_t> connect_timeout_s{
    "VICINITY_CONNECT_TIMEOUT_S",
    "world",
    180,
    1,
    86400,
    "How many seconds MPI_Comm_connect waits for MPI_Comm_accept at an open port before it fails with "
    "MPI_ERR_PORT. The info key `timeout` goes before it."};

// The info key `timeout`, in seconds.
int64_t patience_ms(const Info* info, int64_t fallback) {
  const std::string* given = info ? info->find("timeout") : nullptr;
  const long seconds = given ? std::strtol(given->c_str(), nullptr, 10) : 0;
  return seconds > 0 ? seconds * 1000 : fallback;
}

Status check_place(const Communicator& comm, int root) {
  if (comm.inter()) return fail(MPI_ERR_COMM, "argument `comm` is an intercommunicator");
  if (root < 0 || root >= comm.size())
    return fail(MPI_ERR_ROOT, "argument `root` is %d, the communicator has %d ranks", root, comm.size());
  return kOk;
}

// Without one of its members a communicator does not get to know anybody.
Hope all_live(const Communicator& comm) {
  return [&comm] { return p2p::all_alive(comm); };
}

// The root has a socket, or does not; all find out together.
Status over_socket(Communicator& comm, int root, const Result<int>& fd, Communicator** made) {
  std::optional<SocketBridge> bridge;
  if (comm.rank == root && fd.ok()) bridge.emplace(fd.value(), SocketBridge::Owner::kWe);
  Result<Communicator*> comm_made = encounter(comm, root, bridge ? &*bridge : nullptr, fd.status());
  if (!comm_made.ok()) return comm_made.status();
  *made = *comm_made;
  return kOk;
}

}  // namespace

namespace entry {

Status open_port(Info*, char* port_name) {
  Result<std::string> name = world::open_port();
  if (!name.ok()) return name.status();
  std::snprintf(port_name, MPI_MAX_PORT_NAME, "%s", name->c_str());
  return kOk;
}

Status close_port(const char* port_name) { return world::close_port(port_name); }

Status comm_accept(const char* port_name, Info* info, int root, Communicator& comm, Communicator** newcomm) {
  VICINITY_TRY(check_place(comm, root));
  Result<int> fd = -1;
  if (comm.rank == root) fd = accept_at(port_name, patience_ms(info, kForEver), all_live(comm));
  return over_socket(comm, root, fd, newcomm);
}

Status comm_connect(const char* port_name, Info* info, int root, Communicator& comm, Communicator** newcomm) {
  VICINITY_TRY(check_place(comm, root));
  Result<int> fd = -1;
  if (comm.rank == root)
    fd = connect_to(port_name, patience_ms(info, connect_timeout_s.get() * 1000), all_live(comm));
  return over_socket(comm, root, fd, newcomm);
}

Status comm_join(int fd, Communicator** intercomm) {
  int type = 0;
  socklen_t length = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM)
    return fail(MPI_ERR_ARG, "argument `fd` is %d, which is no connected stream socket", fd);
  SocketBridge bridge(fd, SocketBridge::Owner::kUser);
  Result<Communicator*> made = encounter(*object::predefined_communicators[1], 0, &bridge, kOk);
  if (!made.ok()) return made.status();
  *intercomm = *made;
  return kOk;
}

}  // namespace entry
}  // namespace vicinity::world
