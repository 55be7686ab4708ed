#include "live/rows/entry_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/archive.h"
#include "base/core/ensure.h"
#include "base/json/document.h"
#include "base/yaml/reader.h"
#include "domain/scenario/service_json.h"
#include "domain/scenario/service_object.h"
#include "live/rows/hex.h"
#include "live/rows/names.h"

namespace berth::journal {
namespace {

using What = decltype(live::Entry::what);
using EventWhat = decltype(Event::what);

/// Kinds of events, by their index in Event::what; those with entries of their own have no word.
constexpr std::array<std::string_view, std::variant_size_v<EventWhat>> kEventKinds = {"",
                                                                                      "SliceReady",
                                                                                      "SliceGone",
                                                                                      "RetrainingDue",
                                                                                      "RetrainingDone",
                                                                                      "GpuLost",
                                                                                      "GpuReturned",
                                                                                      "GpuScheduled",
                                                                                      "",
                                                                                      "",
                                                                                      "PlanApproved",
                                                                                      "PlanExpired",
                                                                                      "PlanningPaused",
                                                                                      "PlanningResumed",
                                                                                      "NoChangesSet",
                                                                                      "ActionFailed",
                                                                                      "GpuObserved",
                                                                                      "SolutionSeen",
                                                                                      "TimesMeasured",
                                                                                      "GpuRented",
                                                                                      "TierMeasured",
                                                                                      "SpeedMeasured",
                                                                                      "SliceAdopted"};
/// Kinds of entries, by their index in live::Entry::what.
constexpr std::array<std::string_view, std::variant_size_v<What>> kEntryKinds = {"Begun",           "",
                                                                                 "Seconds",         "Stepped",
                                                                                 "Advanced",        "SliceNoted",
                                                                                 "Refreshed",       "TenantSet",
                                                                                 "TenantRemoved",   "ServiceSet",
                                                                                 "ServiceRemoved",  "FaultInjected",
                                                                                 "ProposalWaits",   "SolveFinished",
                                                                                 "SolutionArrived", "Resumed",
                                                                                 "DeviceIntended",  "DeviceEnded",
                                                                                 "DeviceNoted",     "MigModeIntended",
                                                                                 "ClockJumped",     "SecondsMeasured",
                                                                                 "ProgramNoted",    "ForeignHeld"};
static_assert(std::ranges::count(kEntryKinds, "") == 1 && std::ranges::count(kEventKinds, "") == 3,
              "all others have a word");

// ---- services

constexpr const char* kName = "service";
constexpr const char* kEntryKey = "entry";
constexpr const char* kSet = "set";
constexpr const char* kSpec = "spec";
constexpr const char* kExact = "exact_spec";

/// The parts of a ServiceSet besides the spec.
struct SetParts {
  std::uint64_t revision = 0;
  bool restarts_arrivals = true;
  bool restarts_retraining = true;
  bool renumbers_variants = false;
};

/// Whether the API's JSON expresses the whole spec: a scenario file may be more exact (domain/scenario/service_json.h).
bool is_said_by_json(const ServiceSpec& spec) {
  const auto& source = spec.arrivals.source;
  if (std::holds_alternative<TimedTrace>(source) || std::holds_alternative<MinuteTrace>(source)) return false;
  const auto has_model = [](const Variant& variant) { return !variant.table.model.empty(); };
  return !spec.table.model.empty() && std::ranges::all_of(spec.variants, has_model);
}

}  // namespace

template <>
inline constexpr std::array kNames<live::ServiceEntry> = {"id", "meta", "blobs"};
template <>
inline constexpr std::array kNames<SetParts> = {"revision", "restarts_arrivals", "restarts_retraining",
                                                "renumbers_variants"};

namespace {

/// The spec comes last, as the text that the API shows: its numbers are exact. Tables stated by reference are included
/// in the exact one: no blob is needed to repeat a row.
std::string body_of(const live::ServiceStored& stored, const Scenario& fleet) {
  json::Writer json;
  write_json(json.open_object().key(kName), stored.name);
  write_json(json.key(kEntryKey), stored.entry);
  if (!stored.set) return json.close_object().take();
  write_json(json.key(kSet), SetParts{.revision = stored.set->revision,
                                      .restarts_arrivals = stored.set->restarts_arrivals,
                                      .restarts_retraining = stored.set->restarts_retraining,
                                      .renumbers_variants = stored.set->renumbers_variants});
  if (!is_said_by_json(*stored.set->spec) || !stored.entry.blobs.empty()) {
    ArchiveWriter archive;
    archive(*stored.set->spec);
    json.member(kExact, hex_of(archive.bytes()));
  }
  json.key(kSpec).written(scenario::service_spec_json(*stored.set->spec, fleet, stored.entry.blobs));
  return json.close_object().take();
}

/// The agreement of the spec in the row, which its bytes do not have.
std::optional<Agreement> read_agreement(const yaml::Node& json) {
  yaml::Report report("row");
  const yaml::Value attainment = yaml::Value(json, report).at(kSpec).at("slo").at("attainment");
  Agreement agreed;
  if (attainment.is_present()) agreed.attainment = attainment.number(yaml::number_between(Decimal(0), Decimal(1)));
  if (report.has_failed()) return std::nullopt;
  return agreed;
}

/// The rule of the spec in the row for GPU models, which its bytes do not have either.
std::optional<TierRule> read_tier_rule(const yaml::Node& json, const Scenario& fleet, const ServiceSpec& rest) {
  yaml::Report report("row");
  TierRule rule = scenario::read_accepted_tier_rule(yaml::Value(json, report).at(kSpec), fleet, rest);
  if (report.has_failed()) return std::nullopt;
  return rule;
}

/// The rules for what is kept ready and for what runs, likewise.
bool read_later_rules(const yaml::Node& json, const Scenario& fleet, ServiceSpec& spec) {
  yaml::Report report("row");
  const yaml::Value value = yaml::Value(json, report).at(kSpec);
  spec.running = scenario::read_accepted_running(value);
  spec.ready = scenario::read_accepted_readiness(value, fleet, spec);
  return !report.has_failed();
}

std::optional<ServiceSpec> read_exact(const yaml::Node& exact, const yaml::Node& json, const Scenario& fleet) {
  const std::string* hex = json::text_in(exact);
  if (hex == nullptr) return std::nullopt;
  const auto bytes = bytes_of_hex(*hex);
  if (!bytes) return std::nullopt;
  ArchiveReader archive(*bytes);
  ServiceSpec spec;
  archive(spec);
  auto agreed = read_agreement(json);
  if (!archive.is_at_end() || !agreed) return std::nullopt;
  spec.agreed = std::move(*agreed);
  auto tier = read_tier_rule(json, fleet, spec);
  if (!tier) return std::nullopt;
  spec.tier = std::move(*tier);
  if (!read_later_rules(json, fleet, spec)) return std::nullopt;
  return spec;
}

std::optional<ServiceSpec> read_spec(const yaml::Node& json, const live::ServiceName& name, const Scenario& fleet) {
  yaml::Report report("row");
  ServiceSpec spec = scenario::read_accepted_service_object(yaml::Value(json, report).at(kSpec), fleet);
  if (report.has_failed()) return std::nullopt;
  spec.tenant = name.tenant;
  spec.name = name.name;
  return spec;
}

bool read_body(const yaml::Node& json, const Scenario& fleet, live::ServiceStored& stored) {
  const yaml::Node* name = json::find_member(json, kName);
  const yaml::Node* entry = json::find_member(json, kEntryKey);
  if (name == nullptr || entry == nullptr) return false;
  if (!read_json(*name, stored.name) || !read_json(*entry, stored.entry)) return false;
  const yaml::Node* set = json::find_member(json, kSet);
  if (set == nullptr) return true;
  SetParts parts;
  if (!read_json(*set, parts)) return false;
  const yaml::Node* exact = json::find_member(json, kExact);
  auto spec = exact != nullptr ? read_exact(*exact, json, fleet) : read_spec(json, stored.name, fleet);
  if (!spec) return false;
  stored.set = ServiceSet{.service = stored.entry.id,
                          .revision = parts.revision,
                          .spec = std::make_shared<const ServiceSpec>(std::move(*spec)),
                          .restarts_arrivals = parts.restarts_arrivals,
                          .restarts_retraining = parts.restarts_retraining,
                          .renumbers_variants = parts.renumbers_variants};
  return true;
}

// ---- all of them

std::string body_of(const live::Entry& entry, const Scenario& fleet) {
  return std::visit(
      [&](const auto& what) -> std::string {
        using T = std::remove_cvref_t<decltype(what)>;
        if constexpr (std::is_same_v<T, live::ServiceStored>) {
          return body_of(what, fleet);
        } else if constexpr (std::is_same_v<T, live::EventSeen>) {
          return std::visit(
              [&](const auto& event) -> std::string {
                using E = std::remove_cvref_t<decltype(event)>;
                if constexpr (std::is_same_v<E, ServiceSet> || std::is_same_v<E, ServiceSecond> ||
                              std::is_same_v<E, ServiceRemoved>) {
                  ENSURE(false && "told by an entry of its own");
                } else {
                  return json_of(event);
                }
              },
              what.event.what);
        } else if constexpr (std::is_same_v<T, live::SliceNoted>) {
          return json_of(what.record);
        } else {
          return json_of(what);
        }
      },
      entry.what);
}

template <std::size_t kIndex = 0>
bool read_event(const JournalEntry& row, const yaml::Node& json, Event& event) {
  if constexpr (kIndex == std::variant_size_v<EventWhat>) {
    return false;
  } else {
    using E = std::variant_alternative_t<kIndex, EventWhat>;
    if constexpr (!std::is_same_v<E, ServiceSet> && !std::is_same_v<E, ServiceSecond> &&
                  !std::is_same_v<E, ServiceRemoved>) {
      if (row.kind == kEventKinds[kIndex]) {
        E& what = event.what.emplace<kIndex>();
        if constexpr (std::is_same_v<E, NoChangesSet>) return read_json(json, what) && is_sound(what.windows);
        if constexpr (std::is_same_v<E, TimesMeasured>) return read_json(json, what) && what.time.median >= Micros();
        if constexpr (std::is_same_v<E, SpeedMeasured>) {
          return read_json(json, what) && (!what.factor || what.factor->sign() > 0);
        }
        return read_json(json, what);
      }
    }
    return read_event<kIndex + 1>(row, json, event);
  }
}

template <std::size_t kIndex = 0>
bool read_entry(const JournalEntry& row, const yaml::Node& json, const Scenario& fleet, live::Entry& entry) {
  if constexpr (kIndex == std::variant_size_v<What>) {
    Event event{.at = row.at, .what = SliceReady()};
    const bool is_read = read_event(row, json, event);
    entry.what = live::EventSeen{std::move(event)};
    return is_read;
  } else {
    using T = std::variant_alternative_t<kIndex, What>;
    if constexpr (!std::is_same_v<T, live::EventSeen>) {
      if (row.kind == kEntryKinds[kIndex]) {
        T& what = entry.what.emplace<kIndex>();
        if constexpr (std::is_same_v<T, live::ServiceStored>) return read_body(json, fleet, what);
        if constexpr (std::is_same_v<T, live::SliceNoted>) return read_json(json, what.record);
        if constexpr (!std::is_same_v<T, live::ServiceStored> && !std::is_same_v<T, live::SliceNoted>) {
          return read_json(json, what);
        }
      }
    }
    return read_entry<kIndex + 1>(row, json, fleet, entry);
  }
}

std::string_view kind_of(const live::Entry& entry) {
  const auto* seen = std::get_if<live::EventSeen>(&entry.what);
  return seen != nullptr ? kEventKinds[seen->event.what.index()] : kEntryKinds[entry.what.index()];
}

}  // namespace

JournalEntry row_of(const live::Entry& entry, const Scenario& fleet, std::int64_t wall_us) {
  return {.at = entry.at,
          .wall_us = wall_us,
          .kind = std::string(kind_of(entry)),
          .format = kRowFormat,
          .body = body_of(entry, fleet)};
}

Result<live::Entry> entry_of(const JournalRow& row, const Scenario& fleet) {
  const auto wrong = [&](std::string_view what) {
    return invalid(fmt::format("row {}, kind {}: {}", row.sequence, row.entry.kind, what));
  };
  if (row.entry.format > kRowFormat)
    return wrong(fmt::format("wanted a format up to {}, found {}", kRowFormat, row.entry.format));
  const auto json = json::parse_document(row.entry.body, "row", json::kNoLimits);
  if (!json) return wrong("its body is not JSON");
  live::Entry entry{.at = row.entry.at, .what = live::Begun()};
  if (!read_entry(row.entry, *json, fleet, entry))
    return wrong("its body is not of that kind, or the kind is not known");
  return entry;
}

}  // namespace berth::journal
