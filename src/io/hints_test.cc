// SPDX-License-Identifier: BSD-3-Clause
// Hints: what makes sense is taken over, all else leaves things as they were; and errors of the system as
// classes.
#include "io/hints.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "io/transfer.h"

namespace vicinity::io {
namespace {

TEST(Hints, NonsenseIsIgnored) {
  object::Info info;
  Hints hints;
  for (const char* text : {"", "many", "12x", "-5", "99999999999999999999", "1"}) {
    info.set("cb_buffer_size", text);
    read_hints(info, &hints);
    EXPECT_EQ(hints.buffer_bytes, Hints().buffer_bytes) << text;
  }
  info.set("cb_buffer_size", "65536");
  info.set("romio_cb_read", "perhaps");
  info.set("romio_cb_write", "disable");
  read_hints(info, &hints);
  EXPECT_EQ(hints.buffer_bytes, 65536);
  EXPECT_EQ(hints.read, Buffering::kAutomatic);
  EXPECT_EQ(hints.write, Buffering::kNever);
}

TEST(Hints, StandardKeyIsForBothDirections) {
  object::Info info;
  Hints hints;
  info.set("collective_buffering", "true");
  read_hints(info, &hints);
  EXPECT_EQ(hints.read, Buffering::kAlways);
  EXPECT_EQ(hints.write, Buffering::kAlways);
}

TEST(Hints, PermissionsAreOctal) {
  object::Info info;
  EXPECT_EQ(permissions(nullptr, 0666), 0666u);
  info.set("file_perm", "640");
  EXPECT_EQ(permissions(&info, 0666), 0640u);
  info.set("file_perm", "99");
  EXPECT_EQ(permissions(&info, 0666), 0666u);
}

TEST(SystemError, HasItsClass) {
  const std::string name = "/data/x";
  EXPECT_EQ(system_error(EDQUOT, "writing", name).code(), MPI_ERR_QUOTA);
  EXPECT_EQ(system_error(ENOSPC, "writing", name).code(), MPI_ERR_NO_SPACE);
  EXPECT_EQ(system_error(ETXTBSY, "opening", name).code(), MPI_ERR_FILE_IN_USE);
  EXPECT_EQ(system_error(EACCES, "opening", name).code(), MPI_ERR_ACCESS);
  EXPECT_EQ(system_error(EROFS, "opening", name).code(), MPI_ERR_READ_ONLY);
  EXPECT_EQ(system_error(EIO, "reading", name).code(), MPI_ERR_IO);
  EXPECT_STREQ(base::failure_text(MPI_ERR_IO), "reading /data/x: Input/output error");
}

}  // namespace
}  // namespace vicinity::io
