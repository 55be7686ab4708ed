#include "live/rows/usage_rows.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/core/text.h"
#include "base/json/document.h"
#include "base/yaml/reader.h"
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

/// The slice at a place named as by live::place_name; it may start before the part.
std::optional<Slice> slice_named(const std::string& place, const std::string& profile, GpuId gpu,
                                 const Scenario& fleet) {
  const auto found = mig::find_profile(fleet.model_of(gpu), profile);
  const auto start = parse_count(place.substr(place.rfind('-') + 1), INT32_MAX);
  if (!found || !start) return std::nullopt;
  const Slice slice{.gpu = gpu, .start = static_cast<int>(*start), .profile = *found};
  return live::place_name(fleet, slice) == place ? std::optional(slice) : std::nullopt;
}

/// A key that must be present, perhaps as null.
yaml::Value written_at(const yaml::Value& body, std::string_view key) {
  yaml::Value value = body.at(key);
  if (!value.is_written()) value.refuse("a value, or null");
  return value;
}

/// The first failure is in the report of the body.
std::optional<live::UsagePart> part_of(const UsageRow& row, const yaml::Value& body, const Scenario& fleet) {
  const auto text_at = [](const yaml::Value& of, std::string_view key) { return of.at(key).text("a text"); };
  const auto state = state_named(text_at(body, "state"));
  if (!state) return std::nullopt;
  live::UsagePart part{.start = row.key.start, .units = row.units, .state = *state};
  if (written_at(body, "profile").is_present()) {
    part.slice = slice_named(text_at(body, "resource"), text_at(body, "profile"), {row.key.gpu}, fleet);
    if (!part.slice) return std::nullopt;
  }
  if (const yaml::Value epoch = written_at(body, "epoch"); epoch.is_present()) {
    part.generation = epoch.whole_unsigned();
  }
  if (written_at(body, "role").is_present() && text_at(body, "role") == "retraining") part.role = Role::kRetraining;
  for (const yaml::Value& holder : body.at("holders").items("a list of holders")) {
    const bool is_of_service = written_at(holder, "service").is_present();
    part.holders.push_back(
        {.tenant = text_at(holder, "tenant"), .name = is_of_service ? text_at(holder, "service") : std::string()});
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
          .body = live::usage_body(fleet, interval)};
}

Result<live::UsageInterval> interval_of(const UsageRow& row, const Scenario& fleet) {
  const auto wrong = [&] {
    return fail(ErrorCode::kUnavailable, fmt::format("usage {} of gpu-{}: not what this version writes for this fleet",
                                                     row.sequence, row.key.gpu));
  };
  if (row.key.gpu >= fleet.gpu_count() || row.key.from_us >= row.to_us) return wrong();
  const auto tree = json::parse_document(row.body, "row", json::kNoLimits);
  if (!tree) return wrong();
  yaml::Report report("row");
  const yaml::Value body(*tree, report);
  auto part = part_of(row, body, fleet);
  const bool is_observed = !body.at("observed").is_written() || body.at("observed").truth();
  if (!part || report.has_failed()) return wrong();
  return live::UsageInterval{
      .gpu = {row.key.gpu},
      .what = {.part = *std::move(part), .from = Instant(row.key.from_us), .sequence = row.sequence},
      .to = Instant(row.to_us),
      .is_observed = is_observed};
}

}  // namespace berth::journal
