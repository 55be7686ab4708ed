#include "serving/protocol/answer_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>

namespace berth::serving::protocol {
namespace {

using ::testing::HasSubstr;

std::string message_of(std::string_view head, std::string_view data = {}) {
  const auto checked = check_infer_answer(head, data, "http://h/infer", 1000);
  return checked ? "" : checked.error().message;
}

template <class Bits>
std::string little_endian(std::initializer_list<Bits> numbers) {
  std::string bytes;
  for (const Bits number : numbers) {
    for (std::size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFFU);
  }
  return bytes;
}

TEST(AnswerCheck, PassesAnswersOfNumbers) {
  EXPECT_EQ(message_of(R"({"outputs":[]})"), "");
  EXPECT_EQ(message_of(R"({"outputs":[{"name":"y","datatype":"FP32","shape":[2],"data":[1,-2e9]},{"data":["a"]}]})"),
            "");
  EXPECT_EQ(message_of(R"({"outputs":[{"name":"y","datatype":"FP32","parameters":{"binary_data_size":8}}]})",
                       little_endian({std::bit_cast<std::uint32_t>(1.5F), 0x7F80'0000U})),
            "");  // infinity
  EXPECT_EQ(message_of(R"({"outputs":[{"datatype":"INT32","parameters":{"binary_data_size":4}}]})",
                       little_endian({0x7FC0'0000U})),
            "");
}

TEST(AnswerCheck, NamesTheElementThatIsNoNumber) {
  EXPECT_THAT(message_of(R"({"outputs":[{"name":"y","data":[1,NaN]}]})"), HasSubstr("http://h/infer:1:"));
  EXPECT_EQ(message_of(R"({"outputs":[{"name":"x","data":[1]},{"name":"y","data":[[1,2],[3,null]]}]})"),
            "http://h/infer: outputs[1] \"y\": wanted numbers, found null as element 3");
  const auto binary = [](const std::string& type, const std::string& bytes) {
    return message_of(R"({"outputs":[{"datatype":")" + type + R"(","parameters":{"binary_data_size":)" +
                          std::to_string(bytes.size()) + "}}]}",
                      bytes);
  };
  const std::string wanted = "http://h/infer: outputs[0]: wanted numbers, found NaN as element 1";
  EXPECT_EQ(binary("FP32", little_endian({0U, std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN())})),
            wanted);
  EXPECT_EQ(binary("FP64", little_endian({std::uint64_t{0},
                                          std::bit_cast<std::uint64_t>(-std::numeric_limits<double>::quiet_NaN())})),
            wanted);
  EXPECT_EQ(binary("FP16", little_endian<std::uint16_t>({0x7C00, 0xFE00})), wanted);
  EXPECT_EQ(binary("BF16", little_endian<std::uint16_t>({0x7F80, 0x7F81})), wanted);
}

TEST(AnswerCheck, RefusesWhatIsNoAnswer) {
  EXPECT_THAT(message_of("<html>"), HasSubstr("wanted JSON"));
  EXPECT_EQ(message_of("[]"), "http://h/infer: outputs: wanted a list, found none");
  EXPECT_EQ(message_of(R"({"outputs":[{"name":"y","parameters":{"binary_data_size":8}}]})", "1234"),
            "http://h/infer: outputs[0] \"y\": wanted a binary_data_size of at most 4 bytes");
}

}  // namespace
}  // namespace berth::serving::protocol
