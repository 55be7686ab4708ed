// Any bytes give windows of 0 and 1, or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "purchase/spot/windows.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const auto windows = purchase::read_windows({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!windows) {
    ENSURE(windows.error().message.starts_with("fuzz"));
    return 0;
  }
  ENSURE(!windows->empty());
  const auto markets = purchase::join_zones(*windows, "fuzz");
  ENSURE(!markets || markets->size() <= windows->size());
  return 0;
}
