#include "edges/gateway_server/table_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "edges/files/disk_files.h"

namespace berth::edges {
namespace {

class TableFileTest : public ::testing::Test {
 protected:
  TableFileTest() {
    std::string name = ::testing::TempDir() + "table_file_XXXXXX";
    folder_ = ::mkdtemp(name.data()) == nullptr ? "" : name;
  }
  ~TableFileTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string state() const { return folder_ + "/state"; }

  std::string folder_;
  const DiskFiles files_;
};

TEST_F(TableFileTest, KeepsTheLastTable) {
  const EndpointTable table{
      .number = 3,
      .services = {{.tenant = "t", .service = "s", .target = Micros(1), .answer = Micros(2), .replicas = {}}}};
  {
    const auto file = TableFile::open(state());
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->read(files_).value(), std::nullopt);
    ASSERT_TRUE(file->write({.number = 2, .services = {}}));
    ASSERT_TRUE(file->write(table));
  }
  const auto again = TableFile::open(state());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->read(files_).value(), table);
  std::ofstream(state() + "/table.json") << "{";
  EXPECT_FALSE(again->read(files_));
}

TEST_F(TableFileTest, OneGatewayAtATime) {
  const auto file = TableFile::open(state());
  ASSERT_TRUE(file);
  const auto second = TableFile::open(state());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, state() + ": another gateway uses this folder");
  EXPECT_EQ(TableFile::open(folder_ + "/none/state").error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace berth::edges
