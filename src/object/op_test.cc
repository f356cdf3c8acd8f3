// SPDX-License-Identifier: BSD-3-Clause
// Every predefined operation on every predefined type, against results computed one element at a time
// from the table of MPI 5.0, 6.9.2; user operations; what is refused.
#include "object/op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "object/datatype_create.h"

namespace vicinity::object {
namespace {

constexpr size_t kCount = 67;  // not a multiple of any vector
const MPI_Op kOps[] = {MPI_SUM,  MPI_MIN,  MPI_MAX, MPI_PROD, MPI_BAND,   MPI_BOR,
                       MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MINLOC, MPI_MAXLOC};

Op& op_of(MPI_Op op) { return *lookup<Op>(op); }

template <class T>
T scalar(MPI_Op op, T a, T b) {
  if (op == MPI_SUM) return static_cast<T>(a + b);
  if (op == MPI_PROD) return static_cast<T>(a * b);
  if (op == MPI_MIN) return a < b ? a : b;
  return a < b ? b : a;
}

template <class T>
T bits(MPI_Op op, T a, T b) {
  if (op == MPI_BAND) return static_cast<T>(a & b);
  if (op == MPI_BOR) return static_cast<T>(a | b);
  if (op == MPI_BXOR) return static_cast<T>(a ^ b);
  if (op == MPI_LAND) return static_cast<T>(a && b);
  if (op == MPI_LOR) return static_cast<T>(a || b);
  return static_cast<T>(!a != !b);
}

bool is_one_of(MPI_Op op, std::initializer_list<MPI_Op> list) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

// Runs the kernel at an odd address and compares every element with `expect`.
template <class T, class F>
void compare(MPI_Op op, MPI_Datatype type, F expect, bool logical) {
  std::mt19937 random(7);
  std::vector<char> in(sizeof(T) * kCount + 1), inout(in.size());
  std::vector<T> a, b;
  for (size_t i = 0; i < kCount; i++) {
    a.push_back(static_cast<T>(static_cast<int>(random() % (logical ? 2 : 11))));
    b.push_back(static_cast<T>(static_cast<int>(random() % (logical ? 2 : 11))));
  }
  std::memcpy(in.data() + 1, a.data(), sizeof(T) * kCount);
  std::memcpy(inout.data() + 1, b.data(), sizeof(T) * kCount);
  ASSERT_TRUE(check_op(op_of(op), builtin(type)).ok()) << builtin(type).name;
  reduce_local(in.data() + 1, inout.data() + 1, kCount, builtin(type), op_of(op));
  for (size_t i = 0; i < kCount; i++) {
    T got;
    std::memcpy(&got, inout.data() + 1 + i * sizeof(T), sizeof(T));
    ASSERT_TRUE(got == expect(op, a[i], b[i])) << builtin(type).name << " element " << i;
  }
}

template <class T>
void numbers(std::initializer_list<MPI_Datatype> types, bool integer) {
  for (MPI_Datatype type : types) {
    for (MPI_Op op : kOps) {
      if (is_one_of(op, {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX})) compare<T>(op, type, scalar<T>, false);
      if (is_one_of(op, {MPI_MINLOC, MPI_MAXLOC}) ||
          (!integer && is_one_of(op, {MPI_BAND, MPI_LAND, MPI_LXOR}))) {
        EXPECT_EQ(check_op(op_of(op), builtin(type)).code(), MPI_ERR_OP) << builtin(type).name;
      }
    }
  }
}

template <class T>
void integers(std::initializer_list<MPI_Datatype> types) {
  numbers<T>(types, true);
  for (MPI_Datatype type : types)
    for (MPI_Op op : {MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR})
      compare<T>(op, type, bits<T>, false);
}

template <class T>
void logicals(std::initializer_list<MPI_Datatype> types) {
  for (MPI_Datatype type : types) {
    for (MPI_Op op : kOps) {
      if (is_one_of(op, {MPI_LAND, MPI_LOR, MPI_LXOR}))
        compare<T>(op, type, bits<T>, true);
      else
        EXPECT_EQ(check_op(op_of(op), builtin(type)).code(), MPI_ERR_OP) << builtin(type).name;
    }
  }
}

TEST(Op, Integers) {
  integers<int8_t>({MPI_SIGNED_CHAR, MPI_INT8_T, MPI_INTEGER1});
  integers<uint8_t>({MPI_UNSIGNED_CHAR, MPI_UINT8_T});
  integers<int16_t>({MPI_SHORT, MPI_INT16_T, MPI_INTEGER2});
  integers<uint16_t>({MPI_UNSIGNED_SHORT, MPI_UINT16_T});
  integers<int32_t>({MPI_INT, MPI_INT32_T, MPI_INTEGER, MPI_INTEGER4});
  integers<uint32_t>({MPI_UNSIGNED, MPI_UINT32_T});
  integers<int64_t>({MPI_LONG, MPI_LONG_LONG, MPI_INT64_T, MPI_INTEGER8, MPI_AINT, MPI_OFFSET, MPI_COUNT});
  integers<uint64_t>({MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT64_T});
  integers<__int128>({MPI_INTEGER16});
}

TEST(Op, Floats) {
  numbers<_Float16>({MPI_REAL2}, false);
  numbers<float>({MPI_FLOAT, MPI_REAL, MPI_REAL4}, false);
  numbers<double>({MPI_DOUBLE, MPI_DOUBLE_PRECISION, MPI_REAL8}, false);
  numbers<long double>({MPI_LONG_DOUBLE}, false);
  numbers<__float128>({MPI_REAL16}, false);
}

TEST(Op, Logicals) {
  logicals<uint8_t>({MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL1});
  logicals<uint16_t>({MPI_LOGICAL2});
  logicals<uint32_t>({MPI_LOGICAL, MPI_LOGICAL4});
  logicals<uint64_t>({MPI_LOGICAL8});
  logicals<__int128>({MPI_LOGICAL16});
}

TEST(Op, BytesHaveBitsOnlyAndCharactersNothing) {
  for (MPI_Op op : kOps) {
    if (is_one_of(op, {MPI_BAND, MPI_BOR, MPI_BXOR}))
      compare<uint8_t>(op, MPI_BYTE, bits<uint8_t>, false);
    else
      EXPECT_EQ(check_op(op_of(op), builtin(MPI_BYTE)).code(), MPI_ERR_OP);
    for (MPI_Datatype type : {MPI_CHAR, MPI_CHARACTER, MPI_WCHAR})
      EXPECT_EQ(check_op(op_of(op), builtin(type)).code(), MPI_ERR_OP);
  }
}

template <class T>
struct Complex {
  T re, im;
  Complex() = default;
  explicit Complex(int i) : re(static_cast<T>(i)), im(static_cast<T>(i % 3 - 1)) {}
  bool operator==(const Complex& other) const { return re == other.re && im == other.im; }
};

template <class T>
void complexes(std::initializer_list<MPI_Datatype> types) {
  for (MPI_Datatype type : types) {
    for (MPI_Op op : kOps) {
      if (!is_one_of(op, {MPI_SUM, MPI_PROD})) {
        EXPECT_EQ(check_op(op_of(op), builtin(type)).code(), MPI_ERR_OP);
        continue;
      }
      compare<Complex<T>>(
          op, type,
          [](MPI_Op which, Complex<T> a, Complex<T> b) {
            Complex<T> c;
            c.re = which == MPI_SUM ? a.re + b.re : a.re * b.re - a.im * b.im;
            c.im = which == MPI_SUM ? a.im + b.im : a.re * b.im + a.im * b.re;
            return c;
          },
          false);
    }
  }
}

TEST(Op, ComplexNumbers) {
  complexes<_Float16>({MPI_COMPLEX4});
  complexes<float>({MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX, MPI_COMPLEX8});
  complexes<double>({MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX16});
  complexes<long double>({MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX});
  complexes<__float128>({MPI_COMPLEX32});
}

template <class V, class I>
void pairs(Datatype& type) {
  struct Pair {
    V value;
    I index;
  };
  ASSERT_EQ(type.extent, static_cast<MPI_Count>(sizeof(Pair))) << type.name;
  std::mt19937 random(3);
  for (MPI_Op op : {MPI_MINLOC, MPI_MAXLOC}) {
    Pair in[kCount], inout[kCount], expect[kCount];
    for (size_t i = 0; i < kCount; i++) {
      in[i] = {static_cast<V>(static_cast<int>(random() % 4)), static_cast<I>(random() % 9)};
      inout[i] = {static_cast<V>(static_cast<int>(random() % 4)), static_cast<I>(random() % 9)};
      const Pair &a = in[i], &b = inout[i];
      const bool first = a.value == b.value ? a.index < b.index : (op == MPI_MINLOC) == (a.value < b.value);
      expect[i] = first ? a : b;
    }
    ASSERT_TRUE(check_op(op_of(op), type).ok());
    reduce_local(in, inout, kCount, type, op_of(op));
    for (size_t i = 0; i < kCount; i++)
      ASSERT_TRUE(inout[i].value == expect[i].value && inout[i].index == expect[i].index)
          << type.name << " " << i;
  }
  EXPECT_EQ(check_op(op_of(MPI_SUM), type).code(), MPI_ERR_OP);
}

TEST(Op, Pairs) {
  pairs<float, int>(builtin(MPI_FLOAT_INT));
  pairs<double, int>(builtin(MPI_DOUBLE_INT));
  pairs<long, int>(builtin(MPI_LONG_INT));
  pairs<int, int>(builtin(MPI_2INT));
  pairs<short, int>(builtin(MPI_SHORT_INT));
  pairs<long double, int>(builtin(MPI_LONG_DOUBLE_INT));
  pairs<float, float>(builtin(MPI_2REAL));
  pairs<double, double>(builtin(MPI_2DOUBLE_PRECISION));
  pairs<int, int>(builtin(MPI_2INTEGER));
}

TEST(Op, RefusesWhatTheStandardDoesNotDefine) {
  EXPECT_EQ(check_op(op_of(MPI_REPLACE), builtin(MPI_INT)).code(), MPI_ERR_OP);
  EXPECT_EQ(check_op(op_of(MPI_NO_OP), builtin(MPI_INT)).code(), MPI_ERR_OP);
  Datatype* derived = *type_contiguous(2, builtin(MPI_INT), false);
  EXPECT_EQ(check_op(op_of(MPI_SUM), *derived).code(), MPI_ERR_OP);
  release(derived);
  EXPECT_EQ(lookup<Op>(MPI_OP_NULL), nullptr);
}

struct Calls {
  int calls = 0;
  MPI_Count elements = 0;
  uintptr_t last_in = 0;
};
Calls calls;

TEST(Op, UserFunctionsSeePiecesThatFitTheirCount) {
  Op user, wide;
  user.kind = wide.kind = Kind::kOp;
  user.handle = wide.handle = reinterpret_cast<uintptr_t>(&user);
  user.user = [](void* in, void*, int* len, MPI_Datatype* type) {
    calls.calls++;
    calls.elements += *len;
    calls.last_in = reinterpret_cast<uintptr_t>(in);
    EXPECT_EQ(*type, MPI_DOUBLE);
    *len = 0;  // a function may scribble on its arguments
  };
  wide.user_c = [](void*, void*, MPI_Count* len, MPI_Datatype*) {
    calls.calls++;
    calls.elements += *len;
  };
  calls = {};
  const MPI_Count many = MPI_Count{INT32_MAX} + 5;
  reduce_local(nullptr, nullptr, many, builtin(MPI_DOUBLE), user);
  EXPECT_EQ(calls.calls, 2);
  EXPECT_EQ(calls.elements, many);
  EXPECT_EQ(calls.last_in, uintptr_t{INT32_MAX} * 8);
  calls = {};
  reduce_local(nullptr, nullptr, many, builtin(MPI_DOUBLE), wide);
  EXPECT_EQ(calls.calls, 1);
  EXPECT_EQ(calls.elements, many);
}

}  // namespace
}  // namespace vicinity::object
