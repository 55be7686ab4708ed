#include "live/folder/tier_files.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/core/decimal.h"
#include "base/core/text.h"

namespace berth::live {

Result<std::map<std::string, std::string>> tier_files(const UpRequest& request, const Files& files) {
  std::map<std::string, std::string> contents;
  if (request.tier_sure) contents[kTierSureFile] = request.tier_sure->fraction();
  if (!request.tier_model) return contents;
  auto model = files.read(*request.tier_model);
  if (!model) return pass_on(model.error());
  contents[kTierModelFile] = std::move(*model);
  return contents;
}

Result<void> put_tier_settings(Scenario& scenario, const std::map<std::string, std::string>& files) {
  if (const auto sure = files.find(kTierSureFile); sure != files.end()) {
    auto number = Decimal::of_fraction(sure->second);
    const bool is_share = number && *number > Decimal(0) && *number < Decimal(1);
    if (!is_share) return invalid(fmt::format("tier_sure: wanted a fraction, found {}", in_quotes(sure->second)));
    scenario.tiers.sure = std::move(*number);
  }
  if (const auto model = files.find(kTierModelFile); model != files.end()) {
    scenario.tiers.forest_file = "tier_model";
    scenario.tiers.forest = std::make_shared<const std::string>(model->second);
  }
  return {};
}

}  // namespace berth::live
