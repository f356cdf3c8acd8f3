// SPDX-License-Identifier: BSD-3-Clause
// Windows (MPI 5.0, chapter 12) as doors and attributes see them. What is behind one belongs to rma/,
// whose Window derives from this.
#pragma once

#include "object/communicator.h"

namespace vicinity::object {

struct Window : Object {
  Communicator* comm = nullptr;  // the window's own: its group, and a context for its messages
  Errhandler* errhandler = nullptr;
  Attributes attributes;
  char name[MPI_MAX_OBJECT_NAME] = "";
  // What the predefined attributes tell (12.2.6). They hand out addresses of these.
  void* base = nullptr;
  MPI_Aint size = 0;
  int disp_unit = 1;
  int flavor = 0;
  int model = MPI_WIN_UNIFIED;
};

template <>
struct HandleTraits<Window> {
  using Handle = MPI_Win;
  static constexpr Kind kKind = Kind::kWin;
  static Window* predefined(uintptr_t) { return nullptr; }
};

}  // namespace vicinity::object
