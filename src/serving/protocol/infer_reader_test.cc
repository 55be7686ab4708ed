#include "serving/protocol/infer_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace berth::serving::protocol {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct BadRequest {
  std::string body;
  std::string message;  ///< a part of it
  ServeFault fault = ServeFault::kMalformed;
};

template <class Element>
std::vector<Element> elements_of(const Tensor& tensor) {
  std::vector<Element> elements(tensor.bytes.size() / sizeof(Element));
  if (!elements.empty()) std::memcpy(elements.data(), tensor.bytes.data(), elements.size() * sizeof(Element));
  return elements;
}

template <class Element>
std::string bytes_of(const std::vector<Element>& elements) {
  std::string bytes(elements.size() * sizeof(Element), '\0');
  if (!elements.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

std::string one_input(std::string_view datatype, std::string_view shape, std::string_view data) {
  return fmt::format(R"({{"inputs":[{{"name":"x","datatype":"{}","shape":{},"data":{}}}]}})", datatype, shape, data);
}

ReadInferRequest must_read(std::string_view body) {
  const auto read = read_infer_request(body, std::nullopt);
  EXPECT_TRUE(read.has_value()) << body << ": " << (read ? "" : read.error().message);
  return read ? *read : ReadInferRequest{};
}

Tensor must_read_input(std::string_view body) {
  const ReadInferRequest read = must_read(body);
  EXPECT_EQ(read.request.inputs.size(), 1U);
  return read.request.inputs.empty() ? Tensor{} : read.request.inputs.front();
}

/// A head with binary data behind it.
ServeResult<ReadInferRequest> read_binary(std::string_view head, std::string_view data) {
  return read_infer_request(std::string(head).append(data), fmt::to_string(head.size()));
}

void expect_refused(const BadRequest& bad) {
  const auto read = read_infer_request(bad.body, std::nullopt);
  ASSERT_FALSE(read.has_value()) << bad.body;
  EXPECT_EQ(read.error().fault, bad.fault) << bad.body;
  EXPECT_THAT(read.error().message, HasSubstr(bad.message)) << bad.body;
}

TEST(InferReaderTest, AWholeRequest) {
  const auto read = must_read(R"({
    "id": "7", "parameters": {"priority": 3, "timeout": 2500, "other": "x", "another": 1.5},
    "inputs": [
      {"name": "a", "shape": [2, 2], "datatype": "FP32", "data": [[1, 2.5], [-3e2, 0.1]]},
      {"name": "b", "shape": [1], "datatype": "BYTES", "data": ["\u00e9\ud83d\ude00\n"], "extra": [{"x": null}]}
    ],
    "outputs": [{"name": "z"}, {"name": "y", "parameters": {"binary_data": true}}]
  })");
  EXPECT_EQ(read.request.id, "7");
  EXPECT_EQ(read.request.priority, 3);
  EXPECT_EQ(read.request.timeout, Micros(2500));
  ASSERT_EQ(read.request.inputs.size(), 2U);
  EXPECT_EQ(read.request.inputs[0].name, "a");
  EXPECT_THAT(read.request.inputs[0].shape, ElementsAre(2, 2));
  EXPECT_THAT(elements_of<float>(read.request.inputs[0]), ElementsAre(1, 2.5F, -300, 0.1F));
  EXPECT_THAT(read.request.inputs[1].texts, ElementsAre("\u00e9\U0001F600\n"));
  EXPECT_THAT(read.request.outputs, ElementsAre("z", "y"));
  EXPECT_THAT(read.form.outputs, ElementsAre(false, true));
  EXPECT_FALSE(read.form.is_binary);
}

TEST(InferReaderTest, JsonAndBinaryInputsMixed) {
  const std::string_view head =
      R"({"inputs":[{"name":"a","shape":[1,2],"datatype":"FP32","parameters":{"binary_data_size":8}},)"
      R"({"name":"b","shape":[2],"datatype":"INT8","data":[1,-1]},)"
      R"({"name":"c","shape":[3],"datatype":"BYTES","parameters":{"binary_data_size":16}},)"
      R"({"name":"d","shape":[2],"datatype":"FP16","parameters":{"binary_data_size":4}},)"
      R"({"name":"e","shape":[0,4],"datatype":"INT64","parameters":{"binary_data_size":0}}],)"
      R"("parameters":{"binary_data_output":true}})";
  const std::string texts("\1\0\0\0a\0\0\0\0\3\0\0\0\xFF\0c", 16);
  const auto read = read_binary(head, bytes_of<float>({1.5F, -2}) + texts + "\1\2\3\4");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const auto& inputs = read->request.inputs;
  ASSERT_EQ(inputs.size(), 5U);
  EXPECT_THAT(elements_of<float>(inputs[0]), ElementsAre(1.5F, -2));
  EXPECT_THAT(elements_of<std::int8_t>(inputs[1]), ElementsAre(1, -1));
  EXPECT_THAT(inputs[2].texts, ElementsAre("a", "", std::string("\xFF\0c", 3)));
  EXPECT_EQ(inputs[3].bytes, "\1\2\3\4");
  EXPECT_THAT(inputs[4].bytes, IsEmpty());
  EXPECT_TRUE(read->form.is_binary);
}

TEST(InferReaderTest, DataMayBeFlatOrNested) {
  for (const std::string_view data : {"[1,2,3,4,5,6]", "[[1,2,3],[4,5,6]]", " [ [ 1 , 2,3 ] ,\n[4,5,6]]"}) {
    EXPECT_THAT(elements_of<std::int32_t>(must_read_input(one_input("INT32", "[2,3]", data))),
                ElementsAre(1, 2, 3, 4, 5, 6));
  }
  EXPECT_THAT(elements_of<double>(must_read_input(one_input("FP64", "[]", "5"))), ElementsAre(5));
  EXPECT_THAT(elements_of<double>(must_read_input(one_input("FP64", "[]", "[5]"))), ElementsAre(5));
  EXPECT_THAT(must_read_input(one_input("BYTES", "[]", R"("a")")).texts, ElementsAre("a"));
  EXPECT_THAT(must_read_input(one_input("INT8", "[0,3]", "[]")).bytes, IsEmpty());
  EXPECT_THAT(must_read_input(one_input("INT8", "[2,0]", "[[],[]]")).bytes, IsEmpty());
}

TEST(InferReaderTest, MembersMayComeInAnyOrder) {
  const Tensor numbers = must_read_input(R"({"inputs":[{"data":[7,8],"shape":[2],"name":"x","datatype":"UINT16"}]})");
  EXPECT_THAT(elements_of<std::uint16_t>(numbers), ElementsAre(7, 8));
  const Tensor texts = must_read_input(R"({"inputs":[{"data":["a"],"datatype":"BYTES","shape":[1],"name":"x"}]})");
  EXPECT_THAT(texts.texts, ElementsAre("a"));
}

TEST(InferReaderTest, IntegersAreExact) {
  EXPECT_THAT(elements_of<std::uint64_t>(must_read_input(one_input("UINT64", "[2]", "[18446744073709551615,-0]"))),
              ElementsAre(UINT64_MAX, 0));
  EXPECT_THAT(elements_of<std::int64_t>(must_read_input(
                  one_input("INT64", "[3]", "[-9223372036854775808,9223372036854775807,9007199254740993]"))),
              ElementsAre(INT64_MIN, INT64_MAX, 9007199254740993));
  EXPECT_THAT(elements_of<std::int8_t>(must_read_input(one_input("INT8", "[2]", "[-128,127]"))),
              ElementsAre(-128, 127));
  EXPECT_THAT(must_read_input(one_input("BOOL", "[2]", "[true,false]")).bytes, std::string("\1\0", 2));
}

TEST(InferReaderTest, FloatsAreRoundedOnce) {
  // Just above the middle between 1 and the next float: through a double it would become 1.
  EXPECT_THAT(elements_of<float>(must_read_input(one_input("FP32", "[1]", "[1.00000005960464477540]"))),
              ElementsAre(1.00000011920928955078125F));
  EXPECT_THAT(elements_of<float>(must_read_input(one_input("FP32", "[4]", "[1e-60,-1e-60,1e-45,3.4028235e38]"))),
              ElementsAre(0, 0, 1e-45F, 3.4028235e38F));
  EXPECT_THAT(elements_of<double>(must_read_input(one_input("FP64", "[2]", "[1e-400,1.7976931348623157e308]"))),
              ElementsAre(0, 1.7976931348623157e308));
}

TEST(InferReaderTest, WhatIsNullOrSaysNothingCountsAsAbsent) {
  const auto read = must_read(
      R"({"id":null,"outputs":null,"parameters":{"priority":0,"timeout":0,"sequence_id":0,"sequence_start":false,)"
      R"("sequence_end":null,"x":null},)"
      R"("inputs":[{"name":"x","datatype":"INT8","shape":[1],"data":[1],"parameters":null}]})");
  EXPECT_EQ(read.request.priority, 1);
  EXPECT_EQ(read.request.timeout, std::nullopt);
  EXPECT_THAT(read.request.outputs, IsEmpty());
  const auto late = must_read(R"({"inputs":[],"parameters":{"timeout":18446744073709551615,"priority":1000}})");
  EXPECT_EQ(late.request.timeout, std::nullopt);
  EXPECT_EQ(late.request.priority, 1000);
}

TEST(InferReaderTest, TheFormOfAnOutputOverridesThatOfTheRequest) {
  const auto read =
      must_read(R"({"inputs":[],"outputs":[{"name":"a","parameters":{"binary_data":false}},{"name":"b"},)"
                R"({"name":"c","parameters":{"classification":0}}],"parameters":{"binary_data_output":true}})");
  EXPECT_THAT(read.form.outputs, ElementsAre(false, true, true));
}

TEST(InferReaderTest, MalformedJson) {
  const std::vector<BadRequest> cases{
      {"", "byte 0: wanted an object, found the end"},
      {"[]", "byte 0: wanted an object, found \"[]\""},
      {"{", "wanted a key in quotes, found the end"},
      {"{}", "inputs: wanted a list of tensors, found none"},
      {R"({"inputs":[]}x)", "wanted the end of the JSON, found \"x\""},
      {R"({"inputs":[],})", "wanted a key in quotes"},
      {R"({"inputs" []})", "wanted :"},
      {R"({"inputs":[{}]})", "an input: wanted a name, found none"},
      {R"({"inputs":[[]]})", "wanted an object"},
      {R"({"inputs":{}})", "wanted a list"},
      {R"({"inputs":[],"inputs":[]})", "inputs: wanted it once, found it twice"},
      {R"({"inputs":[],"id":5})", "wanted a text in quotes, found \"5}\""},
      {R"({"inputs":[],"id":"a)", "wanted a closing quote"},
      {"{\"inputs\":[],\"id\":\"a\nb\"}", "wanted an escape in place of a control character"},
      {"{\"inputs\":[],\"id\":\"\xC3(\"}", "wanted UTF-8"},
      {R"({"inputs":[],"id":"\x"})", "wanted an escape of JSON"},
      {R"({"inputs":[],"id":"\u12G4"})", "wanted four hexadecimal digits"},
      {R"({"inputs":[],"id":"\u12)", "wanted four hexadecimal digits"},
      {R"({"inputs":[],"id":"\ud800\u0041"})", "wanted both halves of a surrogate pair"},
      {R"({"inputs":[],"id":"\udc00"})", "wanted both halves of a surrogate pair"},
      {R"({"inputs":[],"x":tru})", "wanted true or false"},
      {R"({"inputs":[],"x":nul})", "wanted null"},
      {R"({"inputs":[],"x":01})", "wanted a comma or }"},
      {R"({"inputs":[],"x":1.})", "wanted a number"},
      {R"({"inputs":[],"x":-})", "wanted a number"},
      {R"({"inputs":[],"x":1e+})", "wanted a number"},
      {R"({"inputs":[],"x":.5})", "wanted a number"},
      {R"({"inputs":[],"x":)" + std::string(100, '[') + std::string(100, ']') + "}", "at most 64 levels of nesting"},
      {std::string(100'000, '['), "wanted an object"},
      {R"({"x":)" + std::string(1'000'000, '['), "at most 64 levels"},
  };
  for (const BadRequest& bad : cases) expect_refused(bad);
}

TEST(InferReaderTest, MalformedInputs) {
  const std::vector<BadRequest> cases{
      {R"({"inputs":[{"name":"x","shape":[1],"data":[1]}]})", "input \"x\": wanted a datatype, found none"},
      {R"({"inputs":[{"name":"x","datatype":"INT8","data":[1]}]})", "input \"x\": wanted a shape"},
      {R"({"inputs":[{"name":"x","datatype":"INT8","shape":[1]}]})", "wanted data, or the parameter binary_data_size"},
      {R"({"inputs":[{"name":"x","name":"y"}]})", "name of an input: wanted it once"},
      {R"({"inputs":[{"name":"x","datatype":"INT8","shape":[1],"data":[1]},)"
       R"({"name":"x","datatype":"INT8","shape":[1],"data":[1]}]})",
       "input \"x\": wanted it once, found it twice"},
      {one_input("FLOAT", "[1]", "[1]"), "wanted one such as FP32, found \"FLOAT\""},
      {one_input("fp32", "[1]", "[1]"), "found \"fp32\""},
      {one_input("INT8", "[-1]", "[1]"), "wanted whole numbers of at least 0, found \"-1\""},
      {one_input("INT8", "[1.5]", "[1]"), "wanted whole numbers of at least 0, found \"1.5\""},
      {one_input("INT8", "[\"1\"]", "[1]"), "wanted a number"},
      {one_input("INT8", "[9223372036854775808]", "[1]"), "found \"9223372036854775808\""},
      {one_input("INT8", "[4294967296,4294967296]", "[1]"), "wanted at most 2147483647 elements"},
      {one_input("INT8", "[3037000500,3037000500,0]", "[]"), "wanted at most 2147483647 elements"},
      {one_input("INT8", "[" + std::string("1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1") + "]",
                 "[1]"),
       "wanted at most 32 dimensions"},
      {one_input("INT8", "[3]", "[1,2]"),
       "wanted 3 elements in a list of its data, flat or nested as its shape, found 2"},
      {one_input("INT8", "[2]", "[1,2,3]"),
       "wanted 2 elements in a list of its data, flat or nested as its shape, found more"},
      {one_input("INT8", "[2000000000]", "[1,2,3]"), "wanted 2000000000 elements"},
      {one_input("INT8", "[2,2]", "[[1,2,3],[4]]"), "wanted 2 elements"},
      {one_input("INT8", "[2,3]", "[[1,2],[3,4],[5,6]]"), "wanted 3 elements"},
      {one_input("INT8", "[2]", "[[1],[2]]"), "wanted a number"},
      {one_input("INT8", "[]", "[[1]]"), "an element of a tensor without dimensions"},
      {one_input("INT8", "[2,1]", "[[1],2]"), "wanted a list"},
      {one_input("INT8", "[1]", "{}"), "wanted a list"},
      {one_input("INT8", "[1]", "[128]"), "input \"x\", element 0: wanted INT8 in its range, found \"128\""},
      {one_input("INT8", "[2]", "[0,-129]"), "element 1: wanted INT8"},
      {one_input("UINT8", "[1]", "[-1]"), "wanted UINT8"},
      {one_input("UINT16", "[1]", "[65536]"), "wanted UINT16"},
      {one_input("UINT32", "[1]", "[4294967296]"), "wanted UINT32"},
      {one_input("UINT64", "[1]", "[18446744073709551616]"), "wanted UINT64"},
      {one_input("INT64", "[1]", "[9223372036854775808]"), "wanted INT64"},
      {one_input("INT32", "[1]", "[1.0]"), "wanted INT32"},
      {one_input("INT32", "[1]", "[1e2]"), "wanted INT32"},
      {one_input("INT32", "[1]", "[true]"), "wanted a number"},
      {one_input("INT32", "[1]", "[\"1\"]"), "wanted a number"},
      {one_input("INT32", "[1]", "[null]"), "wanted a number"},
      {one_input("BOOL", "[1]", "[1]"), "wanted true or false"},
      {one_input("BYTES", "[1]", "[1]"), "wanted a text in quotes"},
      {one_input("BYTES", "[1048577]", "[]"), "wanted at most 1048576 elements of BYTES"},
      {one_input("FP32", "[1]", "[3.5e38]"), "wanted FP32"},
      {one_input("FP32", "[1]", "[1e999999999999]"), "wanted FP32"},
      {one_input("FP64", "[1]", "[-1e309]"), "wanted FP64"},
      {one_input("FP32", "[1]", "[NaN]"), "JSON has no such number: send the tensor as binary data"},
      {one_input("FP32", "[1]", "[-Infinity]"), "wanted a number"},
      {one_input("FP16", "[1]", "[1]"), "wanted binary data, as FP16 has no form in JSON"},
      {one_input("BF16", "[1]", "[1]"), "wanted binary data, as BF16 has no form in JSON"},
      {R"({"inputs":[{"data":[1,"a"],"name":"x","datatype":"INT8","shape":[2]}]})", "wanted a number"},
  };
  for (const BadRequest& bad : cases) expect_refused(bad);
}

TEST(InferReaderTest, BadParametersAndOutputs) {
  const auto with = [](std::string_view parameters) {
    return fmt::format(R"({{"inputs":[],"parameters":{}}})", parameters);
  };
  const auto with_output = [](std::string_view outputs) {
    return fmt::format(R"({{"inputs":[],"outputs":{}}})", outputs);
  };
  constexpr auto kNotOffered = ServeFault::kNotOffered;
  const std::vector<BadRequest> cases{
      {with("[]"), "wanted an object"},
      {with(R"({"priority":1001})"), "parameter \"priority\": wanted a whole number from 0 to 1000, found \"1001\""},
      {with(R"({"priority":-1})"), "priority"},
      {with(R"({"priority":1.5})"), "priority"},
      {with(R"({"priority":"1"})"), "priority"},
      {with(R"({"timeout":-1})"), "timeout"},
      {with(R"({"timeout":0.5})"), "timeout"},
      {with(R"({"timeout":true})"), "found true"},
      {with(R"({"timeout":18446744073709551616})"), "timeout"},
      {with(R"({"binary_data_output":1})"), "wanted true or false, found \"1\""},
      {with(R"({"x":[1]})"), "wanted a parameter that is a text, a number, true or false"},
      {with(R"({"sequence_id":5})"), "sequences", kNotOffered},
      {with(R"({"sequence_id":"a"})"), "sequences", kNotOffered},
      {with(R"({"sequence_start":true})"), "sequences", kNotOffered},
      {with_output("{}"), "wanted a list"},
      {with_output("[{}]"), "an output: wanted a name, found none"},
      {with_output(R"([{"name":"a"},{"name":"a"}])"), "output \"a\": wanted it once, found it twice"},
      {with_output(R"([{"name":"a","parameters":{"binary_data":"true"}}])"), "wanted true or false, found \"true\""},
      {with_output(R"([{"name":"a","parameters":{"classification":3}}])"), "classification", kNotOffered},
      {with_output(R"([{"name":"a","parameters":{"shared_memory_region":"r"}}])"), "shared memory", kNotOffered},
      {R"({"inputs":[{"name":"a","parameters":{"shared_memory_region":"r","shared_memory_byte_size":4}}]})",
       "shared memory", kNotOffered},
  };
  for (const BadRequest& bad : cases) expect_refused(bad);
}

TEST(InferReaderTest, BadBinaryData) {
  struct BadBinary {
    std::string datatype;
    std::string shape;
    std::string size;
    std::string data;
    std::string message;
  };
  const std::string two_texts("\1\0\0\0a\1\0\0\0b", 10);
  const std::vector<BadBinary> cases{
      {"FP32", "[2]", "8", "1234567", "wanted 8 bytes of binary data behind the JSON, found 7"},
      {"FP32", "[2]", "8", "123456789", "wanted what the inputs' binary_data_size say, found 1 bytes more"},
      {"FP32", "[2]", "4", "1234", "wanted 8 bytes of binary data for 2 elements of FP32, found 4"},
      {"FP32", "[2]", "-8", "12345678", "binary_data_size"},
      {"FP32", "[2]", "8.0", "12345678", "binary_data_size"},
      {"FP32", "[2]", "\"8\"", "12345678", "binary_data_size"},
      {"FP32", "[2]", "18446744073709551615", "12345678", "wanted 18446744073709551615 bytes"},
      {"FP64", "[2147483647]", "8", "12345678", "wanted 17179869176 bytes"},
      {"BOOL", "[2]", "2", std::string("\1\2", 2), "wanted bytes of 0 or 1, found 2"},
      {"BYTES", "[2]", "9", two_texts.substr(0, 9), "wanted an element of 1 bytes, found 0"},
      {"BYTES", "[2]", "7", two_texts.substr(0, 7), "wanted 4 bytes of an element's length, found 2"},
      {"BYTES", "[1]", "10", two_texts, "wanted 1 elements in 10 bytes of data, and no bytes behind them"},
      {"BYTES", "[3]", "10", two_texts, "wanted 3 elements in 10 bytes of data, found 2"},
      {"BYTES", "[1]", "4", "\xFF\xFF\xFF\xFF", "wanted an element of 4294967295 bytes"},
  };
  for (const BadBinary& bad : cases) {
    const auto read = read_binary(
        fmt::format(
            R"({{"inputs":[{{"name":"x","datatype":"{}","shape":{},"parameters":{{"binary_data_size":{}}}}}]}})",
            bad.datatype, bad.shape, bad.size),
        bad.data);
    ASSERT_FALSE(read.has_value()) << bad.message;
    EXPECT_EQ(read.error().fault, ServeFault::kMalformed);
    EXPECT_THAT(read.error().message, HasSubstr(bad.message));
  }
  const auto both = read_binary(R"({"inputs":[{"name":"x","datatype":"INT8","shape":[1],"data":[1],)"
                                R"("parameters":{"binary_data_size":1}}]})",
                                "1");
  ASSERT_FALSE(both.has_value());
  EXPECT_THAT(both.error().message, HasSubstr("wanted data or the parameter binary_data_size, found both"));
}

TEST(InferReaderTest, TheLengthOfTheHead) {
  const std::string body = R"({"inputs":[]})";
  EXPECT_TRUE(read_infer_request(body, "13").has_value());
  for (const std::string_view length : {"14", "-1", "", "1x", "12", "99999999999999999999"}) {
    const auto read = read_infer_request(body, length);
    ASSERT_FALSE(read.has_value()) << length;
    EXPECT_EQ(read.error().fault, ServeFault::kMalformed);
  }
  EXPECT_EQ(read_infer_request(body, "0").error().fault, ServeFault::kNotOffered);
}

TEST(InferReaderTest, AtMostSoManyTensors) {
  std::string body = R"({"inputs":[)";
  for (std::size_t i = 0; i <= kTensorCountMax; ++i) {
    body += fmt::format(R"({}{{"name":"{}","datatype":"INT8","shape":[0],"data":[]}})", i == 0 ? "" : ",", i);
  }
  expect_refused({body + "]}", "inputs: wanted at most 1024, found more"});
}

}  // namespace
}  // namespace berth::serving::protocol
