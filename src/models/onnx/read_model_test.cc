#include "models/onnx/read_model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "models/onnx/testing/message_bytes.h"
#include "models/onnx/write_model.h"

namespace berth::models {
namespace {

using ::testing::ElementsAre;
using testing::float_info;
using ::testing::HasSubstr;
using testing::MessageBytes;
using testing::model_bytes;
using testing::node_bytes;
using testing::tensor_bytes;

Result<std::string> no_file(const std::string& path, std::uint64_t, std::uint64_t) {
  return fail(ErrorCode::kNotFound, path + ": no such file");
}

Model read(const std::string& bytes) {
  Result<Model> model = read_model(bytes, "m", no_file);
  EXPECT_TRUE(model) << model.error().message;
  return model ? std::move(*model) : Model{};
}

std::string error_of(const std::string& bytes, const ReadOutside& read_outside = no_file) {
  const Result<Model> model = read_model(bytes, "m.onnx", read_outside);
  return model ? "" : model.error().message;
}

std::string written(const Model& model) {
  Result<std::string> bytes = write_model(model);
  EXPECT_TRUE(bytes) << bytes.error().message;
  return bytes ? std::move(*bytes) : "";
}

/// y = x + w, with w two floats.
MessageBytes add_graph() {
  return MessageBytes()
      .message(1, node_bytes("Add", {"x", "w"}, {"y"}))
      .text(2, "g")
      .message(5, tensor_bytes({2}, 1).text(8, "w").text(9, std::string("\0\0\x80\x3f\0\0\0\x40", 8)))
      .message(11, float_info("x", {-1, 2}))
      .message(12, float_info("y", {-1, 2}));
}

TEST(ReadModel, ReadsNodesWeightsAndValues) {
  const Model model = read(model_bytes(add_graph()));
  EXPECT_EQ(model.ir_version, 8);
  EXPECT_EQ(model.opset(), 17);
  const Graph& graph = model.graph;
  EXPECT_EQ(graph.name, "g");
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_TRUE(is_op(graph.nodes[0], "Add"));
  EXPECT_THAT(graph.nodes[0].inputs, ElementsAre("x", "w"));
  EXPECT_EQ(*graph.initializers.at("w"), *floats({2}, {1, 2}));
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.inputs[0].type, ElementType::kFloat);
  EXPECT_THAT(graph.inputs[0].shape.value(), ElementsAre(Dimension{.symbol = "N"}, Dimension{.size = 2}));
}

TEST(ReadModel, WritesTheSameBytes) {
  const std::string bytes = model_bytes(add_graph());
  EXPECT_EQ(written(read(bytes)), bytes);
}

TEST(ReadModel, RefusesWhatIsNoModel) {
  const std::string bytes = model_bytes(add_graph());
  EXPECT_EQ(error_of(""), "m.onnx: wanted an ONNX file, found an empty file");
  EXPECT_THAT(error_of("hello, world"), HasSubstr("m.onnx: wanted an ONNX file, found other bytes"));
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_NE(error_of(bytes.substr(0, size)), "") << size;
}

}  // namespace
}  // namespace berth::models
