#include "surface/cli/tier/kubernetes_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "base/json/writer.h"
#include "domain/values/slice.h"
#include "tier/choose/verdict.h"
#include "tier/hardware/gpu_figures.h"

namespace berth::cli {
namespace {

constexpr std::size_t kLabelValueMax = 63;

bool is_alphanumeric(char each) {
  return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9');
}

/// The value of a label: what may not be in one becomes a hyphen, none at its ends.
std::string label_value(std::string_view name) {
  std::string value;
  for (const char each : name.substr(0, kLabelValueMax)) {
    value += is_alphanumeric(each) || each == '.' || each == '_' ? each : '-';
  }
  while (!value.empty() && !is_alphanumeric(value.back())) value.pop_back();
  value.erase(0, static_cast<std::size_t>(std::ranges::find_if(value, is_alphanumeric) - value.begin()));
  return value.empty() ? "workload" : value;
}

/// The name of a container: also no capitals, dots and underscores.
std::string container_name(std::string_view name) {
  std::string value = label_value(name);
  for (char& each : value) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
    if (each == '.' || each == '_') each = '-';
  }
  return value;
}

/// "nvidia.com/mig-1g.10gb.me" for 1g.10gb+me: a plus may not be in the name of a resource.
std::string resource_of(const tier::Tier& tier) {
  if (tier.profile == kFullProfileName) return "nvidia.com/gpu";
  std::string name = tier.profile;
  std::ranges::replace(name, '+', '.');
  return "nvidia.com/mig-" + name;
}

std::string in_comment(std::string text) {
  for (char& each : text) {
    if (static_cast<unsigned char>(each) < ' ') each = '?';
  }
  return text;
}

}  // namespace

Result<std::string> kubernetes_file(const TierPredictView& view) {
  const tier::TierAnswer& answer = view.answer;
  if (!answer.choice) return invalid("--emit: wanted a tier to take, found none");
  const tier::Tier& tier = answer.call.tiers[answer.choice->tier];
  if (tier.gpu.empty()) return invalid(fmt::format("--emit: wanted a tier with a gpu, found {}", in_quotes(tier.name)));
  const auto gpu = tier::find_gpu_figures(tier.gpu);
  ENSURE(gpu.has_value());
  const auto& units = answer.prospects[answer.choice->tier].units;
  const bool is_service = answer.call.kind == tier::TierKind::kServices;
  const std::string replicas = is_service && units ? fmt::format("  replicas: {}\n", units->to_string()) : "";
  return fmt::format(
      "# Patch of a Deployment, for {}.\n# {}\nspec:\n{}  template:\n    metadata:\n      labels:\n"
      "        berth/tier: {}\n        berth/workload: {}\n    spec:\n      nodeSelector:\n"
      "        nvidia.com/gpu.product: {}\n      containers:\n      - name: {}\n        resources:\n"
      "          limits:\n            {}: 1\n",
      in_comment(tier::target_text(answer.call)), in_comment(tier_verdict(answer)), replicas,
      json::text_of(label_value(tier.name)), json::text_of(label_value(answer.call.known.name)),
      json::text_of(gpu->product), json::text_of(container_name(answer.call.known.name)), resource_of(tier));
}

}  // namespace berth::cli
