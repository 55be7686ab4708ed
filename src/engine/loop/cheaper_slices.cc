#include "engine/loop/cheaper_slices.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <variant>

#include "base/core/sort_stably.h"
#include "domain/mig/geometry.h"
#include "engine/loop/restore_stage.h"
#include "planner/window/frame.h"

namespace berth {
namespace {

/// More slices than that in place of one are not looked for.
constexpr double kSetSlicesMax = 8;

std::vector<ProfileId> plain_profiles(const GpuModel& model) {
  std::vector<ProfileId> profiles;
  if (model.has_full) profiles.push_back(ProfileId::full());
  for (std::size_t index = 0; index < model.profiles.size(); ++index) {
    if (model.profiles[index].is_plain()) profiles.push_back({static_cast<std::uint16_t>(index)});
  }
  return profiles;
}

/// A set of profiles, and what it costs.
struct PricedSet {
  std::vector<ProfileId> profiles;
  double usd_per_hour = 0;
};

PricedSet set_of(const PricedProfile& profile, double count) {
  return {.profiles = std::vector<ProfileId>(static_cast<std::size_t>(count), profile.profile),
          .usd_per_hour = count * profile.usd_per_hour};
}

mig::State with_placement(mig::State state, mig::Placement placement) {
  state.push_back(placement);
  std::ranges::sort(state);
  return state;
}

/// The first place of a GPU with these slices where one of the profile fits. Requires: neither is `full`.
std::optional<mig::Placement> free_start(const GpuModel& model, const mig::State& state, ProfileId profile) {
  for (const auto start : model.profiles[profile.index].starts) {
    const mig::Placement placement{.start = start, .profile = profile};
    if (!mig::find_clash(model, with_placement(state, placement))) return placement;
  }
  return std::nullopt;
}

/// Whether slices of these profiles fit on a GPU with nothing on it.
bool fit_on_one(const GpuModel& model, std::vector<ProfileId> profiles) {
  if (profiles.size() == 1) return true;
  if (std::ranges::any_of(profiles, &ProfileId::is_full)) return false;
  sort_stably(profiles, [&](ProfileId id) { return model.profiles[id.index].length; }, std::greater<>());
  mig::State state;
  for (const ProfileId profile : profiles) {
    const auto place = free_start(model, state, profile);
    if (!place) return false;
    state = with_placement(std::move(state), *place);
  }
  return true;
}

/// What is taken of the GPUs of one model.
class TakenGpus {
 public:
  TakenGpus(const Scenario& scenario, const Snapshot& snapshot, const Plan& plan, ServiceId service,
            const std::string& gpu_model)
      : scenario_(scenario), snapshot_(snapshot), service_(service) {
    for (std::uint32_t index = 0; index < scenario.gpu_count(); ++index) {
      const GpuId gpu{index};
      const ActionFailures failures = snapshot.gpu_state(gpu).failures;
      const bool waits = snapshot.now < failures.latest + wait_after(failures);
      if (scenario.model_of(gpu).name != gpu_model || !snapshot.is_open(gpu) || waits || !may_be_on(gpu)) continue;
      for (const StandingSlice& standing : snapshot.slices_on(gpu)) take(standing.holding.slice);
      taken_[gpu];
    }
    for (const Action& action : plan.actions) {
      if (const auto* created = std::get_if<CreateSlice>(&action.what); created && taken_.contains(created->slice.gpu))
        take(created->slice);
    }
  }

  /// Takes a free place; nothing if there is none.
  std::optional<Slice> take_free(ProfileId profile) {
    std::vector<GpuId> fullest;
    fullest.reserve(taken_.size());
    for (const auto& [gpu, state] : taken_) fullest.push_back(gpu);
    sort_stably(fullest, [&](GpuId gpu) { return taken_.at(gpu).size(); }, std::greater<>());
    for (const GpuId gpu : fullest) {
      if (auto slice = place_on(gpu, profile)) {
        take(*slice);
        return slice;
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool may_be_on(GpuId gpu) const {
    return std::ranges::all_of(snapshot_.slices_on(gpu), [&](const StandingSlice& standing) {
      return std::ranges::all_of(standing.holding.services, [&](ServiceId other) {
        return may_share_gpu(scenario_.services[service_.index], scenario_.services[other.index]);
      });
    });
  }

  [[nodiscard]] std::optional<Slice> place_on(GpuId gpu, ProfileId profile) const {
    const mig::State& state = taken_.at(gpu);
    const bool has_full = std::ranges::any_of(state, [](const auto& at) { return at.profile.is_full(); });
    if (has_full) return std::nullopt;
    if (profile.is_full()) {
      return state.empty() ? std::optional(Slice{.gpu = gpu, .start = 0, .profile = profile}) : std::nullopt;
    }
    const auto place = free_start(scenario_.model_of(gpu), state, profile);
    return place ? std::optional(Slice{.gpu = gpu, .start = place->start, .profile = profile}) : std::nullopt;
  }

  void take(const Slice& slice) { taken_[slice.gpu].push_back({.start = slice.start, .profile = slice.profile}); }

  const Scenario& scenario_;
  const Snapshot& snapshot_;
  ServiceId service_;
  std::map<GpuId, mig::State> taken_;  ///< of the GPUs where the service may be, including slices that are leaving
};

}  // namespace

double slice_usd(const FleetEntry& entry, ProfileId profile) {
  const double share =
      entry.model.sms > 0 ? static_cast<double>(profile_sms(entry.model, profile)) / entry.model.sms : 1;
  return entry.usd_per_gpu_hour.value_or(Decimal()).to_double() * share;
}

std::vector<PricedProfile> priced_profiles(const Scenario& scenario, const ServiceSpec& service,
                                           const FleetEntry& entry) {
  std::vector<PricedProfile> priced;
  for (const ProfileId profile : plain_profiles(entry.model)) {
    const double rate = planner::planned_rate(scenario, service, entry.model, profile);
    if (rate > 0) {
      priced.push_back({.profile = profile, .per_second = rate, .usd_per_hour = slice_usd(entry, profile)});
    }
  }
  return priced;
}

std::vector<std::vector<ProfileId>> sets_for(std::span<const PricedProfile> profiles, double per_second,
                                             double usd_per_hour_max) {
  std::vector<PricedSet> sets;
  const auto add = [&](PricedSet set) {
    if (set.usd_per_hour <= usd_per_hour_max) sets.push_back(std::move(set));
  };
  for (const PricedProfile& profile : profiles) {
    const double count = std::max(1.0, std::ceil(per_second / profile.per_second));
    if (count > kSetSlicesMax) continue;
    add(set_of(profile, count));
    for (const PricedProfile& last : profiles) {
      if (last.profile == profile.profile || count < 2) continue;
      if ((count - 1) * profile.per_second + last.per_second < per_second) continue;
      PricedSet set = set_of(profile, count - 1);
      set.profiles.push_back(last.profile);
      set.usd_per_hour += last.usd_per_hour;
      add(std::move(set));
    }
  }
  sort_stably(sets, [](const PricedSet& set) { return std::pair(set.usd_per_hour, set.profiles.size()); });
  std::vector<std::vector<ProfileId>> found;
  found.reserve(sets.size());
  for (PricedSet& set : sets) found.push_back(std::move(set.profiles));
  return found;
}

std::vector<ProfileId> dear_profiles(const GpuModel& model, std::span<const PricedProfile> profiles,
                                     double saving_share) {
  std::vector<PricedProfile> cheapest_first(profiles.begin(), profiles.end());
  sort_stably(cheapest_first, &PricedProfile::usd_per_hour);
  std::vector<PricedProfile> paying;
  std::vector<ProfileId> dear;
  for (const PricedProfile& profile : cheapest_first) {
    const auto sets = sets_for(paying, profile.per_second, profile.usd_per_hour * (1 - saving_share));
    const bool is_dear = std::ranges::any_of(sets, [&](const auto& set) { return fit_on_one(model, set); });
    if (is_dear) {
      dear.push_back(profile.profile);
    } else {
      paying.push_back(profile);
    }
  }
  std::ranges::sort(dear);
  return dear;
}

std::optional<std::vector<Slice>> free_places(const Scenario& scenario, const Snapshot& snapshot, const Plan& plan,
                                              ServiceId service, const std::string& gpu_model,
                                              std::span<const ProfileId> profiles) {
  TakenGpus gpus(scenario, snapshot, plan, service, gpu_model);
  std::vector<Slice> slices;
  for (const ProfileId profile : profiles) {
    const auto slice = gpus.take_free(profile);
    if (!slice) return std::nullopt;
    slices.push_back(*slice);
  }
  return slices;
}

}  // namespace berth
