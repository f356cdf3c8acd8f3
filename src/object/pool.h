// SPDX-License-Identifier: BSD-3-Clause
// make() and destroy(): type-stable memory for objects that users hold handles to.
//
// Freed objects go to a list and are used again for the same class only; their memory is never
// returned, so reading the kind of a freed object is always safe.
#pragma once

#include <cstdlib>
#include <mutex>
#include <new>

#include "object/handle.h"

namespace vicinity::object {

template <class T>
class Pool {
 public:
  static T* take() {
    void* memory = nullptr;
    {
      std::lock_guard guard(lock_);
      if (free_) {
        memory = free_;
        free_ = free_->next;
      }
    }
    if (!memory && posix_memalign(&memory, alignof(T) < 64 ? 64 : alignof(T), sizeof(Slot)) != 0)
      return nullptr;
    T* object = new (memory) T();
    object->kind = HandleTraits<T>::kKind;
    object->handle = reinterpret_cast<uintptr_t>(object);
    return object;
  }
  static void give(T* object) {
    object->~T();
    Slot* slot = reinterpret_cast<Slot*>(object);
    slot->dead = Kind::kDead;
    std::lock_guard guard(lock_);
    slot->next = free_;
    free_ = slot;
  }

 private:
  union Slot {
    Slot() {}
    ~Slot() {}
    struct {
      Kind dead;
      Slot* next;
    };
    alignas(T) unsigned char object[sizeof(T)];
  };
  static inline std::mutex lock_;
  static inline Slot* free_ = nullptr;
};

template <class T>
T* make() {
  return Pool<T>::take();
}
template <class T>
void destroy(T* object) {
  Pool<T>::give(object);
}

}  // namespace vicinity::object
