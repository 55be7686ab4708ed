// mig-parted files: an answer for any bytes; a file that was read survives a round trip.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "domain/mig/catalogue.h"
#include "domain/migparted/import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto configs = migparted::parse_config_file(text, "input");
  if (configs) {
    const auto again = migparted::parse_config_file(migparted::write_config_file(*configs), "again");
    ENSURE(again && *again == *configs);
  }
  static const GpuModel a100 = *mig::find_gpu_model("A100-80GB");
  migparted::ImportOptions options = {.gpu = a100, .label = "", .skips_other_gpus = true};
  const auto placed = migparted::import_config_file(text, "input", options);
  ENSURE(configs || !placed);
  options.gpu.reset();
  ENSURE(configs || !migparted::import_config_file(text, "input", options));
  return 0;
}
