// SPDX-License-Identifier: BSD-3-Clause
// Any bytes into the PMI parsers, the codec and the server's state machine: no crash, and what is accepted
// and can be written is read again as the same.
#include <string_view>

#include "launch/frame.h"
#include "launch/pmi_server.h"
#include "standalone.h"
#include "wireup/codec.h"
#include "wireup/pmi_text.h"

using namespace vicinity;

namespace {

bool same(const wireup::Message& a, const wireup::Message& b) {
  if (a.command != b.command || a.fields.size() != b.fields.size()) return false;
  for (size_t i = 0; i < a.fields.size(); ++i)
    if (a.fields[i].key != b.fields[i].key || a.fields[i].value != b.fields[i].value) return false;
  return true;
}

void pmi2(std::string_view text) {
  (void)wireup::parse_pmi2_length(text.substr(0, wireup::kPmi2LengthBytes));
  auto message = wireup::parse_pmi2(text);
  if (!message.ok()) return;
  auto written = wireup::format_pmi2(*message);
  if (!written.ok()) return;
  auto again = wireup::parse_pmi2(std::string_view(*written).substr(wireup::kPmi2LengthBytes));
  if (!again.ok() || !same(*message, *again)) std::abort();
}

void pmi1(std::string_view text) {
  auto message = wireup::parse_pmi1(text);
  if (!message.ok()) return;
  auto written = wireup::format_pmi1(*message);
  if (written.ok() && !wireup::parse_pmi1(std::string_view(*written).substr(0, written->size() - 1)).ok())
    std::abort();
}

void codec(std::string_view text) {
  auto bytes = wireup::decode_text(text);
  if (bytes.ok() && wireup::encode_text(*bytes) != text) std::abort();
  if (*wireup::decode_text(wireup::encode_text(text)) != text) std::abort();
  (void)wireup::parse_first_part(text);
}

void server(std::string_view text) {
  launch::Start job;
  job.job = "j";
  job.size = 2;
  job.apps.resize(1);
  job.ranks = {{0, 0, false}, {1, 0, false}};
  launch::PmiServer server(job);
  // The first byte of each piece says who sends it.
  for (int piece = 0; !text.empty() && piece < 64; ++piece) {
    const int local = text[0] & 1;
    const size_t length = std::min<size_t>(text.size(), 1 + static_cast<unsigned char>(text[0]));
    if (!server.receive(local, text.substr(1, length - 1)).ok()) return;
    text.remove_prefix(length);
    if (server.barrier_is_full()) server.release(server.take_pairs());
    server.output(local).clear();
    server.take_abort();
  }
}

void frames(std::string_view text) {
  launch::FrameStream stream;
  stream.append(text.data(), text.size());
  for (auto frame = stream.next(); frame.ok() && *frame; frame = stream.next())
    (void)launch::Start::decode((*frame)->payload);
  (void)launch::Start::decode(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  pmi1(text);
  pmi2(text);
  codec(text);
  server(text);
  frames(text);
  return 0;
}

VICINITY_FUZZ_MAIN("cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=put kvsname=j key=a value=b\n",
                   "cmd=get kvsname=j key=a\ncmd=barrier_in\n", "mcmd=spawn\nnprocs=1\nendcmd\n",
                   "cmd=kvs-put;key=a;value=x;;y;", "000021", "2.QUJD",
                   "zcmd=init pmi_version=1 pmi_subversion=1\ncmd=barrier_in\n",
                   std::string("\x05\0\0\0\x01zzzz", 9))
