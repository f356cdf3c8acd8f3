// SPDX-License-Identifier: BSD-3-Clause
// PMIx client (srun --mpi=pmix, prterun). The library libpmix.so.2 is the site's own and is loaded when a
// launcher asks for it, so that we neither need it to build nor to start. What is declared here is
// the stable part of its binary interface (the same in PMIx 3 to 6); pmix_layout_test.cc compares it with
// the installed header.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "wireup/codec.h"
#include "wireup/kvs.h"
#include "wireup/pmix_abi.h"

namespace vicinity::wireup {
namespace {

using base::fail;
using base::kOther;
using base::Result;
using base::Status;

struct Library {
  pmix::InitFunction init;
  pmix::FinalizeFunction finalize;
  pmix::AbortFunction abort;
  pmix::PutFunction put;
  pmix::CommitFunction commit;
  pmix::FenceFunction fence;
  pmix::GetFunction get;
  pmix::ErrorStringFunction error_string;
};

template <class Function>
Status find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (!function) return fail(kOther, "libpmix.so.2 has no function %s", name);
  return base::kOk;
}

Result<Library> load_library() {
  void* handle = dlopen("libpmix.so.2", RTLD_NOW | RTLD_GLOBAL);
  if (!handle)
    return fail(kOther,
                "the launcher speaks PMIx, but its library cannot be loaded: %s. Install libpmix2, add its "
                "folder to LD_LIBRARY_PATH, or use srun --mpi=pmi2",
                dlerror());
  Library library;
  VICINITY_TRY(find(handle, "PMIx_Init", library.init));
  VICINITY_TRY(find(handle, "PMIx_Finalize", library.finalize));
  VICINITY_TRY(find(handle, "PMIx_Abort", library.abort));
  VICINITY_TRY(find(handle, "PMIx_Put", library.put));
  VICINITY_TRY(find(handle, "PMIx_Commit", library.commit));
  VICINITY_TRY(find(handle, "PMIx_Fence", library.fence));
  VICINITY_TRY(find(handle, "PMIx_Get", library.get));
  VICINITY_TRY(find(handle, "PMIx_Error_string", library.error_string));
  return library;
}

class Pmix final : public Wireup {
 public:
  Pmix(const Library& library, const Identity& identity) : library_(library) { identity_ = identity; }
  Status open();
  Status put(std::string_view key, std::string_view value) override;
  Status fence() override;
  Result<std::string> get(int rank, std::string_view key) override;
  void abort(int exit_code, const char* message) override;
  Status close() override;

 private:
  Status checked(int code, const char* what) const {
    if (code == pmix::kSuccess) return base::kOk;
    return fail(kOther, "%s failed: %s (%d)", what, library_.error_string(code), code);
  }
  // A number that the launcher knows about the job, or -1.
  int job_number(const char* key) const;
  pmix::Proc process(uint32_t rank) const {
    pmix::Proc proc = me_;
    proc.rank = rank;
    return proc;
  }

  Library library_;
  pmix::Proc me_{};
};

int Pmix::job_number(const char* key) const {
  const pmix::Proc everyone = process(pmix::kRankWildcard);
  pmix::Value* value = nullptr;
  if (library_.get(&everyone, key, nullptr, 0, &value) != pmix::kSuccess || !value) return -1;
  const int number = value->type == pmix::kTypeUint32 && value->data.uint32 <= INT32_MAX
                         ? static_cast<int>(value->data.uint32)
                         : -1;
  std::free(value);
  return number;
}

Status Pmix::open() {
  VICINITY_TRY(checked(library_.init(&me_, nullptr, 0), "PMIx_Init"));
  identity_.rank = static_cast<int>(me_.rank);
  identity_.size = job_number("pmix.job.size");
  identity_.job.assign(me_.nspace, strnlen(me_.nspace, sizeof me_.nspace));
  if (identity_.size < 1 || identity_.rank < 0 || identity_.rank >= identity_.size)
    return fail(kOther, "PMIx says rank %d of %d", identity_.rank, identity_.size);
  const pmix::Proc self = me_;
  pmix::Value* value = nullptr;
  if (library_.get(&self, "pmix.appnum", nullptr, 0, &value) == pmix::kSuccess && value) {
    if (value->type == pmix::kTypeUint32) identity_.appnum = static_cast<int>(value->data.uint32);
    std::free(value);
  }
  // With more processes than slots the launcher still says how many slots there are.
  const int universe = job_number("pmix.univ.size");
  identity_.universe_size = universe < 0 ? -1 : std::max(universe, identity_.size);
  return base::kOk;
}

Status Pmix::put(std::string_view key, std::string_view value) {
  // Our own prefix: the same store holds the launcher's keys.
  auto name = part_key(identity_.rank, key, 0, 63);
  if (!name.ok()) return name.status();
  pmix::Value out{};
  out.type = pmix::kTypeByteObject;
  out.data.bytes = {const_cast<char*>(value.data()), value.size()};
  return checked(library_.put(pmix::kScopeGlobal, name->c_str(), &out), "PMIx_Put");
}

Status Pmix::fence() {
  VICINITY_TRY(checked(library_.commit(), "PMIx_Commit"));
  pmix::Info collect{};
  std::snprintf(collect.key, sizeof collect.key, "pmix.collect");
  collect.value.type = pmix::kTypeBool;
  collect.value.data.flag = true;
  const pmix::Proc everyone = process(pmix::kRankWildcard);
  return checked(library_.fence(&everyone, 1, &collect, 1), "PMIx_Fence");
}

Result<std::string> Pmix::get(int rank, std::string_view key) {
  auto name = part_key(rank, key, 0, 63);
  if (!name.ok()) return name.status();
  const pmix::Proc peer = process(static_cast<uint32_t>(rank));
  pmix::Value* value = nullptr;
  VICINITY_TRY(checked(library_.get(&peer, name->c_str(), nullptr, 0, &value), "PMIx_Get"));
  if (!value || value->type != pmix::kTypeByteObject)
    return fail(kOther, "PMIx_Get returned something else than the bytes that rank %d put", rank);
  std::string bytes;
  if (value->data.bytes.bytes) bytes.assign(value->data.bytes.bytes, value->data.bytes.size);
  std::free(value->data.bytes.bytes);
  std::free(value);
  return bytes;
}

void Pmix::abort(int exit_code, const char* message) {
  VICINITY_LOG(kError, "%s", message);
  library_.abort(exit_code, message, nullptr, 0);
  usleep(500000);  // the launcher ends us
  _exit(exit_code & 255 ? exit_code & 255 : 1);
}

Status Pmix::close() { return checked(library_.finalize(nullptr, 0), "PMIx_Finalize"); }

}  // namespace

Result<std::unique_ptr<Wireup>> open_pmix(const Identity& identity) {
  auto library = load_library();
  if (!library.ok()) return library.status();
  auto wireup = std::make_unique<Pmix>(*library, identity);
  VICINITY_TRY(wireup->open());
  return std::unique_ptr<Wireup>(std::move(wireup));
}

}  // namespace vicinity::wireup
