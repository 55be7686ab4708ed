// Any bytes as a ModelInferRequest: they are refused, or become a request whose tensors have the bytes of their shapes.
#include <grpcpp/support/byte_buffer.h>
#include <inference.pb.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/core/ensure.h"
#include "edges/grpc_server/oip/infer_messages.h"
#include "edges/grpc_server/oip/wire.h"
#include "serving/service/tensor_wire.h"

namespace {

/// In two slices, so that fields cross their border.
grpc::ByteBuffer buffer_of(const std::uint8_t* data, std::size_t size) {
  const std::array<grpc::Slice, 2> slices = {grpc::Slice(data, size / 2),
                                             grpc::Slice(data + size / 2, size - size / 2)};
  return {slices.data(), slices.size()};
}

void check_tensor(const berth::Tensor& tensor) {
  const auto count = static_cast<std::size_t>(berth::serving::element_count(tensor.shape).value());
  if (tensor.type == berth::TensorType::kBytes) {
    ENSURE(tensor.texts.size() == count);
  } else {
    ENSURE(tensor.bytes.size() == count * berth::element_bytes(tensor.type));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  inference::ModelInferRequest message;
  const auto outcome = berth::edges::read_message(buffer_of(data, size), berth::edges::infer_fields(), message);
  if (outcome != berth::edges::ReadOutcome::kRead) return 0;
  const auto request = berth::edges::infer_request_of(std::move(message));
  if (!request) return 0;
  ENSURE(request->priority >= 1 && request->priority <= 1000);
  ENSURE(!request->timeout || request->timeout->count() > 0);
  for (const berth::Tensor& tensor : request->inputs) check_tensor(tensor);
  return 0;
}
