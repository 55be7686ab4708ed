// Any bytes give a manifest that is written and read as the same, or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/ensure.h"
#include "models/optimize/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const auto manifest = models::read_manifest({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!manifest) {
    ENSURE(manifest.error().message.starts_with("fuzz"));
    return 0;
  }
  const std::string written = models::write_manifest(*manifest);
  const auto again = models::read_manifest(written, "fuzz");
  ENSURE(again);
  ENSURE(models::write_manifest(*again) == written);
  return 0;
}
