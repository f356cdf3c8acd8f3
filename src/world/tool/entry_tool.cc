// SPDX-License-Identifier: BSD-3-Clause
// Begin and end of the tools interface, enumerations and categories (MPI 5.0, 15.3.4, 15.3.5 and 15.3.9).
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "entry_world.h"
#include "world/instance.h"
#include "world/tool/tool.h"

namespace vicinity::world::tool {
namespace {

int users = 0;

// A category for each room that declares parameters, and above them all one that holds them.
struct Category {
  const char* name;
  std::string text;
  std::vector<int> cvars, pvars, events, children;
};

std::vector<int> pvars_of(const char* room) {
  std::vector<int> indices;
  const auto& variables = performance_variables();
  for (size_t i = 0; i < variables.size(); ++i) {
    const char* home = variables[i].unit == Unit::kP2p ? "p2p" : "channel";
    if (std::strcmp(home, room) == 0) indices.push_back(static_cast<int>(i));
  }
  return indices;
}

std::vector<int> events_of(const char* room) {
  std::vector<int> indices;
  for (size_t i = 0; i < event_types().size(); ++i)
    if (std::strcmp(event_types()[i].category, room) == 0) indices.push_back(static_cast<int>(i));
  return indices;
}

std::vector<Category> make_categories() {
  std::vector<const char*> rooms = {"channel", "p2p"};
  const auto& cvars = control_variables();
  for (const base::ParamBase* param : cvars)
    if (std::none_of(rooms.begin(), rooms.end(),
                     [&](const char* room) { return std::strcmp(room, param->room) == 0; }))
      rooms.push_back(param->room);
  std::sort(rooms.begin(), rooms.end(), [](const char* a, const char* b) { return std::strcmp(a, b) < 0; });
  std::vector<Category> all;
  all.push_back({"vicinity", "all variables and events of the library", {}, {}, {}, {}});
  for (const char* room : rooms) {
    Category category{
        room, std::string("variables and events of ") + room, {}, pvars_of(room), events_of(room), {}};
    for (size_t i = 0; i < cvars.size(); ++i)
      if (std::strcmp(cvars[i]->room, room) == 0) category.cvars.push_back(static_cast<int>(i));
    all[0].children.push_back(static_cast<int>(all.size()));
    all.push_back(std::move(category));
  }
  return all;
}

const std::vector<Category>& categories() {
  static const auto* made = new std::vector<Category>(make_categories());
  return *made;
}

Result<const Category*> category_at(int index) {
  VICINITY_TRY(check_begun());
  VICINITY_TRY(check_index(index, categories().size(), "category"));
  return &categories()[static_cast<size_t>(index)];
}

Status give_list(const std::vector<int>& list, int room, int* out) {
  if (out) std::copy_n(list.begin(), std::min(list.size(), static_cast<size_t>(room)), out);
  return kOk;
}

}  // namespace

Status check_begun() {
  return users > 0 ? kOk : fail(MPI_T_ERR_NOT_INITIALIZED, "MPI_T_init_thread has not been called");
}

Status check_index(int index, size_t count, const char* what) {
  if (index < 0 || static_cast<size_t>(index) >= count)
    return fail(MPI_T_ERR_INVALID_INDEX, "%s index %d, there are %zu", what, index, count);
  return kOk;
}

void give_text(const char* text, char* buffer, int* length) {
  if (!length) return;
  if (buffer && *length > 0) std::snprintf(buffer, static_cast<size_t>(*length), "%s", text);
  *length = static_cast<int>(std::strlen(text)) + 1;
}

MPI_T_enum truth_enum() {
  static auto* truth = new MPI_T_enum_t{"truth", {"no", "yes"}};
  return truth;
}

bool is_enum(MPI_T_enum handle) { return handle == truth_enum(); }

}  // namespace vicinity::world::tool

namespace vicinity::world::entry {

using namespace tool;

Status t_init_thread(int required, int* provided) {
  VICINITY_TRY(load_parameters());
  ++users;
  give(provided, required);
  return kOk;
}

Status t_finalize() {
  VICINITY_TRY(check_begun());
  if (--users == 0) forget_events();
  return kOk;
}

Status t_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
  VICINITY_TRY(check_begun());
  if (!is_enum(enumtype)) return fail(MPI_T_ERR_INVALID_HANDLE, "argument `enumtype` is no enumeration");
  give(num, enumtype->items.size());
  give_text(enumtype->name, name, name_len);
  return kOk;
}

Status t_enum_get_item(MPI_T_enum enumtype, int index, int* value, char* name, int* name_len) {
  VICINITY_TRY(check_begun());
  if (!is_enum(enumtype)) return fail(MPI_T_ERR_INVALID_HANDLE, "argument `enumtype` is no enumeration");
  VICINITY_TRY(check_index(index, enumtype->items.size(), "enumeration"));
  give(value, index);
  give_text(enumtype->items[static_cast<size_t>(index)], name, name_len);
  return kOk;
}

Status t_category_get_num(int* num_cat) {
  VICINITY_TRY(check_begun());
  give(num_cat, categories().size());
  return kOk;
}

Status t_category_get_info(int cat_index, char* name, int* name_len, char* desc, int* desc_len,
                           int* num_cvars, int* num_pvars, int* num_categories) {
  Result<const Category*> category = category_at(cat_index);
  if (!category.ok()) return category.status();
  give_text((*category)->name, name, name_len);
  give_text((*category)->text.c_str(), desc, desc_len);
  give(num_cvars, (*category)->cvars.size());
  give(num_pvars, (*category)->pvars.size());
  give(num_categories, (*category)->children.size());
  return kOk;
}

Status t_category_get_num_events(int cat_index, int* num_events) {
  Result<const Category*> category = category_at(cat_index);
  if (!category.ok()) return category.status();
  give(num_events, (*category)->events.size());
  return kOk;
}

Status t_category_get_index(const char* name, int* cat_index) {
  VICINITY_TRY(check_begun());
  for (size_t i = 0; name && i < categories().size(); ++i)
    if (std::strcmp(categories()[i].name, name) == 0) return give(cat_index, i), kOk;
  return fail(MPI_T_ERR_INVALID_NAME, "there is no category %s", name ? name : "(null)");
}

Status t_category_get_cvars(int cat_index, int len, int* indices) {
  Result<const Category*> category = category_at(cat_index);
  return category.ok() ? give_list((*category)->cvars, len, indices) : category.status();
}

Status t_category_get_pvars(int cat_index, int len, int* indices) {
  Result<const Category*> category = category_at(cat_index);
  return category.ok() ? give_list((*category)->pvars, len, indices) : category.status();
}

Status t_category_get_categories(int cat_index, int len, int* indices) {
  Result<const Category*> category = category_at(cat_index);
  return category.ok() ? give_list((*category)->children, len, indices) : category.status();
}

Status t_category_get_events(int cat_index, int len, int* indices) {
  Result<const Category*> category = category_at(cat_index);
  return category.ok() ? give_list((*category)->events, len, indices) : category.status();
}

// Categories never change while the program runs.
Status t_category_changed(int* update_number) {
  VICINITY_TRY(check_begun());
  give(update_number, 0);
  return kOk;
}

}  // namespace vicinity::world::entry
