#include "models/onnx_file/onnx_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/core/text.h"
#include "models/onnx_file/detail/weights.h"
#include "models/onnx_file/detail/wire_reader.h"

namespace berth::models {
namespace {

using detail::Extent;
using detail::WireFields;
using detail::WireSource;

constexpr std::size_t kNameBytesMax = 4'096;
constexpr std::size_t kTensorCountMax = 10'000;  // inputs or outputs
constexpr std::size_t kRankMax = 256;
constexpr int kGraphDepthMax = 32;              // of graphs in graphs
constexpr std::size_t kPartCountMax = 100'000;  // functions, and pieces of the graph

/// Of TensorProto.DataType, by its number; `kBytes` also where there is no such TensorType, which `is_known` says.
struct ElementType {
  const char* name;
  TensorType type = TensorType::kBytes;
  bool is_known = false;
};

constexpr std::array<ElementType, 27> kElementTypes = {{{"no type"},
                                                        {"FLOAT", TensorType::kFp32, true},
                                                        {"UINT8", TensorType::kUint8, true},
                                                        {"INT8", TensorType::kInt8, true},
                                                        {"UINT16", TensorType::kUint16, true},
                                                        {"INT16", TensorType::kInt16, true},
                                                        {"INT32", TensorType::kInt32, true},
                                                        {"INT64", TensorType::kInt64, true},
                                                        {"STRING", TensorType::kBytes, true},
                                                        {"BOOL", TensorType::kBool, true},
                                                        {"FLOAT16", TensorType::kFp16, true},
                                                        {"DOUBLE", TensorType::kFp64, true},
                                                        {"UINT32", TensorType::kUint32, true},
                                                        {"UINT64", TensorType::kUint64, true},
                                                        {"COMPLEX64"},
                                                        {"COMPLEX128"},
                                                        {"BFLOAT16", TensorType::kBf16, true},
                                                        {"FLOAT8E4M3FN"},
                                                        {"FLOAT8E4M3FNUZ"},
                                                        {"FLOAT8E5M2"},
                                                        {"FLOAT8E5M2FNUZ"},
                                                        {"UINT4"},
                                                        {"INT4"},
                                                        {"FLOAT4E2M1"},
                                                        {"FLOAT8E8M0"},
                                                        {"UINT2"},
                                                        {"INT2"}}};

/// An input or output as it is written.
struct ValueInfo {
  std::string name;
  std::string_view kind = "no type";
  std::int64_t element = 0;
  std::optional<std::vector<std::int64_t>> shape;
};

constexpr std::string_view kTensorKind = "a tensor";

class OnnxReader {
 public:
  explicit OnnxReader(WireSource& source) : source_(source), weights_(source) {}

  OnnxFile read() {
    read_model();
    if (!source_.has_failed() && (file_.ir_version < 1 || graphs_.empty())) {
      source_.refuse("wanted an ONNX file, found one without a version or without a graph");
    }
    for (const Extent graph : graphs_) read_ends(graph);
    for (const Extent graph : graphs_) read_graph(graph, 1);
    for (const Extent function : functions_) read_function(function);
    file_.inputs = tensors_of(inputs_, "input");
    file_.outputs = tensors_of(outputs_, "output");
    if (!source_.has_failed() && file_.outputs.empty()) source_.refuse("wanted a model with an output, found none");
    file_.weight_bytes = weights_.bytes();
    file_.weights = weights_.files();
    return std::move(file_);
  }

 private:
  void read_model() {
    std::string producer_version;
    for (WireFields fields(source_, source_.whole()); fields.next();) {
      if (fields.is_number(1)) file_.ir_version = fields.number();
      if (fields.is_bytes(2)) file_.producer = fields.text(kNameBytesMax);
      if (fields.is_bytes(3)) producer_version = fields.text(kNameBytesMax);
      if (fields.is_bytes(7)) graphs_.push_back(fields.extent());
      if (fields.is_bytes(8)) read_opset(fields.extent());
      if (fields.is_bytes(25)) functions_.push_back(fields.extent());
      if (graphs_.size() + functions_.size() > kPartCountMax) {
        source_.refuse(fmt::format("wanted at most {} functions, found more", kPartCountMax));
      }
    }
    if (!producer_version.empty()) file_.producer += " " + producer_version;
    if (find_bad_utf8(file_.producer) != std::string::npos) file_.producer.clear();
  }

  void read_opset(Extent opset) {
    std::string domain;
    std::int64_t version = 0;
    for (WireFields fields(source_, opset); fields.next();) {
      if (fields.is_bytes(1)) domain = fields.text(kNameBytesMax);
      if (fields.is_number(2)) version = fields.number();
    }
    if (domain.empty() || domain == "ai.onnx") file_.opset = version;
  }

  /// Only the inputs and outputs: an initialiser, which can come first, is compared with the inputs.
  void read_ends(Extent graph) {
    for (WireFields fields(source_, graph); fields.next();) {
      if (fields.is_bytes(11)) inputs_.push_back(read_value_info(fields.extent()));
      if (fields.is_bytes(12)) outputs_.push_back(read_value_info(fields.extent()));
      if (inputs_.size() > kTensorCountMax || outputs_.size() > kTensorCountMax) {
        source_.refuse(fmt::format("wanted at most {} inputs and outputs, found more", kTensorCountMax));
      }
    }
    for (const ValueInfo& input : inputs_) input_names_.insert(input.name);
  }

  ValueInfo read_value_info(Extent message) {
    ValueInfo value;
    for (WireFields fields(source_, message); fields.next();) {
      if (fields.is_bytes(1)) value.name = fields.text(kNameBytesMax);
      if (fields.is_bytes(2)) read_type(fields.extent(), value);
    }
    return value;
  }

  void read_type(Extent type, ValueInfo& value) {
    for (WireFields fields(source_, type); fields.next();) {
      if (fields.is_bytes(1)) read_tensor_type(fields.extent(), value);
      if (fields.is_bytes(4)) value.kind = "a sequence";
      if (fields.is_bytes(5)) value.kind = "a map";
      if (fields.is_bytes(7)) value.kind = "an opaque value";
      if (fields.is_bytes(8)) value.kind = "a sparse tensor";
      if (fields.is_bytes(9)) value.kind = "an optional value";
    }
  }

  void read_tensor_type(Extent type, ValueInfo& value) {
    value.kind = kTensorKind;
    for (WireFields fields(source_, type); fields.next();) {
      if (fields.is_number(1)) value.element = fields.number();
      if (fields.is_bytes(2)) value.shape = read_shape(fields.extent());
    }
  }

  std::vector<std::int64_t> read_shape(Extent shape) {
    std::vector<std::int64_t> sizes;
    for (WireFields fields(source_, shape); fields.next();) {
      if (fields.is_bytes(1)) sizes.push_back(read_dimension(fields.extent()));
      if (sizes.size() > kRankMax) {
        source_.refuse(fmt::format("wanted tensors of at most {} dimensions, found more", kRankMax));
      }
    }
    return sizes;
  }

  /// As ONNX Runtime takes it: a name, nothing or a size below 0 is any size.
  std::int64_t read_dimension(Extent dimension) {
    std::int64_t size = -1;
    for (WireFields fields(source_, dimension); fields.next();) {
      if (fields.is_number(1)) size = std::max<std::int64_t>(fields.number(), -1);
      if (fields.is_bytes(2)) size = -1;
    }
    return size;
  }

  void read_graph(Extent graph, int depth) {
    if (depth > kGraphDepthMax) {
      source_.refuse(fmt::format("wanted graphs in at most {} others, found more", kGraphDepthMax));
      return;
    }
    for (WireFields fields(source_, graph); fields.next();) {
      if (fields.is_bytes(1)) read_node(fields.extent(), depth);
      if (fields.is_bytes(5)) {
        weights_.add_tensor(fields.extent());
        if (depth == 1) remove_input(fields.extent());
      } else if (fields.is_bytes(15)) {
        weights_.add_sparse_tensor(fields.extent());
        if (depth == 1) remove_sparse_input(fields.extent());
      }
    }
  }

  /// An initialiser gives an input its value; the name stands in field 8.
  void remove_input(Extent initialiser) {
    if (input_names_.empty()) return;
    for (WireFields fields(source_, initialiser); fields.next();) {
      // A longer name than any input's need not be read.
      if (fields.is_bytes(8) && fields.extent().bytes() <= kNameBytesMax)
        input_names_.erase(fields.text(kNameBytesMax));
    }
  }

  void remove_sparse_input(Extent initialiser) {
    for (WireFields fields(source_, initialiser); fields.next();) {
      if (fields.is_bytes(1)) remove_input(fields.extent());
    }
  }

  void read_node(Extent node, int depth) {
    for (WireFields fields(source_, node); fields.next();) {
      if (fields.is_bytes(5)) read_attribute(fields.extent(), depth);
    }
  }

  void read_attribute(Extent attribute, int depth) {
    for (WireFields fields(source_, attribute); fields.next();) {
      if (fields.is_bytes(5) || fields.is_bytes(10)) weights_.add_tensor(fields.extent());
      if (fields.is_bytes(22) || fields.is_bytes(23)) weights_.add_sparse_tensor(fields.extent());
      if (fields.is_bytes(6) || fields.is_bytes(11)) read_graph(fields.extent(), depth + 1);
    }
  }

  /// A function of the model: its nodes.
  void read_function(Extent function) {
    for (WireFields fields(source_, function); fields.next();) {
      if (fields.is_bytes(7)) read_node(fields.extent(), 1);
    }
  }

  /// Inputs without those that have an initialiser; all outputs.
  std::vector<OnnxTensor> tensors_of(const std::vector<ValueInfo>& values, const char* role) {
    std::vector<OnnxTensor> tensors;
    std::set<std::string> names;
    for (const ValueInfo& value : values) {
      if (source_.has_failed()) break;
      if (&values == &inputs_ && !input_names_.contains(value.name)) continue;
      if (!names.insert(value.name).second) {
        source_.refuse(fmt::format("wanted {}s of different names, found two {}", role, in_quotes(value.name)));
      }
      tensors.push_back(tensor_of(value, role));
    }
    return tensors;
  }

  OnnxTensor tensor_of(const ValueInfo& value, const char* role) {
    if (value.name.empty() || find_bad_utf8(value.name) != std::string::npos) {
      source_.refuse(fmt::format("wanted an {} with a name in UTF-8, found {}", role, in_quotes(value.name)));
    }
    if (value.kind != kTensorKind) {
      source_.refuse(fmt::format("{} {}: wanted a tensor, found {}", role, in_quotes(value.name), value.kind));
    }
    const bool is_listed = value.element >= 0 && std::cmp_less(value.element, kElementTypes.size());
    const ElementType type =
        is_listed ? kElementTypes[static_cast<std::size_t>(value.element)] : ElementType{"a newer type"};
    if (!type.is_known) {
      source_.refuse(fmt::format("{} {}: wanted elements of a type that can be served, found {} ({})", role,
                                 in_quotes(value.name), type.name, value.element));
    }
    return {.name = value.name, .type = type.type, .shape = value.shape};
  }

  WireSource& source_;
  OnnxFile file_;
  detail::WeightCount weights_;
  std::vector<Extent> graphs_;
  std::vector<Extent> functions_;
  std::vector<ValueInfo> inputs_;
  std::vector<ValueInfo> outputs_;
  std::set<std::string> input_names_;  ///< without an initialiser so far
};

}  // namespace

Result<OnnxFile> read_onnx_file(const OpenFile& file, std::string_view name) {
  WireSource source(file);
  if (source.whole().bytes() == 0) return invalid(fmt::format("{}: wanted an ONNX file, found an empty file", name));
  OnnxFile read = OnnxReader(source).read();
  if (!source.has_failed()) return read;
  return fail(source.error().code, fmt::format("{}: {}", name, source.error().message));
}

bool has_any_rows(const OnnxTensor& tensor) {
  return tensor.shape.has_value() && !tensor.shape->empty() && tensor.shape->front() == -1;
}

bool has_any_rows(const OnnxFile& file) {
  const auto has = [](const OnnxTensor& tensor) { return has_any_rows(tensor); };
  return !file.inputs.empty() && std::ranges::all_of(file.inputs, has) && std::ranges::all_of(file.outputs, has);
}

}  // namespace berth::models
