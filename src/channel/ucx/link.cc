// SPDX-License-Identifier: BSD-3-Clause
// Connecting, sending, failing.
#include "channel/ucx/link.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "channel/ucx/lanes.h"
#include "channel/ucx/network.h"

namespace vicinity::channel::ucx {

static_assert(Channel<Link>);

Link::Link(Network& network, Proc proc)
    : network_(network), proc_(proc), number_there_(network.options().self) {}

size_t Link::largest() const { return network_.options().largest; }

bool Link::connect() {
  if (endpoint_) return true;
  if (!failure_.empty()) return false;
  if (departed_) {
    fail("it has ended MPI");
    return false;
  }
  base::Result<std::string> address = network_.address_of(proc_);
  if (!address.ok()) {
    fail(std::string("its network address is not known: ") + base::failure_text(address.status().code()));
    return false;
  }
  abi::EndpointParams params{};
  params.mask = abi::kEndpointAddress | abi::kEndpointErrorMode | abi::kEndpointErrorHandler;
  params.address = reinterpret_cast<const abi::Address*>(address->data());
  params.error_mode = abi::kErrorModePeer;
  params.on_error = on_error;
  params.on_error_arg = this;
  const abi::StatusCode status = network_.ucp_.ep_create(network_.worker_, &params, &endpoint_);
  if (status == abi::kOk) return true;
  endpoint_ = nullptr;
  fail("UCX cannot connect to it: " + words_of(network_.ucp_, status) +
       "; do both hosts have a network in common (VICINITY_NETWORK, UCX_NET_DEVICES)?");
  return false;
}

Answer Link::send(const Envelope& envelope, const void* data, size_t bytes) {
  if (bytes > network_.most_ || !connect()) return Answer::kFailed;
  if (under_way_ >= kMostUnderWay) return Answer::kRetry;
  Slot* slot = network_.take_slot(std::max(bytes, largest()));
  if (!slot) return Answer::kRetry;
  slot->header.envelope = envelope;
  slot->done = nullptr;
  if (bytes) std::memcpy(slot->room(), data, bytes);
  return pass(slot, slot->room(), bytes, abi::kSendEager);
}

Answer Link::offer(const Envelope& envelope, const void* data, size_t bytes, Done done, void* arg) {
  if (!connect()) return Answer::kFailed;
  Slot* slot = network_.take_slot(0);
  if (!slot) return Answer::kRetry;
  slot->header.envelope = envelope;
  slot->done = done;
  slot->arg = arg;
  return pass(slot, data, bytes, abi::kSendRendezvous);
}

Answer Link::pass(Slot* slot, const void* data, size_t bytes, uint32_t flags) {
  slot->link = this;
  slot->header.source = number_there_;
  slot->header.number = next_out_;
  abi::RequestParam param{};
  param.mask = abi::kParamFlags | abi::kParamCallback | abi::kParamUser;
  param.flags = flags;
  param.sent = on_sent;
  param.user = slot;
  const bool eager = !slot->done;
  void* answer = network_.ucp_.am_send_nbx(endpoint_, Network::kMessageId, &slot->header, sizeof slot->header,
                                           data, bytes, &param);
  if (answer && abi::is_error(answer)) {
    network_.give_slot(slot);
    if (abi::error_of(answer) == abi::kNoResource) return Answer::kRetry;
    fail(words_of(network_.ucp_, abi::error_of(answer)));
    return Answer::kFailed;
  }
  ++next_out_;
  if (answer) {
    under_way_ += eager;
    return Answer::kDone;
  }
  if (!eager) slot->done(slot->arg, true);
  network_.give_slot(slot);
  return Answer::kDone;
}

void Link::on_sent(void* request, abi::StatusCode status, void* user) {
  Slot* slot = static_cast<Slot*>(user);
  Link& link = *slot->link;
  Network& network = link.network_;
  network.ucp_.request_free(request);
  ++network.events_;
  if (slot->done)
    slot->done(slot->arg, status == abi::kOk);
  else
    --link.under_way_;
  network.give_slot(slot);
}

std::string Link::lanes() const {
  const auto print = network_.ucp_.ep_print_info;
  char* text = nullptr;
  size_t bytes = 0;
  FILE* stream = endpoint_ && print ? open_memstream(&text, &bytes) : nullptr;
  if (!stream) return "";
  print(endpoint_, stream);
  std::string lanes = fclose(stream) == 0 ? lanes_in({text, bytes}) : "";
  std::free(text);
  return lanes;
}

// Called by UCP from inside of something: only noted.
void Link::on_error(void* arg, abi::Endpoint, abi::StatusCode status) {
  Link& link = *static_cast<Link*>(arg);
  link.fail(words_of(link.network_.ucp_, status));
}

void Link::fail(std::string why) {
  if (failure_.empty()) failure_ = departed_ ? "it has ended MPI" : std::move(why);
  network_.news_.push_back(this);
}

void Link::close(const char* why) {
  if (failure_.empty()) failure_ = why;
  told_ = true;
  drop_endpoint(abi::kCloseForce);
}

void Link::meet(uint32_t number_there) {
  number_there_ = number_there;
  connect();
}

void* Link::say_farewell() {
  if (!endpoint_ || !failure_.empty()) return nullptr;
  farewell_.source = number_there_;
  abi::RequestParam param{};
  param.mask = abi::kParamFlags;
  param.flags = abi::kSendEager;
  return network_.ucp_.am_send_nbx(endpoint_, Network::kFarewellId, &farewell_, sizeof farewell_, nullptr, 0,
                                   &param);
}

void Link::part() {
  void* said = say_farewell();
  if (said && !abi::is_error(said)) network_.ucp_.request_free(said);
  if (failure_.empty()) failure_ = "disconnected";
  told_ = true;
  drop_endpoint(0);
}

void Link::drop_endpoint(uint32_t how) {
  if (!endpoint_) return;
  const abi::Functions& ucp = network_.ucp_;
  abi::RequestParam param{};
  param.mask = abi::kParamFlags | abi::kParamCallback | abi::kParamUser;
  param.flags = how;
  param.user = const_cast<abi::Functions*>(&ucp);
  param.sent = [](void* request, abi::StatusCode, void* user) {
    static_cast<const abi::Functions*>(user)->request_free(request);
  };
  void* answer = ucp.ep_close_nbx(std::exchange(endpoint_, nullptr), &param);
  if (answer && abi::is_error(answer))
    VICINITY_LOG(kInfo, "UCX does not close the endpoint to rank %u: %s", proc_,
                 words_of(ucp, abi::error_of(answer)).c_str());
}

}  // namespace vicinity::channel::ucx
