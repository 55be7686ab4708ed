#include "tier/hardware/source_tiers.h"

#include <initializer_list>
#include <string>
#include <utility>

#include "base/core/ensure.h"
#include "tier/hardware/gpu_figures.h"
#include "tier/hardware/slice_share.h"
#include "tier/hardware/tiers_file.h"

namespace berth::tier {
namespace {

Tier completed(Tier tier) {
  const auto done = complete_figures(tier);
  ENSURE(done.has_value());
  return tier;
}

Tier whole_gpu(std::string name, std::string gpu, Decimal usd_per_hour) {
  return completed(
      {.name = std::move(name), .usd_per_hour = std::move(usd_per_hour), .gpu = std::move(gpu), .profile = "full"});
}

/// Slices by the first two characters of their profiles, at the larger share of compute and memory.
std::vector<Tier> slices_of(std::string_view gpu_name, const Decimal& usd_per_hour,
                            std::initializer_list<const char*> profiles) {
  const auto gpu = find_gpu_figures(gpu_name);
  ENSURE(gpu.has_value());
  std::vector<Tier> tiers;
  for (const char* const name : profiles) {
    const std::string profile = name;
    const auto share = slice_share(*gpu, profile);
    ENSURE(share.has_value());
    tiers.push_back(completed({.name = profile.substr(0, 2),
                               .usd_per_hour = usd_per_hour * share->larger(),
                               .gpu = gpu->gpu,
                               .profile = profile}));
  }
  return tiers;
}

}  // namespace

std::optional<std::vector<Tier>> source_tiers(std::string_view source) {
  const Decimal a100_40(2744, 1000);
  const Decimal a100_80(3673, 1000);
  if (source == "gavel") {
    return std::vector{whole_gpu("k80", "K80-12GB", Decimal(45, 100)),
                       whole_gpu("p100", "P100-16GB", Decimal(146, 100)),
                       whole_gpu("v100", "V100-16GB", Decimal(248, 100))};
  }
  if (source == "sia") {
    return std::vector{
        whole_gpu("aws", "T4-16GB", Decimal(526, 1000)), whole_gpu("rtx", "RTX-2080-Ti-11GB", Decimal(70, 100)),
        whole_gpu("quad", "Quadro-RTX-6000-24GB", Decimal(110, 100)), whole_gpu("dgx-ext", "A100-40GB", a100_40)};
  }
  if (source == "miso") return slices_of("A100-40GB", a100_40, {"1g.5gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"});
  if (source == "parvagpu") {
    return slices_of("A100-80GB", a100_80, {"1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"});
  }
  return std::nullopt;
}

}  // namespace berth::tier
