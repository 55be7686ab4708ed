#include "surface/cli/shared/run_outputs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

namespace berth::cli {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A verb with a report and two files of lines in a temporary folder, interrupted or blocked at some stage.
class RunOutputsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/run_outputs_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    ASSERT_FALSE(folder_.empty());
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// Nothing is left: no file, no part of one, no folder.
  [[nodiscard]] bool is_clean() const { return fs::is_empty(folder_); }

  /// A whole run with these paths.
  Result<std::string> run(const std::string& report, const std::string& log, const std::string& runs) {
    RunOutputs outputs;
    interfere("begin");
    outputs.begin();
    if (auto opened = outputs.open_report(report); !opened) return pass_on(opened.error());
    const auto first = outputs.open_lines(log);
    if (!first) return pass_on(first.error());
    const auto second = outputs.open_lines(runs);
    if (!second) return pass_on(second.error());
    interfere("run");
    for (int i = 0; i < 1'000 && outputs.may_continue(); ++i) {
      (*first)->add(std::string(999, 'a') + "\n");
      (*second)->add(std::string(999, 'b') + "\n");
      ++polls_;
    }
    return outputs.finish({.text =
                               [&] {
                                 interfere("render");
                                 return std::string("text\n");
                               },
                           .page = [] { return std::string("<page>"); }});
  }
  void interfere(const std::string& stage) const {
    if (stage == interrupt_at_) std::raise(SIGTERM);
    if (stage == block_page_at_) fs::create_directory(folder_ / "a" / "b" / "index.html");
  }

  fs::path folder_;
  std::string interrupt_at_;
  std::string block_page_at_;
  int polls_ = 0;
};

TEST_F(RunOutputsTest, WritesAllThatIsWanted) {
  EXPECT_EQ(run(path("a/b"), path("log"), path("runs")), "text\n");
  EXPECT_EQ(content_of(path("a/b/index.html")), "<page>");
  EXPECT_EQ(content_of(path("log")).size(), 1'000'000U);
  EXPECT_EQ(content_of(path("runs")).back(), '\n');
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3);
}

TEST_F(RunOutputsTest, NothingIsWrittenIfNothingIsWanted) {
  RunOutputs outputs;
  outputs.begin();
  ASSERT_TRUE(outputs.open_report(std::nullopt));
  const auto lines = outputs.open_lines(std::nullopt);
  ASSERT_TRUE(lines);
  (*lines)->add("line\n");
  bool has_page = false;
  EXPECT_EQ(outputs.finish({.text = [] { return std::string("text"); },
                            .page =
                                [&] {
                                  has_page = true;
                                  return std::string();
                                }}),
            "text");
  EXPECT_FALSE(has_page);
  EXPECT_TRUE(is_clean());
}

TEST_F(RunOutputsTest, WhatCannotBeOpenedLeavesNothing) {
  std::ofstream(path("file")) << "x";
  EXPECT_EQ(run(path("file"), path("log"), path("runs")).error().code, ErrorCode::kUnavailable);
  fs::remove(path("file"));
  EXPECT_EQ(run(path("a/b"), path("none/log"), path("runs")).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(is_clean());
  EXPECT_EQ(run(path("a/b"), path("log"), path("none/runs")).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(is_clean());
  EXPECT_EQ(polls_, 0);
}

TEST_F(RunOutputsTest, AnInterruptLeavesNothing) {
  for (const char* stage : {"run", "render"}) {
    interrupt_at_ = stage;
    polls_ = 0;
    const auto outcome = run(path("a/b"), path("log"), path("runs"));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::kInterrupted);
    EXPECT_EQ(polls_ == 0, std::string(stage) == "run");
    EXPECT_TRUE(is_clean());
  }
}

TEST_F(RunOutputsTest, AnInterruptBeforeTheBeginningEndsTheProgram) {
  interrupt_at_ = "begin";
  EXPECT_EXIT((void)run(path("a/b"), path("log"), path("runs")), ::testing::ExitedWithCode(130), "berth: interrupted");
  EXPECT_TRUE(is_clean());
}

TEST_F(RunOutputsTest, LinesThatCannotBeWrittenStopTheRun) {
  for (const bool is_first : {true, false}) {
    polls_ = 0;
    const auto outcome = run(path("a/b"), is_first ? "/dev/full" : path("log"), is_first ? path("runs") : "/dev/full");
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(outcome.error().message.find("/dev/full"), std::string::npos);
    EXPECT_LT(polls_, 1'000);
    EXPECT_TRUE(is_clean());
  }
}

TEST_F(RunOutputsTest, APageThatCannotBeWrittenLeavesNoLines) {
  block_page_at_ = "run";
  EXPECT_EQ(run(path("a/b"), path("log"), path("runs")).error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(fs::exists(path("log")));
  EXPECT_FALSE(fs::exists(path("runs")));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "a" / "b"), {}), 1);  // the file that was in the way
}

TEST_F(RunOutputsTest, BehindAFileThatCannotBeCompletedNothingIs) {
  {
    RunOutputs outputs;
    outputs.begin();
    ASSERT_TRUE(outputs.open_report(path("a/b")));
    outputs.add_file([] { return Result<void>(fail(ErrorCode::kUnavailable, "full")); });
    const auto lines = outputs.open_lines(path("log"));
    ASSERT_TRUE(lines);
    (*lines)->add("line\n");
    const auto outcome =
        outputs.finish({.text = [] { return std::string("text"); }, .page = [] { return std::string("page"); }});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().message, "full");
  }
  EXPECT_TRUE(is_clean());
}

TEST_F(RunOutputsTest, ARunThatFailsLeavesNothing) {
  {
    RunOutputs outputs;
    outputs.begin();
    ASSERT_TRUE(outputs.open_report(path("a/b")));
    const auto lines = outputs.open_lines(path("log"));
    ASSERT_TRUE(lines);
    (*lines)->add("line\n");
  }
  EXPECT_TRUE(is_clean());
}

}  // namespace
}  // namespace berth::cli
