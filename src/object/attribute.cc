// SPDX-License-Identifier: BSD-3-Clause
// The registry of keyvals and the calls of their callbacks.
//
// Invariant: Keyval::users = 1 while the user holds it + 1 for each attribute attached. Numbers are
// never given out twice, so a keyval kept after its end is always noticed.
#include "object/attribute.h"

#include <mutex>
#include <unordered_map>

#include "object/language.h"

namespace vicinity::object {

thread_local bool from_fortran = false;

namespace {

using base::fail;
using base::kOk;
using base::Result;
using base::Status;

struct Keyval {
  Kind target;
  void* copy;
  void* destroy;
  void* extra;
  bool fortran;  // so are its callbacks
  bool held;     // by the user
  int users;
};

constexpr int kFirstKeyval = 1024;  // clear of the predefined ones, 501 to 605
constexpr uintptr_t kNullFunction = 0, kDupFunction = 1;

std::mutex lock;
int next_keyval = kFirstKeyval;
std::unordered_map<int, Keyval>& keyvals() {
  static auto* table = new std::unordered_map<int, Keyval>;  // survives static destructors
  return *table;
}

const char* class_name(Kind target) {
  return target == Kind::kComm ? "communicator" : target == Kind::kDatatype ? "datatype" : "window";
}

// The registry entry of a keyval, or an error; a copy, since callbacks run without the lock.
Result<Keyval> find(Kind target, int keyval) {
  std::lock_guard guard(lock);
  const auto at = keyvals().find(keyval);
  if (at == keyvals().end()) {
    if (keyval > 500 && keyval < kFirstKeyval)
      return fail(MPI_ERR_KEYVAL, "attribute key %d is predefined and cannot be changed", keyval);
    return fail(MPI_ERR_KEYVAL, "attribute key %d does not exist or has been freed", keyval);
  }
  if (at->second.target != target)
    return fail(MPI_ERR_KEYVAL, "attribute key %d is for %ss, not for %ss", keyval,
                class_name(at->second.target), class_name(target));
  return at->second;
}

void add_user(int keyval) {
  std::lock_guard guard(lock);
  ++keyvals().at(keyval).users;
}

void drop_user(int keyval) {
  std::lock_guard guard(lock);
  const auto at = keyvals().find(keyval);
  if (--at->second.users == 0) keyvals().erase(at);
}

Attribute* find(Attributes& attributes, int keyval) {
  for (Attribute& attribute : attributes.list)
    if (attribute.keyval == keyval) return &attribute;
  return nullptr;
}

// The three classes' callbacks differ only in the type of a handle, which is a pointer in all of them.
static_assert(sizeof(MPI_Comm) == sizeof(void*) && sizeof(MPI_Datatype) == sizeof(void*));
using CopyFunction = int(void* owner, int keyval, void* extra, void* in, void* out, int* flag);
using DeleteFunction = int(void* owner, int keyval, void* value, void* extra);

Status callback_failed(int code, const char* what, int keyval) {
  return fail(code, "the %s callback of attribute key %d returned %d", what, keyval, code);
}

Status call_delete(const Object& owner, const Keyval& entry, const Attribute& attribute) {
  const int keyval = attribute.keyval;
  if (reinterpret_cast<uintptr_t>(entry.destroy) == kNullFunction) return kOk;
  auto* destroy = reinterpret_cast<DeleteFunction*>(entry.destroy);
  const int code =
      destroy(reinterpret_cast<void*>(owner.handle), keyval, attribute.seen_by(entry.fortran), entry.extra);
  return code == MPI_SUCCESS ? kOk : callback_failed(code, "delete", keyval);
}

// What the copy callback makes of an attribute; not `found` if it is not to be copied.
Status call_copy(const Object& owner, const Keyval& entry, const Attribute& from, Attribute* copied,
                 int* flag) {
  *flag = 0;
  void* value = nullptr;
  switch (reinterpret_cast<uintptr_t>(entry.copy)) {
    case kNullFunction:
      return kOk;
    case kDupFunction:
      copied->set(from.value, from.integer != nullptr);
      *flag = 1;
      return kOk;
    default:
      break;
  }
  auto* copy = reinterpret_cast<CopyFunction*>(entry.copy);
  const int code = copy(reinterpret_cast<void*>(owner.handle), from.keyval, entry.extra,
                        from.seen_by(entry.fortran), &value, flag);
  copied->set(value, entry.fortran);
  return code == MPI_SUCCESS ? kOk : callback_failed(code, "copy", from.keyval);
}

// Takes the attribute out of the list, wherever the callback has moved it to.
void detach(Attributes& attributes, int keyval) {
  for (size_t i = 0; i < attributes.list.size(); ++i) {
    if (attributes.list[i].keyval != keyval) continue;
    attributes.list.erase(attributes.list.begin() + static_cast<std::ptrdiff_t>(i));
    drop_user(keyval);
    return;
  }
}

}  // namespace

Result<int> keyval_create(Kind target, void* copy, void* destroy, void* extra) {
  std::lock_guard guard(lock);
  const int keyval = next_keyval++;
  keyvals().emplace(keyval, Keyval{target, copy, destroy, extra, from_fortran, true, 1});
  return keyval;
}

Status keyval_free(Kind target, int keyval) {
  Result<Keyval> entry = find(target, keyval);
  if (!entry.ok()) return entry.status();
  {
    std::lock_guard guard(lock);
    Keyval& held = keyvals().at(keyval);
    if (!held.held) return kOk;  // freed before, alive through attached attributes: freeing again is harmless
    held.held = false;
  }
  drop_user(keyval);
  return kOk;
}

Status attribute_set(Object& owner, Attributes& attributes, int keyval, void* value) {
  Result<Keyval> entry = find(owner.kind, keyval);
  if (!entry.ok()) return entry.status();
  if (Attribute* old = find(attributes, keyval)) {
    // MPI 5.0, 7.7.2: setting again first deletes the old value, with its callback.
    const Attribute before = *old;  // the callback may change the list
    VICINITY_TRY(call_delete(owner, *entry, before));
    old = find(attributes, keyval);
    if (old) {
      old->set(value, from_fortran);
      return kOk;
    }
  }
  add_user(keyval);
  attributes.list.push_back({keyval, value});
  attributes.list.back().set(value, from_fortran);
  return kOk;
}

Status attribute_get(const Object& owner, const Attributes& attributes, int keyval, void** value,
                     bool* found) {
  *found = false;
  Result<Keyval> entry = find(owner.kind, keyval);
  if (!entry.ok()) return entry.status();
  for (const Attribute& attribute : attributes.list) {
    if (attribute.keyval != keyval) continue;
    *value = attribute.seen_by(from_fortran);
    *found = true;
    break;
  }
  return kOk;
}

Status attribute_delete(Object& owner, Attributes& attributes, int keyval) {
  Result<Keyval> entry = find(owner.kind, keyval);
  if (!entry.ok()) return entry.status();
  const Attribute* attribute = find(attributes, keyval);
  if (!attribute) return kOk;
  const Attribute before = *attribute;
  VICINITY_TRY(call_delete(owner, *entry, before));
  detach(attributes, keyval);
  return kOk;
}

Status attributes_copy(Object& owner, const Attributes& from, Attributes& into) {
  const std::vector<Attribute> snapshot = from.list;  // callbacks may change the original
  for (const Attribute& attribute : snapshot) {
    Result<Keyval> entry = find(owner.kind, attribute.keyval);
    if (!entry.ok()) continue;  // deleted by a callback before it
    Attribute copied{attribute.keyval, nullptr};
    int flag = 0;
    VICINITY_TRY(call_copy(owner, *entry, attribute, &copied, &flag));
    if (!flag) continue;
    add_user(attribute.keyval);
    into.list.push_back(copied);
  }
  return kOk;
}

Status attributes_delete_all(Object& owner, Attributes& attributes) {
  while (!attributes.list.empty()) {
    const Attribute last = attributes.list.back();
    Result<Keyval> entry = find(owner.kind, last.keyval);
    if (!entry.ok()) return entry.status();
    VICINITY_TRY(call_delete(owner, *entry, last));
    detach(attributes, last.keyval);
  }
  return kOk;
}

}  // namespace vicinity::object
