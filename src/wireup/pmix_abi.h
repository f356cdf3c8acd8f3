// SPDX-License-Identifier: BSD-3-Clause
// The few types and functions of PMIx that a wire-up needs, as its binary interface has them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vicinity::wireup::pmix {

inline constexpr int kSuccess = 0;
inline constexpr uint32_t kRankWildcard = UINT32_MAX - 1;
inline constexpr uint16_t kTypeBool = 1, kTypeString = 3, kTypeUint32 = 14, kTypeByteObject = 27;
inline constexpr uint8_t kScopeGlobal = 3;

struct Proc {
  char nspace[256];
  uint32_t rank;
};

struct ByteObject {
  char* bytes;
  size_t size;
};

struct Value {
  uint16_t type;
  union {
    bool flag;
    uint32_t uint32;
    const char* string;
    ByteObject bytes;
    void* largest[3];  // the union's longest member is two pointers and a character
  } data;
};

struct Info {
  char key[512];
  uint32_t flags;
  Value value;
};

struct App {
  const char* cmd;
  char** argv;  // ends with nullptr, as env
  char** env;
  const char* cwd;
  int maxprocs;
  Info* info;
  size_t ninfo;
};

using InitFunction = int (*)(Proc*, Info*, size_t);
using FinalizeFunction = int (*)(const Info*, size_t);
using AbortFunction = int (*)(int, const char*, Proc*, size_t);
using PutFunction = int (*)(uint8_t, const char*, Value*);
using CommitFunction = int (*)();
using FenceFunction = int (*)(const Proc*, size_t, const Info*, size_t);
using GetFunction = int (*)(const Proc*, const char*, const Info*, size_t, Value**);
using SpawnFunction = int (*)(const Info*, size_t, const App*, size_t, char[256]);
using ErrorStringFunction = const char* (*)(int);

}  // namespace vicinity::wireup::pmix
