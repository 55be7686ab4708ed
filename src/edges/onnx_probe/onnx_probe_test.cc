#include "edges/onnx_probe/onnx_probe.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "edges/onnx_probe/footprint_process.h"
#include "edges/onnx_runtime/onnx_library.h"
#include "models/onnx_file/testing/test_models.h"

namespace berth::edges {
namespace {

using berth::testing::kOnnxFloat;
using berth::testing::model_of;
using berth::testing::ProtoWriter;
using berth::testing::tensor_info;
using berth::testing::twice_model;

constexpr const char* kChildMark = "--as-footprint-process";

/// The words after the mark in those with which this program was called.
std::optional<std::vector<std::string>> child_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  const auto mark = std::ranges::find(words, kChildMark);
  if (mark == words.end()) return std::nullopt;
  return std::vector<std::string>(mark + 1, words.end());
}

/// Not a test: what this program does when it is started to measure a footprint.
TEST(DISABLED_FootprintChild, Runs) {
  const auto arguments = child_arguments();
  if (!arguments) GTEST_SKIP() << "only for the other tests";
  ::_exit(footprint_process(*arguments));
}

std::vector<std::string> child_command() {
  return {"/proc/self/exe", "--gtest_also_run_disabled_tests", "--gtest_filter=DISABLED_FootprintChild.Runs",
          kChildMark};
}

class OnnxProbeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(onnx_library_path()))
      GTEST_SKIP() << "no " << onnx_library_path() << ": scripts/setup";
    open({.library_path = onnx_library_path()});
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void open(OnnxProbeOptions options) {
    if (options.footprint_command.empty()) options.footprint_command = child_command();
    probe_ = nullptr;
    auto opened = open_onnx_probe(std::move(options));
    ASSERT_TRUE(opened) << opened.error().message;
    probe_ = std::move(*opened);
  }
  /// The path of a file with these bytes.
  const std::string& write(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }

  std::unique_ptr<ModelProbe> probe_;
  const std::string path_ = ::testing::TempDir() + "/onnx_probe_test_" + std::to_string(getpid()) + ".onnx";
};

Tensor floats(const std::string& name, std::vector<std::int64_t> shape, const std::vector<float>& values) {
  Tensor tensor{.name = name, .type = TensorType::kFp32, .shape = std::move(shape)};
  tensor.bytes.resize(values.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

ProtoWriter node(std::string_view op, std::string_view input, std::string_view output) {
  return ProtoWriter().text(1, input).text(2, output).text(4, op);
}

/// y = Abs(h), h = Neg(x); h and x are outputs, too, and the file says nothing of h but its name.
std::string model_with_inner_output() {
  return model_of(ProtoWriter()
                      .message(1, node("Neg", "x", "h"))
                      .message(1, node("Abs", "h", "y"))
                      .text(2, "inner")
                      .message(11, tensor_info("x", kOnnxFloat, {-1, 3}))
                      .message(12, tensor_info("y", kOnnxFloat, {-1, 3}))
                      .message(12, ProtoWriter().text(1, "h"))
                      .message(12, ProtoWriter().text(1, "x")));
}

constexpr EngineOptimisation kOptimisations[] = {EngineOptimisation::kNone, EngineOptimisation::kBasic,
                                                 EngineOptimisation::kAll};

TEST_F(OnnxProbeTest, SaysWhatItIs) {
  EXPECT_TRUE(probe_->name().starts_with("ONNX Runtime 1."));
  EXPECT_FALSE(probe_->device().empty());
}

TEST_F(OnnxProbeTest, GivesAnyOutputsInAnyOrder) {
  for (const EngineOptimisation optimisation : kOptimisations) {
    const auto model = probe_->load(model_with_inner_output(), optimisation);
    ASSERT_TRUE(model) << model.error().message;
    const std::vector<Tensor> inputs = {floats("x", {1, 3}, {1, -2, 3})};
    const std::vector<std::string> wanted = {"h", "y"};
    const auto outputs = (*model)->run(inputs, wanted);
    ASSERT_TRUE(outputs) << outputs.error().message;
    EXPECT_EQ(*outputs, (std::vector<Tensor>{floats("h", {1, 3}, {-1, 2, -3}), floats("y", {1, 3}, {1, 2, 3})}));
    const std::vector<std::string> input = {"x"};
    EXPECT_EQ((*model)->run(inputs, input).value(), inputs);
  }
}

TEST_F(OnnxProbeTest, InfersWhatTheFileDoesNotSay) {
  const auto model = probe_->load(model_with_inner_output(), EngineOptimisation::kNone);
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ((*model)->outputs().size(), 3U);
  EXPECT_EQ((*model)->outputs()[1], (TensorSignature{.name = "h", .type = TensorType::kFp32, .shape = {-1, 3}}));
  EXPECT_EQ((*model)->inputs()[0], (TensorSignature{.name = "x", .type = TensorType::kFp32, .shape = {-1, 3}}));
}

TEST_F(OnnxProbeTest, RefusesWhatIsNoModelAndWrongInputs) {
  for (const std::string& bytes : {std::string("no model"), std::string(), twice_model("NoSuchOperator", 2)}) {
    const auto refused = probe_->load(bytes, EngineOptimisation::kAll);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
  }
  const auto model = probe_->load(twice_model("Add", 2), EngineOptimisation::kAll);
  ASSERT_TRUE(model);
  const std::vector<std::string> wanted = {"y"};
  const std::vector<Tensor> wrong = {floats("x", {1, 3}, {1, 2, 3})};
  EXPECT_EQ((*model)->run(wrong, wanted).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ((*model)->time(wrong, 1).error().code, ErrorCode::kInvalidInput);
  const std::vector<Tensor> right = {floats("x", {1, 2}, {1, 2})};
  const std::vector<std::string> unknown = {"z"};
  EXPECT_EQ((*model)->run(right, unknown).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ((*model)->run(right, wanted).value()[0], floats("y", {1, 2}, {2, 4}));
}

TEST_F(OnnxProbeTest, TimesRunsWithoutConversions) {
  const auto model = probe_->load(twice_model("Add", 2), EngineOptimisation::kAll);
  ASSERT_TRUE(model);
  const std::vector<Tensor> inputs = {floats("x", {1, 2}, {1, 2})};
  const auto time = (*model)->time(inputs, 100);
  ASSERT_TRUE(time) << time.error().message;
  EXPECT_GT(time->count(), 0);
  RecordProperty("nanoseconds", std::to_string(time->count()));
}

TEST_F(OnnxProbeTest, AStoppedProbeRunsNothing) {
  std::atomic<bool> is_stopped = false;
  open({.library_path = onnx_library_path(), .is_stopped = [&is_stopped] { return is_stopped.load(); }});
  const auto model = probe_->load(twice_model("Add", 2), EngineOptimisation::kAll);
  ASSERT_TRUE(model);
  const std::vector<Tensor> inputs = {floats("x", {1, 2}, {1, 2})};
  ASSERT_TRUE((*model)->time(inputs, 1));
  std::thread stopper([&is_stopped] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    is_stopped = true;
  });
  const auto stopped = (*model)->time(inputs, 2'000'000'000);
  stopper.join();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kInterrupted);
  const std::vector<std::string> wanted = {"y"};
  EXPECT_EQ((*model)->run(inputs, wanted).error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(probe_->load(twice_model("Add", 2), EngineOptimisation::kAll).error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(probe_->footprint(path_, inputs).error().code, ErrorCode::kInterrupted);
}

TEST_F(OnnxProbeTest, ADeadlineEndsARun) {
  Result<std::unique_ptr<ProbedModel>> model = invalid("not loaded");
  for (std::chrono::milliseconds time(200); !model && time < std::chrono::minutes(1); time *= 4) {
    open({.library_path = onnx_library_path(), .deadline = std::chrono::steady_clock::now() + time});
    model = probe_->load(twice_model("Add", 2), EngineOptimisation::kAll);  // in vain on a busy machine
  }
  ASSERT_TRUE(model);
  const std::vector<Tensor> inputs = {floats("x", {1, 2}, {1, 2})};
  EXPECT_EQ((*model)->time(inputs, 2'000'000'000).error().code, ErrorCode::kInterrupted);
}

TEST_F(OnnxProbeTest, MeasuresAFootprintInAProcessOfItsOwn) {
  const std::vector<Tensor> small = {floats("x", {1, 2}, {1, 2})};
  const auto little = probe_->footprint(write(twice_model("Add", 2)), small);
  ASSERT_TRUE(little) << little.error().message;
  EXPECT_GT(little->load.count(), 0);
  EXPECT_GT(little->loaded_bytes, 0);
  EXPECT_GE(little->run_bytes, little->loaded_bytes / 2);
  constexpr std::int64_t kRows = 4'000'000;
  const std::vector<Tensor> large = {floats("x", {kRows, 2}, std::vector<float>(2 * kRows))};
  const auto much = probe_->footprint(path_, large);
  ASSERT_TRUE(much) << much.error().message;
  EXPECT_GT(much->run_bytes - much->loaded_bytes, kRows * 8 * 9 / 10) << "the output";
  EXPECT_LT(much->run_bytes - much->loaded_bytes, kRows * 8 * 2);
}

TEST_F(OnnxProbeTest, NamesWhatIsWrongInTheOtherProcess) {
  const std::vector<Tensor> inputs = {floats("x", {1, 2}, {1, 2})};
  EXPECT_EQ(probe_->footprint(path_ + ".missing", inputs).error().code, ErrorCode::kNotFound);
  const std::vector<Tensor> wrong = {floats("z", {1, 2}, {1, 2})};
  EXPECT_EQ(probe_->footprint(write(twice_model("Add", 2)), wrong).error().code, ErrorCode::kInvalidInput);
}

TEST_F(OnnxProbeTest, NamesTheSignalThatEndsTheOtherProcess) {
  open({.library_path = onnx_library_path(), .footprint_command = {"/bin/sh", "-c", "kill -SEGV $$"}});
  const auto crashed = probe_->footprint(path_, {});
  ASSERT_FALSE(crashed);
  EXPECT_EQ(crashed.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(crashed.error().message.find("SIGSEGV"), std::string::npos) << crashed.error().message;
  open({.library_path = onnx_library_path(), .footprint_command = {"/bin/sh", "-c", "exit 5"}});
  EXPECT_NE(probe_->footprint(path_, {}).error().message.find("status 5"), std::string::npos);
  open({.library_path = onnx_library_path(), .footprint_command = {"/no/such/program"}});
  EXPECT_EQ(probe_->footprint(path_, {}).error().code, ErrorCode::kUnavailable);
}

TEST_F(OnnxProbeTest, AProcessThatHangsIsKilled) {
  open({.library_path = onnx_library_path(),
        .footprint_command = {"/bin/sh", "-c", "exec sleep 1000"},
        .footprint_time_max = std::chrono::seconds(1)});
  const auto hung = probe_->footprint(path_, {});
  ASSERT_FALSE(hung);
  EXPECT_EQ(hung.error().code, ErrorCode::kTimedOut);
}

TEST(OnnxProbe, SaysHowToGetTheLibrary) {
  const auto probe = open_onnx_probe({.library_path = "/no/such/library.so"});
  ASSERT_FALSE(probe);
  EXPECT_NE(probe.error().message.find("scripts/setup"), std::string::npos);
}

}  // namespace
}  // namespace berth::edges
