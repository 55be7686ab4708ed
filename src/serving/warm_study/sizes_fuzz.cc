// Any bytes give a size of at least 1 for each app or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "serving/warm_study/sizes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const berth::AppTrace trace{.minutes = 1, .apps = {{.app = "a", .invoked = {{0, 1}}, .invocations = 1}}};
  const auto sizes = berth::warm::read_app_sizes(text, "f", trace);
  if (!sizes) ENSURE(sizes.error().message.starts_with("f"));
  if (sizes) ENSURE(sizes->size() == 1 && sizes->front() >= 1);
  return 0;
}
