// SPDX-License-Identifier: BSD-3-Clause
// No launcher: a job of one process, whose values come back from its own table.
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "wireup/kvs.h"

namespace vicinity::wireup {
namespace {

using base::fail;
using base::kArgument;
using base::Result;
using base::Status;

class Alone final : public Wireup {
 public:
  Alone() {
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    char job[160];
    std::snprintf(job, sizeof job, "alone-%s-%ld-%" PRIx64, host, static_cast<long>(getpid()),
                  static_cast<uint64_t>(base::now_ns()));
    identity_.job = job;
    identity_.launcher = "alone";
  }
  Status put(std::string_view key, std::string_view value) override {
    values_.emplace_back(key, value);
    return base::kOk;
  }
  Status fence() override { return base::kOk; }
  Result<std::string> get(int rank, std::string_view key) override {
    if (rank != 0) return fail(kArgument, "rank %d is not in this job of 1", rank);
    for (const auto& [name, value] : values_)
      if (name == key) return value;
    return fail(base::kOther, "no value `%.*s` has been put", static_cast<int>(key.size()), key.data());
  }
  void abort(int exit_code, const char* message) override {
    VICINITY_LOG(kError, "%s", message);
    _exit(exit_code & 255 ? exit_code & 255 : 1);
  }
  Status close() override { return base::kOk; }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace

Result<std::unique_ptr<Wireup>> open_alone() { return std::unique_ptr<Wireup>(new Alone); }

}  // namespace vicinity::wireup
