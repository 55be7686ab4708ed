// All models and tensors of ONNX's own tests (Debian package libonnx-testdata) go through reading and writing.
#include <gmock/gmock.h>
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/core/test_cases.h"
#include "models/graph/tensors.h"
#include "models/onnx/check_model.h"
#include "models/onnx/detail/tensor_proto.h"
#include "models/onnx/read_model.h"
#include "models/onnx/tensor_file.h"
#include "models/onnx/write_model.h"

namespace berth::models {
namespace {

namespace fs = std::filesystem;

const fs::path kTestData = "/usr/share/libonnx-testdata/data";

Result<std::string> nothing_outside(const std::string& path, std::uint64_t, std::uint64_t) {
  return invalid(path + ": no weights outside were expected");
}

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The folders with a model, sorted. With sanitizers, each tenth.
std::vector<fs::path> model_folders() {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kTestData)) {
    if (entry.path().filename() == "model.onnx") folders.push_back(entry.path().parent_path());
  }
  std::ranges::sort(folders);
  std::vector<fs::path> chosen;
  for (std::size_t i = 0; i < folders.size(); i += testing::by_build<std::size_t>(1, 10)) chosen.push_back(folders[i]);
  return chosen;
}

// What a model says does not depend on how the elements of its tensors are written, nor on the order of initialisers
// and attributes: before messages are compared, each gets one form of these.

void make_plain(onnx::TensorProto& tensor) {
  const Result<Constant> constant = detail::take_constant(tensor);
  ASSERT_TRUE(constant) << constant.error().message;
  detail::put_constant(*constant, tensor);
}

void make_plain(onnx::GraphProto& graph) {
  std::ranges::sort(*graph.mutable_initializer(), {}, [](const auto& tensor) { return tensor.name(); });
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) make_plain(tensor);
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (node.domain() == "ai.onnx" || node.domain().empty()) node.clear_domain();
    if (node.name().empty()) node.clear_name();
    std::ranges::sort(*node.mutable_attribute(), {}, [](const auto& attribute) { return attribute.name(); });
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) make_plain(*attribute.mutable_t());
      if (attribute.has_g()) make_plain(*attribute.mutable_g());
    }
  }
}

std::string plain_bytes(const std::string& bytes) {
  onnx::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromString(bytes));
  make_plain(*proto.mutable_graph());
  std::ranges::sort(*proto.mutable_opset_import(), {}, [](const auto& opset) { return opset.domain(); });
  for (onnx::OperatorSetIdProto& opset : *proto.mutable_opset_import()) opset.set_domain(opset.domain());
  return proto.SerializeAsString();
}

bool is_accepted_by_libonnx(const std::string& bytes) {
  const google::protobuf::LogSilencer silence;
  onnx::ModelProto proto;
  if (!proto.ParseFromString(bytes)) return false;
  try {
    onnx::checker::check_model(proto);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

class OnnxTestData : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory(kTestData)) GTEST_SKIP() << "the Debian package libonnx-testdata is not installed";
    folders_ = model_folders();
    ASSERT_GE(folders_.size(), 100U);
  }

  std::vector<fs::path> folders_;
};

TEST_F(OnnxTestData, SaysTheSameAfterReadingAndWriting) {
  for (const fs::path& folder : folders_) {
    SCOPED_TRACE(folder);
    const std::string bytes = bytes_of_file(folder / "model.onnx");
    const Result<Model> model = read_model(bytes, "model", nothing_outside);
    ASSERT_TRUE(model) << model.error().message;
    const std::string written = write_model(*model).value();
    ASSERT_EQ(plain_bytes(written), plain_bytes(bytes));
    const Result<Model> again = read_model(written, "model", nothing_outside);
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(write_model(*again).value(), written);
  }
}

TEST_F(OnnxTestData, IsAcceptedWhereLibonnxAcceptsIt) {
  std::size_t accepted = 0;
  for (const fs::path& folder : folders_) {
    const std::string bytes = bytes_of_file(folder / "model.onnx");
    if (!is_accepted_by_libonnx(bytes)) continue;
    ++accepted;
    const Result<void> checked = check_model(read_model(bytes, "model", nothing_outside).value());
    EXPECT_TRUE(checked) << folder << ": " << checked.error().message;
  }
  EXPECT_GE(accepted, folders_.size() * 9 / 10);
}

TEST_F(OnnxTestData, HasTensorsAsItsModelsSay) {
  std::size_t read = 0;
  for (const fs::path& folder : folders_) {
    // Files of bfloat16 say uint16, and some have another shape than their model says.
    if (folder.filename().string().find("BFLOAT16") != std::string::npos) continue;
    const Model model = read_model(bytes_of_file(folder / "model.onnx"), "model", nothing_outside).value();
    for (const auto& [stem, infos] : {std::pair{"input", &model.graph.inputs}, {"output", &model.graph.outputs}}) {
      for (std::size_t i = 0; i < infos->size(); ++i) {
        const fs::path path = folder / "test_data_set_0" / (std::string(stem) + "_" + std::to_string(i) + ".pb");
        const ValueInfo& info = (*infos)[i];
        if (!fs::exists(path)) continue;
        const Result<Tensor> tensor = read_tensor_file(bytes_of_file(path), "tensor");
        if (info.type == ElementType::kUndefined) continue;  // a sequence, say
        ASSERT_TRUE(tensor) << path << ": " << tensor.error().message;
        EXPECT_EQ(element_type_of(tensor->type), info.type) << path;
        if (info.shape) {
          EXPECT_EQ(tensor->shape.size(), info.shape->size()) << path;
        }
        ++read;
      }
    }
  }
  EXPECT_GE(read, folders_.size());
}

}  // namespace
}  // namespace berth::models
