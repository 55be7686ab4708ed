#include "tier/hardware/tiers_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/core/sort_stably.h"
#include "base/yaml/reader.h"
#include "domain/mig/catalogue.h"
#include "tier/hardware/gpu_figures.h"
#include "tier/hardware/slice_share.h"

namespace berth::tier {
namespace {

constexpr std::int64_t kTierFigureMax = 1'000'000'000;

/// Whether a tier must state its price, or its GPU.
enum class Priced : std::uint8_t { kInFile, kElsewhere };

std::optional<Decimal> optional_figure(const yaml::Value& value) {
  if (!value.is_present()) return std::nullopt;
  return value.number(yaml::number_above_zero(Decimal(kTierFigureMax)));
}

void read_hardware(const yaml::Value& value, Tier& tier) {
  if (value.at("profile").is_present()) tier.profile = value.at("profile").name();
  if (!value.at("gpu").is_present()) {
    if (!tier.profile.empty()) value.at("profile").refuse("no profile without `gpu`");
    return;
  }
  const auto gpu = find_gpu_figures(value.at("gpu").name());
  if (value.has_failed()) return;
  if (!gpu) return value.at("gpu").fail_with(gpu.error());
  tier.gpu = gpu->gpu;
  if (tier.profile.empty()) tier.profile = kFullProfileName;
  const auto completed = complete_figures(tier);
  if (!completed) value.at("profile").fail_with(completed.error());
}

Tier read_tier(const yaml::Value& value, Priced priced) {
  value.check_keys({"name", "gpu", "profile", "usd_per_hour", "memory_mib", "tflops", "gb_per_second"});
  Tier tier{.name = value.at("name").name(), .usd_per_hour = {}};
  const yaml::Value price = value.at("usd_per_hour");
  if (priced == Priced::kInFile || price.is_present()) {
    tier.usd_per_hour = price.number(yaml::number_above_zero(Decimal(kTierFigureMax)));
  }
  tier.memory_mib = optional_figure(value.at("memory_mib"));
  tier.tflops = optional_figure(value.at("tflops"));
  tier.gb_per_second = optional_figure(value.at("gb_per_second"));
  if (priced == Priced::kElsewhere && !value.at("gpu").is_present() && !value.has_failed()) {
    value.at("gpu").fail("wanted a GPU model, by which its price is found, found nothing");
  }
  if (!value.has_failed()) read_hardware(value, tier);
  return tier;
}

Result<std::vector<Tier>> read_tiers(std::string_view text, std::string_view file, Priced priced) {
  const auto root = yaml::parse_document(text, file);
  if (!root) return pass_on(root.error());
  yaml::Report report{std::string(file)};
  const yaml::Value value(*root, report);
  value.check_keys({"tiers"});
  std::vector<Tier> tiers;
  std::set<std::string> names;
  const auto items = value.at("tiers").items("a list of tiers", false);
  if (items.size() > kTiersMax)
    value.at("tiers").fail(fmt::format("wanted at most {} tiers, found {}", kTiersMax, items.size()));
  for (const yaml::Value& item : items) {
    if (report.has_failed()) break;
    tiers.push_back(read_tier(item, priced));
    if (!names.insert(tiers.back().name).second) item.at("name").refuse("a name that no other tier has");
  }
  if (report.has_failed()) return pass_on(report.failure());
  return tiers;
}

}  // namespace

Result<std::vector<Tier>> read_tiers_file(std::string_view text, std::string_view file) {
  auto tiers = read_tiers(text, file, Priced::kInFile);
  if (tiers) sort_by_price(*tiers);
  return tiers;
}

Result<std::vector<Tier>> read_unpriced_tiers(std::string_view text, std::string_view file) {
  return read_tiers(text, file, Priced::kElsewhere);
}

void sort_by_price(std::vector<Tier>& tiers) { sort_stably(tiers, &Tier::usd_per_hour); }

Result<void> complete_figures(Tier& tier) {
  const auto gpu = find_gpu_figures(tier.gpu);
  if (!gpu) return pass_on(gpu.error());
  const auto share = slice_share(*gpu, tier.profile);
  if (!share) return pass_on(share.error());
  const auto memory = slice_memory_mib(*gpu, tier.profile);
  if (!memory) return pass_on(memory.error());
  if (!tier.tflops) tier.tflops = gpu->tflops * share->compute;
  if (!tier.gb_per_second) tier.gb_per_second = gpu->gb_per_second * share->memory;
  if (!tier.memory_mib) tier.memory_mib = *memory;
  return {};
}

}  // namespace berth::tier
