// SPDX-License-Identifier: BSD-3-Clause
// vicinity lab, vicinity bench: hand over to a Python program, share/vicinity/NAME/NAME.py of our own prefix.
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "launch/vicinity.h"

namespace vicinity::launch {

int run_script(const std::string& name, const Arguments& arguments) {
  char own[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", own, sizeof own);
  if (length <= 0 || length == sizeof own) {
    std::fprintf(stderr, "vicinity %s: cannot find the program's own file: %s\n", name.c_str(),
                 strerror(errno));
    return 1;
  }
  const std::filesystem::path prefix =
      std::filesystem::path(std::string(own, static_cast<size_t>(length))).parent_path().parent_path();
  const std::string program = prefix / "share/vicinity" / name / (name + ".py");
  if (access(program.c_str(), R_OK) != 0) {
    std::fprintf(stderr, "vicinity %s: %s: %s; is the installation complete?\n", name.c_str(),
                 program.c_str(), strerror(errno));
    return 1;
  }
  std::vector<const char*> words = {"python3", "-B", program.c_str()};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  words.push_back(nullptr);
  execvp(words[0], const_cast<char**>(words.data()));
  std::fprintf(stderr, "vicinity %s: cannot start python3, in which it is written: %s\n", name.c_str(),
               strerror(errno));
  return 127;
}

}  // namespace vicinity::launch
