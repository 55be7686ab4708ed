#include "live/rows/usage_rows.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/text.h"
#include "domain/mig/catalogue.h"
#include "live/session/object_names.h"
#include "live/session/usage_text.h"

namespace berth::journal {
namespace {

std::optional<live::UsageState> state_named(std::string_view word) {
  using live::UsageState;
  for (const UsageState state :
       {UsageState::kHeld, UsageState::kChanging, UsageState::kFree, UsageState::kLost, UsageState::kForeign}) {
    if (live::usage_word(state) == word) return state;
  }
  return std::nullopt;
}

/// The slice at a place that is named as by live::place_name; its start may be before the part's.
std::optional<Slice> slice_named(const std::string& place, const std::string& profile, GpuId gpu,
                                 const Scenario& fleet) {
  const auto found = mig::find_profile(fleet.model_of(gpu), profile);
  const auto start = parse_count(place.substr(place.rfind('-') + 1), INT32_MAX);
  if (!found || !start) return std::nullopt;
  const Slice slice{.gpu = gpu, .start = static_cast<int>(*start), .profile = *found};
  return live::place_name(fleet, slice) == place ? std::optional(slice) : std::nullopt;
}

std::optional<live::UsagePart> part_of(const UsageRow& row, const nlohmann::json& body, const Scenario& fleet) {
  const auto state = state_named(body.at("state").get<std::string>());
  if (!state) return std::nullopt;
  live::UsagePart part{.start = row.key.start, .units = row.units, .state = *state};
  if (const auto& profile = body.at("profile"); !profile.is_null()) {
    part.slice = slice_named(body.at("resource").get<std::string>(), profile.get<std::string>(), {row.key.gpu}, fleet);
    if (!part.slice) return std::nullopt;
  }
  if (const auto& epoch = body.at("epoch"); !epoch.is_null()) part.generation = epoch.get<std::uint64_t>();
  if (const auto& role = body.at("role"); !role.is_null() && role.get<std::string>() == "retraining") {
    part.role = Role::kRetraining;
  }
  for (const auto& holder : body.at("holders")) {
    part.holders.push_back({.tenant = holder.at("tenant").get<std::string>(),  //
                            .name = holder.at("service").get<std::string>()});
  }
  return part;
}

}  // namespace

UsageRow row_of(const live::UsageInterval& interval, const Scenario& fleet) {
  const live::OpenUsage& what = interval.what;
  return {.key = {.gpu = interval.gpu.index, .start = what.part.start, .from_us = what.from.micros()},
          .units = what.part.units,
          .to_us = interval.to.micros(),
          .sequence = what.sequence,
          .body = live::usage_body(fleet, interval.gpu, what)};
}

Result<live::UsageInterval> interval_of(const UsageRow& row, const Scenario& fleet) {
  const auto wrong = [&] {
    return fail(ErrorCode::kUnavailable, fmt::format("usage {} of GPU {}: not what this version writes for this fleet",
                                                     row.sequence, row.key.gpu));
  };
  if (row.key.gpu >= fleet.gpu_count() || row.key.from_us >= row.to_us) return wrong();
  try {
    auto part = part_of(row, nlohmann::json::parse(row.body), fleet);
    if (!part) return wrong();
    return live::UsageInterval{
        .gpu = {row.key.gpu},
        .what = {.part = *std::move(part), .from = Instant(row.key.from_us), .sequence = row.sequence},
        .to = Instant(row.to_us)};
  } catch (const nlohmann::json::exception&) {
    return wrong();
  }
}

}  // namespace berth::journal
