/// A simple packer, for tests: it finds plans without any claim of optimality.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/core/sort_stably.h"
#include "domain/mig/geometry.h"
#include "domain/values/packing.h"
#include "planner/packing/testing/reference.h"

namespace berth::packing::reference {

/// First fit: for each demand in turn the slice with the highest throughput per SM, on the first GPU with room, until
/// the rate is met; then surplus slices are removed. Nothing if it finds no plan, which proves nothing.
class FirstFit {
 public:
  explicit FirstFit(const PackingProblem& problem) : problem_(problem) {}

  [[nodiscard]] std::optional<Packing> solve() {
    for (std::uint32_t d = 0; d < problem_.demands.size(); ++d) {
      Decimal missing = rate_wanted(problem_, problem_.demands[d]);
      while (missing.sign() > 0) {
        if (!place_best(d)) return std::nullopt;
        missing = missing - slices_.back().requests_per_second;
      }
    }
    drop_surplus();
    return numbered();
  }

 private:
  struct Choice {
    std::uint32_t offer = 0;
    ProfileId profile;
    const PerformancePoint* row = nullptr;
    double score = 0;
  };

  [[nodiscard]] std::vector<Choice> choices_for(const Demand& demand) const {
    std::vector<Choice> choices;
    for (std::uint32_t o = 0; o < problem_.offers.size(); ++o) {
      const GpuModel& model = problem_.offers[o].model;
      for (const ProfileId profile : all_profiles(model)) {
        const PerformancePoint* row = best_row(problem_, demand, model, profile);
        if (row == nullptr) continue;
        choices.push_back({o, profile, row, row->requests_per_second.to_double() / profile_sms(model, profile)});
      }
    }
    sort_stably(choices, &Choice::score, std::greater<>());
    return choices;
  }

  bool place_best(std::uint32_t demand) {
    return std::ranges::any_of(choices_for(problem_.demands[demand]),
                               [&](const Choice& choice) { return place(demand, choice); });
  }

  bool place(std::uint32_t demand, const Choice& choice) {
    for (std::uint32_t gpu = 0; gpu < offers_.size(); ++gpu) {
      if (offers_[gpu] == choice.offer && is_open_to(gpu, demand) && place_on(gpu, demand, choice)) return true;
    }
    const GpuOffer& offer = problem_.offers[choice.offer];
    if (offer.count_max && std::ranges::count(offers_, choice.offer) >= *offer.count_max) return false;
    offers_.push_back(choice.offer);
    return place_on(static_cast<std::uint32_t>(offers_.size() - 1), demand, choice);
  }

  [[nodiscard]] bool is_open_to(std::uint32_t gpu, std::uint32_t demand) const {
    return std::ranges::none_of(slices_, [&](const PackedSlice& other) {
      return other.slice.gpu.index == gpu && problem_.rules.keeps_tenants_apart &&
             problem_.demands[other.demand].tenant != problem_.demands[demand].tenant;
    });
  }

  bool place_on(std::uint32_t gpu, std::uint32_t demand, const Choice& choice) {
    const GpuModel& model = problem_.offers[choice.offer].model;
    mig::State state;
    for (const PackedSlice& other : slices_) {
      if (other.slice.gpu.index == gpu) state.push_back({other.slice.start, other.slice.profile});
    }
    const std::vector<int> starts =
        choice.profile.is_full() ? std::vector<int>{0} : model.profiles[choice.profile.index].starts;
    for (const int start : starts) {
      mig::State larger = state;
      larger.push_back({start, choice.profile});
      if (mig::find_clash(model, larger)) continue;
      slices_.push_back({.slice = {.gpu = {gpu}, .start = start, .profile = choice.profile},
                         .demand = demand,
                         .batch = choice.row->batch,
                         .processes = choice.row->processes,
                         .requests_per_second = choice.row->requests_per_second});
      return true;
    }
    return false;
  }

  [[nodiscard]] bool is_surplus(const PackedSlice& packed) const {
    Decimal rest = Decimal(0) - packed.requests_per_second;
    for (const PackedSlice& other : slices_) {
      if (other.demand == packed.demand) rest += other.requests_per_second;
    }
    return rest >= rate_wanted(problem_, problem_.demands[packed.demand]);
  }

  void drop_surplus() {
    for (std::size_t i = 0; i < slices_.size();) {
      if (is_surplus(slices_[i])) {
        slices_.erase(slices_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }

  [[nodiscard]] Packing numbered() const {
    Packing packing{.gpu_offers = {}, .slices = slices_};
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (const PackedSlice& packed : slices_) numbers.emplace(packed.slice.gpu.index, 0);
    for (auto& [gpu, number] : numbers) {
      number = static_cast<std::uint32_t>(packing.gpu_offers.size());
      packing.gpu_offers.push_back(offers_[gpu]);
    }
    for (PackedSlice& packed : packing.slices) packed.slice.gpu.index = numbers.at(packed.slice.gpu.index);
    std::ranges::sort(packing.slices, {}, &PackedSlice::slice);
    return packing;
  }

  const PackingProblem& problem_;
  std::vector<std::uint32_t> offers_;
  std::vector<PackedSlice> slices_;
};

}  // namespace berth::packing::reference
