#include "live/session/usage_text.h"

#include <optional>

#include "base/json/writer.h"
#include "domain/values/node.h"
#include "live/session/object_names.h"

namespace berth::live {
namespace {

std::optional<std::string> text_or_null(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// What all holders have in common; nothing if they differ.
std::optional<std::string> common_name(const std::vector<ServiceName>& holders, std::string ServiceName::* part) {
  if (holders.empty()) return std::nullopt;
  for (const ServiceName& holder : holders) {
    if (holder.*part != holders.front().*part) return std::nullopt;
  }
  return text_or_null(holders.front().*part);
}

void write_holder(json::Writer& json, const ServiceName& holder) {
  json.open_object().member("tenant", holder.tenant).member("service", text_or_null(holder.name)).close_object();
}

std::optional<std::string_view> role_word(const UsagePart& part) {
  if (part.holders.empty() || part.holders.front().name.empty()) return std::nullopt;
  return part.role == Role::kRetraining ? "retraining" : "inference";
}

/// The size of a slice.
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

std::string usage_body(const Scenario& fleet, const UsageInterval& interval) {
  const OpenUsage& usage = interval.what;
  const UsagePart& part = usage.part;
  const GpuId gpu = interval.gpu;
  const FleetEntry& entry = fleet.entry_of(gpu);
  const GpuModel& model = entry.model;
  const SliceSize size = size_of(model, part.slice);
  const std::optional<Decimal>& price = entry.usd_per_gpu_hour;
  json::Writer json;
  json.open_object().member("resource", part.slice ? place_name(fleet, *part.slice) : gpu_name(gpu));
  json.member("epoch", part.generation > 0 ? std::optional(part.generation) : std::nullopt);
  json.member("sequence", usage.sequence).member("tenant", common_name(part.holders, &ServiceName::tenant));
  const bool is_shared = part.holders.size() > 1;
  json.member("service", is_shared ? std::nullopt : common_name(part.holders, &ServiceName::name));
  json.list("holders", part.holders, write_holder);
  json.member("node", node_name(node_of(fleet, gpu))).member("gpu", gpu_name(gpu)).member("gpu_model", model.name);
  json.member("profile", part.slice ? std::optional(profile_name(model, part.slice->profile)) : std::nullopt);
  json.member("start", part.start).member("units", part.units);
  json.member("sms", size.sms).member("memory_mib", size.memory_mib);
  json.member("role", role_word(part)).member("state", usage_word(part.state));
  json.member("price_version", price ? std::optional(1) : std::nullopt);
  // As text, so that a reader whose numbers are doubles has all digits.
  json.member("usd_per_gpu_hour", price ? std::optional(json::text_of(*price)) : std::nullopt);
  if (!interval.is_observed) json.member("observed", false);
  return json.close_object().take();
}

}  // namespace berth::live
