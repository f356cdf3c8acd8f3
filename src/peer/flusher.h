// SPDX-License-Identifier: BSD-3-Clause
// The poller of the connections: sends what is queued, follows changes of channel, tells of losses.
#pragma once

#include <vector>

#include "base/list.h"
#include "base/progress.h"
#include "peer/virtual_connection.h"

namespace vicinity::peer {

class Flusher final : public base::Poller {
 public:
  // Told of each loss from progress, once per report.
  void (*lost)(Proc proc, const char* why) = nullptr;

  void has_work(VirtualConnection& connection) {
    if (!connection.work.linked()) work_.push_back(&connection);
  }
  void has_change(VirtualConnection& connection) {
    if (!connection.change_work.linked()) changes_.push_back(&connection);
    news_ = true;
  }
  void report_lost(Proc proc, const char* why) {
    losses_.push_back({proc, why});
    news_ = true;
  }

  int poll() override {
    int events = 0;
    if (news_) [[unlikely]]
      events += handle_news();
    VirtualConnection* next;
    for (VirtualConnection* connection = work_.front(); connection; connection = next) {
      next = work_.after(connection);
      events += connection->flush();
      if (!connection->has_work()) {
        next = work_.after(connection);  // flush() may have linked others behind it
        work_.remove(connection);
      }
    }
    return events;
  }

 private:
  using Work = base::List<VirtualConnection, &VirtualConnection::work>;
  using Changes = base::List<VirtualConnection, &VirtualConnection::change_work>;
  struct Loss {
    Proc proc;
    const char* why;
  };
  int handle_news();

  bool news_ = false;  // losses or changes
  Work work_;
  Changes changes_;
  std::vector<Loss> losses_;
};

}  // namespace vicinity::peer
