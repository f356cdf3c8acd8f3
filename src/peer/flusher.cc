// SPDX-License-Identifier: BSD-3-Clause
// What is rare: losses and changes of channel.
#include "peer/flusher.h"

#include <utility>

#include "base/clock.h"

namespace vicinity::peer {

int Flusher::handle_news() {
  int events = 0;
  const std::vector<Loss> now = std::exchange(losses_, {});
  for (const Loss& loss : now) {
    lost(loss.proc, loss.why);
    ++events;
  }
  const int64_t time = changes_.empty() ? 0 : base::now_ns();
  VirtualConnection* next;
  for (VirtualConnection* connection = changes_.front(); connection; connection = next) {
    events += connection->follow_change(time);
    next = changes_.after(connection);
    if (!connection->changing()) changes_.remove(connection);
  }
  news_ = !losses_.empty() || !changes_.empty();
  return events;
}

}  // namespace vicinity::peer
