// SPDX-License-Identifier: BSD-3-Clause
// A process's place in a region: its section, the rings towards it, and how it sleeps.
//
// poll() looks at every ring that has ever carried something. Up to kAlwaysPolled of them each time;
// of more, those with recent traffic each time and an eighth of the others. Rings that were never used
// are not touched, so that their pages cost nothing: a sender announces the first message in our
// HintLine. Hints are advice; one that is lost is found before we sleep, in the sender's `opened` byte.
#pragma once

#include <linux/futex.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/progress.h"
#include "base/status.h"
#include "channel/channel.h"
#include "channel/ring/receiver.h"
#include "channel/ring/sender.h"
#include "region/layout.h"
#include "region/mapping.h"

namespace vicinity::channel::ring {

struct PortOptions {
  uint32_t self = 0;                // our section
  const uint32_t* procs = nullptr;  // rank of each section
  uint32_t generation = 0;
  uint32_t largest = 32768;  // VICINITY_RING_EAGER
  bool membarrier = false;   // every process of the region has registered
};

class Port final : public base::Poller, public base::Sleeper {
 public:
  static constexpr uint32_t kAlwaysPolled = 16;

  // `mapping` must outlive the port and hold the geometry.
  Port(const region::Mapping& mapping, const region::Geometry& geometry, const PortOptions& options,
       Sink& sink);
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  // Announces our section to the others (SectionHeader::magic).
  void attach();
  bool attached(uint32_t section) const;
  // Leaves in good order: peers do not take it for a death.
  void depart();
  bool departed(uint32_t section) const;

  // The sending end towards another section. One per section, the port must outlive it.
  Sender sender(uint32_t section);
  // How to wake the owner of a section.
  Bell bell(uint32_t section) const;

  int poll() override;
  // Only the ring of one section, for a message that is wanted, at most so many times; the number of events.
  int listen(uint32_t section, int looks, Wanted& wanted);

  void arm() override;
  void disarm() override;
  void sleep(int timeout_us) override;
  void wake_self() override;
  void tell_away(bool away) override;
  bool is_away(uint32_t section) override;
  // For who sleeps in several ports: can we be woken in this one, and by which word, since arm()?
  bool wakeable() const { return mapping_.properties().wakeable; }
  futex_waitv wake_word() const {
    return {wake_seen_, reinterpret_cast<uintptr_t>(&wake_->word), FUTEX_32, 0};
  }

  // Reads no more from that section, and tells it so.
  void close(uint32_t section);
  // Reads no more from that section, and leaves it to others to say so.
  void forsake(uint32_t section);
  // Called when a peer lied, or (`refused`) has closed us, before Sink::lost(): whoever holds the sender
  // closes it. True: there is another way to that peer; no loss is told, neither here nor to it.
  bool (*on_lie)(Proc peer, const char* why, bool refused) = nullptr;
  const Receiver& receiver(uint32_t section) const { return receivers_[section]; }

  // Once per process, before the cards are exchanged.
  static bool register_membarrier();

 private:
  friend struct RingTestAccess;

  int take(Watch& watch, uint64_t control);
  int poll_cold();
  void cool();
  void admit_hinted();
  void admit(uint32_t section);
  uint8_t opened(uint32_t section) const;
  void tell_refused(uint32_t section);
  void lose(uint32_t section, const char* why, bool refused);
  void admit_forgotten();
  void drop(const Watch& watch);
  void report_lies();

  const region::Mapping& mapping_;
  const region::Geometry geometry_;
  const PortOptions options_;
  Sink& sink_;
  BufferPool pool_;
  // Words of our own section.
  region::SectionHeader* header_;
  uint32_t* state_;
  region::WakeLine* wake_;
  uint64_t* hints_;

  std::unique_ptr<Watch[]> watches_;  // [0, hot_) are polled each time, [hot_, active_) now and then
  uint32_t hot_ = 0, active_ = 0, cold_at_ = 0, pass_ = 0;
  bool polling_ = false, lies_ = false;
  uint32_t hint_words_ = 0;
  std::unique_ptr<Receiver[]> receivers_;
  enum Watched : uint8_t { kUnwatched, kWatched, kClosed };
  std::unique_ptr<uint8_t[]> watched_;  // Watched: kWatched is in watches_, kClosed never again
  std::vector<uint32_t> refusals_;      // sections that have closed us, not reported yet
  uint32_t wake_seen_ = 0;
  uint32_t retries_ = 0;  // sends without room since we were last awake
};

}  // namespace vicinity::channel::ring
