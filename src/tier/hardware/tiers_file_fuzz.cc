// Any bytes give tiers sorted by price, or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "tier/hardware/tiers_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth::tier;
  const auto tiers = read_tiers_file({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!tiers) {
    ENSURE(tiers.error().message.starts_with("fuzz"));
    return 0;
  }
  ENSURE(!tiers->empty());
  for (std::size_t i = 0; i < tiers->size(); ++i) {
    const Tier& tier = (*tiers)[i];
    ENSURE(!tier.name.empty() && tier.usd_per_hour.sign() > 0 && tier.gpu.empty() == tier.profile.empty());
    ENSURE(i == 0 || (*tiers)[i - 1].usd_per_hour <= tier.usd_per_hour);
  }
  return 0;
}
