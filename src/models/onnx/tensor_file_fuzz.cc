// Any bytes give a tensor with as many elements as its shape says, or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "models/graph/tensors.h"
#include "models/onnx/tensor_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const auto tensor = models::read_tensor_file({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!tensor) {
    ENSURE(tensor.error().message.starts_with("fuzz: "));
    return 0;
  }
  const auto count = static_cast<std::size_t>(models::count_of(tensor->shape));
  if (tensor->type == TensorType::kBytes) {
    ENSURE(tensor->texts.size() == count && tensor->bytes.empty());
  } else {
    ENSURE(tensor->bytes.size() == count * element_bytes(tensor->type) && tensor->texts.empty());
  }
  return 0;
}
