// Any bytes give a device, or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "serving/simulation/device_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth::serving;
  const auto device = read_device_file({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!device) {
    ENSURE(device.error().message.starts_with("fuzz"));
    return 0;
  }
  ENSURE(device->lanes >= 1 && device->memory >= 1 && !device->models.empty());
  for (const auto& [name, model] : device->models) {
    ENSURE(model.bytes <= device->memory && model.latency.rows_max() == device->batch_max);
    ENSURE(device->terms_of(name)->load.count() >= 0);
  }
  return 0;
}
