#include "models/onnx/read_model.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <utility>

#include "base/core/text.h"
#include "models/graph/graph_edit.h"
#include "models/onnx/detail/graph_proto.h"
#include "models/onnx/detail/outside.h"

namespace berth::models {
namespace {

Result<onnx::ModelProto> parse_model(std::string_view bytes) {
  if (bytes.empty()) return invalid("wanted an ONNX file, found an empty file");
  if (bytes.size() > kModelBytesMax) {
    return invalid(fmt::format("wanted at most {} bytes, found {}", kModelBytesMax, bytes.size()));
  }
  const google::protobuf::LogSilencer silence;
  onnx::ModelProto proto;
  if (!proto.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return invalid("wanted an ONNX file, found other bytes, or one that is cut off");
  }
  if (proto.ir_version() < 1 || !proto.has_graph()) {
    return invalid("wanted an ONNX file, found a file without a version of the format and a graph");
  }
  if (proto.graph().output_size() == 0) return invalid("wanted a model with an output, found none");
  return proto;
}

Result<void> take_opsets(const onnx::ModelProto& proto, Model& model) {
  for (const onnx::OperatorSetIdProto& entry : proto.opset_import()) {
    const std::string domain = detail::domain_from(entry.domain());
    if (find_bad_utf8(domain) != std::string_view::npos) return invalid("the name of an operator set is not UTF-8");
    if (entry.version() < 1) {
      return invalid(fmt::format("wanted a version of the operators {} of at least 1, found {}", in_quotes(domain),
                                 entry.version()));
    }
    const auto [known, is_new] = model.opsets.emplace(domain, entry.version());
    if (is_new || known->second == entry.version()) continue;
    return invalid(
        fmt::format("two versions of the operators {}: {} and {}", in_quotes(domain), known->second, entry.version()));
  }
  // Before version 3 of the format, all operators were of the first version.
  if (model.opsets.empty() && model.ir_version < 3) model.opsets.emplace("", 1);
  if (model.opsets.empty()) return invalid("it does not say which versions of the operators it uses, or is cut off");
  return {};
}

Result<Model> read_all(std::string_view bytes, const ReadOutside& read_outside) {
  Result<onnx::ModelProto> proto = parse_model(bytes);
  if (!proto) return pass_on(proto.error());
  Model model{.ir_version = proto->ir_version()};
  if (Result<void> taken = take_opsets(*proto, model); !taken) return pass_on(taken.error());
  if (Result<void> read = detail::read_in_outside(*proto, bytes.size(), read_outside); !read) {
    return pass_on(read.error());
  }
  Result<Graph> graph = detail::take_graph(*proto->mutable_graph());
  if (!graph) return pass_on(graph.error());
  model.graph = std::move(*graph);
  if (Result<void> checked = check_names(model.graph); !checked) return pass_on(checked.error());
  proto->clear_ir_version();
  proto->clear_opset_import();
  proto->clear_graph();
  model.rest = proto->SerializePartialAsString();
  return model;
}

}  // namespace

Result<Model> read_model(std::string_view bytes, std::string_view name, const ReadOutside& read_outside) {
  Result<Model> model = read_all(bytes, read_outside);
  if (model) return model;
  return fail(model.error().code, fmt::format("{}: {}", name, model.error().message));
}

}  // namespace berth::models
