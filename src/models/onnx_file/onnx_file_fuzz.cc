// Any bytes give a model with an output, or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "models/onnx_file/onnx_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const auto file = models::read_onnx_file(*file_over({reinterpret_cast<const char*>(bytes), size}), "fuzz");
  if (!file) {
    ENSURE(file.error().message.starts_with("fuzz: "));
    return 0;
  }
  ENSURE(!file->outputs.empty() && file->ir_version >= 1 && file->weight_bytes >= 0);
  for (const models::OnnxTensor& output : file->outputs) {
    ENSURE(!output.name.empty() && find_bad_utf8(output.name) == std::string_view::npos);
    for (const std::int64_t dimension : output.shape.value_or(std::vector<std::int64_t>{})) ENSURE(dimension >= -1);
  }
  return 0;
}
