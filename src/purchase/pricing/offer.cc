#include "purchase/pricing/offer.h"

#include <algorithm>
#include <array>

namespace berth::pricing {
namespace {

constexpr std::array<std::string_view, 3> kPurchaseNames = {"on-demand", "spot", "committed"};

/// Prefixes of the names of other makers' accelerators.
constexpr std::array<std::string_view, 10> kOtherMakers = {"inferentia", "trainium", "qualcomm", "radeon", "instinct",
                                                           "gaudi",      "habana",   "tpu",      "ponte",  "max-1"};

/// AMD's "mi300x": a number after "mi".
bool is_amd_instinct(std::string_view model) {
  return model.size() > 2 && model.starts_with("mi") && model[2] >= '0' && model[2] <= '9';
}

}  // namespace

std::string_view name_of(Purchase purchase) { return kPurchaseNames[static_cast<std::size_t>(purchase)]; }

std::optional<Purchase> purchase_named(std::string_view name) {
  const auto* found = std::find(kPurchaseNames.begin(), kPurchaseNames.end(), name);
  if (found == kPurchaseNames.end()) return std::nullopt;
  return static_cast<Purchase>(found - kPurchaseNames.begin());
}

bool is_other_accelerator(std::string_view gpu_model) {
  return is_amd_instinct(gpu_model) ||
         std::any_of(kOtherMakers.begin(), kOtherMakers.end(),
                     [&](std::string_view maker) { return gpu_model.starts_with(maker); });
}

bool is_buyable(const Offer& offer) {
  return offer.micro_usd_per_hour && offer.shape.gpu_count > 0 && !is_other_accelerator(offer.shape.gpu_model);
}

}  // namespace berth::pricing
