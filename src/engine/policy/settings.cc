#include "engine/policy/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>

#include "base/core/decimal.h"
#include "base/core/text.h"

namespace berth::policy {
namespace {

/// A parameter and the field that it sets.
struct Parameter {
  std::string_view name;
  std::variant<int*, std::int64_t*, double*> place;
};

std::vector<Parameter> parameters_of(Settings& settings) {
  auto& ekya = settings.ekya;
  auto& astraea = settings.astraea;
  auto& migrator = settings.migrator;
  auto& berth = settings.berth;
  return {
      {"ekya.period_seconds", &ekya.period_seconds},
      {"ekya.horizon_seconds", &ekya.horizon_seconds},
      {"ekya.gain_min", &ekya.gain_min},
      {"ekya.nearness_weight", &ekya.nearness_weight},
      {"ekya.capacity_factor", &ekya.capacity_factor},
      {"ekya.quanta_max", &ekya.quanta_max},
      {"astraea.period_seconds", &astraea.period_seconds},
      {"astraea.horizon_seconds", &astraea.horizon_seconds},
      {"astraea.target_level", &astraea.target_level},
      {"astraea.gain_min", &astraea.gain_min},
      {"astraea.retraining_weight", &astraea.retraining_weight},
      {"astraea.capacity_factor", &astraea.capacity_factor},
      {"migrator.period_seconds", &migrator.period_seconds},
      {"migrator.horizon_seconds", &migrator.horizon_seconds},
      {"migrator.block_seconds", &migrator.block_seconds},
      {"migrator.block_growth", &migrator.block_growth},
      {"migrator.change_factor", &migrator.change_factor},
      {"migrator.patience_seconds", &migrator.patience_seconds},
      {"migrator.columns_max", &migrator.columns_max},
      {"migrator.nodes_max", &migrator.nodes_max},
      {"migrator.gap_allowed", &migrator.gap_allowed},
      {"migrator.gain_min", &migrator.gain_min},
      {"migrator.capacity_factor", &migrator.capacity_factor},
      {"berth.period_seconds", &berth.period_seconds},
      {"berth.tail_seconds", &berth.tail_seconds},
      {"berth.gain_min_seconds", &berth.gain_min_seconds},
      {"berth.nodes_max", &berth.nodes_max},
      {"berth.gap", &berth.gap},
      {"berth.recuts", &berth.recuts},
      {"berth.points", &berth.points},
      {"berth.variants", &berth.variants},
      {"clairvoyant.loads", &settings.clairvoyant.loads},
  };
}

constexpr std::int64_t kWholeMax = 1'000'000'000;

Result<void> assign(const Parameter& parameter, std::string_view text) {
  const Result<Decimal> value = Decimal::parse(text);
  if (!value) return invalid(fmt::format("{}: {}", parameter.name, value.error().message));
  const bool is_real = std::holds_alternative<double*>(parameter.place);
  const bool is_legal = value->sign() >= 0 && *value <= Decimal(kWholeMax) && (is_real || value->is_integer());
  if (!is_legal) {
    return invalid(fmt::format("{}: wanted {} from 0 to {}, found {}", parameter.name,
                               is_real ? "a number" : "a whole number", kWholeMax, in_quotes(text)));
  }
  if (auto* const* real = std::get_if<double*>(&parameter.place)) **real = value->to_double();
  if (auto* const* whole = std::get_if<int*>(&parameter.place)) **whole = static_cast<int>(value->floor());
  if (auto* const* whole = std::get_if<std::int64_t*>(&parameter.place)) **whole = value->floor();
  return {};
}

}  // namespace

Result<void> set_parameter(Settings& settings, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string_view name = assignment.substr(0, equals);
  for (const Parameter& parameter : parameters_of(settings)) {
    if (parameter.name != name || equals == std::string_view::npos) continue;
    return assign(parameter, assignment.substr(equals + 1));
  }
  return invalid(fmt::format("wanted policy.parameter=value with one of {}; found {}",
                             fmt::join(parameter_names(), ", "), in_quotes(assignment)));
}

std::vector<std::string> parameter_names() {
  Settings settings;
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters_of(settings)) names.emplace_back(parameter.name);
  return names;
}

}  // namespace berth::policy
