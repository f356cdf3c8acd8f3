// SPDX-License-Identifier: BSD-3-Clause
// Polling of all rings towards this process, and parking.
#include "channel/ring/port.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

namespace vicinity::channel::ring {

Port::Port(const region::Mapping& mapping, const region::Geometry& geometry, const PortOptions& options,
           Sink& sink)
    : mapping_(mapping),
      geometry_(geometry),
      options_(options),
      sink_(sink),
      watches_(new Watch[geometry.sections]),
      receivers_(new Receiver[geometry.sections]),
      watched_(new uint8_t[geometry.sections]()) {
  const uint64_t own = geometry.section(options.self);
  header_ = mapping.at<region::SectionHeader>(own);
  state_ = &mapping.at<region::StatusLine>(own + geometry.status)->state;
  wake_ = mapping.at<region::WakeLine>(own + geometry.wake);
  hints_ = mapping.at<region::HintLine>(own + geometry.hints)->bits;
  hint_words_ = (geometry.sections + 63) / 64;
  pool_ = BufferPool(mapping.at<std::byte>(own + geometry.bulk), geometry.buffers, geometry.buffer_bytes);
  for (uint32_t s = 0; s < geometry.sections; ++s) {
    ReceiverParts parts;
    parts.lines = mapping.at<Line>(geometry.ring(s, options.self), geometry.ring_lines);
    parts.line_count = geometry.ring_lines;
    parts.generation = options.generation;
    parts.credit = mapping.at<region::Credit>(geometry.credit(options.self, s));
    parts.bell = bell(s);
    parts.bulk = mapping.at<std::byte>(geometry.section(s) + geometry.bulk);
    parts.buffers = geometry.buffers;
    parts.buffer_bytes = geometry.buffer_bytes;
    parts.largest = options.largest;
    parts.proc = options.procs[s];
    receivers_[s] = Receiver(parts);
  }
  watched_[options.self] = kClosed;
}

void Port::attach() {
  header_->proc = options_.procs[options_.self];
  header_->generation = options_.generation;
  // SYNC POINT ATTACH (release): pairs with attached().
  __atomic_store_n(&header_->magic, region::kSectionMagic, __ATOMIC_RELEASE);
}

bool Port::attached(uint32_t section) const {
  const auto* header = mapping_.at<region::SectionHeader>(geometry_.section(section));
  return __atomic_load_n(&header->magic, __ATOMIC_ACQUIRE) == region::kSectionMagic;
}

void Port::depart() { __atomic_store_n(&header_->departed, 1u, __ATOMIC_RELEASE); }

bool Port::departed(uint32_t section) const {
  const auto* header = mapping_.at<region::SectionHeader>(geometry_.section(section));
  return __atomic_load_n(&header->departed, __ATOMIC_ACQUIRE) == 1;
}

// Where nobody can be woken there is nothing to look at: a word of our own that always says awake.
Bell Port::bell(uint32_t section) const {
  static uint32_t awake = region::kAwake, unused = 0;
  if (!mapping_.properties().wakeable) return {&awake, &unused, false};
  const uint64_t at = geometry_.section(section);
  return {&mapping_.at<region::StatusLine>(at + geometry_.status)->state,
          &mapping_.at<region::WakeLine>(at + geometry_.wake)->word, !options_.membarrier};
}

Sender Port::sender(uint32_t section) {
  const uint64_t own = geometry_.section(options_.self), other = geometry_.section(section);
  SenderParts parts;
  parts.lines = mapping_.at<Line>(geometry_.ring(options_.self, section), geometry_.ring_lines);
  parts.line_count = geometry_.ring_lines;
  parts.generation = options_.generation;
  parts.credit = mapping_.at<region::Credit>(geometry_.credit(section, options_.self));
  parts.bell = bell(section);
  parts.retries = &retries_;
  parts.receiver_hints = mapping_.at<region::HintLine>(other + geometry_.hints)->bits;
  parts.opened = mapping_.at<uint8_t>(own + geometry_.opened + section);
  parts.own_section = options_.self;
  parts.pool = &pool_;
  parts.share = geometry_.buffers / std::max(1u, geometry_.sections - 1);
  const uint64_t most = uint64_t{std::min(parts.share, geometry_.ring_lines / 2)} * geometry_.buffer_bytes;
  parts.largest = static_cast<uint32_t>(std::min<uint64_t>(options_.largest, most));
  return Sender(parts);
}

int Port::take(Watch& watch, uint64_t control) {
  Receiver& receiver = receivers_[watch.peer];
  receiver.last_pass = pass_;
  const int events = receiver.receive(watch, control, sink_);
  if (receiver.failure()) [[unlikely]] {
    lies_ = true;
    return events + 1;
  }
  return events;
}

int Port::poll() {
  if (polling_) [[unlikely]]
    return 0;  // the sink called progress(): one landing at a time
  polling_ = true;
  int events = 0;
  uint64_t control;
  for (uint32_t i = 0; i < hot_; ++i)
    if (watches_[i].arrived(&control)) [[unlikely]]
      events += take(watches_[i], control);
  if (hot_ < active_) [[unlikely]]
    events += poll_cold();
  for (uint32_t word = 0; word < hint_words_; ++word)
    if (__atomic_load_n(hints_ + word, __ATOMIC_RELAXED) != 0) [[unlikely]] {
      admit_hinted();
      ++events;  // look again at once
      break;
    }
  if (lies_) [[unlikely]]
    report_lies();
  polling_ = false;
  return events;
}

int Port::listen(uint32_t section, int looks, Wanted& wanted) {
  uint32_t at = 0;
  while (at < active_ && watches_[at].peer != section) ++at;
  if (at == active_ || polling_) return 0;
  uint64_t control;
  while (!watches_[at].arrived(&control)) {
    if (--looks <= 0) return 0;
  }
  Receiver& receiver = receivers_[section];
  if (receiver.take_wanted(watches_[at], control, wanted)) [[likely]] {
    receiver.last_pass = pass_;
    return 1;
  }
  polling_ = true;
  const int events = take(watches_[at], control);
  if (lies_) [[unlikely]]
    report_lies();
  polling_ = false;
  return events;
}

// An eighth of the quiet rings; one that has something becomes hot.
int Port::poll_cold() {
  int events = 0;
  uint64_t control;
  ++pass_;
  if (pass_ % 256 == 0) cool();
  for (uint32_t many = (active_ - hot_) / 8 + 1; many != 0 && hot_ < active_; --many) {
    if (cold_at_ < hot_ || cold_at_ >= active_) cold_at_ = hot_;
    if (watches_[cold_at_].arrived(&control)) {
      std::swap(watches_[cold_at_], watches_[hot_]);
      events += take(watches_[hot_++], control);
    }
    ++cold_at_;
  }
  return events;
}

// Rings without traffic in the last 256 passes are polled less often from now on.
void Port::cool() {
  for (uint32_t i = hot_; i-- > 0;)
    if (pass_ - receivers_[watches_[i].peer].last_pass > 256) std::swap(watches_[i], watches_[--hot_]);
}

void Port::admit(uint32_t section) {
  if (section >= geometry_.sections || watched_[section] == kClosed) return;
  if (opened(section) == region::kRefused) [[unlikely]] {
    refusals_.push_back(section);
    lies_ = true;
    return;
  }
  if (watched_[section]) return;
  watched_[section] = kWatched;
  receivers_[section].last_pass = pass_;
  watches_[active_++] = receivers_[section].watch(section);
  std::swap(watches_[active_ - 1], watches_[hot_]);
  ++hot_;
  // From here on poll_cold() runs and cool() sorts out the quiet ones.
  if (active_ > kAlwaysPolled && hot_ == active_) --hot_;
}

void Port::admit_hinted() {
  for (uint32_t word = 0; word < hint_words_; ++word) {
    uint64_t bits = __atomic_exchange_n(hints_ + word, 0, __ATOMIC_ACQUIRE);
    for (; bits != 0; bits &= bits - 1) admit(word * 64 + static_cast<uint32_t>(__builtin_ctzll(bits)));
  }
}

// Another process may have spoilt our hints; each sender's own byte tells the truth.
void Port::admit_forgotten() {
  for (uint32_t s = 0; s < geometry_.sections; ++s) {
    if (!watched_[s] && opened(s) != region::kNotOpened) admit(s);
  }
}

// That section's own byte about us.
uint8_t Port::opened(uint32_t section) const {
  const auto* byte = mapping_.at<uint8_t>(geometry_.section(section) + geometry_.opened + options_.self);
  return __atomic_load_n(byte, __ATOMIC_ACQUIRE);
}

// What we will never read must not be waited for: its next poll, or its sleep, finds our byte.
void Port::tell_refused(uint32_t section) {
  const uint64_t own = geometry_.section(options_.self), other = geometry_.section(section);
  __atomic_store_n(mapping_.at<uint8_t>(own + geometry_.opened + section), uint8_t{region::kRefused},
                   __ATOMIC_RELEASE);
  uint64_t* hints = mapping_.at<region::HintLine>(other + geometry_.hints)->bits;
  __atomic_fetch_or(hints + options_.self / 64, uint64_t{1} << (options_.self % 64), __ATOMIC_SEQ_CST);
  const Bell its = bell(section);
  full_fence();
  its.ring(__atomic_load_n(its.state, __ATOMIC_SEQ_CST));
}

void Port::drop(const Watch& watch) {
  auto at = static_cast<uint32_t>(&watch - watches_.get());
  if (at < hot_) {
    std::swap(watches_[at], watches_[--hot_]);
    at = hot_;
  }
  std::swap(watches_[at], watches_[--active_]);
}

void Port::close(uint32_t section) {
  if (watched_[section] == kClosed) return;
  tell_refused(section);
  forsake(section);
}

void Port::forsake(uint32_t section) {
  watched_[section] = kClosed;
  for (uint32_t i = 0; i < active_; ++i)
    if (watches_[i].peer == section) return drop(watches_[i]);
}

void Port::report_lies() {
  lies_ = false;
  for (uint32_t section : std::exchange(refusals_, {}))
    if (watched_[section] != kClosed)
      lose(section, "it has closed the connection, for it got something invalid or takes us for dead", true);
  for (uint32_t i = 0; i < active_;) {
    const uint32_t section = watches_[i].peer;
    const char* why = receivers_[section].failure();
    if (!why) {
      ++i;
      continue;
    }
    lose(section, why, false);
    i = 0;
  }
}

void Port::lose(uint32_t section, const char* why, bool refused) {
  if (on_lie && on_lie(receivers_[section].proc(), why, refused)) return forsake(section);
  close(section);
  sink_.lost(receivers_[section].proc(), why);
}

bool Port::register_membarrier() {
#ifdef SYS_membarrier
  const long supported = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  if (supported < 0 || !(supported & MEMBARRIER_CMD_GLOBAL_EXPEDITED)) return false;
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
#else
  return false;
#endif
}

void Port::arm() {
  for (uint32_t i = 0; i < active_; ++i) receivers_[watches_[i].peer].give_credit();
  wake_seen_ = __atomic_load_n(&wake_->word, __ATOMIC_ACQUIRE);
  // SYNC POINT PARK: state, then the barrier in all senders (or the fence against theirs), then the
  // caller polls everything once more.
  const uint32_t state = retries_ != 0 ? region::kHungry : region::kParked;
  __atomic_store_n(state_, state, __ATOMIC_SEQ_CST);
  if (options_.membarrier) syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
  full_fence();
  admit_forgotten();
}

void Port::disarm() {
  __atomic_store_n(state_, uint32_t{region::kAwake}, __ATOMIC_RELAXED);
  retries_ = 0;
}

void Port::sleep(int timeout_us) {
  const timespec timeout{timeout_us / 1000000, timeout_us % 1000000 * 1000L};
  if (mapping_.properties().wakeable) {
    syscall(SYS_futex, &wake_->word, FUTEX_WAIT, wake_seen_, &timeout, nullptr, 0);
  } else {
    nanosleep(&timeout, nullptr);
  }
}

void Port::wake_self() {
  __atomic_fetch_add(&wake_->word, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &wake_->word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Port::tell_away(bool away) { __atomic_store_n(&wake_->away, uint32_t{away}, __ATOMIC_RELAXED); }

bool Port::is_away(uint32_t section) {
  const uint64_t at = geometry_.section(section) + geometry_.wake;
  return __atomic_load_n(&mapping_.at<region::WakeLine>(at)->away, __ATOMIC_RELAXED) != 0;
}

}  // namespace vicinity::channel::ring
