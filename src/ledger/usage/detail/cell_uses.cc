#include "ledger/usage/detail/cell_uses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <utility>

#include "domain/mig/geometry.h"
#include "ledger/usage/part_weight.h"
#include "ledger/weights/weights.h"
#include "live/session/object_names.h"

namespace berth::ledger::detail {
namespace {

using live::UsageInterval;
using live::UsagePart;
using live::UsageState;

constexpr const char* kForeign = "foreign";
constexpr const char* kPods = "pods";  // what a tenant holds for something that is no service
constexpr const char* kUnobserved = "~unobserved";

std::int32_t length_of(const GpuModel& model, ProfileId profile) {
  return profile.is_full() ? live::usage_units(model) : model.profiles[profile.index].length;
}

bool is_without_slice(const UsagePart& part) { return part.state == UsageState::kFree && !part.slice; }

/// Whether a slice of any profile could be made of these free units next to the existing ones.
bool has_room(const GpuModel& model, const UsageCell& cell, const UsagePart& free) {
  if (!model.is_mig_capable() || free.units == live::usage_units(model)) return true;
  mig::State state;
  for (const UsageInterval* each : cell.parts) {
    const UsagePart& part = each->what.part;
    if (is_whole_slice(model, part)) state.push_back({.start = part.slice->start, .profile = part.slice->profile});
  }
  std::ranges::sort(state);
  // Foreign slices may be at places where ours could not be: then only their units count.
  if (mig::find_clash(model, state)) state.clear();
  return std::ranges::any_of(mig::placements_that_fit(model, state, mig::all_rules(model)), [&](const auto& placement) {
    return placement.start >= free.start &&
           placement.start + length_of(model, placement.profile) <= free.start + free.units;
  });
}

/// The factor for capacity and weights.
Result<std::int64_t> factor_of(const GpuModel& model, const UsageCell& cell) {
  std::set<std::size_t> counts;
  for (const UsageInterval* each : cell.parts) {
    if (each->what.part.state == UsageState::kHeld)
      counts.insert(std::max<std::size_t>(1, each->what.part.holders.size()));
  }
  std::int64_t factor = 1;
  for (const std::size_t count : counts) {
    factor = std::lcm(factor, static_cast<std::int64_t>(count));
    if (factor <= kCapacityMax / capacity_of(model)) continue;
    return invalid(fmt::format(
        "{}: wanted slices whose shares are whole in a capacity of at most {}, found slices with {} holders",
        live::gpu_name(cell.gpu), kCapacityMax, fmt::join(counts, ", ")));
  }
  return factor;
}

/// "gpu-3-1g.10gb-2", for units that are not a whole slice "gpu-3:6-7".
std::string slice_text(const Scenario& fleet, GpuId gpu, const UsagePart& part) {
  std::string name = part.slice ? live::place_name(fleet, *part.slice) : live::gpu_name(gpu);
  if (is_whole_slice(fleet.model_of(gpu), part)) return name;
  if (part.units == 1) return fmt::format("{}:{}", name, part.start);
  return fmt::format("{}:{}-{}", name, part.start, part.start + part.units - 1);
}

bool is_without_service(const UsagePart& part) { return part.holders.size() == 1 && part.holders.front().name.empty(); }

/// Makes the uses of a cell.
class Division {
 public:
  Division(const UsageCell& cell, const Scenario& fleet, std::int64_t factor)
      : cell_(cell), fleet_(fleet), model_(fleet.model_of(cell.gpu)), factor_(factor) {
    result_.capacity = capacity_of(model_) * factor_;
  }

  CellUses divide() && {
    std::int64_t left = capacity_of(model_);
    for (const UsageInterval* each : cell_.parts) {
      if (!is_without_slice(each->what.part)) left -= weight_of_part(model_, each->what.part);
    }
    for (const UsageInterval* each : cell_.parts) {
      if (!is_without_slice(each->what.part)) {
        add_part(*each);
      } else if (left > 0 && !has_room(model_, cell_, each->what.part)) {
        // The part that holders already pay for is not stranded: seven 1g leave a unit, but no cost.
        const std::int64_t weight = std::min(left, weight_of_part(model_, each->what.part));
        left -= weight;
        add_nobodys(*each, Role::kStranded, weight);
      }
    }
    return std::move(result_);
  }

 private:
  void add_part(const UsageInterval& interval) {
    const UsagePart& part = interval.what.part;
    const std::int64_t weight = weight_of_part(model_, part);
    switch (part.state) {
      case UsageState::kHeld:
        if (is_without_service(part)) {
          return add(interval, {.tenant = part.holders.front().tenant, .name = kPods}, Role::kReserved,
                     weight * factor_);
        }
        return add_holders(interval, weight);
      case UsageState::kChanging:
        return add_nobodys(interval, Role::kReconfiguration, weight);
      case UsageState::kForeign:
        return add(interval, {.tenant = kForeign, .name = kForeign}, Role::kReserved, weight * factor_);
      case UsageState::kLost:
        return add_nobodys(interval, Role::kStranded, weight);
      case UsageState::kFree:  // an unowned slice is idle
        return;
    }
  }

  void add_holders(const UsageInterval& interval, std::int64_t weight) {
    const UsagePart& part = interval.what.part;
    const Role role = part.role == berth::Role::kRetraining ? Role::kRetraining : Role::kInference;
    const std::size_t count = part.holders.size();
    for (std::size_t i = 0; i < count; ++i) {
      const int number = count == 1 ? 0 : static_cast<int>(i + 1);
      add(interval, part.holders[i], role, weight * factor_ / static_cast<std::int64_t>(count), number);
    }
  }

  void add_nobodys(const UsageInterval& interval, Role role, std::int64_t weight) {
    add(interval, {}, role, weight * factor_);
  }

  void add(const UsageInterval& interval, const live::ServiceName& holder, Role role, std::int64_t weight,
           int number = 0) {
    std::string slice = slice_text(fleet_, cell_.gpu, interval.what.part);
    if (number > 0) slice += fmt::format("#{}", number);
    if (!interval.is_observed) slice += kUnobserved;
    result_.uses.push_back({.of = &interval,
                            .holder = number,
                            .slice = std::move(slice),
                            .tenant = holder.tenant,
                            .service = holder.name,
                            .role = role,
                            .weight = weight});
  }

  const UsageCell& cell_;
  const Scenario& fleet_;
  const GpuModel& model_;
  std::int64_t factor_;
  CellUses result_;
};

}  // namespace

Result<CellUses> uses_of(const UsageCell& cell, const Scenario& fleet) {
  const auto factor = factor_of(fleet.model_of(cell.gpu), cell);
  if (!factor) return pass_on(factor.error());
  return Division(cell, fleet, *factor).divide();
}

}  // namespace berth::ledger::detail
