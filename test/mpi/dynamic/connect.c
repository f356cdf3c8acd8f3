// SPDX-License-Identifier: BSD-3-Clause
// Ports, names, accept and connect, join, between two jobs: this one and one that it starts with the mpiexec
// of its own, as somebody else would. And what must fail.
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"

static void talk(MPI_Comm inter, int others) {
  int count, mine = rank + 1, sum = 0, all, expected;
  OK(MPI_Comm_remote_size(inter, &count));
  EQUAL(count, others);
  // Between the groups everybody gets the sum of the other side.
  OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter));
  expected = others * (others + 1) / 2;
  EQUAL(sum, expected);
  MPI_Comm merged;
  OK(MPI_Intercomm_merge(inter, 0, &merged));
  MPI_Comm_size(merged, &all);
  EQUAL(all, size + others);
  OK(MPI_Barrier(merged));
  OK(MPI_Comm_free(&merged));
}

static void by_name(const char* service, int others) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter;
  if (rank == 0)
    for (int tries = 0; tries < 2000 && MPI_Lookup_name(service, MPI_INFO_NULL, port) != MPI_SUCCESS; ++tries)
      usleep(10000);
  OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
  talk(inter, others);
  OK(MPI_Comm_disconnect(&inter));
}

static void by_socket(const char* path, int listening, int others) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (listening) {
    unlink(path);
    CHECK(bind(fd, (struct sockaddr*)&address, sizeof address) == 0 && listen(fd, 1) == 0);
    const int peer = accept(fd, NULL, NULL);
    close(fd);
    unlink(path);
    fd = peer;
  } else {
    for (int tries = 0; tries < 2000 && connect(fd, (struct sockaddr*)&address, sizeof address) != 0; ++tries)
      usleep(10000);
  }
  MPI_Comm inter;
  OK(MPI_Comm_join(fd, &inter));
  int out = listening, in = -1;
  OK(MPI_Sendrecv(&out, 1, MPI_INT, 0, 5, &in, 1, MPI_INT, 0, 5, inter, MPI_STATUS_IGNORE));
  EQUAL(in, !listening);
  OK(MPI_Comm_disconnect(&inter));
  // The socket is as it was.
  char byte = 'x';
  CHECK(write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1 && byte == 'x');
  close(fd);
  (void)others;
}

static void errors(void) {
  char port[MPI_MAX_PORT_NAME], other[MPI_MAX_PORT_NAME];
  MPI_Comm inter;
  MPI_Info info;
  FAILS(MPI_ERR_PORT, MPI_Comm_connect("no port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
  FAILS(MPI_ERR_PORT, MPI_Comm_accept("no port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
  FAILS(MPI_ERR_PORT, MPI_Close_port("no port"));
  FAILS(MPI_ERR_NAME, MPI_Lookup_name("vicinity test: nobody", MPI_INFO_NULL, other));
  FAILS(MPI_ERR_SERVICE, MPI_Unpublish_name("vicinity test: nobody", MPI_INFO_NULL, ""));
  OK(MPI_Open_port(MPI_INFO_NULL, port));
  // Nobody accepts.
  MPI_Info_create(&info);
  MPI_Info_set(info, "timeout", "1");
  FAILS(MPI_ERR_PORT, MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter));
  // Nobody connects but one who has given up.
  FAILS(MPI_ERR_PORT, MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &inter));
  MPI_Info_free(&info);
  OK(MPI_Close_port(port));
  FAILS(MPI_ERR_PORT, MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
  FAILS(MPI_ERR_ARG, MPI_Comm_join(0, &inter));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  char service[64], path[64], command[8192], program[4096] = "";
  if (argc == 4) {  // the other job
    by_name(argv[1], atoi(argv[3]));
    if (rank == 0) by_socket(argv[2], 0, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    return finish();
  }
  if (rank == 0) errors();
  int id = getpid(), others = 2;
  MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(service, sizeof service, "vicinity test %d", id);
  snprintf(path, sizeof path, "/tmp/vicinity-join-%d", id);
  FILE* other = NULL;
  char port[MPI_MAX_PORT_NAME] = "", again[MPI_MAX_PORT_NAME] = "";
  if (rank == 0) {
    CHECK(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    OK(MPI_Open_port(MPI_INFO_NULL, port));
    OK(MPI_Publish_name(service, MPI_INFO_NULL, port));
    FAILS(MPI_ERR_SERVICE, MPI_Publish_name(service, MPI_INFO_NULL, port));
    OK(MPI_Lookup_name(service, MPI_INFO_NULL, again));
    EQUAL(strcmp(port, again), 0);
    const char* mpiexec = getenv("MPIEXEC");
    snprintf(command, sizeof command, "%s -n %d %s '%s' %s %d </dev/null", mpiexec ? mpiexec : "mpiexec",
             others, program, service, path, size);
    other = popen(command, "r");
    CHECK(other != NULL);
  }
  MPI_Comm inter;
  OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
  talk(inter, others);
  OK(MPI_Comm_disconnect(&inter));
  if (rank == 0) {
    OK(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
    FAILS(MPI_ERR_NAME, MPI_Lookup_name(service, MPI_INFO_NULL, again));
    OK(MPI_Close_port(port));
    by_socket(path, 1, 1);
    char line[256], last[256] = "";
    while (fgets(line, sizeof line, other)) snprintf(last, sizeof last, "%s", line);
    EQUAL(pclose(other), 0);
    EQUAL(strcmp(last, "ok\n"), 0);
  }
  return finish();
}
