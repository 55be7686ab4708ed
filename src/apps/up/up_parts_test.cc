#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apps/up/begin_world.h"
#include "apps/up/build_parts.h"
#include "apps/up/held_signals.h"
#include "apps/up/service.h"
#include "apps/up/stop_world.h"
#include "apps/up/up_parts.h"
#include "domain/ports/http_server.h"
#include "live/folder/recorded_files.h"
#include "live/session/session.h"

namespace berth::up {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kScenario = "scenario.yaml";

/// A server without connections.
class IdleServer final : public HttpServer {
 public:
  [[nodiscard]] std::uint16_t port() const override { return 4242; }
  void wake_streams() override {}
  void stop() override {}
};

/// A folder that does not exist yet, and starts in it: two simulated GPUs and no services.
class UpPartsTest : public ::testing::Test {
 protected:
  UpPartsTest()
      : base_(std::filesystem::temp_directory_path() / ("berth_up_parts_" + std::to_string(::getpid()))),
        out_(std::tmpfile()),
        err_(std::tmpfile()) {
    std::filesystem::remove_all(base_);
    std::filesystem::create_directories(base_);
    request_.scenario_path = kScenario;
    request_.has_load = false;  // applies to real devices only; a simulated world has load anyway
    request_.data_dir = folder().string();
    request_.listen = {.host = "127.0.0.1", .port = 0};
  }
  ~UpPartsTest() override {
    std::fclose(out_);
    std::fclose(err_);
    std::filesystem::remove_all(base_);
  }
  UpPartsTest(const UpPartsTest&) = delete;
  UpPartsTest& operator=(const UpPartsTest&) = delete;

  [[nodiscard]] std::filesystem::path folder() const { return base_ / "state"; }
  [[nodiscard]] UpOutside outside() const {
    return {
        .out = out_,
        .err = err_,
        .files = &files_,
        .start_server = [this](const std::string&, std::uint16_t, HttpHandler&) -> Result<std::unique_ptr<HttpServer>> {
          if (is_port_taken_) return fail(ErrorCode::kUnavailable, "the port is taken");
          return std::make_unique<IdleServer>();
        },
        .report_failure = [](const Error&) { return 1; }};
  }
  [[nodiscard]] Result<std::unique_ptr<UpParts>> build() {
    return build_parts(request_, outside(), {.search = &search_});
  }
  /// A whole run; returns its exit status.
  [[nodiscard]] Result<int> run() {
    auto parts = build();
    if (!parts) return pass_on(parts.error());
    const HeldSignals signals;
    const auto stopped = begin_world(**parts, signals);
    if (!stopped) return pass_on(stopped.error());
    if (auto started = start_service(**parts); !started) return pass_on(started.error());
    return stop_world(**parts, 0);
  }
  /// Everything written to the stream.
  [[nodiscard]] static std::string text_of(std::FILE* stream) {
    std::string text;
    EXPECT_EQ(std::fseek(stream, 0, SEEK_SET), 0);
    for (int byte = std::fgetc(stream); byte != EOF; byte = std::fgetc(stream)) text += static_cast<char>(byte);
    return text;
  }

  std::filesystem::path base_;
  std::FILE* out_;
  std::FILE* err_;
  live::RecordedFiles files_{
      {{kScenario, "berth: 1\nfleet: [{gpu: A100-80GB, count: 2}]\nwindow_seconds: 60\nservices: []\n"}}, {}};
  live::UpRequest request_;
  std::optional<edges::MachineSearch> search_;
  bool is_port_taken_ = false;
};

TEST_F(UpPartsTest, AreBuiltInOrderAndTornDown) {
  {
    auto parts = build();
    ASSERT_TRUE(parts.has_value()) << parts.error().message;
    EXPECT_NE((*parts)->session, nullptr);
    EXPECT_NE((*parts)->series, nullptr);
    EXPECT_EQ((*parts)->local, nullptr) << "the devices are simulated";
    EXPECT_EQ((*parts)->driver, nullptr) << "nothing runs yet";
    EXPECT_FALSE(search_.has_value()) << "nobody looks for devices";
    EXPECT_EQ((*parts)->session->scenario().gpu_count(), 2U);
    EXPECT_TRUE(std::filesystem::exists(folder() / "journal.db"));
  }
  const auto again = build();
  ASSERT_TRUE(again.has_value()) << "the folder is free again: " << again.error().message;
  EXPECT_TRUE((*again)->world.history.has_value()) << "the world began";
}

TEST_F(UpPartsTest, RunAndGoOnInTheSameFolder) {
  const auto first = run();
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_EQ(*first, 0);
  EXPECT_THAT(text_of(out_), HasSubstr("ready http://127.0.0.1:4242/ key: cat "));
  EXPECT_THAT(
      text_of(out_),
      ContainsRegex("/admin.key login: http://127.0.0.1:4242/#login=[0-9a-f]{32} \\(once, within 10 minutes\\)\n"));
  EXPECT_THAT(text_of(err_), HasSubstr(R"({"event":"ready")"));
  EXPECT_THAT(text_of(err_), Not(HasSubstr("login")));
  {
    auto parts = build();
    ASSERT_TRUE(parts.has_value()) << parts.error().message;
    ASSERT_TRUE((*parts)->world.history.has_value());
    EXPECT_TRUE((*parts)->world.history->session.has_value()) << "it was saved at the end";
  }
  const auto second = run();
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(*second, 0);
}

TEST_F(UpPartsTest, AreTornDownWhereTheServerCannotStart) {
  is_port_taken_ = true;
  const auto ended = run();
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().message, "the port is taken");
  is_port_taken_ = false;
  EXPECT_TRUE(run().has_value()) << "the folder is free, and its world is whole";
}

TEST_F(UpPartsTest, AStartThatIsRefusedLeavesNoFolder) {
  request_.scenario_path = "other.yaml";
  const auto parts = build();
  ASSERT_FALSE(parts.has_value());
  EXPECT_THAT(parts.error().message, HasSubstr("other.yaml"));
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(UpPartsTest, UnderFixedTheScenarioNeedsALayout) {
  request_.policy = "fixed";
  const auto file = build();
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().message,
            "--policy fixed: wanted a scenario with a layout, found \"scenario.yaml\", which has none");
  request_.scenario_path.reset();
  const auto demo = build();
  ASSERT_FALSE(demo.has_value());
  EXPECT_EQ(demo.error().message, "--policy fixed: wanted a scenario with a layout, found the demo, which has none");
}

TEST_F(UpPartsTest, ASecondStartInTheFolderIsRefused) {
  auto parts = build();
  ASSERT_TRUE(parts.has_value()) << parts.error().message;
  const auto second = build();
  ASSERT_FALSE(second.has_value());
  EXPECT_THAT(second.error().message, HasSubstr(std::to_string(::getpid())));
}

}  // namespace
}  // namespace berth::up
