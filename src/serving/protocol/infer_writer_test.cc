#include "serving/protocol/infer_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace berth::serving::protocol {
namespace {

using testing::HasSubstr;

template <class Element>
Tensor output_of(TensorType type, const std::vector<Element>& elements) {
  Tensor tensor{.name = "y", .type = type, .shape = {static_cast<std::int64_t>(elements.size())}};
  tensor.bytes.resize(elements.size() * sizeof(Element));
  std::memcpy(tensor.bytes.data(), elements.data(), tensor.bytes.size());
  return tensor;
}

Tensor texts_of(std::vector<std::string> texts) {
  return {.name = "t",
          .type = TensorType::kBytes,
          .shape = {static_cast<std::int64_t>(texts.size())},
          .bytes = {},
          .texts = std::move(texts)};
}

InferAnswer answer_of(std::vector<Tensor> outputs) {
  return {.model = "m", .version = "2", .id = "", .outputs = std::move(outputs)};
}

/// The text of `data` of the only output.
std::string data_of(Tensor output) {
  const auto written = write_infer_answer(answer_of({std::move(output)}), {});
  if (!written) return written.error().message;
  EXPECT_EQ(written->head_bytes, std::nullopt);
  const std::size_t begin = written->body.find("\"data\":") + 7;
  return written->body.substr(begin, written->body.size() - 3 - begin);
}

TEST(InferWriterTest, AnAnswerInJson) {
  InferAnswer answer =
      answer_of({output_of<float>(TensorType::kFp32, {0.1F, 2, -1e20F}), texts_of({"a\"\n", "\u00e9"})});
  answer.id = "i\"d";
  const auto written = write_infer_answer(answer, {});
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(written->body,
            R"({"model_name":"m","model_version":"2","id":"i\"d","outputs":[)"
            R"({"name":"y","datatype":"FP32","shape":[3],"data":[0.1,2.0,-1e+20]},)"
            "{\"name\":\"t\",\"datatype\":\"BYTES\",\"shape\":[2],\"data\":[\"a\\\"\\n\",\"\u00e9\"]}]}");
  EXPECT_EQ(written->head_bytes, std::nullopt);
}

TEST(InferWriterTest, NumbersOfAllTypes) {
  EXPECT_EQ(data_of(output_of<std::uint8_t>(TensorType::kUint8, {0, 255})), "[0,255]");
  EXPECT_EQ(data_of(output_of<std::int8_t>(TensorType::kInt8, {-128, 127})), "[-128,127]");
  EXPECT_EQ(data_of(output_of<std::uint16_t>(TensorType::kUint16, {65535})), "[65535]");
  EXPECT_EQ(data_of(output_of<std::int16_t>(TensorType::kInt16, {-32768})), "[-32768]");
  EXPECT_EQ(data_of(output_of<std::uint32_t>(TensorType::kUint32, {UINT32_MAX})), "[4294967295]");
  EXPECT_EQ(data_of(output_of<std::int32_t>(TensorType::kInt32, {INT32_MIN})), "[-2147483648]");
  EXPECT_EQ(data_of(output_of<std::uint64_t>(TensorType::kUint64, {UINT64_MAX})), "[18446744073709551615]");
  EXPECT_EQ(data_of(output_of<std::int64_t>(TensorType::kInt64, {INT64_MIN})), "[-9223372036854775808]");
  EXPECT_EQ(data_of(output_of<double>(TensorType::kFp64, {0.1, 5e-324, -0.0})), "[0.1,5e-324,-0.0]");
  EXPECT_EQ(data_of(output_of<std::uint8_t>(TensorType::kBool, {1, 0})), "[true,false]");
  EXPECT_EQ(data_of(texts_of({std::string("a\0b", 3)})), R"(["a\u0000b"])");
  EXPECT_EQ(data_of(texts_of({})), "[]");
}

TEST(InferWriterTest, JsonAndBinaryOutputsMixed) {
  const auto written =
      write_infer_answer(answer_of({output_of<std::int16_t>(TensorType::kInt16, {0x4142, 0x4344}), texts_of({"a"}),
                                    output_of<std::int8_t>(TensorType::kInt8, {7}), texts_of({"xy", ""})}),
                         {.is_binary = true, .outputs = {true, false, false}});
  ASSERT_TRUE(written.has_value());
  const std::string head = R"({"model_name":"m","model_version":"2","outputs":[)"
                           R"({"name":"y","datatype":"INT16","shape":[2],"parameters":{"binary_data_size":4}},)"
                           R"({"name":"t","datatype":"BYTES","shape":[1],"data":["a"]},)"
                           R"({"name":"y","datatype":"INT8","shape":[1],"data":[7]},)"
                           R"({"name":"t","datatype":"BYTES","shape":[2],"parameters":{"binary_data_size":10}}]})";
  EXPECT_EQ(written->body, head + std::string("BADC\2\0\0\0xy\0\0\0\0", 14));
  EXPECT_EQ(written->head_bytes, head.size());
}

TEST(InferWriterTest, WhatJsonCannotCarry) {
  const std::vector<Tensor> outputs{
      output_of<float>(TensorType::kFp32, {1, std::numeric_limits<float>::quiet_NaN()}),
      output_of<double>(TensorType::kFp64, {-std::numeric_limits<double>::infinity()}),
      texts_of({"\xFF"}),
      texts_of({std::string("\0\xFF", 2)}),
  };
  for (const Tensor& output : outputs) {
    const auto written = write_infer_answer(answer_of({output}), {});
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().fault, ServeFault::kEngineFailed);
    EXPECT_THAT(written.error().message, HasSubstr("ask for it as binary data"));
    EXPECT_TRUE(write_infer_answer(answer_of({output}), {.is_binary = true}).has_value());
  }
  for (const TensorType type : {TensorType::kFp16, TensorType::kBf16}) {
    const Tensor output = output_of<std::uint16_t>(type, {1});
    const auto written = write_infer_answer(answer_of({output}), {});
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().fault, ServeFault::kMalformed);
    EXPECT_THAT(written.error().message, HasSubstr("ask for it as binary data"));
    EXPECT_TRUE(write_infer_answer(answer_of({output}), {.is_binary = true}).has_value());
  }
}

TEST(InferWriterTest, ACallReadsBackAsTheSameInputs) {
  const std::vector<Tensor> inputs{output_of<float>(TensorType::kFp32, {0.1F, 2}), texts_of({"a", "b"})};
  for (const bool is_binary : {false, true}) {
    const auto call = write_infer_call(inputs, is_binary);
    ASSERT_TRUE(call.has_value());
    EXPECT_EQ(call->head_bytes.has_value(), is_binary);
    const std::string length = std::to_string(call->head_bytes.value_or(0));
    const auto read = read_infer_request(call->body, is_binary ? std::optional(length) : std::optional<std::string>());
    ASSERT_TRUE(read.has_value()) << call->body;
    EXPECT_EQ(read->request.inputs, inputs);
    EXPECT_EQ(read->form.is_binary, is_binary);
  }
}

}  // namespace
}  // namespace berth::serving::protocol
