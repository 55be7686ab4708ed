#include "edges/grpc_server/oip/infer_messages.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace berth::edges {
namespace {

using inference::ModelInferRequest;
using serving::ServeFault;
using namespace std::string_literals;

using InputMessage = ModelInferRequest::InferInputTensor;

InputMessage& add_input(ModelInferRequest& message, const std::string& datatype,
                        const std::vector<std::int64_t>& shape) {
  InputMessage& input = *message.add_inputs();
  input.set_name("x");
  input.set_datatype(datatype);
  input.mutable_shape()->Assign(shape.begin(), shape.end());
  return input;
}

struct TypedRow {
  std::string datatype;
  std::function<void(inference::InferTensorContents&)> fill;  ///< two elements
  TensorType type;
  std::string bytes;
};

std::vector<TypedRow> typed_rows() {
  using Contents = inference::InferTensorContents;
  return {
      {"BOOL", [](Contents& c) { c.add_bool_contents(true), c.add_bool_contents(false); }, TensorType::kBool, "\1\0"s},
      {"INT8", [](Contents& c) { c.add_int_contents(-128), c.add_int_contents(127); }, TensorType::kInt8, "\x80\x7F"},
      {"INT16", [](Contents& c) { c.add_int_contents(-2), c.add_int_contents(258); }, TensorType::kInt16,
       "\xFE\xFF\x02\x01"},
      {"INT32", [](Contents& c) { c.add_int_contents(-1), c.add_int_contents(1); }, TensorType::kInt32,
       "\xFF\xFF\xFF\xFF\1\0\0\0"s},
      {"INT64", [](Contents& c) { c.add_int64_contents(-1), c.add_int64_contents(2); }, TensorType::kInt64,
       "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\2\0\0\0\0\0\0\0"s},
      {"UINT8", [](Contents& c) { c.add_uint_contents(255), c.add_uint_contents(1); }, TensorType::kUint8, "\xFF\1"},
      {"UINT16", [](Contents& c) { c.add_uint_contents(65'535), c.add_uint_contents(1); }, TensorType::kUint16,
       "\xFF\xFF\1\0"s},
      {"UINT32", [](Contents& c) { c.add_uint_contents(1), c.add_uint_contents(2); }, TensorType::kUint32,
       "\1\0\0\0\2\0\0\0"s},
      {"UINT64", [](Contents& c) { c.add_uint64_contents(1), c.add_uint64_contents(2); }, TensorType::kUint64,
       "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"s},
      {"FP32", [](Contents& c) { c.add_fp32_contents(1), c.add_fp32_contents(-2); }, TensorType::kFp32,
       "\0\0\x80\x3F\0\0\0\xC0"s},
      {"FP64", [](Contents& c) { c.add_fp64_contents(1), c.add_fp64_contents(2); }, TensorType::kFp64,
       "\0\0\0\0\0\0\xF0\x3F\0\0\0\0\0\0\0\x40"s},
  };
}

TEST(InferMessages, TypedContents) {
  for (const TypedRow& row : typed_rows()) {
    ModelInferRequest message;
    row.fill(*add_input(message, row.datatype, {2}).mutable_contents());
    const auto request = infer_request_of(message);
    ASSERT_TRUE(request) << row.datatype << ": " << request.error().message;
    EXPECT_EQ(request->inputs,
              (std::vector<Tensor>{{.name = "x", .type = row.type, .shape = {2}, .bytes = row.bytes}}));
  }
}

TEST(InferMessages, TypedTexts) {
  ModelInferRequest message;
  auto& contents = *add_input(message, "BYTES", {2, 1}).mutable_contents();
  contents.add_bytes_contents("");
  contents.add_bytes_contents("a\0b"s);
  const auto request = infer_request_of(message);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->inputs[0].texts, (std::vector<std::string>{"", "a\0b"s}));
}

TEST(InferMessages, ContentsInTheWrongPlace) {
  // The elements of each type in the shape of each other one, or with a wrong number of elements.
  for (const TypedRow& row : typed_rows()) {
    for (const char* datatype :
         {"BOOL", "INT32", "INT64", "UINT32", "UINT64", "FP16", "BF16", "FP32", "FP64", "BYTES"}) {
      const bool is_same_field =
          row.datatype == datatype ||
          (row.datatype.starts_with("INT") && row.datatype != "INT64" && std::string(datatype) == "INT32") ||
          (row.datatype.starts_with("UINT") && row.datatype != "UINT64" && std::string(datatype) == "UINT32");
      if (is_same_field) continue;
      ModelInferRequest message;
      row.fill(*add_input(message, datatype, {2}).mutable_contents());
      EXPECT_EQ(infer_request_of(message).error().fault, ServeFault::kMalformed) << row.datatype << datatype;
    }
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{}, {0}, {1}, {3}, {-1}, {2, 2}}) {
      ModelInferRequest message;
      row.fill(*add_input(message, row.datatype, shape).mutable_contents());
      EXPECT_FALSE(infer_request_of(message)) << row.datatype;
    }
  }
}

TEST(InferMessages, ElementsOutOfRange) {
  const std::vector<std::pair<std::string, std::int32_t>> rows = {
      {"INT8", 128}, {"INT8", -129}, {"INT16", 32'768}, {"INT16", -32'769}, {"UINT8", 256}, {"UINT16", 65'536}};
  for (const auto& [datatype, element] : rows) {
    ModelInferRequest message;
    auto& contents = *add_input(message, datatype, {1}).mutable_contents();
    if (datatype.starts_with('U')) {
      contents.add_uint_contents(static_cast<std::uint32_t>(element));
    } else {
      contents.add_int_contents(element);
    }
    EXPECT_FALSE(infer_request_of(message)) << datatype << element;
  }
}

TEST(InferMessages, RawContents) {
  ModelInferRequest message;
  add_input(message, "FP16", {2});
  add_input(message, "BYTES", {1}).mutable_contents();  // present, but empty
  message.add_raw_input_contents("\0\x3C\0\x40"s);
  message.add_raw_input_contents("\1\0\0\0a"s);
  message.add_outputs()->set_name("b");
  message.add_outputs()->set_name("a");
  message.set_model_name("m");
  message.set_model_version("3");
  message.set_id("42");
  const auto request = infer_request_of(message);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->model, "m");
  EXPECT_EQ(request->version, "3");
  EXPECT_EQ(request->id, "42");
  EXPECT_EQ(request->outputs, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(request->inputs[0].bytes, "\0\x3C\0\x40"s);
  EXPECT_EQ(request->inputs[1].texts, std::vector<std::string>{"a"});
}

TEST(InferMessages, RawContentsThatDoNotFit) {
  const std::vector<std::function<void(ModelInferRequest&)>> rows = {
      [](ModelInferRequest& m) { m.add_raw_input_contents("12345678"); },  // of two inputs
      [](ModelInferRequest& m) {
        add_input(m, "FP32", {2}), add_input(m, "FP32", {2}), m.add_raw_input_contents("12345678");
      },
      [](ModelInferRequest& m) { add_input(m, "FP32", {2}), m.add_raw_input_contents("1234567"); },
      [](ModelInferRequest& m) {
        add_input(m, "FP32", {1}).mutable_contents()->add_fp32_contents(1);
        m.add_raw_input_contents("1234");
      },
      [](ModelInferRequest& m) { add_input(m, "FP33", {1}), m.add_raw_input_contents("1234"); },
      [](ModelInferRequest& m) { add_input(m, "", {1}), m.add_raw_input_contents("1234"); },
      [](ModelInferRequest& m) {
        add_input(m, "FP32", std::vector<std::int64_t>(65, 1));
        m.add_raw_input_contents("1234");
      },
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ModelInferRequest message;
    rows[i](message);
    const auto request = infer_request_of(message);
    ASSERT_FALSE(request) << i;
    EXPECT_EQ(request.error().fault, ServeFault::kMalformed) << i;
  }
}

TEST(InferMessages, PriorityAndTimeout) {
  using Set = std::function<void(inference::InferParameter&)>;
  struct Row {
    std::string name;
    Set set;
    std::optional<std::int64_t> value;  ///< nothing: refused
  };
  using Parameter = inference::InferParameter;
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::vector<Row> rows = {
      {"priority", [](Parameter& p) { p.set_int64_param(0); }, 1},
      {"priority", [](Parameter& p) { p.set_uint64_param(1000); }, 1000},
      {"priority", [](Parameter& p) { p.set_int64_param(1001); }, std::nullopt},
      {"priority", [](Parameter& p) { p.set_uint64_param(UINT64_MAX); }, std::nullopt},
      {"priority", [](Parameter& p) { p.set_int64_param(-1); }, std::nullopt},
      {"priority", [](Parameter& p) { p.set_string_param("2"); }, std::nullopt},
      {"priority", [](Parameter&) {}, std::nullopt},
      {"timeout", [](Parameter& p) { p.set_int64_param(0); }, 0},
      {"timeout", [](Parameter& p) { p.set_int64_param(5); }, 5},
      {"timeout", [](Parameter& p) { p.set_uint64_param(UINT64_MAX); }, kMax},
      {"timeout", [](Parameter& p) { p.set_int64_param(-5); }, std::nullopt},
      {"timeout", [](Parameter& p) { p.set_double_param(5); }, std::nullopt},
      {"timeout", [](Parameter& p) { p.set_bool_param(true); }, std::nullopt},
  };
  for (const Row& row : rows) {
    ModelInferRequest message;
    row.set((*message.mutable_parameters())[row.name]);
    const auto request = infer_request_of(message);
    if (!row.value) {
      EXPECT_EQ(request.error().fault, ServeFault::kMalformed) << row.name;
    } else if (row.name == "priority") {
      EXPECT_EQ(request->priority, *row.value);
    } else {
      EXPECT_EQ(request->timeout.value_or(Micros(0)), Micros(*row.value));
    }
  }
}

TEST(InferMessages, WhatIsNotOffered) {
  ModelInferRequest neutral;
  (*neutral.mutable_parameters())["sequence_id"].set_int64_param(0);
  (*neutral.mutable_parameters())["sequence_start"].set_bool_param(false);
  (*neutral.mutable_parameters())["anything"].set_string_param("else");
  EXPECT_TRUE(infer_request_of(neutral));

  ModelInferRequest sequence;
  (*sequence.mutable_parameters())["sequence_id"].set_string_param("a");
  EXPECT_EQ(infer_request_of(sequence).error().fault, ServeFault::kNotOffered);
  ModelInferRequest shared;
  (*add_input(shared, "FP32", {1}).mutable_parameters())["shared_memory_region"].set_string_param("r");
  EXPECT_EQ(infer_request_of(shared).error().fault, ServeFault::kNotOffered);
  ModelInferRequest classes;
  (*classes.add_outputs()->mutable_parameters())["classification"].set_int64_param(3);
  EXPECT_EQ(infer_request_of(classes).error().fault, ServeFault::kNotOffered);
}

TEST(InferMessages, Answers) {
  InferResponse response =
      infer_response_of({.model = "m",
                         .version = "1",
                         .id = "7",
                         .outputs = {{.name = "y", .type = TensorType::kFp32, .shape = {1, 1}, .bytes = "1234"},
                                     {.name = "t", .type = TensorType::kBytes, .shape = {1}, .texts = {"ab"}}}});
  EXPECT_EQ(response.head.model_name(), "m");
  EXPECT_EQ(response.head.id(), "7");
  ASSERT_EQ(response.head.outputs_size(), 2);
  EXPECT_EQ(response.head.outputs(0).name(), "y");
  EXPECT_EQ(response.head.outputs(0).datatype(), "FP32");
  EXPECT_EQ(response.head.outputs(0).shape_size(), 2);
  EXPECT_EQ(response.head.outputs(1).datatype(), "BYTES");
  EXPECT_EQ(response.raw_output_contents, (std::vector<std::string>{"1234", "\2\0\0\0ab"s}));
}

}  // namespace
}  // namespace berth::edges
