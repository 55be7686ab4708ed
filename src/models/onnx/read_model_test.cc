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
using ::testing::HasSubstr;
using testing::model_of;
using testing::node_bytes;
using testing::ProtoWriter;
using ::testing::StartsWith;
using testing::tensor_bytes;
using testing::tensor_info;

Result<std::string> no_file(const std::string& path, std::uint64_t, std::uint64_t) {
  return fail(ErrorCode::kNotFound, path + ": no such file");
}

Model read(const std::string& bytes, const ReadOutside& read_outside = no_file) {
  Result<Model> model = read_model(bytes, "m", read_outside);
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

constexpr std::string_view kOneAndTwo("\0\0\x80\x3f\0\0\0\x40", 8);

ProtoWriter entry(std::string_view key, std::string_view value) { return ProtoWriter().text(1, key).text(2, value); }

/// y = x + w, with this tensor for w.
ProtoWriter add_graph(const ProtoWriter& w) {
  return ProtoWriter()
      .message(1, node_bytes("Add", {"x", "w"}, {"y"}))
      .text(2, "g")
      .message(5, w)
      .message(11, tensor_info("x", berth::testing::kOnnxFloat, {-1, 2}))
      .message(12, tensor_info("y", berth::testing::kOnnxFloat, {-1, 2}));
}

ProtoWriter add_graph() { return add_graph(tensor_bytes({2}, 1).text(8, "w").text(9, kOneAndTwo)); }

/// An attribute of kind `type`, of AttributeProto.AttributeType.
ProtoWriter attribute(std::string_view name, std::uint64_t type) {
  return ProtoWriter().text(1, name).number(20, type);
}

/// y = OPERATOR(x) with attributes.
ProtoWriter graph_with(const std::vector<ProtoWriter>& attributes) {
  ProtoWriter node = node_bytes("Op", {"x"}, {"y"});
  for (const ProtoWriter& each : attributes) node.message(5, each);
  return ProtoWriter()
      .message(1, node)
      .text(2, "g")
      .message(11, tensor_info("x", berth::testing::kOnnxFloat, {2}))
      .message(12, tensor_info("y", berth::testing::kOnnxFloat, {2}));
}

TEST(ReadModel, ReadsNodesWeightsAndValues) {
  const Model model = read(model_of(add_graph()));
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
  const std::string bytes = model_of(add_graph());
  EXPECT_EQ(written(read(bytes)), bytes);
}

TEST(ReadModel, ReadsAttributesOfEachKind) {
  const ProtoWriter tensor = tensor_bytes({2}, 1).text(9, kOneAndTwo);
  const std::string bytes = model_of(graph_with({
      attribute("a", 2).number(3, 7),
      ProtoWriter().text(1, "b").text(4, "text").number(20, 3),
      ProtoWriter().text(1, "c").message(5, tensor).number(20, 4),
      ProtoWriter().text(1, "d").number(8, 1).number(8, 2).number(20, 7),
      ProtoWriter().text(1, "e").text(9, "p").text(9, "q").number(20, 8),
      ProtoWriter().text(1, "f").message(14, ProtoWriter()).number(20, 13),
  }));
  const Node node = read(bytes).graph.nodes.at(0);
  EXPECT_EQ(attribute_or(node, "a", std::int64_t{0}), 7);
  EXPECT_EQ(attribute_or(node, "b", std::string()), "text");
  EXPECT_EQ(*std::get<ConstantPtr>(node.attributes.at("c")), *floats({2}, {1, 2}));
  EXPECT_THAT(attribute_or(node, "d", std::vector<std::int64_t>()), ElementsAre(1, 2));
  EXPECT_THAT(std::get<std::vector<std::string>>(node.attributes.at("e")), ElementsAre("p", "q"));
  EXPECT_TRUE(std::holds_alternative<OpaqueAttribute>(node.attributes.at("f")));
  EXPECT_EQ(attribute_or(node, "a", 1.5F), 1.5F) << "another kind";
  EXPECT_THAT(error_of(model_of(graph_with({attribute("a", 2), attribute("a", 2)}))),
              HasSubstr("two attributes are named \"a\""));
}

TEST(ReadModel, ReadsGraphsInsideNodes) {
  const ProtoWriter inside = ProtoWriter()
                                 .message(1, node_bytes("Neg", {"x"}, {"z"}))
                                 .text(2, "inside")
                                 .message(12, tensor_info("z", berth::testing::kOnnxFloat, {2}));
  const std::string bytes = model_of(graph_with({ProtoWriter().text(1, "body").message(6, inside).number(20, 5)}));
  const Model model = read(bytes);
  const std::vector<GraphPtr> graphs = graphs_in(model.graph.nodes.at(0));
  ASSERT_EQ(graphs.size(), 1U);
  EXPECT_EQ(graphs[0]->nodes.at(0).op, "Neg");
  EXPECT_EQ(written(model), bytes);
}

TEST(ReadModel, KeepsWhatLaterVersionsAdd) {
  // Field 99 stands for one that none of the classes knows; 16 and 9 are the metadata of versions 10 and later.
  const ProtoWriter later = ProtoWriter().text(1, "key").text(2, "value");
  const ProtoWriter tensor =
      tensor_bytes({2}, 1).text(8, "w").text(9, kOneAndTwo).text(12, "about w").message(16, later);
  const ProtoWriter inner =
      ProtoWriter().text(1, "a").number(3, 1).text(13, "about a").number(20, 2).message(99, later);
  const ProtoWriter node =
      node_bytes("Add", {"x", "w"}, {"y"}).message(5, inner).text(6, "about the node").message(9, later);
  const ProtoWriter graph =
      ProtoWriter()
          .message(1, node)
          .text(2, "g")
          .message(5, tensor)
          .text(10, "about the graph")
          .message(11, tensor_info("x", berth::testing::kOnnxFloat, {-1, 2}).text(3, "about x").message(4, later))
          .message(12, tensor_info("y", berth::testing::kOnnxFloat, {-1, 2}))
          .message(99, later);
  const std::string bytes = ProtoWriter()
                                .number(1, 10)
                                .text(2, "maker")
                                .text(3, "2.1")
                                .text(4, "org.example")
                                .number(5, 3)
                                .text(6, "about")
                                .message(7, graph)
                                .message(8, ProtoWriter().text(1, "").number(2, 21))
                                .message(14, entry("author", "me"))
                                .message(99, later)
                                .bytes();
  // The raw data of a tensor comes last: the same bytes, in another order.
  Model model = read(bytes);
  const std::string first = written(model);
  EXPECT_EQ(first.size(), bytes.size());
  EXPECT_EQ(written(read(first)), first);
  for (const char* text : {"maker", "2.1", "org.example", "about", "about w", "about a", "about the node",
                           "about the graph", "about x", "author"}) {
    EXPECT_THAT(first, HasSubstr(text));
  }
  std::size_t later_count = 0;
  for (std::size_t at = first.find("\x03key"); at != std::string::npos; at = first.find("\x03key", at + 1))
    ++later_count;
  EXPECT_EQ(later_count, 6U);
  model.graph.initializers.emplace("w2", model.graph.initializers.at("w"));
  model.graph.initializers.erase("w");
  model.graph.nodes[0].inputs[1] = "w2";
  EXPECT_THAT(written(model), Not(HasSubstr("about w"))) << "it goes with the name";
}

TEST(ReadModel, WritesNewValuesAndKeepsNames) {
  Model model = read(model_of(add_graph()));
  model.graph.outputs[0].name = "x";
  model.graph.values.push_back(
      {.name = "y", .type = ElementType::kInt8, .shape = {{{.size = 3}, {.symbol = "M"}, {}}}});
  const Model again = read(written(model));
  EXPECT_EQ(again.graph.outputs.at(0).name, "x");
  const ValueInfo& value = again.graph.values.at(0);
  EXPECT_EQ(value.type, ElementType::kInt8);
  EXPECT_THAT(value.shape.value(), ElementsAre(Dimension{.size = 3}, Dimension{.symbol = "M"}, Dimension{}));
}

TEST(ReadModel, ReadsTheStandardDomainByBothNames) {
  ProtoWriter node = node_bytes("Relu", {"x"}, {"y"});
  node.text(7, "ai.onnx");
  const ProtoWriter graph = ProtoWriter()
                                .message(1, node)
                                .text(2, "g")
                                .message(11, tensor_info("x", berth::testing::kOnnxFloat, {2}))
                                .message(12, tensor_info("y", berth::testing::kOnnxFloat, {2}));
  const auto file = [&](std::uint64_t second) {
    return ProtoWriter()
        .number(1, 8)
        .message(7, graph)
        .message(8, ProtoWriter().text(1, "ai.onnx").number(2, 17))
        .message(8, ProtoWriter().number(2, second))
        .bytes();
  };
  const Model model = read(file(17));
  EXPECT_EQ(model.opset(), 17);
  EXPECT_TRUE(is_op(model.graph.nodes.at(0), "Relu"));
  EXPECT_EQ(error_of(file(16)), "m.onnx: two versions of the operators \"\": 17 and 16");
}

TEST(ReadModel, RefusesWhatIsNoModel) {
  const std::string bytes = model_of(add_graph());
  EXPECT_EQ(error_of(""), "m.onnx: wanted an ONNX file, found an empty file");
  EXPECT_THAT(error_of("hello, world"), HasSubstr("m.onnx: wanted an ONNX file, found other bytes"));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(error_of(bytes.substr(0, size)), StartsWith("m.onnx: ")) << size;
  }
  EXPECT_THAT(error_of(ProtoWriter().message(7, add_graph()).bytes()), HasSubstr("without a version of the format"));
  EXPECT_THAT(error_of(ProtoWriter().number(1, 8).message(7, add_graph()).bytes()),
              HasSubstr("does not say which versions of the operators"));
  EXPECT_THAT(error_of(model_of(ProtoWriter().text(2, "g"))), HasSubstr("wanted a model with an output"));
}

TEST(ReadModel, RefusesNames) {
  const auto fault = [](const ProtoWriter& node) {
    return error_of(model_of(ProtoWriter()
                                 .message(1, node)
                                 .message(11, tensor_info("x", berth::testing::kOnnxFloat, {2}))
                                 .message(12, tensor_info("y", berth::testing::kOnnxFloat, {2}))));
  };
  EXPECT_EQ(fault(node_bytes("Relu", {"z"}, {"y"})),
            "m.onnx: value \"z\" is taken by a node \"Relu\" and made nowhere");
  EXPECT_EQ(fault(node_bytes("Relu", {"x"}, {"x"})),
            "m.onnx: value \"x\" is made twice: the second time by a node \"Relu\"");
  EXPECT_EQ(fault(node_bytes("Relu", {"x"}, {"z"})), "m.onnx: output \"y\" is made nowhere");
  EXPECT_THAT(fault(node_bytes("Relu", {"\xff"}, {"y"})), HasSubstr("the name of a value is not UTF-8"));
  EXPECT_THAT(fault(node_bytes("", {"x"}, {"y"})), HasSubstr("it has no operator"));
  const ProtoWriter w = tensor_bytes({2}, 1).text(8, "w").text(9, kOneAndTwo);
  EXPECT_EQ(error_of(model_of(add_graph(w).message(5, w))), "m.onnx: two initializers are named \"w\"");
}

TEST(ReadModel, RefusesTensorsOfOtherSizes) {
  const auto fault = [](const ProtoWriter& tensor) { return error_of(model_of(add_graph(tensor))); };
  EXPECT_EQ(fault(tensor_bytes({3}, 1).text(8, "w").text(9, kOneAndTwo)),
            "m.onnx: tensor \"w\": wanted 12 bytes of float for its shape, found 8");
  EXPECT_EQ(fault(tensor_bytes({-1}, 1).text(8, "w")), "m.onnx: tensor \"w\": wanted sizes of at least 0, found -1");
  EXPECT_THAT(fault(tensor_bytes({1LL << 40, 1LL << 40}, 1).text(8, "w")),
              HasSubstr("more elements than a file can hold"));
  EXPECT_THAT(fault(tensor_bytes({2}, 0).text(8, "w")), HasSubstr("it has no type of elements"));
  EXPECT_THAT(fault(tensor_bytes({2}, 8).text(8, "w").text(6, "a")),
              HasSubstr("wanted 2 texts for its shape, found 1"));
  EXPECT_THAT(fault(tensor_bytes({2}, 77).text(8, "w").number(5, 1)),
              HasSubstr("elements of type 77 can be read as raw data only"));
}

TEST(ReadModel, ReadsElementsOfLessThanAByte) {
  const auto bytes_of = [](std::int64_t count, std::uint64_t type, const std::vector<std::uint64_t>& numbers) {
    ProtoWriter tensor = tensor_bytes({count}, type).text(8, "w");
    for (const std::uint64_t number : numbers) tensor.number(5, number);
    return read(model_of(add_graph(tensor))).graph.initializers.at("w")->bytes;
  };
  EXPECT_EQ(bytes_of(3, 22, {0xF1, 0x02}), "\xF1\x02") << "two of 4 bits in each number";
  EXPECT_EQ(bytes_of(5, 25, {0xE4, 0x01}), "\xE4\x01") << "four of 2 bits";
  EXPECT_EQ(bytes_of(5, 27, {0x01, 0x3F, 0x15, 0x2A, 0x03}), "\xC1\x5F\xA9\x03") << "one of 6 bits";
}

TEST(ReadModel, KeepsTensorsOfUnknownTypes) {
  const Model model = read(model_of(add_graph(tensor_bytes({2}, 77).text(8, "w").text(9, "abc"))));
  EXPECT_EQ(static_cast<int>(model.graph.initializers.at("w")->type), 77);
  EXPECT_EQ(read(written(model)).graph.initializers.at("w")->bytes, "abc");
}

/// A graph whose weights "w", two floats, are outside, as these entries say.
std::string outside_model(const std::vector<ProtoWriter>& entries) {
  ProtoWriter tensor = tensor_bytes({2}, 1).text(8, "w");
  for (const ProtoWriter& each : entries) tensor.message(13, each);
  return model_of(add_graph(tensor.number(14, 1)));
}

TEST(ReadModel, ReadsWeightsOutside) {
  std::string asked;
  const ReadOutside read_outside = [&](const std::string& path, std::uint64_t offset, std::uint64_t bytes) {
    asked = fmt::format("{} {} {}", path, offset, bytes);
    return Result<std::string>(kOneAndTwo);
  };
  const Model model = read(
      outside_model({entry("location", "weights/a.bin"), entry("offset", "64"), entry("length", "8")}), read_outside);
  EXPECT_EQ(asked, "weights/a.bin 64 8");
  EXPECT_EQ(*model.graph.initializers.at("w"), *floats({2}, {1, 2}));
  EXPECT_EQ(written(model), model_of(add_graph())) << "all weights are in the file";
  (void)read(outside_model({entry("location", "a.bin")}), read_outside);
  EXPECT_EQ(asked, "a.bin 0 8");
}

TEST(ReadModel, RefusesWeightsOutsideItsFolder) {
  for (const char* path : {"../a.bin", "/etc/passwd", "a/../../b", "..", "a/..", ""}) {
    EXPECT_EQ(error_of(outside_model({entry("location", path)})),
              fmt::format("m.onnx: weights of \"w\": wanted the path of a file below the model's folder, found \"{}\"",
                          path));
  }
  EXPECT_EQ(error_of(outside_model({entry("location", "a..b")})), "m.onnx: weights of \"w\": a..b: no such file");
}

TEST(ReadModel, RefusesWeightsOutsideOfOtherSizes) {
  const ProtoWriter path = entry("location", "a.bin");
  EXPECT_THAT(error_of(outside_model({path, entry("length", "12")})),
              HasSubstr("weights of \"w\": wanted 8 bytes of float for its shape, found 12"));
  EXPECT_THAT(error_of(outside_model({path, entry("offset", "-1")})),
              HasSubstr("offset: wanted a number of bytes, found \"-1\""));
  const ReadOutside one_byte = [](const std::string&, std::uint64_t, std::uint64_t) {
    return Result<std::string>("a");
  };
  EXPECT_THAT(error_of(outside_model({path, entry("offset", "5")}), one_byte),
              HasSubstr("wanted 8 bytes of \"a.bin\" from byte 5 on, found 1"));
  const ProtoWriter huge = tensor_bytes({1LL << 31}, 1).text(8, "w").message(13, path).number(14, 1);
  EXPECT_THAT(error_of(model_of(add_graph(huge))), HasSubstr("more than 2147483647 bytes, with the model"));
}

}  // namespace
}  // namespace berth::models
