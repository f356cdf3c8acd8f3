// SPDX-License-Identifier: BSD-3-Clause
// The parts of the `vicinity` command. Each returns an exit code.
#pragma once

#include <string>
#include <vector>

namespace vicinity::launch {

using Arguments = std::vector<std::string>;

int show_params(const Arguments& arguments);
int show_info(const Arguments& arguments);
int show_map(const Arguments& arguments);
int run_script(const std::string& name, const Arguments& arguments);  // returns only when it fails
int run_doctor(const Arguments& arguments);

// May one process copy from another? "permitted", or why not.
std::string single_copy();

}  // namespace vicinity::launch
