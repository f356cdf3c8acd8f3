// SPDX-License-Identifier: BSD-3-Clause
// Intrusive doubly linked list: the links live in the element, so that linking never allocates.
// An element of type T has a member `Link link;` (or several) and is in one list per link.
#pragma once

#include <cstddef>

namespace vicinity::base {

struct Link {
  Link* next = nullptr;
  Link* prev = nullptr;
  bool linked() const { return next != nullptr; }
  void unlink() {
    next->prev = prev;
    prev->next = next;
    next = prev = nullptr;
  }
};

template <class T, Link T::*member>
class List {
 public:
  List() { head_.next = head_.prev = &head_; }
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  bool empty() const { return head_.next == &head_; }
  T* front() const { return empty() ? nullptr : owner(head_.next); }
  // The element after `element`, or nullptr at the end.
  T* after(const T* element) const {
    Link* next = (element->*member).next;
    return next == &head_ ? nullptr : owner(next);
  }
  void push_back(T* element) {
    Link* link = &(element->*member);
    link->prev = head_.prev;
    link->next = &head_;
    head_.prev->next = link;
    head_.prev = link;
  }
  void push_front(T* element) {
    Link* link = &(element->*member);
    link->next = head_.next;
    link->prev = &head_;
    head_.next->prev = link;
    head_.next = link;
  }
  T* pop_front() {
    T* element = front();
    if (element) (element->*member).unlink();
    return element;
  }
  static void remove(T* element) { (element->*member).unlink(); }

 private:
  static T* owner(Link* link) {
    // The offset of a member named by pointer-to-member; standard layout is not required by gcc/clang.
    const auto offset = reinterpret_cast<size_t>(&(reinterpret_cast<T*>(sizeof(T))->*member)) - sizeof(T);
    return reinterpret_cast<T*>(reinterpret_cast<char*>(link) - offset);
  }
  Link head_;
};

}  // namespace vicinity::base
