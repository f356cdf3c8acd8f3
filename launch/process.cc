// SPDX-License-Identifier: BSD-3-Clause
// fork and exec, and the walk through /proc that finds descendants.
#include "launch/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <unordered_map>

namespace vicinity::launch {

using base::fail;
using base::kOther;
using base::Result;
using base::Status;

void Descriptor::reset(int fd) {
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
}

namespace {

struct Ends {
  Descriptor ours, theirs;
};

Status make_pipe(Ends& ends, bool we_write) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return fail(kOther, "cannot make a pipe: %s", strerror(errno));
  ends.ours.reset(fds[we_write ? 1 : 0]);
  ends.theirs.reset(fds[we_write ? 0 : 1]);
  fcntl(ends.ours.get(), F_SETFL, O_NONBLOCK);
  return base::kOk;
}

Status make_socket(Ends& ends) {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return fail(kOther, "cannot make a socket: %s", strerror(errno));
  ends.ours.reset(fds[0]);
  ends.theirs.reset(fds[1]);
  fcntl(ends.ours.get(), F_SETFL, O_NONBLOCK);
  return base::kOk;
}

bool is_program(const std::string& path) {
  struct stat what;
  return stat(path.c_str(), &what) == 0 && S_ISREG(what.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string value_of(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& entry : environment)
    if (entry.compare(0, name.size(), name) == 0 && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  return "";
}

// The program as the shell would find it in the working directory of the process: with a slash as it is, else
// in -path and PATH.
Result<std::string> find_program(const App& app, const std::string& folders) {
  const std::string& name = app.argv[0];
  const auto seen_from_there = [&app](const std::string& path) {
    return path[0] == '/' || app.directory.empty() ? path : app.directory + "/" + path;
  };
  if (name.find('/') != std::string::npos) {
    const std::string full = seen_from_there(name);
    if (access(full.c_str(), F_OK) != 0) return fail(kNotFound, "program `%s` does not exist", name.c_str());
    if (!is_program(full)) return fail(kNotExecutable, "`%s` is not an executable program", name.c_str());
    return name;
  }
  for (size_t start = 0; start <= folders.size();) {
    const size_t end = std::min(folders.find(':', start), folders.size());
    const std::string candidate = seen_from_there(folders.substr(start, end - start) + "/" + name);
    if (end > start && is_program(candidate)) return candidate;
    start = end + 1;
  }
  const char* hint = access(name.c_str(), X_OK) == 0 ? "; did you mean `./" : "";
  return fail(kNotFound, "program `%s` was not found in PATH%s%s%s", name.c_str(), hint,
              *hint ? name.c_str() : "", *hint ? "`?" : "");
}

struct ChildEnds {
  int input, output, error, pmi, report;
};

enum class Stage : int { kDirectory, kExecute };

// Between fork and exec. Reports a failure as {stage, errno} through the pipe that exec closes.
[[noreturn]] void become(const ChildPlan& plan, const char* program, char** argv, char** envp,
                         const ChildEnds& ends, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent ended before the line above
  undo_signals_in_child();
  dup2(ends.input, STDIN_FILENO);
  dup2(ends.output, STDOUT_FILENO);
  dup2(ends.error, STDERR_FILENO);
  fcntl(ends.pmi, F_SETFD, 0);
  if (plan.bind)
    sched_setaffinity(0, sizeof plan.cpus, &plan.cpus);  // a CPU that went offline is no reason to fail
  int report[2] = {static_cast<int>(Stage::kDirectory), 0};
  if (plan.app->directory.empty() || chdir(plan.app->directory.c_str()) == 0) {
    report[0] = static_cast<int>(Stage::kExecute);
    execvpe(program, argv, envp);
  }
  report[1] = errno;
  [[maybe_unused]] ssize_t sent = write(ends.report, report, sizeof report);
  _exit(kNotExecutable);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// Waits for exec: the pipe closes without a word when all went well.
Status await_exec(Descriptor& reports, pid_t pid, const App& app) {
  int report[2];
  ssize_t got;
  fcntl(reports.get(), F_SETFL, 0);
  while ((got = read(reports.get(), report, sizeof report)) < 0 && errno == EINTR) {
  }
  if (got != static_cast<ssize_t>(sizeof report)) return base::kOk;
  waitpid(pid, nullptr, 0);
  if (report[0] == static_cast<int>(Stage::kDirectory))
    return fail(kNotExecutable, "working directory `%s`: %s", app.directory.c_str(), strerror(report[1]));
  return fail(report[1] == ENOENT ? kNotFound : kNotExecutable, "cannot execute `%s`: %s",
              app.argv[0].c_str(),
              report[1] == ENOENT ? "it, or the interpreter it names, does not exist" : strerror(report[1]));
}

}  // namespace

Result<Child> start_child(const ChildPlan& plan) {
  const std::string path = value_of(plan.environment, "PATH");
  const std::string folders = plan.app->path.empty() ? path : plan.app->path + ":" + path;
  auto program = find_program(*plan.app, folders.empty() ? "/usr/local/bin:/usr/bin:/bin" : folders);
  if (!program.ok()) return program.status();
  Ends input, output, error, pmi, report;
  VICINITY_TRY(make_pipe(output, false));
  VICINITY_TRY(make_pipe(error, false));
  VICINITY_TRY(make_pipe(report, false));
  VICINITY_TRY(make_socket(pmi));
  if (plan.has_stdin) {
    VICINITY_TRY(make_pipe(input, true));
  } else {
    input.theirs.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  std::vector<std::string> environment = plan.environment;
  environment.push_back("PMI_FD=" + std::to_string(pmi.theirs.get()));
  std::vector<char*> argv = pointers(plan.app->argv), envp = pointers(environment);
  const ChildEnds ends{input.theirs.get(), output.theirs.get(), error.theirs.get(), pmi.theirs.get(),
                       report.theirs.get()};
  const pid_t self = getpid(), pid = fork();
  if (pid < 0) return fail(kOther, "cannot start a process: %s", strerror(errno));
  if (pid == 0) become(plan, program->c_str(), argv.data(), envp.data(), ends, self);
  report.theirs.reset();
  VICINITY_TRY(await_exec(report.ours, pid, *plan.app));
  Child child;
  child.pid = pid;
  child.pmi = std::move(pmi.ours);
  child.input = std::move(input.ours);
  child.output = std::move(output.ours);
  child.error = std::move(error.ours);
  return child;
}

namespace {

// Parent of each process of this machine, from the fourth field of /proc/PID/stat (after the name, which may
// hold anything, so that the last ')' is what counts). Zombies are left out.
std::unordered_map<pid_t, pid_t> living_parents() {
  std::unordered_map<pid_t, pid_t> parents;
  DIR* folder = opendir("/proc");
  if (!folder) return parents;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    char path[64], text[512];
    std::snprintf(path, sizeof path, "/proc/%.20s/stat", entry->d_name);
    Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
    const ssize_t got = file.open() ? read(file.get(), text, sizeof text - 1) : 0;
    if (got <= 0) continue;
    text[got] = '\0';
    const char* name_end = strrchr(text, ')');
    char state = 0;
    int parent = 0;
    if (name_end && std::sscanf(name_end + 1, " %c %d", &state, &parent) == 2 && state != 'Z' && state != 'X')
      parents[static_cast<pid_t>(strtol(entry->d_name, nullptr, 10))] = parent;
  }
  closedir(folder);
  return parents;
}

std::vector<pid_t> living_descendants() {
  const auto parents = living_parents();
  const pid_t self = getpid();
  std::vector<pid_t> found;
  for (const auto& [pid, parent] : parents) {
    pid_t at = pid;
    // The way up is as long as the tree is deep; the bound is for a table read while it changes.
    for (int steps = 0; steps < 1000 && at > 1; ++steps) {
      const auto up = parents.find(at);
      if (up == parents.end()) break;
      at = up->second;
      if (at != self) continue;
      found.push_back(pid);
      break;
    }
  }
  return found;
}

}  // namespace

int kill_descendants() {
  const std::vector<pid_t> living = living_descendants();
  for (pid_t pid : living) kill(pid, SIGKILL);
  return static_cast<int>(living.size());
}

Descriptor open_signals(const std::vector<int>& signals) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  for (int number : signals) {
    struct sigaction now;
    // What our parent ignores for us (nohup, a shell's background job) we go on ignoring, and so do the
    // ranks.
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN && number != SIGCHLD) continue;
    sigaddset(&set, number);
  }
  signal(SIGCHLD, SIG_DFL);  // ignored, it would hide how children end
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

void undo_signals_in_child() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? std::string("SIG") + name : "unknown";
}

}  // namespace vicinity::launch
