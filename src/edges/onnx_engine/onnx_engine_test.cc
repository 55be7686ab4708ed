#include "edges/onnx_engine/onnx_engine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "edges/onnx_engine/onnx_library.h"
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
    auto opened = open_onnx_engine(onnx_library_path());
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  /// The model of a file with these bytes.
  Result<std::unique_ptr<LoadedModel>> load(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return engine_->load(path_);
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
  const auto missing = engine_->load(path_ + ".missing");
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

TEST(OnnxLibrary, SaysHowToGetIt) {
  const auto library = OnnxLibrary::open("/no/such/library.so");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(library.error().message.find("scripts/setup"), std::string::npos);
}

}  // namespace
}  // namespace berth::edges
