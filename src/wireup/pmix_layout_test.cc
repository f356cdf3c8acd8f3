// SPDX-License-Identifier: BSD-3-Clause
// pmix_abi.h against the installed header of PMIx (built only where there is one).
#include <gtest/gtest.h>
#include <pmix.h>

#include <type_traits>

#include "wireup/pmix_abi.h"

namespace ours = vicinity::wireup::pmix;

static_assert(sizeof(ours::Proc) == sizeof(pmix_proc_t) &&
              offsetof(ours::Proc, rank) == offsetof(pmix_proc_t, rank));
static_assert(sizeof(ours::ByteObject) == sizeof(pmix_byte_object_t) &&
              offsetof(ours::ByteObject, size) == offsetof(pmix_byte_object_t, size));
static_assert(sizeof(ours::Value) == sizeof(pmix_value_t) &&
              offsetof(ours::Value, data) == offsetof(pmix_value_t, data));
static_assert(sizeof(ours::Info) == sizeof(pmix_info_t) &&
              offsetof(ours::Info, flags) == offsetof(pmix_info_t, flags) &&
              offsetof(ours::Info, value) == offsetof(pmix_info_t, value));
static_assert(sizeof(ours::App) == sizeof(pmix_app_t) &&
              offsetof(ours::App, argv) == offsetof(pmix_app_t, argv) &&
              offsetof(ours::App, env) == offsetof(pmix_app_t, env) &&
              offsetof(ours::App, cwd) == offsetof(pmix_app_t, cwd) &&
              offsetof(ours::App, maxprocs) == offsetof(pmix_app_t, maxprocs) &&
              offsetof(ours::App, info) == offsetof(pmix_app_t, info) &&
              offsetof(ours::App, ninfo) == offsetof(pmix_app_t, ninfo));
static_assert(ours::kTypeString == PMIX_STRING && sizeof(pmix_nspace_t) == 256);
static_assert(ours::kTypeBool == PMIX_BOOL && ours::kTypeUint32 == PMIX_UINT32 &&
              ours::kTypeByteObject == PMIX_BYTE_OBJECT && ours::kScopeGlobal == PMIX_GLOBAL);
static_assert(ours::kRankWildcard == PMIX_RANK_WILDCARD && ours::kSuccess == PMIX_SUCCESS);
static_assert(sizeof(pmix_data_type_t) == 2 && sizeof(pmix_scope_t) == 1 && sizeof(pmix_rank_t) == 4);

TEST(PmixLayout, KeysAreThoseOfTheHeader) {
  EXPECT_STREQ(PMIX_JOB_SIZE, "pmix.job.size");
  EXPECT_STREQ(PMIX_UNIV_SIZE, "pmix.univ.size");
  EXPECT_STREQ(PMIX_APPNUM, "pmix.appnum");
  EXPECT_STREQ(PMIX_COLLECT_DATA, "pmix.collect");
  EXPECT_STREQ(PMIX_HOST, "pmix.host");
  EXPECT_STREQ(PMIX_MAPBY, "pmix.mapby");
  EXPECT_STREQ(PMIX_BINDTO, "pmix.bindto");
}
