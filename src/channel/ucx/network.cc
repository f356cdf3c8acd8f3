// SPDX-License-Identifier: BSD-3-Clause
// Opening, arrivals and their order, progress, the end.
#include "channel/ucx/network.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/param.h"
#include "channel/ucx/library.h"
#include "channel/ucx/settings.h"
#include "wireup/launcher_params.h"

namespace vicinity::channel::ucx {
namespace {

using base::fail;
using base::Result;
using base::Status;

base::Param<int64_t> eager_size{"VICINITY_NETWORK_EAGER_SIZE",
                                "channel",
                                17 << 10,
                                512,
                                1 << 20,
                                "Largest message in bytes that the network carries without asking the "
                                "receiver first; longer ones go from buffer to buffer.",
                                "MV2_IBA_EAGER_THRESHOLD"};
base::Param<std::string> transport_param{
    "VICINITY_NETWORK", "channel", "auto", nullptr,
    "Transports of the network: rc, ud, dc, tcp, any list that UCX_TLS takes, or auto: UCX chooses."};

constexpr size_t kMostEarly = 4096;           // messages that wait for one that is late
constexpr uint32_t kQuietPolls = 64;          // without an event: the network is quiet
constexpr int64_t kQuietGap = 2'000;          // ns between two looks at a quiet network
constexpr int64_t kPatience = 3'000'000'000;  // ns: of a farewell

}  // namespace

// A message that came before its turn.
struct Network::Early {
  Header header;
  void* data = nullptr;  // kept by UCP: must be given back
  size_t bytes = 0;
  bool rendezvous = false;
  std::vector<std::byte> copy;  // when UCP keeps nothing
};

std::string words_of(const abi::Functions& ucp, abi::StatusCode status) {
  return std::string("UCX says: ") + ucp.status_string(status);
}

NetworkOptions wanted_options(Proc self, uint32_t count) {
  NetworkOptions options;
  options.self = self;
  options.count = count;
  options.largest = static_cast<size_t>(eager_size.get());
  options.transport = transport_param.get();
  return options;
}

Network::Network(const abi::Functions& ucp, const NetworkOptions& options, Sink& sink)
    : ucp_(ucp), options_(options), sink_(sink), links_(options.count), most_(options.largest) {}

Result<std::unique_ptr<Network>> Network::open(const NetworkOptions& options, Sink& sink) {
  auto ucp = load();
  if (!ucp.ok()) return ucp.status();
  std::unique_ptr<Network> network(new Network(**ucp, options, sink));
  VICINITY_TRY(network->start());
  return network;
}

Status Network::start_context() {
  // When a process dies, UCX (1.13 at least) may find two events of its connection in one look, close it at
  // the first, and end this process by an assertion at the second. One event at a time is a cure, but this
  // setting is taken from the environment only.
  if (wireup::param_recovery.get()) setenv("UCX_TCP_MAX_POLL", "1", 0);
  abi::Config config = nullptr;
  abi::StatusCode status = ucp_.config_read(nullptr, nullptr, &config);
  if (status != abi::kOk)
    return fail(base::kOther, "UCX does not understand its settings (UCX_...): %s",
                words_of(ucp_, status).c_str());
  for (const auto& [name, value] : choose_settings(options_.transport, find_ports("/sys"))) {
    if (name != "TLS" && std::getenv(("UCX_" + name).c_str())) continue;
    VICINITY_LOG(kInfo, "UCX_%s=%s", name.c_str(), value.c_str());
    if (ucp_.config_modify(config, name.c_str(), value.c_str()) != abi::kOk)
      VICINITY_LOG(kInfo, "this UCX has no setting %s", name.c_str());
  }
  abi::ContextParams params{};
  params.mask = abi::kContextFeatures;
  params.features = abi::kFeatureActiveMessages | abi::kFeatureWakeup;
  status = ucp_.init_version(abi::kMajor, abi::kMinor, &params, config, &context_);
  ucp_.config_release(config);
  if (status == abi::kOk) return base::kOk;
  return fail(base::kOther,
              "UCX %s finds no network for VICINITY_NETWORK=%s: %s; `ucx_info -d` lists what it sees",
              ucp_.get_version_string(), options_.transport.c_str(), words_of(ucp_, status).c_str());
}

Status Network::handle(unsigned id, abi::ArrivalCallback callback) {
  abi::HandlerParam param{};
  param.mask = abi::kHandlerId | abi::kHandlerFlags | abi::kHandlerCallback | abi::kHandlerArg;
  param.id = id;
  param.flags = abi::kHandlerWholeMessage;
  param.callback = callback;
  param.arg = this;
  const abi::StatusCode status = ucp_.worker_set_am_recv_handler(worker_, &param);
  if (status == abi::kOk) return base::kOk;
  return fail(base::kOther, "UCX takes no active messages: %s", words_of(ucp_, status).c_str());
}

Status Network::start_worker() {
  abi::WorkerParams params{};
  params.mask = abi::kWorkerThreadMode;
  params.thread_mode = abi::kSerialized;
  abi::StatusCode status = ucp_.worker_create(context_, &params, &worker_);
  if (status != abi::kOk)
    return fail(base::kOther, "UCX cannot open the network: %s; VICINITY_NETWORK=%s, UCX_NET_DEVICES=%s",
                words_of(ucp_, status).c_str(), options_.transport.c_str(),
                std::getenv("UCX_NET_DEVICES") ? std::getenv("UCX_NET_DEVICES") : "");
  if (ucp_.worker_get_efd(worker_, &descriptor_) != abi::kOk) descriptor_ = -1;
  abi::Address* address = nullptr;
  size_t bytes = 0;
  status = ucp_.worker_get_address(worker_, &address, &bytes);
  if (status != abi::kOk) return fail(base::kOther, "UCX has no address: %s", words_of(ucp_, status).c_str());
  address_.assign(reinterpret_cast<const char*>(address), bytes);
  ucp_.worker_release_address(worker_, address);
  return base::kOk;
}

Status Network::start() {
  VICINITY_TRY(start_context());
  VICINITY_TRY(start_worker());
  VICINITY_TRY(handle(kMessageId, on_message));
  return handle(kFarewellId, on_farewell);
}

Network::~Network() {
  for (auto& link : links_)
    if (link) link->close("this process has closed the network");
  for (auto& [where, early] : early_)
    if (early.data && !early.rendezvous) ucp_.am_data_release(worker_, early.data);
  for (int step = 0; worker_ && step < 100 && ucp_.worker_progress(worker_); ++step) {
  }
  if (worker_) ucp_.worker_destroy(worker_);
  if (context_) ucp_.cleanup(context_);
  for (Slot* list : {free_slots_, free_headers_})
    while (list) std::free(std::exchange(list, list->next));
}

Link& Network::link(Proc proc) {
  if (proc >= links_.size()) links_.resize(proc + 1);
  if (!links_[proc]) links_[proc] = std::make_unique<Link>(*this, proc);
  return *links_[proc];
}

Slot* Network::take_slot(size_t room_bytes) {
  Slot*& list = room_bytes ? free_slots_ : free_headers_;
  if (list && room_bytes <= options_.largest) {
    Slot* slot = list;
    list = slot->next;
    return slot;
  }
  void* memory = std::malloc(sizeof(Slot) + room_bytes);
  if (!memory) return nullptr;
  Slot* slot = new (memory) Slot();
  slot->room_bytes = room_bytes;
  return slot;
}

void Network::give_slot(Slot* slot) {
  if (slot->room_bytes > options_.largest) return std::free(slot);
  Slot*& list = slot->room_bytes ? free_slots_ : free_headers_;
  slot->next = list;
  list = slot;
}

// --- arrivals ---

// Headers come from other processes: an impossible one is dropped, for nobody can be blamed.
Link* Network::sender_of(const void* header, size_t bytes, Header* out) {
  if (bytes == sizeof *out) {
    std::memcpy(out, header, sizeof *out);
    const Proc from = out->source;
    if (from < options_.count && from != options_.self) return &link(from);
    if (from >= options_.count && find(from)) return &link(from);
  }
  VICINITY_LOG(kError, "a network message without a correct header is dropped");
  return nullptr;
}

abi::StatusCode Network::on_message(void* arg, const void* header, size_t header_bytes, void* data,
                                    size_t bytes, const abi::ArrivalParam* param) {
  Network& self = *static_cast<Network*>(arg);
  ++self.events_;
  Header copy;
  if (!self.sender_of(header, header_bytes, &copy)) return abi::kOk;
  return self.arrive(copy, data, bytes, param->attributes);
}

abi::StatusCode Network::on_farewell(void* arg, const void* header, size_t header_bytes, void*, size_t,
                                     const abi::ArrivalParam*) {
  Network& self = *static_cast<Network*>(arg);
  Header copy;
  if (Link* link = self.sender_of(header, header_bytes, &copy)) link->departed_ = true;
  return abi::kOk;
}

abi::StatusCode Network::arrive(const Header& header, void* data, size_t bytes, uint64_t attributes) {
  Link& from = *links_[header.source];
  if (!from.failure_.empty()) return abi::kOk;  // UCP tells the sender of a rendezvous
  if (!from.heard_) {
    from.heard_ = true;
    if (!from.endpoint_) news_.push_back(&from);
  }
  if (header.number != from.next_in_) return keep_early(from, header, data, bytes, attributes);
  const bool rendezvous = attributes & abi::kArrivalRendezvous;
  deliver(from, header, data, bytes, rendezvous);
  if (!early_.empty()) deliver_early(from);
  return rendezvous ? abi::kInProgress : abi::kOk;
}

void Network::deliver(Link& from, const Header& header, void* data, size_t bytes, bool rendezvous) {
  ++from.next_in_;
  ++from.messages_;
  from.bytes_ += bytes;
  if (rendezvous) return sink_.offered(from.proc_, header.envelope, bytes, data);
  const Landing landing = sink_.land(from.proc_, header.envelope, bytes);
  const size_t fits = std::min(bytes, landing.room);
  if (fits) std::memcpy(landing.where, data, fits);
  sink_.landed(landing, bytes);
}

abi::StatusCode Network::keep_early(Link& from, const Header& header, void* data, size_t bytes,
                                    uint64_t attributes) {
  if (header.number - from.next_in_ > kMostEarly) {
    from.fail("it numbers its messages wrongly");
    return abi::kOk;
  }
  Early& early = early_[{from.proc_, header.number}];
  early.header = header;
  early.bytes = bytes;
  early.rendezvous = attributes & abi::kArrivalRendezvous;
  if (early.rendezvous || attributes & abi::kArrivalMayKeep) {
    early.data = data;
    return abi::kInProgress;
  }
  const auto* from_bytes = static_cast<const std::byte*>(data);
  early.copy.assign(from_bytes, from_bytes + bytes);
  return abi::kOk;
}

void Network::deliver_early(Link& from) {
  for (auto at = early_.find({from.proc_, from.next_in_}); at != early_.end();
       at = early_.find({from.proc_, from.next_in_})) {
    Early early = std::move(at->second);
    early_.erase(at);
    deliver(from, early.header, early.data ? early.data : early.copy.data(), early.bytes, early.rendezvous);
    if (early.data && !early.rendezvous) ucp_.am_data_release(worker_, early.data);
  }
}

// --- progress ---

int Network::poll() {
  if (polling_) return 0;  // the sink called progress() from inside of UCP
  if (sparing && quiet_ >= kQuietPolls) {
    const int64_t now = base::now_ns();  // by time: who yields between polls must look each time
    if (now - looked_at_ < kQuietGap) return 0;
    looked_at_ = now;
  }
  polling_ = true;
  events_ = 0;
  int events = static_cast<int>(ucp_.worker_progress(worker_));
  events += static_cast<int>(std::exchange(events_, 0));
  if (!news_.empty()) {
    handle_news();
    ++events;
  }
  polling_ = false;
  quiet_ = events ? 0 : quiet_ + 1;
  progressed_ += events != 0;
  return events;
}

void Network::handle_news() {
  const std::vector<Link*> now = std::exchange(news_, {});
  for (Link* link : now) {
    if (link->failure_.empty()) {
      link->connect();
      continue;
    }
    link->drop_endpoint(abi::kCloseForce);
    if (link->told_ || link->departed_) continue;
    link->told_ = true;
    if (on_lost) on_lost(link->proc_, link->failure_.c_str());
  }
}

bool Network::arm() {
  if (descriptor_ < 0 || !news_.empty()) return false;
  quiet_ = 0;  // after a sleep every poll looks
  return ucp_.worker_arm(worker_) == abi::kOk;
}

// --- large messages ---

namespace {

// How UCP hands on the parts of a message for which there is no one place.
void* begin_parts(void* context, void*, size_t) { return context; }
size_t size_of_parts(void* state) { return static_cast<Fetch*>(state)->bytes; }
abi::StatusCode write_part(void* state, size_t offset, const void* from, size_t bytes) {
  auto* fetch = static_cast<Fetch*>(state);
  fetch->write(fetch, offset, from, bytes);
  return abi::kOk;
}
void end_parts(void*) {}
void* no_pack(void*, const void*, size_t) { return nullptr; }
size_t pack_nothing(void*, size_t, void*, size_t) { return 0; }
const abi::GenericType kParts{no_pack, begin_parts, size_of_parts, pack_nothing, write_part, end_parts};

const abi::Functions& functions_of(const Fetch* fetch) {
  return *static_cast<const abi::Functions*>(fetch->channel);
}

void end_fetch(Fetch* fetch, bool good) {
  if (fetch->type) functions_of(fetch).dt_destroy(std::exchange(fetch->type, 0));
  fetch->done(fetch, good);
}

void fetched(void* request, abi::StatusCode status, size_t, void* user) {
  auto* fetch = static_cast<Fetch*>(user);
  functions_of(fetch).request_free(request);
  end_fetch(fetch, status == abi::kOk);
}

}  // namespace

void Network::fetch(void* offer, size_t bytes, void* where, Fetch* fetch) {
  fetch->channel = &ucp_;
  fetch->bytes = bytes;
  fetch->type = 0;
  abi::RequestParam param{};
  param.mask = abi::kParamCallback | abi::kParamUser;
  param.received = fetched;
  param.user = fetch;
  size_t count = bytes;
  if (!where) {
    if (ucp_.dt_create_generic(&kParts, fetch, &fetch->type) != abi::kOk) return fetch->done(fetch, false);
    param.mask |= abi::kParamDatatype;
    param.datatype = fetch->type;
    count = 1;
  }
  void* answer = ucp_.am_recv_data_nbx(worker_, offer, where, count, &param);
  if (!answer || abi::is_error(answer)) end_fetch(fetch, !answer);
}

void Network::refuse(void* offer, size_t bytes) {
  auto* nobody = new Fetch;
  nobody->write = [](Fetch*, size_t, const void*, size_t) {};
  nobody->done = [](Fetch* self, bool) { delete self; };
  fetch(offer, bytes, nullptr, nobody);
}

// --- the end ---

void Network::farewell() {
  std::vector<void*> said;
  for (auto& link : links_)
    if (link) said.push_back(link->say_farewell());
  push_out(std::move(said));
}

void Network::push_out(std::vector<void*> waiting) {
  if (polling_) return;  // the program ends inside of UCP
  const int64_t end = base::now_ns() + kPatience;
  abi::RequestParam nothing{};
  waiting.push_back(ucp_.worker_flush_nbx(worker_, &nothing));
  std::erase_if(waiting, [](void* answer) { return !answer || abi::is_error(answer); });
  base::wait_until([&] {
    std::erase_if(waiting, [&](void* request) {
      if (ucp_.request_check_status(request) == abi::kInProgress) return false;
      ucp_.request_free(request);
      return true;
    });
    return waiting.empty() || base::now_ns() > end;
  });
  for (void* request : waiting) ucp_.request_free(request);
}

}  // namespace vicinity::channel::ucx
