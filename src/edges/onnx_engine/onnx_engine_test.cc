#include "edges/onnx_engine/onnx_engine.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "edges/files/disk_tree.h"
#include "edges/onnx_runtime/onnx_library.h"
#include "models/onnx_file/onnx_file.h"
#include "models/onnx_file/testing/test_models.h"

namespace berth::edges {
namespace {

using berth::testing::twice_model;

class OnnxEngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(onnx_library_path()))
      GTEST_SKIP() << "no " << onnx_library_path() << ": scripts/setup";
    auto opened = open_onnx_engine({.library_path = onnx_library_path()});
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  /// The model of a file with these bytes.
  Result<std::unique_ptr<LoadedModel>> load(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return engine_->load({.path = path_});
  }

  std::unique_ptr<ModelEngine> engine_;
  const std::string path_ = ::testing::TempDir() + "/onnx_engine_test_" + std::to_string(getpid()) + ".onnx";
};

Tensor floats(const std::string& name, std::vector<std::int64_t> shape, const std::vector<float>& values) {
  Tensor tensor{.name = name, .type = TensorType::kFp32, .shape = std::move(shape)};
  tensor.bytes.resize(values.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

TEST_F(OnnxEngineTest, RunsAModel) {
  EXPECT_TRUE(engine_->name().starts_with("ONNX Runtime 1."));
  const auto model = load(twice_model("Add", 2));
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ((*model)->inputs().size(), 1U);
  EXPECT_EQ((*model)->inputs()[0], (TensorSignature{.name = "x", .type = TensorType::kFp32, .shape = {-1, 2}}));
  EXPECT_EQ((*model)->outputs()[0].name, "y");
  const std::vector<Tensor> inputs = {floats("x", {3, 2}, {1, 2, 3, 4, 5, 6})};
  const auto outputs = (*model)->begin()->run(inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ(*outputs, std::vector<Tensor>{floats("y", {3, 2}, {2, 4, 6, 8, 10, 12})});
}

TEST_F(OnnxEngineTest, SaysWhatTheFileSays) {
  using Sizes = std::vector<std::int64_t>;
  for (const Sizes& sizes : {Sizes{-1, 2}, Sizes{-1}, Sizes{3, 0}, Sizes{}, Sizes{1, -1, 4}}) {
    const std::string bytes = twice_model("Add", sizes);
    const auto model = load(bytes);
    ASSERT_TRUE(model) << model.error().message;
    const auto file = models::read_onnx_file(*file_over(bytes), "model");
    ASSERT_TRUE(file) << file.error().message;
    const TensorSignature& input = (*model)->inputs()[0];
    EXPECT_EQ(file->inputs[0], (models::OnnxTensor{.name = input.name, .type = input.type, .shape = input.shape}));
    const TensorSignature& output = (*model)->outputs()[0];
    EXPECT_EQ(file->outputs[0], (models::OnnxTensor{.name = output.name, .type = output.type, .shape = output.shape}));
  }
}

TEST_F(OnnxEngineTest, RefusesWrongInputsAndGoesOn) {
  const auto model = load(twice_model("Mul", 2));
  ASSERT_TRUE(model);
  const std::vector<Tensor> wrong = {floats("x", {1, 3}, {1, 2, 3})};
  const auto refused = (*model)->begin()->run(wrong);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
  const std::vector<Tensor> right = {floats("x", {1, 2}, {3, 4})};
  EXPECT_EQ((*model)->begin()->run(right).value()[0], floats("y", {1, 2}, {9, 16}));
}

TEST_F(OnnxEngineTest, RefusesFilesThatAreNoModel) {
  EXPECT_FALSE(load("no model"));
  EXPECT_FALSE(load(""));
  EXPECT_FALSE(load(twice_model("NoSuchOperator", 2)));
  const auto missing = engine_->load({.path = path_ + ".missing"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

TEST_F(OnnxEngineTest, AStoppedRunEndsWithAnError) {
  const auto model = load(twice_model("Add", 1));
  ASSERT_TRUE(model);
  const auto run = (*model)->begin();
  run->stop();
  const std::vector<Tensor> inputs = {floats("x", {1, 1}, {1})};
  const auto outputs = run->run(inputs);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, ErrorCode::kInterrupted);
}

/// An engine that keeps optimised models in a folder of its own, and what it says.
class OnnxCacheTest : public OnnxEngineTest {
 protected:
  void SetUp() override {
    OnnxEngineTest::SetUp();
    if (IsSkipped()) return;
    std::filesystem::remove_all(cache_);
    std::ofstream(path_, std::ios::binary) << twice_model("Add", 2);
    restart();
  }
  void TearDown() override {
    engine_ = nullptr;
    std::filesystem::remove_all(cache_);
    OnnxEngineTest::TearDown();
  }
  std::unique_ptr<ModelEngine> open(const std::string& folder) {
    const auto report = [this](const std::string& line) { said_.push_back(line); };
    return open_onnx_engine({.library_path = onnx_library_path(), .cache = folder, .report = report}).value();
  }
  void restart() {
    engine_ = nullptr;  // one at a time
    engine_ = open(cache_);
  }
  [[nodiscard]] ModelFile file(const std::string& sha256) const {
    return {.path = path_, .sha256 = sha256, .stamp = DiskTree().open(path_).value()->stamp()};
  }
  /// What the model makes of 1 and 2, or why it cannot be loaded.
  std::vector<float> answer(const ModelFile& of) {
    const auto model = engine_->load(of);
    if (!model) return {};
    const std::vector<Tensor> inputs = {floats("x", {1, 2}, {1, 2})};
    const Tensor output = (*model)->begin()->run(inputs).value()[0];
    std::vector<float> values(output.bytes.size() / sizeof(float));
    std::memcpy(values.data(), output.bytes.data(), output.bytes.size());
    return values;
  }
  [[nodiscard]] std::vector<std::string> kept() const {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(cache_)) paths.push_back(entry.path());
    return paths;
  }
  static std::string read(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  const std::string cache_ = path_ + ".cache";
  std::vector<std::string> said_;
  const std::vector<float> right_ = {2, 4};
};

TEST_F(OnnxCacheTest, ALaterLoadFindsWhatAnEarlierOneKept) {
  EXPECT_TRUE(engine_->wants_sha256());
  const ModelFile first = file("aa");
  EXPECT_EQ(answer(first), right_);
  ASSERT_EQ(kept().size(), 1U);
  EXPECT_NE(kept()[0].find("/aa.onnxruntime-1."), std::string::npos);
  std::filesystem::remove(path_);
  EXPECT_EQ(answer(first), right_) << "of the folder";
  restart();
  EXPECT_EQ(answer(first), right_);
  EXPECT_TRUE(answer({.path = path_}).empty()) << "not without the sum";
  EXPECT_TRUE(said_.empty()) << said_[0];
}

TEST_F(OnnxCacheTest, EveryDamageIsFoundAndReplaced) {
  const ModelFile model = file("aa");
  ASSERT_EQ(answer(model), right_);
  const std::string path = kept().at(0);
  const std::string whole = read(path);
  std::vector<std::string> damaged = {"", "x", twice_model("Mul", 2), whole + "x", whole.substr(1)};
  for (std::size_t i = 0; i < whole.size(); i += 5) {
    damaged.push_back(whole.substr(0, i));
    damaged.push_back(whole);
    damaged.back()[i] = static_cast<char>(damaged.back()[i] ^ 1);
  }
  for (const std::string& bytes : damaged) {
    said_.clear();
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    ASSERT_EQ(answer(model), right_);
    ASSERT_EQ(said_.size(), 1U);
    ASSERT_EQ(read(path), whole);
  }
}

TEST_F(OnnxCacheTest, AFileOfAnotherModelIsForeign) {
  ASSERT_EQ(answer(file("aa")), right_);
  const std::string name = kept().at(0);
  std::ofstream(path_, std::ios::binary | std::ios::trunc) << twice_model("Mul", 2);
  std::string other = name;
  other.replace(other.find("/aa."), 3, "/bb");
  std::filesystem::rename(name, other);
  EXPECT_EQ(answer(file("bb")), (std::vector<float>{1, 4}));
  EXPECT_EQ(said_.size(), 1U);
}

TEST_F(OnnxCacheTest, AFolderThatCannotBeWrittenFailsNothing) {
  std::ofstream(cache_ + ".file") << "no folder";
  engine_ = nullptr;
  engine_ = open(cache_ + ".file");
  EXPECT_EQ(answer(file("aa")), right_);
  EXPECT_FALSE(said_.empty());
  std::filesystem::remove(cache_ + ".file");
}

TEST_F(OnnxCacheTest, OnlyWholeFilesWithThisContentAreKept) {
  ModelFile changed = file("aa");
  changed.stamp.bytes += 1;
  EXPECT_EQ(answer(changed), right_);
  EXPECT_TRUE(kept().empty());
  std::ofstream(path_, std::ios::binary | std::ios::trunc) << "no model";
  EXPECT_TRUE(answer(file("bb")).empty());
  EXPECT_TRUE(kept().empty());
  EXPECT_TRUE(said_.empty()) << said_[0];
}

TEST_F(OnnxCacheTest, WhatKilledProcessesLeftIsRemovedAfterAnHour) {
  const std::string old_part = cache_ + "/.aa.1.1.part";
  const std::string new_part = cache_ + "/.aa.2.1.part";
  for (const std::string& path : {old_part, new_part, cache_ + "/notes.part"}) std::ofstream(path) << "part";
  std::filesystem::last_write_time(old_part, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  restart();
  EXPECT_FALSE(std::filesystem::exists(old_part));
  EXPECT_TRUE(std::filesystem::exists(new_part));
  EXPECT_TRUE(std::filesystem::exists(cache_ + "/notes.part"));
}

TEST_F(OnnxEngineTest, ARunThatWantsTooMuchMemoryFailsAlone) {
  engine_ = nullptr;
  engine_ = open_onnx_engine({.library_path = onnx_library_path(), .run_bytes_max = 1'000'000}).value();
  const auto model = load(twice_model("Add", 2));
  ASSERT_TRUE(model) << model.error().message;
  const std::vector<Tensor> small = {floats("x", {1, 2}, {1, 2})};
  ASSERT_TRUE((*model)->begin()->run(small));
  const std::int64_t bytes = (*model)->bytes();
  EXPECT_GT(bytes, 0);
  const std::vector<Tensor> large = {floats("x", {200'000, 2}, std::vector<float>(400'000))};
  const auto refused = (*model)->begin()->run(large);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find("left of the 1000000"), std::string::npos) << refused.error().message;
  EXPECT_TRUE((*model)->begin()->run(small));
  EXPECT_EQ((*model)->bytes(), bytes);
}

TEST(OnnxLibrary, NamesTheMissingProvider) {
  const auto provider = find_cuda_provider("/no/such/libonnxruntime.so.1", 3);
  ASSERT_FALSE(provider);
  EXPECT_EQ(
      provider.error().message,
      "--device cuda:3: wanted /no/such/libonnxruntime_providers_cuda.so, found none; scripts/setup cuda gets it, "
      "with the library for it");
  EXPECT_NE(onnx_cuda_library_path(), onnx_library_path());
}

TEST(OnnxLibrary, SaysHowToGetIt) {
  const auto library = OnnxLibrary::open("/no/such/library.so");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(library.error().message.find("scripts/setup"), std::string::npos);
}

}  // namespace
}  // namespace berth::edges
