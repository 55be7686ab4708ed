// Any bytes give a config, or an error with the file's name; and a config and a file give terms or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "serving/model_config/model_config.h"
#include "serving/model_config/version_terms.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  using namespace berth::serving;
  const auto config = read_model_config({reinterpret_cast<const char*>(bytes), size}, "fuzz", "m");
  if (!config) {
    ENSURE(config.error().message.starts_with("fuzz:"));
    return 0;
  }
  ENSURE(config->max_batch_size.value_or(0) >= 0 && config->version_policy.latest_count >= 1);
  const models::OnnxFile file{
      .ir_version = 8, .inputs = {{.name = "x", .shape = {{-1, 4}}}}, .outputs = {{.name = "y", .shape = {{-1}}}}};
  const auto terms = version_terms(file, "model.onnx", *config);
  if (!terms) {
    ENSURE(terms.error().message.starts_with("fuzz:") || terms.error().message.starts_with("model.onnx:"));
    return 0;
  }
  ENSURE(terms->inputs.size() == 1 && terms->target > Micros() && terms->target <= kTargetMax && terms->rows_max >= 0);
  return 0;
}
