// SPDX-License-Identifier: BSD-3-Clause
// dlopen, and the names of the functions.
#include "channel/ucx/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/param.h"

namespace vicinity::channel::ucx {
namespace {

using base::fail;
using base::Result;
using base::Status;

base::Param<std::string> library_name{
    "VICINITY_UCX_LIBRARY", "channel", "libucp.so.0", nullptr,
    "The library of UCX, opened only when there is a process that shared memory does not reach."};

// UCX reads these when it is loaded. Ours: it neither takes over the program's signals nor prints what
// we tell better. What the user has set stays.
class Settings {
 public:
  Settings() {
    set("UCX_ERROR_SIGNALS", "");
    set("UCX_LOG_LEVEL", "fatal");
    set("UCX_WARN_UNUSED_ENV_VARS", "n");
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
  ~Settings() {
    for (const char* name : ours_) unsetenv(name);
  }

 private:
  void set(const char* name, const char* value) {
    if (std::getenv(name)) return;
    setenv(name, value, 1);
    ours_.push_back(name);
  }
  std::vector<const char*> ours_;
};

template <class F>
void find(void* library, const char* name, F& function, const char*& missing) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (!function) missing = name;
}

Status find_all(void* library, abi::Functions& f) {
  const char* missing = nullptr;
#define VICINITY_FIND(name) find(library, "ucp_" #name, f.name, missing)
  VICINITY_FIND(get_version_string);
  VICINITY_FIND(config_read);
  VICINITY_FIND(config_modify);
  VICINITY_FIND(config_release);
  VICINITY_FIND(init_version);
  VICINITY_FIND(cleanup);
  VICINITY_FIND(worker_create);
  VICINITY_FIND(worker_destroy);
  VICINITY_FIND(worker_get_address);
  VICINITY_FIND(worker_release_address);
  VICINITY_FIND(worker_progress);
  VICINITY_FIND(worker_get_efd);
  VICINITY_FIND(worker_arm);
  VICINITY_FIND(worker_flush_nbx);
  VICINITY_FIND(worker_set_am_recv_handler);
  VICINITY_FIND(ep_create);
  VICINITY_FIND(ep_close_nbx);
  VICINITY_FIND(am_send_nbx);
  VICINITY_FIND(am_recv_data_nbx);
  VICINITY_FIND(am_data_release);
  VICINITY_FIND(request_check_status);
  VICINITY_FIND(request_free);
  VICINITY_FIND(dt_create_generic);
  VICINITY_FIND(dt_destroy);
#undef VICINITY_FIND
  find(library, "ucs_status_string", f.status_string, missing);
  f.ep_print_info = reinterpret_cast<decltype(f.ep_print_info)>(dlsym(library, "ucp_ep_print_info"));
  if (!missing) return base::kOk;
  return fail(base::kUnsupported, "%s has no function %s: UCX 1.10 or newer is needed",
              library_name.get().c_str(), missing);
}

}  // namespace

Result<const abi::Functions*> load() {
  static std::optional<abi::Functions> loaded;
  if (loaded) return &*loaded;
  void* library = nullptr;
  {
    Settings settings;
    library = dlopen(library_name.get().c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!library)
    return fail(base::kUnsupported,
                "UCX cannot be loaded (%s); install UCX 1.10 or newer on every host (Debian: apt-get install "
                "libucx0), or name its libucp.so.0 with VICINITY_UCX_LIBRARY",
                dlerror());
  abi::Functions functions;
  VICINITY_TRY(find_all(library, functions));
  loaded = functions;  // never closed: UCX does not like to be unloaded
  return &*loaded;
}

}  // namespace vicinity::channel::ucx
