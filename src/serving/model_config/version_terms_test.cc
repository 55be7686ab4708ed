#include "serving/model_config/version_terms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace berth::serving {
namespace {

using models::OnnxFile;
using models::OnnxTensor;

/// x [N, 3, 4] and mask [N, 2] to y [N, 10] and z [N].
OnnxFile row_file() {
  return {
      .ir_version = 8,
      .inputs = {{.name = "x", .shape = {{-1, 3, 4}}}, {.name = "mask", .type = TensorType::kBool, .shape = {{-1, 2}}}},
      .outputs = {{.name = "y", .shape = {{-1, 10}}}, {.name = "z", .type = TensorType::kInt64, .shape = {{-1}}}},
      .weight_bytes = 123};
}

/// x [1, 4] to y [1].
OnnxFile fixed_file() {
  return {.ir_version = 8, .inputs = {{.name = "x", .shape = {{1, 4}}}}, .outputs = {{.name = "y", .shape = {{1}}}}};
}

Result<VersionTerms> terms_of(const OnnxFile& file, std::string_view text) {
  const auto config = read_model_config(text, "m/config.pbtxt", "m");
  if (!config) return tl::unexpected<Error>(config.error());
  return version_terms(file, "m/1/model.onnx", *config);
}

std::string error_of(const OnnxFile& file, std::string_view text) {
  const auto terms = terms_of(file, text);
  return terms ? "no error" : terms.error().message;
}

constexpr const char* kRowConfig = R"(max_batch_size: 8
input { name: "x" data_type: TYPE_FP32 dims: [ 3, 4 ] }
input { name: "mask" data_type: TYPE_BOOL dims: 2 }
output { name: "y" data_type: TYPE_FP32 dims: 10 })";

TEST(VersionTerms, WithoutAConfigTheFileDecides) {
  const auto terms = version_terms(row_file(), "m/1/model.onnx", std::nullopt);
  ASSERT_TRUE(terms) << terms.error().message;
  EXPECT_EQ(terms->inputs[0], (TensorSignature{.name = "x", .type = TensorType::kFp32, .shape = {-1, 3, 4}}));
  EXPECT_EQ(terms->outputs[1], (TensorSignature{.name = "z", .type = TensorType::kInt64, .shape = {-1}}));
  EXPECT_EQ(terms->rows_max, 64);
  EXPECT_TRUE(terms->needs_proof);
  EXPECT_EQ(terms->target, Micros::seconds(30));
  EXPECT_EQ(terms->queue_max, std::nullopt);
  EXPECT_EQ(terms->weight_bytes, 123);
  const auto fixed = version_terms(fixed_file(), "m/1/model.onnx", std::nullopt);
  ASSERT_TRUE(fixed);
  EXPECT_EQ(fixed->rows_max, 0);
  EXPECT_FALSE(fixed->needs_proof);
  EXPECT_EQ(fixed->inputs[0].shape, (std::vector<std::int64_t>{1, 4}));
}

TEST(VersionTerms, AConfigOfOtherThingsIsCompletedFromTheFile) {
  const auto terms = terms_of(row_file(), "parameters { key: \"target_ms\" value { string_value: \"20\" } }");
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->rows_max, 64);
  EXPECT_TRUE(terms->needs_proof);
  EXPECT_EQ(terms->target, Micros(20'000));
  const auto unbatched = terms_of(row_file(), "max_batch_size: 0");
  ASSERT_TRUE(unbatched);
  EXPECT_EQ(unbatched->rows_max, 0);
  EXPECT_FALSE(unbatched->needs_proof);
  EXPECT_EQ(unbatched->inputs[0].shape, (std::vector<std::int64_t>{-1, 3, 4}));
}

TEST(VersionTerms, AConfigWithBatchesIsBelieved) {
  const auto terms = terms_of(row_file(), kRowConfig);
  ASSERT_TRUE(terms) << terms.error().message;
  EXPECT_EQ(terms->rows_max, 8);
  EXPECT_FALSE(terms->needs_proof);
  EXPECT_EQ(terms->inputs[0].shape, (std::vector<std::int64_t>{-1, 3, 4}));
  EXPECT_EQ(terms->inputs[1].shape, (std::vector<std::int64_t>{-1, 2}));
  ASSERT_EQ(terms->outputs.size(), 1U);  // only what the config lists
  EXPECT_EQ(terms->outputs[0].shape, (std::vector<std::int64_t>{-1, 10}));
  EXPECT_EQ(terms_of(row_file(), "max_batch_size: 4")->inputs[0].shape, (std::vector<std::int64_t>{-1, 3, 4}));
}

TEST(VersionTerms, AConfigWithoutBatchesListsWholeShapes) {
  const std::string text = "input { name: \"x\" data_type: TYPE_FP32 dims: [ 1, 4 ] } output { name: \"y\" dims: 1 }";
  const auto terms = terms_of(fixed_file(), text);
  ASSERT_TRUE(terms) << terms.error().message;
  EXPECT_EQ(terms->rows_max, 0);
  EXPECT_EQ(terms->inputs[0].shape, (std::vector<std::int64_t>{1, 4}));
}

TEST(VersionTerms, AConfigMayNarrowWhatTheFileLeavesOpen) {
  OnnxFile file = row_file();
  file.inputs = {{.name = "x", .shape = {{-1, 3, -1, -1}}}};
  const auto terms = terms_of(file, "max_batch_size: 2 input { name: \"x\" dims: [ 3, 224, -1 ] }");
  ASSERT_TRUE(terms) << terms.error().message;
  EXPECT_EQ(terms->inputs[0].shape, (std::vector<std::int64_t>{-1, 3, 224, -1}));
}

TEST(VersionTerms, TargetsComeFromTheParameterThenTheTimeout) {
  const std::string timeout =
      "dynamic_batching { default_queue_policy { default_timeout_microseconds: 7 max_queue_size: 3 } }";
  EXPECT_EQ(terms_of(row_file(), timeout)->target, Micros(7));
  EXPECT_EQ(terms_of(row_file(), timeout)->queue_max, 3);
  EXPECT_EQ(terms_of(row_file(), timeout + "parameters { key: \"target_ms\" value { string_value: \"1\" } }")->target,
            Micros(1'000));
}

TEST(VersionTerms, NamesTheFieldThatDisagrees) {
  EXPECT_EQ(error_of(fixed_file(), "\nmax_batch_size: 8"),
            "m/config.pbtxt:2:1: max_batch_size: wanted 0, because the first dimension of input \"x\" in "
            "m/1/model.onnx is 1, "
            "found 8");
  OnnxFile scalar = row_file();
  scalar.inputs.push_back({.name = "sr", .type = TensorType::kInt64, .shape = {{}}});
  EXPECT_EQ(error_of(scalar, "max_batch_size: 8"),
            "m/config.pbtxt:1:1: max_batch_size: wanted 0, because the first dimension of input \"sr\" in "
            "m/1/model.onnx does "
            "not exist, found 8");
  EXPECT_EQ(error_of(row_file(), "input { name: \"x\" }"),
            "m/config.pbtxt:1:1: input: wanted all inputs of m/1/model.onnx, found no \"mask\"");
  EXPECT_EQ(error_of(fixed_file(), "input { name: \"x\" } input { name: \"w\" }"),
            "m/config.pbtxt:1:21: input: wanted an input of m/1/model.onnx, found \"w\"; it has \"x\"");
  EXPECT_EQ(error_of(fixed_file(), "output { name: \"w\" }"),
            "m/config.pbtxt:1:1: output: wanted an output of m/1/model.onnx, found \"w\"; it has \"y\"");
  EXPECT_EQ(error_of(fixed_file(), "input { name: \"x\" data_type: TYPE_INT8 }"),
            "m/config.pbtxt:1:1: input.data_type: wanted TYPE_FP32 for \"x\", as in m/1/model.onnx, found TYPE_INT8");
  EXPECT_EQ(error_of(fixed_file(), "input { name: \"x\" dims: [ 1, 5 ] }"),
            "m/config.pbtxt:1:1: input.dims: wanted [1, 4] for \"x\", as in m/1/model.onnx, found [1, 5]");
  EXPECT_EQ(error_of(fixed_file(), "input { name: \"x\" dims: [ -1, 4 ] }"),
            "m/config.pbtxt:1:1: input.dims: wanted [1, 4] for \"x\", as in m/1/model.onnx, found [-1, 4]");
  EXPECT_EQ(
      error_of(row_file(), "max_batch_size: 1 output { name: \"y\" dims: [ -1, 10 ] }"),
      "m/config.pbtxt:1:19: output.dims: wanted [10] for \"y\", as in m/1/model.onnx without the rows, found [-1, 10]");
  OnnxFile no_inputs = row_file();
  no_inputs.inputs.clear();
  EXPECT_EQ(error_of(no_inputs, "max_batch_size: 1"),
            "m/config.pbtxt:1:1: max_batch_size: wanted 0, because m/1/model.onnx has no inputs, found 1");
}

TEST(VersionTerms, UnknownShapes) {
  OnnxFile file = fixed_file();
  file.outputs[0].shape.reset();
  EXPECT_EQ(version_terms(file, "f", std::nullopt)->outputs[0].shape, std::vector<std::int64_t>{-1});
  EXPECT_EQ(version_terms(file, "f", std::nullopt)->rows_max, 0);
  file.inputs[0].shape.reset();
  EXPECT_EQ(version_terms(file, "f", std::nullopt).error().message,
            "f: input \"x\": wanted a shape here or dims in config.pbtxt, found neither");
  EXPECT_EQ(error_of(file, "input { name: \"x\" }"),
            "m/config.pbtxt:1:1: input.dims: wanted sizes for \"x\", because m/1/model.onnx has none, found none");
  const std::string dims = "max_batch_size: 3 input { name: \"x\" dims: 4 } output { name: \"y\" dims: 1 }";
  EXPECT_EQ(terms_of(file, dims)->inputs[0].shape, (std::vector<std::int64_t>{-1, 4}));
  EXPECT_EQ(terms_of(file, dims)->rows_max, 3);
}

}  // namespace
}  // namespace berth::serving
