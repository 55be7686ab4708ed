#include "models/onnx/tensor_file.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <optional>
#include <utility>

#include "base/core/text.h"
#include "models/graph/tensors.h"
#include "models/onnx/detail/tensor_proto.h"
#include "models/onnx/read_model.h"

namespace berth::models {
namespace {

Result<Tensor> read_tensor(std::string_view bytes) {
  const google::protobuf::LogSilencer silence;
  onnx::TensorProto proto;
  if (bytes.empty() || bytes.size() > kModelBytesMax ||
      !proto.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return invalid("wanted a tensor of ONNX, found other bytes, or one that is cut off");
  }
  if (find_bad_utf8(proto.name()) != std::string_view::npos) return invalid("the name of the tensor is not UTF-8");
  Result<Constant> constant = detail::take_constant(proto);
  if (!constant) return pass_on(constant.error());
  const std::optional<TensorType> type = tensor_type_of(constant->type);
  if (!type) return invalid(fmt::format("tensors of {} are not supported", name_of(constant->type)));
  return Tensor{.name = proto.name(),
                .type = *type,
                .shape = std::move(constant->dims),
                .bytes = std::move(constant->bytes),
                .texts = std::move(constant->texts)};
}

}  // namespace

Result<Tensor> read_tensor_file(std::string_view bytes, std::string_view name) {
  Result<Tensor> tensor = read_tensor(bytes);
  if (tensor) return tensor;
  return fail(tensor.error().code, fmt::format("{}: {}", name, tensor.error().message));
}

}  // namespace berth::models
