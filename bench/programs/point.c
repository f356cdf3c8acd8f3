// SPDX-License-Identifier: BSD-3-Clause
// Point to point: the first half of the ranks with the second half, all pairs at once. With two ranks that is
// the usual pair. Rates and bandwidths are those of all pairs together.
#include "measure.h"

static int partner(void) { return rank < size / 2 ? rank + size / 2 : rank - size / 2; }
static int takes_part(void) { return rank < size / 2 * 2; }
static int begins(void) { return rank < size / 2; }

static void prepare(int x) {
  fill(out, x, rank);
  clear_in((long)x * in_flight(x));
}
static long check_one(int x) { return takes_part() ? wrong_bytes(in, x, partner()) : 0; }
static long check_slots(int x) {
  long wrong = 0;
  for (int i = 0; i < in_flight(x); i++) wrong += wrong_bytes(in + (long)i * x, x, partner());
  return wrong;
}
static long check_received(int x) { return takes_part() && !begins() ? check_slots(x) : 0; }
static long check_both(int x) { return takes_part() ? check_slots(x) : 0; }

static void ping_pong(int x) {
  if (!takes_part()) return;
  if (begins()) {
    MPI_Send(out, x, MPI_BYTE, partner(), 1, MPI_COMM_WORLD);
    MPI_Recv(in, x, MPI_BYTE, partner(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, x, MPI_BYTE, partner(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, x, MPI_BYTE, partner(), 1, MPI_COMM_WORLD);
  }
}

static void send_all(int x, MPI_Request* requests) {
  for (int i = 0; i < in_flight(x); i++)
    MPI_Isend(out, x, MPI_BYTE, partner(), 2, MPI_COMM_WORLD, &requests[i]);
}
static void receive_all(int x, MPI_Request* requests) {
  for (int i = 0; i < in_flight(x); i++)
    MPI_Irecv(in + (long)i * x, x, MPI_BYTE, partner(), 2, MPI_COMM_WORLD, &requests[i]);
}

static void stream(int x) {  // many in flight, one short answer
  MPI_Request requests[64];
  char answer = 0;
  if (!takes_part()) return;
  if (begins()) {
    send_all(x, requests);
    MPI_Waitall(in_flight(x), requests, MPI_STATUSES_IGNORE);
    MPI_Recv(&answer, 1, MPI_BYTE, partner(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    receive_all(x, requests);
    MPI_Waitall(in_flight(x), requests, MPI_STATUSES_IGNORE);
    MPI_Send(&answer, 1, MPI_BYTE, partner(), 3, MPI_COMM_WORLD);
  }
}

static void both_ways(int x) {
  MPI_Request requests[128];
  if (!takes_part()) return;
  receive_all(x, requests);
  send_all(x, requests + in_flight(x));
  MPI_Waitall(2 * in_flight(x), requests, MPI_STATUSES_IGNORE);
}

static double half(double seconds, int x) { return (void)x, seconds / 2 * 1e6; }
static double megabytes(double seconds, int x) { return 1e-6 * x * in_flight(x) * (size / 2) / seconds; }
static double two_megabytes(double seconds, int x) { return 2 * megabytes(seconds, x); }
static double millions(double seconds, int x) { return 1e-6 * in_flight(x) * (size / 2) / seconds; }

void point(const int* sizes, int count) {
  static const Figure kLatency = {"latency", "us", prepare, ping_pong, check_one, half};
  static const Figure kBandwidth = {"bandwidth", "MB/s", prepare, stream, check_received, megabytes};
  static const Figure kBoth = {"bidirectional", "MB/s", prepare, both_ways, check_both, two_megabytes};
  static const Figure kRate = {"rate", "M/s", prepare, stream, check_received, millions};
  for (int i = 0; i < count; i++) {
    measure(&kLatency, sizes[i]);
    measure(&kBandwidth, sizes[i]);
    measure(&kBoth, sizes[i]);
    if (sizes[i] <= 64) measure(&kRate, sizes[i]);
  }
}
