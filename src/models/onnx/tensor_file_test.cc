#include "models/onnx/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/onnx/testing/message_bytes.h"

namespace berth::models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ProtoWriter;
using testing::tensor_bytes;

Tensor read(const ProtoWriter& message) {
  Result<Tensor> tensor = read_tensor_file(message.bytes(), "input_0.pb");
  EXPECT_TRUE(tensor) << tensor.error().message;
  return tensor ? std::move(*tensor) : Tensor{};
}

std::string fault(const ProtoWriter& message) {
  const Result<Tensor> tensor = read_tensor_file(message.bytes(), "input_0.pb");
  return tensor ? "" : tensor.error().message;
}

TEST(TensorFile, ReadsRawData) {
  EXPECT_EQ(read(tensor_bytes({2, 1}, 3).text(8, "x").text(9, "ab")),
            (Tensor{.name = "x", .type = TensorType::kInt8, .shape = {2, 1}, .bytes = "ab"}));
  EXPECT_EQ(read(tensor_bytes({0, 5}, 1)), (Tensor{.name = "", .type = TensorType::kFp32, .shape = {0, 5}}));
}

struct TypedCase {
  std::uint64_t type;
  ProtoWriter field;
  std::string bytes;
};

TEST(TensorFile, ReadsTypedFields) {
  const std::uint64_t minus_two = static_cast<std::uint64_t>(-2);
  const std::vector<TypedCase> cases{
      {2, ProtoWriter().number(5, 200), "\xc8"},
      {3, ProtoWriter().number(5, minus_two), "\xfe"},
      {4, ProtoWriter().number(5, 0x1234), "\x34\x12"},
      {5, ProtoWriter().number(5, minus_two), "\xfe\xff"},
      {6, ProtoWriter().number(5, minus_two), "\xfe\xff\xff\xff"},
      {7, ProtoWriter().number(7, minus_two), "\xfe\xff\xff\xff\xff\xff\xff\xff"},
      {9, ProtoWriter().number(5, 1), "\x01"},
      {10, ProtoWriter().number(5, 0x3c00), std::string("\x00\x3c", 2)},
      {16, ProtoWriter().number(5, 0x3f80), "\x80\x3f"},
      {12, ProtoWriter().number(11, 0xfffffffe), "\xfe\xff\xff\xff"},
      {13, ProtoWriter().number(11, minus_two), "\xfe\xff\xff\xff\xff\xff\xff\xff"},
      {1, ProtoWriter().text(4, "\x01\x02\x03\x04"), "\x01\x02\x03\x04"},
      {11, ProtoWriter().text(10, "\x01\x02\x03\x04\x05\x06\x07\x08"), "\x01\x02\x03\x04\x05\x06\x07\x08"},
  };
  for (const TypedCase& each : cases) {
    ProtoWriter message = tensor_bytes({1}, each.type);
    EXPECT_EQ(read(message.append(each.field)).bytes, each.bytes) << "type " << each.type;
  }
}

TEST(TensorFile, ReadsTexts) {
  const Tensor tensor = read(tensor_bytes({2}, 8).text(6, "a").text(6, ""));
  EXPECT_EQ(tensor.type, TensorType::kBytes);
  EXPECT_THAT(tensor.texts, ElementsAre("a", ""));
}

TEST(TensorFile, RefusesWhatIsNoTensor) {
  EXPECT_EQ(fault({}), "input_0.pb: wanted a tensor of ONNX, found other bytes, or one that is cut off");
  EXPECT_THAT(fault(ProtoWriter().text(1, "a sequence").number(2, 1).message(3, tensor_bytes({}, 1))),
              HasSubstr("tensors in segments"));
  EXPECT_EQ(fault(tensor_bytes({1}, 22).text(9, "a")), "input_0.pb: tensors of int4 are not supported");
  EXPECT_THAT(fault(tensor_bytes({2}, 1).text(9, "abcd")), HasSubstr("wanted 8 bytes of float for its shape, found 4"));
  EXPECT_THAT(fault(tensor_bytes({1}, 1).number(14, 1)), HasSubstr("its elements are in another file"));
  EXPECT_THAT(fault(tensor_bytes({1}, 2).number(5, 300)), HasSubstr("element 0 is 300, which uint8 does not hold"));
  EXPECT_THAT(fault(tensor_bytes({1}, 5).number(5, 70'000)),
              HasSubstr("element 0 is 70000, which int16 does not hold"));
}

}  // namespace
}  // namespace berth::models
