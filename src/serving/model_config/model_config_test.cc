#include "serving/model_config/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<ModelConfig> read(std::string_view text) { return read_model_config(text, "m/config.pbtxt", "m"); }

std::string error_of(std::string_view text) {
  const auto config = read(text);
  return config ? "no error" : config.error().message;
}

TEST(ModelConfig, ReadsWhatTritonWrites) {
  const auto config = read(R"(
    name: "m"                   # as the folder
    platform: "onnxruntime_onnx"
    max_batch_size: 8
    input [
      { name: "x" data_type: TYPE_FP32 format: FORMAT_NCHW dims: [ 3, -1, 0x20 ] },
      { name: "mask", data_type: TYPE_BOOL, dims: 1 dims: 2 }
    ]
    output < name: "y" data_type: TYPE_INT64 dims: [ 1000 ] label_filename: "labels.txt" >
    version_policy: { specific { versions: [ 3, 1, 3 ] } }
    parameters { key: "target_ms" value: { string_value: "12.5" } }
    parameters { key: "intra_op_thread_count" value: { string_value: "4" } }
    dynamic_batching {
      preferred_batch_size: [ 4, 8 ]
      max_queue_delay_microseconds: 100
      default_queue_policy { timeout_action: REJECT default_timeout_microseconds: 50000 max_queue_size: 16 }
    }
    instance_group [ { count: 2 kind: KIND_CPU } ]
    model_transaction_policy { decoupled: false }
    optimization { execution_accelerators { gpu_execution_accelerator: [ { name: "tensorrt" } ] } }
  )");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->name, "m");
  EXPECT_EQ(config->max_batch_size, 8);
  ASSERT_EQ(config->inputs.size(), 2U);
  EXPECT_EQ(config->inputs[0].name, "x");
  EXPECT_EQ(config->inputs[0].type, TensorType::kFp32);
  EXPECT_EQ(config->inputs[0].dims, (std::vector<std::int64_t>{3, -1, 32}));
  EXPECT_EQ(config->inputs[1].dims, (std::vector<std::int64_t>{1, 2}));
  ASSERT_EQ(config->outputs.size(), 1U);
  EXPECT_EQ(config->outputs[0].type, TensorType::kInt64);
  EXPECT_EQ(config->version_policy.kind, VersionPolicy::Kind::kSpecific);
  EXPECT_THAT(config->version_policy.versions, ElementsAre(1, 3));
  EXPECT_EQ(config->target, Micros(12'500));
  EXPECT_EQ(config->default_timeout, Micros(50'000));
  EXPECT_EQ(config->queue_max, 16);
  EXPECT_THAT(config->ignored,
              ::testing::UnorderedElementsAre("input.format", "output.label_filename", "optimization",
                                              "dynamic_batching.preferred_batch_size",
                                              "dynamic_batching.max_queue_delay_microseconds",
                                              "dynamic_batching.default_queue_policy.timeout_action", "instance_group",
                                              "parameters[\"intra_op_thread_count\"]"));
}

TEST(ModelConfig, AnEmptyTextSaysNothing) {
  const auto config = read("");
  ASSERT_TRUE(config);
  EXPECT_EQ(*config, ModelConfig{.file = "m/config.pbtxt"});
  EXPECT_EQ(config->version_policy.latest_count, 1);
}

TEST(ModelConfig, ReadsPoliciesOfVersions) {
  EXPECT_EQ(read("version_policy { all {} }")->version_policy.kind, VersionPolicy::Kind::kAll);
  EXPECT_EQ(read("version_policy { latest { num_versions: 3 } }")->version_policy.latest_count, 3);
  EXPECT_EQ(read("version_policy { latest {} }")->version_policy.latest_count, 1);
  EXPECT_EQ(read("version_policy { latest { num_versions: 0 } }")->version_policy.latest_count, 1);
  EXPECT_EQ(error_of("version_policy { specific {} }"),
            "m/config.pbtxt:1:18: version_policy.specific: wanted versions, found none");
  EXPECT_EQ(error_of("version_policy { specific { versions: 0 } }"),
            "m/config.pbtxt:1:29: version_policy.specific.versions: wanted at least 1, found 0");
  EXPECT_THAT(error_of("version_policy { all {} latest {} }"), HasSubstr("oneof"));
}

TEST(ModelConfig, ReadsTargetsAsMilliseconds) {
  const auto target_of = [](std::string_view text) {
    return read("parameters { key: \"target_ms\" value { string_value: \"" + std::string(text) + "\" } }");
  };
  EXPECT_EQ(target_of("25")->target, Micros(25'000));
  EXPECT_EQ(target_of("0.001")->target, Micros(1));
  EXPECT_EQ(target_of("99999999999")->target, kTargetMax);
  EXPECT_THAT(target_of("25")->ignored, IsEmpty());
  for (const char* wrong : {"", "0", "0.0", "-1", "1e3", "1.2345", ".5", "1.", " 1", "inf", "99999999999999999999"}) {
    const auto config = target_of(wrong);
    ASSERT_FALSE(config) << wrong;
    EXPECT_EQ(config.error().message,
              "m/config.pbtxt:1:39: parameters[\"target_ms\"]: wanted milliseconds above 0 with at most 3 decimals, "
              "found \"" +
                  std::string(wrong) + "\"");
  }
}

TEST(ModelConfig, BoundsNumbers) {
  const auto queue = [](const std::string& text) {
    return read("dynamic_batching { default_queue_policy { " + text + " } }");
  };
  EXPECT_EQ(queue("default_timeout_microseconds: 18446744073709551615")->default_timeout, kTargetMax);
  EXPECT_EQ(queue("default_timeout_microseconds: 0")->default_timeout, std::nullopt);
  EXPECT_EQ(queue("max_queue_size: 0")->queue_max, std::nullopt);
  EXPECT_EQ(queue("max_queue_size: 4294967295")->queue_max, 4'294'967'295);
  EXPECT_EQ(error_of("\n  max_batch_size: -1"), "m/config.pbtxt:2:3: max_batch_size: wanted at least 0, found -1");
  EXPECT_THAT(error_of("max_batch_size: 3000000000"), HasSubstr("m/config.pbtxt:1:17: "));
  EXPECT_EQ(error_of("input { name: \"x\" dims: [ 1, 0 ] }"),
            "m/config.pbtxt:1:19: input.dims: wanted -1 or sizes of at least 1, found 0");
}

struct RefusedRow {
  const char* text;
  const char* message;  ///< its begin, behind the file
};

class RefusedConfig : public ::testing::TestWithParam<RefusedRow> {};

TEST_P(RefusedConfig, NamesTheField) {
  EXPECT_THAT(error_of(GetParam().text), ::testing::StartsWith(std::string("m/config.pbtxt:") + GetParam().message))
      << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, RefusedConfig,
    ::testing::Values(
        RefusedRow{"platform: \"ensemble\" ensemble_scheduling { step { model_name: \"a\" } }",
                   "1:22: ensemble_scheduling: wanted a config without it, because ensembles are not offered"},
        RefusedRow{"sequence_batching { oldest { } }", "1:1: sequence_batching: "},
        RefusedRow{"model_transaction_policy { decoupled: true }", "1:28: model_transaction_policy.decoupled: "},
        RefusedRow{"input { name: \"x\" dims: 1 reshape { shape: [] } }", "1:27: input.reshape: "},
        RefusedRow{"input [ { name: \"x\" }, {\nname: \"y\"\nallow_ragged_batch: true } ]",
                   "3:1: input.allow_ragged_batch: "},
        RefusedRow{"input { name: \"x\" optional: true }", "1:19: input.optional: "},
        RefusedRow{"output { name: \"x\" reshape { shape: 4 } }", "1:20: output.reshape: "},
        RefusedRow{"output { name: \"x\" is_shape_tensor: true }", "1:20: output.is_shape_tensor: "},
        RefusedRow{"batch_input { kind: BATCH_ITEM_SHAPE }", "1:1: batch_input: "},
        RefusedRow{"batch_output { target_name: \"y\" }", "1:1: batch_output: "},
        RefusedRow{"model_operations { op_library_filename: \"/tmp/x.so\" }", "1:1: model_operations: "},
        RefusedRow{"cc_model_filenames { key: \"9.0\" value: \"h.onnx\" }", "1:1: cc_model_filenames: "},
        RefusedRow{"default_model_filename: \"other.onnx\"",
                   "1:1: default_model_filename: wanted \"model.onnx\", found \"other.onnx\""},
        RefusedRow{"name: \"n\"", "1:1: name: wanted the name of the model's folder, found \"n\""},
        RefusedRow{"platform: \"tensorrt_plan\"",
                   "1:1: platform: wanted \"onnxruntime_onnx\", found \"tensorrt_plan\""},
        RefusedRow{"backend: \"python\"", "1:1: backend: wanted \"onnxruntime\", found \"python\""},
        RefusedRow{"max_batchsize: 8", "1:14: Message type \"ModelConfig\" has no field named \"max_batchsize\"."},
        RefusedRow{"optimization { graf { } }", "1:21: Message type \"Optimization\" has no field named \"graf\"."},
        RefusedRow{"max_batch_size: 1 max_batch_size: 2", "1:33: Non-repeated field \"max_batch_size\""},
        RefusedRow{"input { name: \"x\"", "1:1"}, RefusedRow{"max_batch_size = 8", "1:16: "},
        RefusedRow{"input { dims: 3 }", "1:1: input: wanted a name, found none"},
        RefusedRow{"input { name: \"x\" } input { name: \"x\" }", "1:21: input: wanted each once, found \"x\" again"},
        RefusedRow{"input { name: \"x\" data_type: TYPE_FP8 }", "1:39: "},
        RefusedRow{"input { name: \"x\" data_type: TYPE_INVALID }", "1:19: input.data_type: "},
        RefusedRow{"parameters { key: \"a\" }", "1:1: parameters: wanted a key and a value"},
        RefusedRow{"parameters { key: \"a\" value { string_value: \"\\377\" } }", "1:1: parameters: wanted UTF-8"},
        RefusedRow{"{\"name\": \"m\"}", "1:1: "}, RefusedRow{"\xFF", " wanted UTF-8"}));

TEST(ModelConfig, BoundsDepthAndLength) {
  std::string deep;
  for (int i = 0; i < 50'000; ++i) deep += "optimization {";
  EXPECT_THAT(error_of(deep), ::testing::StartsWith("m/config.pbtxt:1:"));
  EXPECT_THAT(error_of(std::string((1U << 20U) + 1, ' ')), HasSubstr("wanted at most 1048576 bytes"));
  EXPECT_EQ(error_of(std::string(1U << 20U, ' ')), "no error");
}

}  // namespace
}  // namespace berth::serving
