// SPDX-License-Identifier: BSD-3-Clause
// Names for ports (MPI 5.0, 11.9.4). The name server is a folder of the user's: a file for each name, which
// its publisher keeps locked. A file that nobody holds is left from a process that has died.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "base/param.h"
#include "entry_world.h"
#include "world/encounter.h"
#include "world/instance.h"

namespace vicinity::world {
namespace {

base::Param<std::string> name_folder{
    "VICINITY_NAME_DIR", "world", "", nullptr,
    "Folder in which MPI_Publish_name leaves names and MPI_Lookup_name looks for them. For jobs on several "
    "hosts "
    "it must be one that they share. Empty: vicinity-names-UID in XDG_RUNTIME_DIR, or in /tmp."};

// What this process has published: the locked file.
std::map<std::string, int>& published() {
  static auto* all = new std::map<std::string, int>;
  return *all;
}

std::string folder() {
  if (!name_folder.get().empty()) return name_folder.get();
  const char* base = std::getenv("XDG_RUNTIME_DIR");
  return std::string(base && *base ? base : "/tmp") + "/vicinity-names-" + std::to_string(geteuid());
}

// Letters and digits stand for themselves; a file name is at most 255 bytes.
std::string file_of(const char* service) {
  std::string name;
  for (const char* c = service; *c; ++c) {
    char code[4];
    std::snprintf(code, sizeof code, "_%02x", static_cast<unsigned char>(*c));
    const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
    name += plain ? std::string(1, *c) : std::string(code);
  }
  return folder() + "/" + name;
}

Status check_service(const char* service) {
  if (!*service) return fail(MPI_ERR_ARG, "argument `service_name` is empty");
  if (file_of(service).size() - folder().size() > 200)
    return fail(MPI_ERR_ARG, "argument `service_name` is too long: `%.60s...`", service);
  return kOk;
}

// Somebody else's folder would tell us of ports that are traps.
Status open_folder() {
  const std::string path = folder();
  struct stat info;
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(MPI_ERR_SERVICE, "no folder for names, %s: %s (VICINITY_NAME_DIR)", path.c_str(),
                std::strerror(errno));
  if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid())
    return fail(MPI_ERR_SERVICE, "the folder for names, %s, is not this user's (VICINITY_NAME_DIR)",
                path.c_str());
  return kOk;
}

// Does its publisher live? One that nobody holds is removed.
bool is_held(int fd, const std::string& path) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  struct stat here, there;
  if (fstat(fd, &here) == 0 && stat(path.c_str(), &there) == 0 && here.st_ino == there.st_ino)
    unlink(path.c_str());
  return false;
}

// A locked file of our own that appears under its name with all that is in it.
Result<int> create(const std::string& path, const char* text) {
  const std::string fresh = path + "-" + std::to_string(getpid());
  const int fd = ::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const auto length = static_cast<ssize_t>(std::strlen(text));
  const bool written = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
                       write(fd, text, std::strlen(text)) == length && link(fresh.c_str(), path.c_str()) == 0;
  const int error = errno;
  if (fd >= 0) unlink(fresh.c_str());
  if (written) return fd;
  if (fd >= 0) ::close(fd);
  if (error == EEXIST) return -1;
  return fail(MPI_ERR_SERVICE, "cannot publish in %s: %s", path.c_str(), std::strerror(error));
}

}  // namespace

namespace entry {

Status publish_name(const char* service_name, Info*, const char* port_name) {
  VICINITY_TRY(check_service(service_name));
  VICINITY_TRY(open_folder());
  const std::string path = file_of(service_name);
  for (int tries = 0; tries < 3; ++tries) {
    Result<int> made = create(path, port_name);
    if (!made.ok()) return made.status();
    if (*made >= 0) {
      published()[service_name] = *made;
      return kOk;
    }
    const int other = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    const bool held = other >= 0 && is_held(other, path);
    if (other >= 0) ::close(other);
    if (held) break;
  }
  return fail(MPI_ERR_SERVICE, "the name `%.80s` is published already", service_name);
}

Status unpublish_name(const char* service_name, Info*, const char*) {
  const auto found = published().find(service_name);
  if (found == published().end())
    return fail(MPI_ERR_SERVICE, "the name `%.80s` has not been published by this process", service_name);
  unlink(file_of(service_name).c_str());
  ::close(found->second);
  published().erase(found);
  return kOk;
}

Status lookup_name(const char* service_name, Info*, char* port_name) {
  VICINITY_TRY(check_service(service_name));
  const std::string path = file_of(service_name);
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  char text[MPI_MAX_PORT_NAME] = "";
  struct stat info;
  const bool held = fd >= 0 && fstat(fd, &info) == 0 && info.st_uid == geteuid() && is_held(fd, path);
  const ssize_t got = held ? pread(fd, text, sizeof text - 1, 0) : -1;
  if (fd >= 0) ::close(fd);
  if (got <= 0)
    return fail(MPI_ERR_NAME, "nobody has published the name `%.80s` (looked in %s; VICINITY_NAME_DIR)",
                service_name, folder().c_str());
  std::snprintf(port_name, MPI_MAX_PORT_NAME, "%s", text);
  return kOk;
}

}  // namespace entry

void unpublish_all() {
  while (!published().empty()) (void)entry::unpublish_name(published().begin()->first.c_str(), nullptr, "");
}

}  // namespace vicinity::world
