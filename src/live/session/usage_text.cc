#include "live/session/usage_text.h"

#include <optional>

#include "base/json/text.h"
#include "domain/values/node.h"
#include "live/session/object_names.h"

namespace berth::live {
namespace {

using json::json_text;

constexpr const char* kNull = "null";

/// What all holders have in common; null if there is nothing.
std::string common_text(const std::vector<ServiceName>& holders, std::string ServiceName::* part) {
  if (holders.empty()) return kNull;
  for (const ServiceName& holder : holders) {
    if (holder.*part != holders.front().*part) return kNull;
  }
  return json_text(holders.front().*part);
}

std::string holders_text(const std::vector<ServiceName>& holders) {
  std::vector<std::string> items;
  items.reserve(holders.size());
  for (const ServiceName& holder : holders) {
    items.push_back(json::object_text({{"tenant", json_text(holder.tenant)}, {"service", json_text(holder.name)}}));
  }
  return json::list_text(items);
}

std::string role_text(const UsagePart& part) {
  if (part.holders.empty()) return kNull;
  return part.role == Role::kRetraining ? R"("retraining")" : R"("inference")";
}

template <class Number>
std::string number_text(const std::optional<Number>& number) {
  return number ? json_text(*number) : kNull;
}

/// What a slice has of its GPU.
struct SliceSize {
  std::optional<int> sms = std::nullopt;
  std::optional<std::int64_t> memory_mib = std::nullopt;
};

SliceSize size_of(const GpuModel& model, const std::optional<Slice>& slice) {
  if (!slice) return {};
  if (slice->profile.is_full()) return {.sms = model.sms, .memory_mib = model.memory_mib};
  const MigProfile& profile = model.profiles[slice->profile.index];
  return {.sms = profile.sms, .memory_mib = profile.memory_mib};
}

}  // namespace

std::string_view usage_word(UsageState state) {
  switch (state) {
    case UsageState::kHeld:
      return "held";
    case UsageState::kChanging:
      return "changing";
    case UsageState::kFree:
      return "free";
    case UsageState::kLost:
      return "lost";
    case UsageState::kForeign:
      return "foreign";
  }
  return "";
}

std::string usage_body(const Scenario& fleet, GpuId gpu, const OpenUsage& usage) {
  const UsagePart& part = usage.part;
  const FleetEntry& entry = fleet.entry_of(gpu);
  const GpuModel& model = entry.model;
  const SliceSize size = size_of(model, part.slice);
  const std::optional<Decimal>& price = entry.usd_per_gpu_hour;
  return json::object_text(
      {{"resource", json_text(part.slice ? place_name(fleet, *part.slice) : gpu_name(gpu))},
       {"epoch", part.generation > 0 ? json_text(part.generation) : kNull},
       {"sequence", json_text(usage.sequence)},
       {"tenant", common_text(part.holders, &ServiceName::tenant)},
       {"service", part.holders.size() > 1 ? kNull : common_text(part.holders, &ServiceName::name)},
       {"holders", holders_text(part.holders)},
       {"node", json_text(node_name(node_of(fleet, gpu)))},
       {"gpu", json_text(gpu_name(gpu))},
       {"gpu_model", json_text(model.name)},
       {"profile", part.slice ? json_text(profile_name(model, part.slice->profile)) : kNull},
       {"start", json_text(part.start)},
       {"units", json_text(part.units)},
       {"sms", number_text(size.sms)},
       {"memory_mib", number_text(size.memory_mib)},
       {"role", role_text(part)},
       {"state", json_text(usage_word(part.state))},
       {"price_version", price ? "1" : kNull},
       {"usd_per_gpu_hour", price ? json_text(json::exact_text(*price)) : kNull}});
}

}  // namespace berth::live
