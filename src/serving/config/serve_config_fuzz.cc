// Any bytes give a configuration, or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "serving/config/serve_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth::serving;
  const auto config = read_serve_config({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!config) {
    ENSURE(config.error().message.starts_with("fuzz"));
    return 0;
  }
  for (const ConfiguredTenant& tenant : config->tenants) ENSURE(tenant.weight >= 1 && !tenant.name.empty());
  ENSURE(config->run_seconds >= 1);
  return 0;
}
