#include "surface/cli/up/stated_request.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth::cli {
namespace {

class OneFile : public Files {
 public:
  explicit OneFile(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] Result<std::string> read(const std::string& path) const override {
    if (path == "c.yaml") return text_;
    return fail(ErrorCode::kNotFound, path + ": no such file");
  }
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> list(const std::string&) const override {
    return std::optional<std::vector<std::string>>();
  }

 private:
  std::string text_;
};

TEST(StatedRequest, NamesTheGpusThatMayBeChanged) {
  const OneFile files("manage: [{uuid: GPU-88af9caf-d226, mig_mode: true}, {uuid: GPU-2}]");
  UpOptions typed;
  typed.config = "c.yaml";
  const auto request = read_up_request(typed, files);
  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(request->request.manage,
            (std::vector<device::ManagedGpu>{{.uuid = "GPU-88af9caf-d226", .has_mig_mode = true},
                                             {.uuid = "GPU-2", .has_mig_mode = false}}));
}

TEST(StatedRequest, IsPrecededByFlags) {
  const OneFile files("speed: 3\nseed: 5\nretention: {series_days: 9}");
  UpOptions typed;
  typed.config = "c.yaml";
  typed.speed = "max";
  const auto request = read_up_request(typed, files);
  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(request->request.speed, 0);
  EXPECT_EQ(request->request.seed, 5U);
  EXPECT_EQ(request->request.retention.series_days, 9);
  EXPECT_TRUE(request->request.no_changes && request->request.no_changes->empty());
  EXPECT_EQ(request->stated.seed, "5");
  EXPECT_EQ(request->stated.speed, "max");
}

TEST(StatedRequest, IsNotNeeded) {
  const OneFile files("");
  const auto request = read_up_request({}, files);
  ASSERT_TRUE(request.has_value());
  EXPECT_FALSE(request->request.no_changes.has_value());
  EXPECT_EQ(request->request.retention, live::Retention());
  UpOptions typed;
  typed.config = "other.yaml";
  EXPECT_EQ(read_up_request(typed, files).error().message, "other.yaml: no such file");
  typed.config = "";
  EXPECT_EQ(read_up_request(typed, files).error().message, "--config: wanted a file, found \"\"");
}

TEST(StatedRequest, ReadAgainSaysWhatItCannotChange) {
  StatedRequest running;
  running.stated.seed = "5";
  running.request.manage = {{.uuid = "GPU-1"}, {.uuid = "GPU-2"}};
  StatedRequest read = running;
  EXPECT_TRUE(find_unapplied(running, read).empty());
  read.stated.speed = "10";  // the default
  std::ranges::reverse(read.request.manage);
  EXPECT_TRUE(find_unapplied(running, read).empty());
  read.stated.seed = std::nullopt;
  read.stated.until = "90";
  read.request.manage.back().has_mig_mode = true;
  const auto unapplied = find_unapplied(running, read);
  ASSERT_EQ(unapplied.size(), 3U);
  EXPECT_EQ(unapplied[0].name, "seed");
  EXPECT_TRUE(unapplied[0].is_of_world);
  EXPECT_FALSE(unapplied[1].is_of_world);
  EXPECT_EQ(unapplied[0].in_force, "5");
  EXPECT_EQ(unapplied[0].found, "1");
  EXPECT_EQ(unapplied[1].name, "until");
  EXPECT_EQ(unapplied[1].in_force, "none");
  EXPECT_EQ(unapplied[2].name, "manage");
  EXPECT_EQ(unapplied[2].in_force, "GPU-1, GPU-2");
  EXPECT_EQ(unapplied[2].found, "GPU-1 with mig_mode, GPU-2");
  read.request.manage.clear();
  EXPECT_EQ(find_unapplied(running, read).back().found, "none");
}

TEST(StatedRequest, IsReadAgain) {
  UpOptions typed;
  typed.config = "c.yaml";
  const auto running = read_up_request(typed, OneFile("seed: 5"));
  ASSERT_TRUE(running.has_value()) << running.error().message;
  const auto read = read_config_again(typed, *running, OneFile("seed: 6\nretention: {series_days: 9}"));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->retention.series_days, 9);
  EXPECT_EQ(read->unapplied,
            (std::vector<live::UnappliedKey>{{.name = "seed", .in_force = "5", .found = "6", .is_of_world = true}}));
  EXPECT_FALSE(read_config_again(typed, *running, OneFile("seed: x")).has_value());
}

}  // namespace
}  // namespace berth::cli
