// SPDX-License-Identifier: BSD-3-Clause
// Predefined operations and what they apply to (MPI 5.0, 6.9.2), and the local step of a reduction.
#include "object/op.h"

#include <algorithm>
#include <climits>
#include <iterator>
#include <new>

#include "object/handle_table.h"
#include "object/op_kernels.h"
#include "object/pool.h"

namespace vicinity::object {
namespace {

struct Row {
  MPI_Op constant;
  const char* name;
  Fold fold;
  bool commutative;
};

const Row kRows[] = {
    {MPI_SUM, "MPI_SUM", Fold::kSum, true},           {MPI_MIN, "MPI_MIN", Fold::kMin, true},
    {MPI_MAX, "MPI_MAX", Fold::kMax, true},           {MPI_PROD, "MPI_PROD", Fold::kProd, true},
    {MPI_BAND, "MPI_BAND", Fold::kBand, true},        {MPI_BOR, "MPI_BOR", Fold::kBor, true},
    {MPI_BXOR, "MPI_BXOR", Fold::kBxor, true},        {MPI_LAND, "MPI_LAND", Fold::kLand, true},
    {MPI_LOR, "MPI_LOR", Fold::kLor, true},           {MPI_LXOR, "MPI_LXOR", Fold::kLxor, true},
    {MPI_MINLOC, "MPI_MINLOC", Fold::kMinloc, true},  {MPI_MAXLOC, "MPI_MAXLOC", Fold::kMaxloc, true},
    {MPI_REPLACE, "MPI_REPLACE", Fold::kNone, false}, {MPI_NO_OP, "MPI_NO_OP", Fold::kNone, false},
};

constexpr size_t kConstants = 64;
constexpr size_t kBasics = static_cast<size_t>(Basic::kTwoInteger) + 1;

struct Predefined {
  Op* op = nullptr;
  const Row* row = nullptr;
  Kernel kernels[kBasics] = {};
};
Predefined table[kConstants];
alignas(Op) unsigned char memory[std::size(kRows)][sizeof(Op)];

bool has_avx2() {
#ifdef __x86_64__
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

Kernel choose(Fold fold, Basic basic, bool avx2) {
  if (avx2)
    if (Kernel wide = kernel_avx2(fold, basic)) return wide;
  if (Kernel plain = kernel_any(fold, basic)) return plain;
  return kernel_pair(fold, basic);
}

// Runs when the library is loaded.
[[gnu::constructor]] void place_all() {
  const bool avx2 = has_avx2();
  for (size_t i = 0; i < std::size(kRows); i++) {
    auto* op = new (memory[i]) Op;
    op->kind = Kind::kOp;
    op->handle = reinterpret_cast<uintptr_t>(kRows[i].constant);
    op->commutative = kRows[i].commutative;
    Predefined& place = table[op->handle];
    place.op = op;
    place.row = &kRows[i];
    for (size_t basic = 0; basic < kBasics; basic++)
      place.kernels[basic] = choose(kRows[i].fold, static_cast<Basic>(basic), avx2);
  }
}

const Predefined& entry(const Op& op) { return table[op.handle]; }

}  // namespace

Op* HandleTraits<Op>::predefined(uintptr_t constant) {
  return constant < kConstants ? table[constant].op : nullptr;
}

void Op::finish(Op* op) { destroy(op); }

Kernel kernel(const Op& op, Basic basic) {
  return op.predefined() ? entry(op).kernels[static_cast<size_t>(basic)] : nullptr;
}

Status check_op(const Op& op, const Datatype& type) {
  if (!op.predefined()) return kOk;
  const char* name = entry(op).row->name;
  if (entry(op).row->fold == Fold::kNone)
    return fail(MPI_ERR_OP, "%s is for one-sided accumulation, not for reductions", name);
  if (!type.permanent)
    return fail(MPI_ERR_OP,
                "%s works on predefined datatypes; for others make an operation with MPI_Op_create", name);
  if (kernel(op, type.basic)) return kOk;
  return fail(MPI_ERR_OP, "%s is not defined for %s (MPI 5.0, section 6.9.2)", name,
              type.name[0] ? type.name : "this unnamed predefined datatype");
}

void set_logical_values(int size, const void* truth, const void* falsehood) {
  const Basic basic = keep_logical_values(size, truth, falsehood);
  for (const Row& row : kRows)
    if (Kernel kernel = kernel_logical(row.fold, basic))
      table[reinterpret_cast<uintptr_t>(row.constant)].kernels[static_cast<size_t>(basic)] = kernel;
}

void reduce_local(const void* in, void* inout, MPI_Count count, Datatype& type, const Op& op) {
  if (count <= 0) return;
  if (Kernel fold = kernel(op, type.basic)) return fold(in, inout, static_cast<size_t>(count));
  MPI_Datatype handle = handle_of(type);
  MPI_Datatype* named = &handle;
  int number = 0;
  if (op.fortran) {
    number = handle_to_int(reinterpret_cast<uintptr_t>(handle));
    named = reinterpret_cast<MPI_Datatype*>(&number);
  }
  if (op.user_c) return op.user_c(const_cast<void*>(in), inout, &count, named);
  if (!op.user) return;
  auto from = reinterpret_cast<uintptr_t>(in);
  auto to = reinterpret_cast<uintptr_t>(inout);
  while (count > 0) {
    int now = static_cast<int>(std::min<MPI_Count>(count, INT_MAX));
    count -= now;
    const auto bytes = static_cast<uintptr_t>(now) * static_cast<uintptr_t>(type.extent);
    op.user(reinterpret_cast<void*>(from), reinterpret_cast<void*>(to), &now, named);
    from += bytes;
    to += bytes;
  }
}

}  // namespace vicinity::object
