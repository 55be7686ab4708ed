#include "models/onnx_file/onnx_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/onnx_file/testing/test_models.h"

namespace berth::models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kOnnxFloat;
using testing::model_of;
using testing::ProtoWriter;
using ::testing::StartsWith;
using testing::tensor_info;
using testing::twice_model;

constexpr std::uint64_t kOnnxInt64 = 7;

Result<OnnxFile> read(std::string_view bytes) { return read_onnx_file(*file_over(bytes), "m/1/model.onnx"); }

std::string error_of(std::string_view bytes) {
  const auto file = read(bytes);
  return file ? "no error" : file.error().message;
}

/// A graph with the input x and the output y, to which a test adds something.
ProtoWriter small_graph() {
  return ProtoWriter()
      .message(11, tensor_info("x", kOnnxFloat, {-1, 2}))
      .message(12, tensor_info("y", kOnnxFloat, {-1}));
}

/// Floats as raw data.
ProtoWriter weights(std::string_view name, std::uint64_t count) {
  return ProtoWriter().number(1, count).number(2, kOnnxFloat).text(8, name).text(9, std::string(count * 4, 'w'));
}

ProtoWriter outside(std::string_view path, std::uint64_t count, std::string_view offset, std::string_view length) {
  ProtoWriter tensor;
  tensor.number(1, count).number(2, kOnnxFloat).text(8, "w").number(14, 1);
  tensor.message(13, ProtoWriter().text(1, "location").text(2, path));
  if (!offset.empty()) tensor.message(13, ProtoWriter().text(1, "offset").text(2, offset));
  if (!length.empty()) tensor.message(13, ProtoWriter().text(1, "length").text(2, length));
  return tensor;
}

TEST(OnnxFile, ReadsInputsOutputsAndVersions) {
  const auto file = read(twice_model("Add", 3));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->ir_version, 8);
  EXPECT_EQ(file->opset, 17);
  EXPECT_THAT(file->inputs, ElementsAre(OnnxTensor{.name = "x", .type = TensorType::kFp32, .shape = {{-1, 3}}}));
  EXPECT_THAT(file->outputs, ElementsAre(OnnxTensor{.name = "y", .type = TensorType::kFp32, .shape = {{-1, 3}}}));
  EXPECT_EQ(file->weight_bytes, 0);
  EXPECT_TRUE(has_any_rows(*file));
}

TEST(OnnxFile, ReadsTheProducer) {
  const std::string model = twice_model("Add", 3);
  EXPECT_EQ(read(model)->producer, "");
  EXPECT_EQ(read(model + ProtoWriter().text(2, "pytorch").text(3, "2.1").bytes())->producer, "pytorch 2.1");
}

TEST(OnnxFile, ShapesMayBeMissingOrScalar) {
  const ProtoWriter no_shape =
      ProtoWriter().text(1, "x").message(2, ProtoWriter().message(1, ProtoWriter().number(1, 7)));
  const auto file = read(model_of(ProtoWriter().message(11, no_shape).message(12, tensor_info("y", kOnnxInt64, {}))));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->inputs[0], (OnnxTensor{.name = "x", .type = TensorType::kInt64}));
  EXPECT_EQ(file->outputs[0].shape, std::vector<std::int64_t>{});
  EXPECT_FALSE(has_any_rows(*file));
}

TEST(OnnxFile, OnlyNamedNegativeAndUnknownSizesAreAnySize) {
  const ProtoWriter shape = ProtoWriter()
                                .message(1, ProtoWriter().number(1, static_cast<std::uint64_t>(-5)))
                                .message(1, ProtoWriter())
                                .message(1, ProtoWriter().number(1, 0))
                                .message(1, ProtoWriter().number(1, 4).text(2, "N"));
  const ProtoWriter type = ProtoWriter().message(1, ProtoWriter().number(1, kOnnxFloat).message(2, shape));
  const ProtoWriter output = ProtoWriter().text(1, "y").message(2, type);
  EXPECT_EQ(read(model_of(ProtoWriter().message(12, output)))->outputs[0].shape,
            (std::vector<std::int64_t>{-1, -1, 0, -1}));
}

TEST(OnnxFile, RowsMustBeFreeEverywhere) {
  EXPECT_TRUE(has_any_rows(*read(model_of(small_graph()))));
  EXPECT_FALSE(has_any_rows(*read(twice_model("Add", std::vector<std::int64_t>{1, 3}))));
  EXPECT_FALSE(has_any_rows(*read(twice_model("Add", std::vector<std::int64_t>{}))));
  EXPECT_FALSE(has_any_rows(*read(model_of(small_graph().message(12, tensor_info("z", kOnnxFloat, {2}))))));
  EXPECT_FALSE(has_any_rows(*read(model_of(ProtoWriter().message(12, tensor_info("y", kOnnxFloat, {-1}))))));
}

TEST(OnnxFile, InitialisersAreNoInputs) {
  // Before and behind the input that they give a value to.
  ProtoWriter graph = ProtoWriter().message(5, weights("a", 2)).message(11, tensor_info("a", kOnnxFloat, {2}));
  graph.message(11, tensor_info("x", kOnnxFloat, {-1})).message(11, tensor_info("b", 17, {1}));
  graph.message(12, tensor_info("y", kOnnxFloat, {-1})).message(5, weights("b", 1));
  graph.message(15, ProtoWriter().message(1, weights("s", 5))).message(11, tensor_info("s", kOnnxFloat, {9}));
  const auto file = read(model_of(graph));
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->inputs.size(), 1U);
  EXPECT_EQ(file->inputs[0].name, "x");
  EXPECT_EQ(file->weight_bytes, (2 + 1 + 5) * 4);
}

TEST(OnnxFile, CountsWeightsOfAllKinds) {
  // Raw, packed floats, 16-bit floats in varints, texts, 4-bit numbers, dimensions that are packed.
  ProtoWriter graph = small_graph();
  graph.message(5, weights("raw", 10));
  graph.message(5, ProtoWriter().number(1, 3).number(2, kOnnxFloat).text(4, std::string(12, 'f')));
  graph.message(5, ProtoWriter().number(1, 2).number(2, 10).number(5, 15'360).number(5, 0));
  graph.message(5, ProtoWriter().number(1, 2).number(2, 8).text(6, "one").text(6, "three"));
  graph.message(5, ProtoWriter().number(1, 3).number(2, 22).text(9, "ab"));
  graph.message(5,
                ProtoWriter().text(1, std::string("\x02\x03", 2)).number(2, kOnnxInt64).text(7, std::string(6, '\1')));
  EXPECT_EQ(read(model_of(graph))->weight_bytes, 40 + 12 + 4 + 8 + 2 + 48);
}

TEST(OnnxFile, CountsWeightsInNodesSubGraphsAndFunctions) {
  const ProtoWriter constant = ProtoWriter().text(4, "Constant").message(5, ProtoWriter().message(5, weights("", 4)));
  const ProtoWriter branch = ProtoWriter().message(1, constant).message(5, weights("inner", 1));
  const ProtoWriter choice = ProtoWriter().text(4, "If").message(5, ProtoWriter().message(6, branch));
  const std::string model = model_of(small_graph().message(1, constant).message(1, choice));
  EXPECT_EQ(read(model)->weight_bytes, 16 + 16 + 4);
  EXPECT_EQ(read(model + ProtoWriter().message(25, ProtoWriter().message(7, constant)).bytes())->weight_bytes, 36 + 16);
}

TEST(OnnxFile, DoesNotBelieveDimensionsWithoutBytes) {
  const ProtoWriter huge = ProtoWriter().number(1, 1ULL << 40).number(1, 1ULL << 40).number(2, kOnnxFloat);
  EXPECT_EQ(read(model_of(small_graph().message(5, huge)))->weight_bytes, 0);
}

TEST(OnnxFile, NamesTheFilesOfWeightsOutside) {
  ProtoWriter graph = small_graph();
  graph.message(5, outside("b.bin", 8, "", "")).message(5, outside("a.bin", 8, "4096", "32"));
  graph.message(5, outside("a.bin", 8, "64", ""));
  const auto file = read(model_of(graph));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_THAT(file->weights, ElementsAre(WeightsFile{"a.bin", 4'128}, WeightsFile{"b.bin", 32}));
  EXPECT_EQ(file->weight_bytes, 96);
  const ProtoWriter huge = outside("a.bin", 8, "0", "9223372036854775807");
  EXPECT_EQ(read(model_of(small_graph().message(5, huge).message(5, huge)))->weight_bytes, kWeightBytesMax);
  EXPECT_THAT(error_of(model_of(small_graph().message(5, outside("", 8, "", "")))), HasSubstr("location"));
  EXPECT_EQ(error_of(model_of(small_graph().message(5, outside("a", 8, "-1", "")))),
            "m/1/model.onnx: wanted the offset of weights in another file, found \"-1\"");
}

TEST(OnnxFile, RefusesWhatIsNoOnnx) {
  EXPECT_EQ(error_of(""), "m/1/model.onnx: wanted an ONNX file, found an empty file");
  EXPECT_EQ(error_of("no model"), "m/1/model.onnx: wanted an ONNX file, found no field at byte 0");
  EXPECT_EQ(error_of(std::string(100, '\0')), "m/1/model.onnx: wanted an ONNX file, found no field at byte 0");
  EXPECT_THAT(error_of("<html>"), StartsWith("m/1/model.onnx: wanted an ONNX file"));
  EXPECT_THAT(error_of(std::string(20, '\xFF')), StartsWith("m/1/model.onnx: wanted an ONNX file"));
  EXPECT_EQ(error_of(ProtoWriter().number(1, 8).bytes()),
            "m/1/model.onnx: wanted an ONNX file, found one without a version or without a graph");
  EXPECT_EQ(error_of(model_of(ProtoWriter())), "m/1/model.onnx: wanted a model with an output, found none");
}

TEST(OnnxFile, RefusesEveryCut) {
  const std::string model = twice_model("Add", 3);
  for (std::size_t length = 0; length < model.size(); ++length) {
    const auto file = read(std::string_view(model).substr(0, length));
    // The versions of the operators come last: a file that ends before them is whole.
    if (file) {
      EXPECT_EQ(file->opset, 0) << length;
    } else {
      EXPECT_THAT(file.error().message, StartsWith("m/1/model.onnx: wanted ")) << length;
    }
  }
  EXPECT_THAT(error_of(std::string_view(model).substr(0, 30)), HasSubstr("where the file has"));
}

TEST(OnnxFile, NamesWhatIsNoTensor) {
  const ProtoWriter sequence =
      ProtoWriter().text(1, "probabilities").message(2, ProtoWriter().message(4, ProtoWriter()));
  EXPECT_EQ(error_of(model_of(small_graph().message(12, sequence))),
            "m/1/model.onnx: output \"probabilities\": wanted a tensor, found a sequence");
  EXPECT_EQ(error_of(model_of(small_graph().message(11, ProtoWriter().text(1, "i")))),
            "m/1/model.onnx: input \"i\": wanted a tensor, found no type");
  EXPECT_EQ(error_of(model_of(small_graph().message(12, tensor_info("z", 17, {1})))),
            "m/1/model.onnx: output \"z\": wanted elements of a type that can be served, found FLOAT8E4M3FN (17)");
  EXPECT_THAT(error_of(model_of(small_graph().message(12, tensor_info("z", 99, {1})))), HasSubstr("a newer type (99)"));
  EXPECT_EQ(error_of(model_of(small_graph().message(12, tensor_info("y", 1, {1})))),
            "m/1/model.onnx: wanted outputs of different names, found two \"y\"");
  EXPECT_THAT(error_of(model_of(small_graph().message(11, tensor_info("\xFF", 1, {1})))), HasSubstr("UTF-8"));
}

TEST(OnnxFile, BoundsTheDepthOfGraphs) {
  ProtoWriter graph;
  for (int depth = 0; depth < 1'000; ++depth) {
    graph = ProtoWriter().message(1, ProtoWriter().message(5, ProtoWriter().message(6, graph)));
  }
  EXPECT_THAT(error_of(model_of(small_graph().message(1, ProtoWriter().message(5, ProtoWriter().message(6, graph))))),
              HasSubstr("graphs in at most"));
}

/// A file that shrinks after it was opened.
class ShrinkingFile final : public OpenFile {
 public:
  ShrinkingFile(std::string_view bytes, std::uint64_t left) : file_(file_over(bytes)), left_(left) {}
  [[nodiscard]] FileStamp stamp() const override { return file_->stamp(); }
  [[nodiscard]] Result<std::size_t> read(std::uint64_t offset, std::span<char> place) const override {
    if (offset >= left_) return 0;
    return file_->read(offset, place.first(std::min(place.size(), static_cast<std::size_t>(left_ - offset))));
  }

 private:
  std::unique_ptr<OpenFile> file_;
  std::uint64_t left_;
};

TEST(OnnxFile, SurvivesAFileThatShrinks) {
  const std::string model = twice_model("Add", 3);
  for (std::uint64_t left = 0; left < model.size(); ++left) {
    const auto file = read_onnx_file(ShrinkingFile(model, left), "m");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().message, "m: wanted a file that does not change, found one that has become shorter");
  }
}

/// Counts what is read of a file.
class CountedFile final : public OpenFile {
 public:
  explicit CountedFile(std::string_view bytes) : file_(file_over(bytes)) {}
  [[nodiscard]] FileStamp stamp() const override { return file_->stamp(); }
  [[nodiscard]] Result<std::size_t> read(std::uint64_t offset, std::span<char> place) const override {
    bytes_ += place.size();
    return file_->read(offset, place);
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<OpenFile> file_;
  mutable std::uint64_t bytes_ = 0;
};

TEST(OnnxFile, SkipsWeights) {
  ProtoWriter graph = small_graph();
  for (int i = 0; i < 4; ++i) graph.message(5, weights("w", 1'000'000));
  const std::string model = model_of(graph);
  const CountedFile file(model);
  EXPECT_EQ(read_onnx_file(file, "m")->weight_bytes, 16'000'000);
  EXPECT_LT(file.bytes(), 500'000U);
}

}  // namespace
}  // namespace berth::models
