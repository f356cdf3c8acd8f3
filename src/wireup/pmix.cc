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
#include "wireup/launcher_params.h"
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
  pmix::SpawnFunction spawn;
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
  VICINITY_TRY(find(handle, "PMIx_Spawn", library.spawn));
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
  Status spawn(const std::vector<SpawnCommand>& commands, const std::string& port) override;
  std::string parent_port() override { return parent_port_; }
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
  std::string parent_port_;
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
  parent_port_ = param_parent_port.get();
  unsetenv(param_parent_port.name);  // what we start is not spawned
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

std::string value_of(const SpawnCommand& command, const char* key) {
  for (const auto& [name, value] : command.info)
    if (name == key) return value;
  return "";
}

// The program as the info key `path` says, where it is found there.
std::string program_of(const SpawnCommand& command) {
  const std::string &program = command.argv[0], path = value_of(command, "path");
  if (program.find('/') != program.npos) return program;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    const std::string there = path.substr(at, end - at) + "/" + program;
    if (end > at && access(there.c_str(), X_OK) == 0) return there;
    at = end + 1;
  }
  return program;
}

// Ours, but for what a launcher says of one process, and the port.
std::vector<std::string> environment_with(const std::string& port) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const auto begins = [text](std::string_view with) { return text.substr(0, with.size()) == with; };
    if (!begins("PMIX_") && !begins("PRTE_") && !begins("PMI_")) all.emplace_back(text);
  }
  all.push_back(std::string(param_parent_port.name) + "=" + port);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

pmix::Info info(const char* key, const char* text) {
  pmix::Info made{};
  std::snprintf(made.key, sizeof made.key, "%s", key);
  made.value.type = pmix::kTypeString;
  made.value.data.string = text;
  return made;
}

// What pmix::App points to.
struct AppWords {
  std::string program, folder, hosts;
  std::vector<std::string> argv;
  std::vector<char*> argv_pointers;
  pmix::Info host{};
};

Status Pmix::spawn(const std::vector<SpawnCommand>& commands, const std::string& port) {
  std::vector<std::string> environment = environment_with(port);
  std::vector<char*> environment_pointers = pointers(environment);
  std::vector<AppWords> words(commands.size());
  std::vector<pmix::App> apps(commands.size());
  char here[4096] = "";
  if (!getcwd(here, sizeof here)) here[0] = '\0';
  for (size_t i = 0; i < commands.size(); ++i) {
    AppWords& w = words[i];
    w.program = program_of(commands[i]);
    w.argv = commands[i].argv;
    w.argv_pointers = pointers(w.argv);
    const std::string folder = value_of(commands[i], "wdir");
    w.folder = folder.empty() || folder[0] != '/' ? std::string(here) + "/" + folder : folder;
    w.hosts = value_of(commands[i], "host");
    if (w.hosts.empty()) w.hosts = value_of(commands[i], "hosts");
    w.host = info("pmix.host", w.hosts.c_str());
    apps[i] = {.cmd = w.program.c_str(),
               .argv = w.argv_pointers.data(),
               .env = environment_pointers.data(),
               .cwd = w.folder.c_str(),
               .maxprocs = commands[i].processes,
               .info = w.hosts.empty() ? nullptr : &w.host,
               .ninfo = w.hosts.empty() ? size_t{0} : size_t{1}};
  }
  // prterun counts slots also where mpiexec of the first job was told not to; and cores for it alone.
  const pmix::Info wishes[] = {info("pmix.mapby", ":OVERSUBSCRIBE"), info("pmix.bindto", "none")};
  char job[256] = "";
  return checked(library_.spawn(wishes, 2, apps.data(), apps.size(), job),
                 "PMIx_Spawn (are there free slots and such a program?)");
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
