/// Slices that carry a rate for less, and room for them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"

namespace berth {

/// A plain profile of a GPU model, or `full`, for one service.
struct PricedProfile {
  ProfileId profile;
  double per_second = 0;    ///< requests of one slice, > 0
  double usd_per_hour = 0;  ///< its share of the GPU's price, by SMs
};

/// Of those on which the service has a rate that plans may use; of a fleet entry without a price they cost nothing.
[[nodiscard]] std::vector<PricedProfile> priced_profiles(const Scenario& scenario, const ServiceSpec& service,
                                                         const FleetEntry& entry);
[[nodiscard]] double slice_usd(const FleetEntry& entry, ProfileId profile);

/// Sets of profiles that carry the rate and cost at most that much: slices of one profile, or these and a last one of
/// another. The cheapest first; equal costs: fewer slices. O(profiles^2).
[[nodiscard]] std::vector<std::vector<ProfileId>> sets_for(std::span<const PricedProfile> profiles, double per_second,
                                                           double usd_per_hour_max);

/// Profiles that never pay: a set of cheaper ones that do carries as much, fits on one GPU, and costs at least
/// `saving_share` less. Ascending. Of profiles without a rate nothing is said.
[[nodiscard]] std::vector<ProfileId> dear_profiles(const GpuModel& model, std::span<const PricedProfile> profiles,
                                                   double saving_share);

/// Where slices of these profiles fit at once next to what is on GPUs of that model now and what the plan creates:
/// on open GPUs without services that must not share one with the service, the fullest first. Nothing: they do not all
/// fit.
[[nodiscard]] std::optional<std::vector<Slice>> free_places(const Scenario& scenario, const Snapshot& snapshot,
                                                            const Plan& plan, ServiceId service,
                                                            const std::string& gpu_model,
                                                            std::span<const ProfileId> profiles);

}  // namespace berth
