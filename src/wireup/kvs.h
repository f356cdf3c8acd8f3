// SPDX-License-Identifier: BSD-3-Clause
// What PMI-1 and PMI-2 have in common: a store of short texts behind put and get. Values are encoded
// and split (codec.h); what remains for the protocols is put_text() and get_text().
#pragma once

#include "wireup/pmi_link.h"
#include "wireup/pmi_messages.h"
#include "wireup/wireup.h"

namespace vicinity::wireup {

class KvsWireup : public Wireup {
 public:
  explicit KvsWireup(int fd) : link_(fd) {}
  base::Status put(std::string_view key, std::string_view value) final;
  base::Result<std::string> get(int rank, std::string_view key) final;
  base::Status check() final { return link_.check(); }
  int descriptor() const final { return link_.fd(); }

 protected:
  virtual base::Status put_text(const std::string& key, const std::string& text) = 0;
  virtual base::Result<std::string> get_text(int rank, const std::string& key) = 0;

  PmiLink link_;
  size_t key_max_ = 63;  // without the ending zero
  size_t value_max_ = 1023;
};

// One per protocol. `identity` has what the environment says: rank, size, launcher.
base::Result<std::unique_ptr<Wireup>> open_alone();
// `pmi_id` is PMI_ID where the connection was made through PMI_PORT, else nullptr.
base::Result<std::unique_ptr<Wireup>> open_pmi1(int fd, const Identity& identity, const char* pmi_id);
base::Result<std::unique_ptr<Wireup>> open_pmi2(int fd, const Identity& identity);
base::Result<std::unique_ptr<Wireup>> open_pmix(const Identity& identity);

}  // namespace vicinity::wireup
