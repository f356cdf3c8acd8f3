// SPDX-License-Identifier: BSD-3-Clause
// Geometry, the check of a foreign region, and the backings.
#include "region/layout.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>

#include "region/backing.h"
#include "region/mapping.h"

namespace vicinity::region {
namespace {

TEST(Geometry, SectionsDoNotOverlapAndFitIntoTheRegion) {
  for (uint32_t sections : {1u, 2u, 3u, 16u, 17u, 64u, 65u, 256u, kMostSections})
    for (int squeeze = 0; squeeze <= 2; ++squeeze) {
      const Geometry g = *Geometry::advised(sections, 0, 64, 8192, squeeze, 3);
      EXPECT_GE(g.first_section, kHeaderBytes + sections * sizeof(DirectoryEntry));
      EXPECT_GE(g.opened, g.hints + sizeof(HintLine));
      EXPECT_GE(g.credits, g.opened + sections);
      EXPECT_GE(g.rings, g.credits + sections * sizeof(Credit));
      EXPECT_GE(g.bulk, g.rings + uint64_t{sections} * g.ring_lines * kLineBytes);
      EXPECT_GE(g.first_board, g.bulk + uint64_t{g.buffers} * g.buffer_bytes);
      EXPECT_EQ(g.board(0, 3), g.section(0) + g.section_bytes);
      EXPECT_EQ(g.board(sections - 1, 2) % kPageBytes, 0u);
      EXPECT_EQ(g.region_bytes, g.section(sections - 1) + g.section_bytes);
      EXPECT_EQ(g.ring(0, 0) % kLineBytes, 0u);
      EXPECT_EQ(g.credit(sections - 1, sections - 1) % kLineBytes, 0u);
      // Every pair has a share that holds the largest message.
      EXPECT_GE(g.buffers / std::max(1u, sections - 1), 2u);
    }
}

TEST(Geometry, ImpossibleNumbersAreRefused) {
  EXPECT_FALSE(Geometry::make(0, 64, 8, 8192).ok());
  EXPECT_FALSE(Geometry::make(kMostSections + 1, 64, 8, 8192).ok());
  EXPECT_FALSE(Geometry::make(2, 63, 8, 8192).ok());
  EXPECT_FALSE(Geometry::make(2, 8, 8, 8192).ok());
  EXPECT_FALSE(Geometry::make(2, 1u << 31, 8, 8192).ok());
  EXPECT_FALSE(Geometry::make(2, 64, 0, 8192).ok());
  EXPECT_FALSE(Geometry::make(2, 64, 1u << 31, 8192).ok());
  EXPECT_FALSE(Geometry::make(2, 64, 8, 8191).ok());
  EXPECT_FALSE(Geometry::make(2, 64, 8, 1u << 31).ok());
  EXPECT_FALSE(Geometry::make(2, 64, 8, 8192, kMostBoards + 1).ok());
}

TEST(Mapping, OnlyWhatLiesInsideIsGiven) {
  Mapping mapping = std::move(*Heap::create(4096, {}));
  EXPECT_NE(mapping.at<uint64_t>(4088), nullptr);
  EXPECT_EQ(mapping.at<uint64_t>(4089), nullptr);
  EXPECT_EQ(mapping.at<uint64_t>(4096), nullptr);
  EXPECT_EQ(mapping.at<uint64_t>(UINT64_MAX - 7), nullptr);
  EXPECT_EQ(mapping.at<uint64_t>(4), nullptr);
  EXPECT_NE(mapping.at<uint64_t>(0, 512), nullptr);
  EXPECT_EQ(mapping.at<uint64_t>(0, 513), nullptr);
  EXPECT_EQ(mapping.at<uint64_t>(8, UINT64_MAX), nullptr);
}

class ForeignRegion : public testing::Test {
 protected:
  ForeignRegion() {
    geometry = *Geometry::advised(3, 0, 64, 8192, 0, 2);
    mapping = std::move(*Heap::create(geometry.region_bytes, {}));
    std::memcpy(job.bytes, "0123456789abcdef", 16);
    EXPECT_TRUE(format_region(mapping, geometry, job, 7, procs).ok());
    header = mapping.at<RegionHeader>(0);
  }
  bool good() {
    Geometry found;
    uint32_t generation = 0;
    return check_region(mapping, 3, job, procs, &found, &generation).ok() && generation == 7 &&
           found.region_bytes == geometry.region_bytes;
  }
  void spoilt(const char* what, const std::function<void()>& spoil) {
    RegionHeader saved = *header;
    DirectoryEntry entries[3];
    auto* directory = mapping.at<DirectoryEntry>(kHeaderBytes, 3);
    std::memcpy(entries, directory, sizeof entries);
    spoil();
    EXPECT_FALSE(good()) << what;
    *header = saved;
    std::memcpy(directory, entries, sizeof entries);
    EXPECT_TRUE(good()) << what;
  }
  const uint32_t procs[3] = {1, 5, 6};
  Geometry geometry;
  Job job;
  Mapping mapping;
  RegionHeader* header;
};

TEST_F(ForeignRegion, EveryFieldIsChecked) {
  ASSERT_TRUE(good());
  spoilt("magic", [&] { header->magic = 0; });
  spoilt("version", [&] { header->layout_version = kLayoutVersion + 1; });
  spoilt("header size", [&] { header->header_bytes = 64; });
  spoilt("job", [&] { header->job[3] ^= 1; });
  spoilt("sections", [&] { header->sections = 2; });
  spoilt("region bytes", [&] { header->region_bytes += 4096; });
  spoilt("section bytes", [&] { header->section_bytes = 1; });
  spoilt("directory", [&] { header->directory = UINT64_MAX; });
  spoilt("lines", [&] { header->ring_lines = 128; });
  spoilt("lines", [&] { header->ring_lines = 0; });
  spoilt("buffers", [&] { header->buffers = UINT32_MAX; });
  spoilt("buffer bytes", [&] { header->buffer_bytes = 0; });
  spoilt("boards", [&] { header->boards = 1; });
  spoilt("boards", [&] { header->boards = UINT32_MAX; });
  auto* directory = mapping.at<DirectoryEntry>(kHeaderBytes, 3);
  spoilt("entry", [&] { directory[1].proc = 4; });
  spoilt("entry", [&] { directory[2].offset += 64; });
  spoilt("entry", [&] { directory[0].bytes = UINT64_MAX; });
}

TEST_F(ForeignRegion, RandomHeadersNeverCrashTheCheck) {
  std::mt19937 random(7);
  const RegionHeader saved = *header;
  for (int round = 0; round < 20000; ++round) {
    *header = saved;
    auto* bytes = reinterpret_cast<uint8_t*>(header);
    for (int change = 0; change < 3; ++change) bytes[random() % 84] = static_cast<uint8_t>(random());
    Geometry found;
    uint32_t generation;
    if (check_region(mapping, 3, job, procs, &found, &generation).ok()) {
      EXPECT_LE(found.region_bytes, mapping.bytes());
    }
  }
}

TEST(Backings, AMemfdIsTheSameMemoryForWhoeverOpensIt) {
  Offer offer;
  offer.fd = *Memfd::reserve();
  offer.pid = getpid();
  EXPECT_FALSE(Memfd::open(offer).ok());  // still empty
  Mapping first = std::move(*Memfd::create(8192, offer));
  auto second = Memfd::open(offer);
  ASSERT_TRUE(second.ok());
  *first.at<uint64_t>(64) = 42;
  EXPECT_EQ(*second->at<uint64_t>(64), 42u);
  EXPECT_NE(ftruncate(first.fd(), 4096), 0);  // sealed: nobody can make us touch what is gone
  offer.fd = 9999;
  EXPECT_FALSE(Memfd::open(offer).ok());
}

TEST(Backings, AFileThatDoesNotFitIsAnErrorInWords) {
  Offer offer;
  offer.path = "/dev/shm/vicinity-test-" + std::to_string(getpid());
  // More than any machine's tmpfs: fallocate fails, nothing is left behind.
  const auto mapping = File::create(uint64_t{1} << 46, offer);
  ASSERT_FALSE(mapping.ok());
  const std::string text = base::failure_text(mapping.status().code());
  EXPECT_NE(text.find(offer.path), std::string::npos);
  EXPECT_NE(text.find("VICINITY_REGION_DIR"), std::string::npos) << text;
  EXPECT_NE(access(offer.path.c_str(), F_OK), 0);
}

TEST(Backings, AFileIsPrivateAndLeftoversAreSweptUp) {
  const std::string directory = "/dev/shm";
  Offer offer;
  offer.path =
      directory + "/vicinity-region-" + std::to_string(getuid()) + "-test" + std::to_string(getpid());
  {
    Mapping held = std::move(*File::create(4096, offer));
    struct stat info;
    ASSERT_EQ(stat(offer.path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    const timespec old[2] = {{1000, 0}, {1000, 0}};
    utimensat(AT_FDCWD, offer.path.c_str(), old, 0);
    File::sweep(directory);
    EXPECT_EQ(access(offer.path.c_str(), F_OK), 0);  // its creator lives
  }
  File::sweep(directory);
  EXPECT_NE(access(offer.path.c_str(), F_OK), 0);
}

// A file whose creator was killed goes at once; one without a size may be somebody's who is about to lock it.
TEST(Backings, AnOrphanIsSweptUpAtOnceUnlessItIsEmpty) {
  const std::string path =
      "/dev/shm/vicinity-region-" + std::to_string(getuid()) + "-orphan" + std::to_string(getpid());
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  File::sweep("/dev/shm");
  EXPECT_EQ(access(path.c_str(), F_OK), 0);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  close(fd);
  File::sweep("/dev/shm");
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace vicinity::region
