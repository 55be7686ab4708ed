#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "kube/devices/selector.h"

/// Any bytes are a selector of the subset, which can be run, or an error with a message.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto selector = berth::kube::parse_selector({reinterpret_cast<const char*>(bytes), size});
  if (!selector) {
    ENSURE(!selector.error().message.empty());
    return 0;
  }
  berth::kube::Device device{.name = "a"};
  device.attributes["d/a"] = std::string("text");
  device.attributes["d/b"] = std::int64_t{3};
  device.capacity["d/c"] = 5'000;
  static_cast<void>(berth::kube::matches(*selector, device, "d"));
  return 0;
}
