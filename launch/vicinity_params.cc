// SPDX-License-Identifier: BSD-3-Clause
// vicinity params: every parameter of every room, because all rooms are linked into this command.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/param.h"
#include "launch/vicinity.h"

namespace vicinity::launch {
namespace {

using base::ParamBase;
using base::ParamType;

std::vector<ParamBase*> sorted() {
  std::vector<ParamBase*> params;
  for (ParamBase* param = base::params_first(); param; param = param->next) params.push_back(param);
  std::sort(params.begin(), params.end(),
            [](const ParamBase* a, const ParamBase* b) { return std::strcmp(a->name, b->name) < 0; });
  return params;
}

std::string allowed(const ParamBase& param) {
  if (param.type == ParamType::kBool) return "yes or no";
  if (param.type == ParamType::kInt) {
    const auto& number = static_cast<const base::Param<int64_t>&>(param);
    return std::to_string(number.least()) + " to " + std::to_string(number.most());
  }
  const char* choices = static_cast<const base::Param<std::string>&>(param).choices();
  if (!choices) return "any text";
  std::string text;
  for (const char* c = choices; *c; ++c) text += *c == '|' ? std::string(", ") : std::string(1, *c);
  return text;
}

std::string shown(const std::string& value) { return value.empty() ? "(empty)" : value; }

void print_text(const ParamBase& param) {
  std::printf("%s = %s%s\n", param.name, shown(param.value_text()).c_str(),
              param.was_set ? "   (from the environment)" : "");
  std::printf("    %s\n    default %s; allowed: %s; part of %s%s%s\n\n", param.text,
              shown(param.default_text()).c_str(), allowed(param).c_str(), param.room,
              param.alias ? "; also " : "", param.alias ? param.alias : "");
}

void print_markdown(const std::vector<ParamBase*>& params) {
  std::printf("| parameter | default | allowed | meaning |\n|---|---|---|---|\n");
  for (const ParamBase* param : params)
    std::printf("| `%s` | %s | %s | %s%s%s%s |\n", param->name, shown(param->default_text()).c_str(),
                allowed(*param).c_str(), param->text, param->alias ? " Also `" : "",
                param->alias ? param->alias : "", param->alias ? "`." : "");
}

void print_man(const std::vector<ParamBase*>& params) {
  for (const ParamBase* param : params)
    std::printf(".TP\n.B %s\n%s\nDefault: %s. Allowed: %s.\n", param->name, param->text,
                shown(param->default_text()).c_str(), allowed(*param).c_str());
}

}  // namespace

int show_params(const Arguments& arguments) {
  bool markdown = false, man = false;
  std::vector<ParamBase*> params;
  for (const std::string& argument : arguments) {
    if (argument == "--markdown") {
      markdown = true;
      continue;
    }
    if (argument == "--man") {
      man = true;
      continue;
    }
    ParamBase* param = base::params_find(argument.c_str());
    if (!param) {
      std::fprintf(stderr, "vicinity params: `%s` is neither an option nor a parameter\n", argument.c_str());
      return 2;
    }
    params.push_back(param);
  }
  // A bad value is told, and the list is shown all the same: who asks for it may look for the remedy.
  const base::Status status = base::params_load();
  if (!status.ok()) std::fprintf(stderr, "vicinity params: %s\n", base::failure_text(status.code()));
  if (params.empty()) params = sorted();
  if (markdown) {
    print_markdown(params);
  } else if (man) {
    print_man(params);
  } else {
    for (const ParamBase* param : params) print_text(*param);
  }
  return status.ok() ? 0 : 1;
}

}  // namespace vicinity::launch
