// SPDX-License-Identifier: BSD-3-Clause
// Control variables (MPI 5.0, 15.3.6): the library's parameters. Numbers are MPI_COUNT, truths MPI_INT with
// an enumeration, texts MPI_CHAR.
//
// Most parameters are read while the library connects, so once it has, only writing back the value that a
// variable has is allowed.
#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_set>

#include "entry_world.h"
#include "world/instance.h"
#include "world/tool/tool.h"

struct MPI_T_cvar_handle_t {
  vicinity::base::ParamBase* param;
};

namespace vicinity::world::tool {
namespace {

using base::Param;
using base::ParamBase;
using base::ParamType;

constexpr size_t kTextRoom = 1024;  // elements of a text variable

std::unordered_set<MPI_T_cvar_handle>& handles() {
  static auto* made = new std::unordered_set<MPI_T_cvar_handle>;
  return *made;
}

Result<ParamBase*> variable_at(int index) {
  VICINITY_TRY(check_begun());
  VICINITY_TRY(check_index(index, control_variables().size(), "control variable"));
  return control_variables()[static_cast<size_t>(index)];
}

Result<ParamBase*> variable_of(MPI_T_cvar_handle handle) {
  VICINITY_TRY(check_begun());
  if (!handles().contains(handle))
    return fail(MPI_T_ERR_INVALID_HANDLE, "argument `handle` is no control variable");
  return handle->param;
}

MPI_Datatype type_of(ParamType type) {
  switch (type) {
    case ParamType::kInt:
      return MPI_COUNT;
    case ParamType::kBool:
      return MPI_INT;
    case ParamType::kText:
      return MPI_CHAR;
  }
  return MPI_CHAR;
}

Status write_text(ParamBase& param, const std::string& text) {
  if (param.value_text() == text) return kOk;
  if (instance().connected && !param.changed)
    return fail(MPI_T_ERR_CVAR_SET_NOT_NOW, "%s can be set before MPI_Init only; it was %s", param.name,
                param.value_text().c_str());
  if (!param.parse(text.c_str(), param.name).ok()) return Status(MPI_T_ERR_INVALID);
  if (instance().connected) param.changed();
  return kOk;
}

}  // namespace

const std::vector<ParamBase*>& control_variables() {
  static const auto* made = [] {
    auto* all = new std::vector<ParamBase*>;
    for (ParamBase* param = base::params_first(); param; param = param->next) all->push_back(param);
    std::sort(all->begin(), all->end(),
              [](const ParamBase* a, const ParamBase* b) { return std::strcmp(a->name, b->name) < 0; });
    return all;
  }();
  return *made;
}

}  // namespace vicinity::world::tool

namespace vicinity::world::entry {

using namespace tool;

Status t_cvar_get_num(int* num_cvar) {
  VICINITY_TRY(check_begun());
  give(num_cvar, control_variables().size());
  return kOk;
}

Status t_cvar_get_index(const char* name, int* cvar_index) {
  VICINITY_TRY(check_begun());
  const auto& all = control_variables();
  for (size_t i = 0; name && i < all.size(); ++i)
    if (std::strcmp(all[i]->name, name) == 0) return give(cvar_index, i), kOk;
  return fail(MPI_T_ERR_INVALID_NAME, "there is no control variable %s", name ? name : "(null)");
}

Status t_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity, object::Datatype** datatype,
                       MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope) {
  Result<ParamBase*> param = variable_at(cvar_index);
  if (!param.ok()) return param.status();
  const ParamType type = (*param)->type;
  give_text((*param)->name, name, name_len);
  give_text((*param)->text, desc, desc_len);
  give(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
  if (datatype) *datatype = &object::builtin(type_of(type));
  if (enumtype) *enumtype = type == ParamType::kBool ? truth_enum() : MPI_T_ENUM_NULL;
  give(bind, MPI_T_BIND_NO_OBJECT);
  give(scope, (*param)->changed ? MPI_T_SCOPE_LOCAL : MPI_T_SCOPE_ALL_EQ);
  return kOk;
}

Status t_cvar_handle_alloc(int cvar_index, void*, MPI_T_cvar_handle* handle, int* count) {
  Result<ParamBase*> param = variable_at(cvar_index);
  if (!param.ok()) return param.status();
  if (!handle) return fail(MPI_T_ERR_INVALID, "argument `handle` is a null pointer");
  *handle = new (std::nothrow) MPI_T_cvar_handle_t{*param};
  if (!*handle) return fail(MPI_T_ERR_OUT_OF_HANDLES, "no memory for a handle");
  handles().insert(*handle);
  give(count, (*param)->type == ParamType::kText ? kTextRoom : 1);
  return kOk;
}

Status t_cvar_handle_free(MPI_T_cvar_handle* handle) {
  VICINITY_TRY(check_begun());
  if (!handle || handles().erase(*handle) == 0)
    return fail(MPI_T_ERR_INVALID_HANDLE, "argument `handle` is no control variable");
  delete *handle;
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return kOk;
}

Status t_cvar_read(MPI_T_cvar_handle handle, void* buf) {
  Result<ParamBase*> param = variable_of(handle);
  if (!param.ok()) return param.status();
  if (!buf) return fail(MPI_T_ERR_INVALID, "argument `buf` is a null pointer");
  switch ((*param)->type) {
    case ParamType::kInt:
      *static_cast<MPI_Count*>(buf) = static_cast<Param<int64_t>*>(*param)->get();
      break;
    case ParamType::kBool:
      *static_cast<int*>(buf) = static_cast<Param<bool>*>(*param)->get() ? 1 : 0;
      break;
    case ParamType::kText: {
      int room = kTextRoom;
      give_text((*param)->value_text().c_str(), static_cast<char*>(buf), &room);
      break;
    }
  }
  return kOk;
}

Status t_cvar_write(MPI_T_cvar_handle handle, const void* buf) {
  Result<ParamBase*> param = variable_of(handle);
  if (!param.ok()) return param.status();
  if (!buf) return fail(MPI_T_ERR_INVALID, "argument `buf` is a null pointer");
  switch ((*param)->type) {
    case ParamType::kInt:
      return write_text(**param, std::to_string(*static_cast<const MPI_Count*>(buf)));
    case ParamType::kBool:
      return write_text(**param, *static_cast<const int*>(buf) ? "yes" : "no");
    case ParamType::kText: {
      const char* text = static_cast<const char*>(buf);
      return write_text(**param, std::string(text, strnlen(text, kTextRoom - 1)));
    }
  }
  return kOk;
}

}  // namespace vicinity::world::entry
