#include "engine/loop/restore_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/core/archive.h"
#include "base/core/ensure.h"
#include "domain/mig/geometry.h"
#include "domain/values/frozen.h"

namespace berth {
namespace {

auto wanted_on(const std::vector<Holding>& layout, GpuId gpu) {
  return std::ranges::equal_range(layout, gpu, {}, [](const Holding& holding) { return holding.slice.gpu; });
}

/// The slices of a GPU, and whether more fit.
class Room {
 public:
  Room(const GpuModel& model, const Snapshot& snapshot, GpuId gpu) : model_(model) {
    for (const StandingSlice& standing : snapshot.slices_on(gpu)) {
      if (!standing.is_leaving) staying_.push_back(&standing);
      take(standing.holding.slice);
    }
  }

  [[nodiscard]] const StandingSlice* staying_at(const Slice& slice) const {
    const auto at =
        std::ranges::find_if(staying_, [&](const StandingSlice* standing) { return standing->holding.slice == slice; });
    return at == staying_.end() ? nullptr : *at;
  }

  /// Reserves the place of a slice to create, if it is free.
  bool take_if_free(const Slice& slice) {
    if (has_full_ || (slice.profile.is_full() && !taken_.empty())) return false;
    if (!slice.profile.is_full() && !fits(slice)) return false;
    take(slice);
    return true;
  }

 private:
  [[nodiscard]] bool fits(const Slice& slice) const {
    mig::State state = taken_;
    state.push_back({.start = slice.start, .profile = slice.profile});
    std::ranges::sort(state);
    return !mig::find_clash(model_, state);
  }

  void take(const Slice& slice) {
    taken_.push_back({.start = slice.start, .profile = slice.profile});
    has_full_ = has_full_ || slice.profile.is_full();
  }

  const GpuModel& model_;
  std::vector<const StandingSlice*> staying_;
  mig::State taken_;  ///< including slices that are leaving
  bool has_full_ = false;
};

/// Where a service of the file is in the scenario now; equal numbers mean the same service.
struct Place {
  ServiceId id;
  std::uint64_t number = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

class Restorer {
 public:
  explicit Restorer(const Scenario& scenario) : scenario_(scenario) {
    ENSURE(scenario.layout.has_value());
    for (const ServiceSpec& service : scenario.services) names_.emplace_back(service.tenant, service.name);
  }

  void observe(const Snapshot& snapshot) {
    if (!specs_version_ || *specs_version_ != snapshot.specs_version) find_services(snapshot);
    if (snapshot.layout_version == layout_version_) return;
    for (std::uint32_t gpu = 0; gpu < snapshot.gpu_versions.size(); ++gpu) {
      if (snapshot.gpu_versions[gpu] > layout_version_) unsettled_.insert({gpu});
    }
    layout_version_ = snapshot.layout_version;
  }

  StageAnswer ask(const Snapshot& snapshot, Plan& plan) {
    const bool has_turn = plan.actions.empty() && !snapshot.is_before_first_layout();
    if (unsettled_.empty() || !has_turn) return Settled{};
    if (is_frozen(scenario_, snapshot.takes_effect_at(scenario_.planning))) return Settled{};
    for (auto gpu = unsettled_.begin(); gpu != unsettled_.end() && plan.actions.size() < kRestoredActionsMax;) {
      gpu = restore(snapshot, *gpu, plan) ? std::next(gpu) : unsettled_.erase(gpu);
    }
    return Settled{};
  }

  /// Saves the names, too, as the scenario of that time is no longer known.
  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.names_, self.specs_version_, self.places_, self.layout_version_, self.unsettled_);
    archive.require(self.places_.size() == (self.specs_version_ ? self.names_.size() : 0));
    archive.require(self.unsettled_.empty() || self.unsettled_.rbegin()->index < self.scenario_.gpu_count());
    for (const Holding& holding : *self.scenario_.layout) {
      for (const ServiceId service : holding.services) archive.require(service.index < self.names_.size());
    }
  }

 private:
  /// Finds the current indices of the file's services. The GPUs of services that were added or removed are compared
  /// again; the first time, all GPUs are.
  void find_services(const Snapshot& snapshot) {
    std::map<std::pair<std::string, std::string>, Place> now;
    for (std::uint32_t index = 0; index < scenario_.services.size(); ++index) {
      const ServiceSpec& service = scenario_.services[index];
      if (service.is_absent) continue;
      now[{service.tenant, service.name}] = {.id = {index}, .number = snapshot.services[index].number};
    }
    std::vector<std::optional<Place>> places;
    for (const auto& name : names_) {
      const auto found = now.find(name);
      places.push_back(found == now.end() ? std::nullopt : std::optional(found->second));
    }
    const auto is_to_compare = [&](const Holding& holding) {
      return !specs_version_ || std::ranges::any_of(holding.services, [&](ServiceId service) {
        return places[service.index] != places_[service.index];
      });
    };
    for (const Holding& holding : *scenario_.layout) {
      if (is_to_compare(holding)) unsettled_.insert(unsettled_.end(), holding.slice.gpu);
    }
    places_ = std::move(places);
    specs_version_ = snapshot.specs_version;
  }

  /// The holding with the current ids of its services; nothing if it has services and all are absent.
  [[nodiscard]] std::optional<Holding> wanted_now(const Holding& written) const {
    Holding wanted{.slice = written.slice, .role = written.role, .services = {}};
    for (const ServiceId service : written.services) {
      if (places_[service.index]) wanted.services.push_back(places_[service.index]->id);
    }
    if (wanted.services.empty() && !written.services.empty()) return std::nullopt;
    std::ranges::sort(wanted.services);
    return wanted;
  }

  /// Adds the actions that restore the GPU. Returns whether the GPU must be compared again even if it does not change:
  /// the plan may not be carried out.
  bool restore(const Snapshot& snapshot, GpuId gpu, Plan& plan) const {
    if (!snapshot.is_open(gpu)) return false;
    Room room(scenario_.model_of(gpu), snapshot, gpu);
    const ActionFailures failures = snapshot.gpu_state(gpu).failures;
    const bool waits = snapshot.now < failures.latest + wait_after(failures);
    bool is_unsettled = false;
    for (const Holding& written : wanted_on(*scenario_.layout, gpu)) {
      const auto wanted = wanted_now(written);
      if (!wanted) continue;
      if (const StandingSlice* standing = room.staying_at(written.slice)) {
        const bool is_idle = standing->holding.services.empty() && !standing->is_foreign;
        if (!is_idle || wanted->services.empty()) continue;
        is_unsettled = true;
        give(*wanted, plan);
      } else if (waits) {
        is_unsettled = true;
      } else if (room.take_if_free(written.slice)) {
        is_unsettled = true;
        create(*wanted, failures, plan);
      }
    }
    return is_unsettled;
  }

  void create(const Holding& wanted, const ActionFailures& failures, Plan& plan) const {
    Reason reason{.text = "the scenario's layout has this slice, and it is missing", .numbers = {}};
    if (failures.count > 0) {
      reason.text += fmt::format("; another attempt after {} that failed", failures.count);
      reason.numbers.emplace_back("failed", static_cast<double>(failures.count));
    }
    plan.actions.push_back({.what = CreateSlice{wanted.slice}, .reason = std::move(reason)});
    if (!wanted.services.empty()) give(wanted, plan);
  }

  void give(const Holding& wanted, Plan& plan) const {
    const std::string name = service_label(scenario_, wanted.services.front());
    plan.actions.push_back({.what = AssignSlice{.holding = wanted, .point = std::nullopt},
                            .reason = {.text = "the scenario's layout gives it to " + name, .numbers = {}}});
  }

  const Scenario& scenario_;
  std::vector<std::pair<std::string, std::string>> names_;  ///< tenant and name of the file's services
  std::optional<std::uint64_t> specs_version_;
  std::vector<std::optional<Place>> places_;  ///< of the file's services at that version
  std::uint64_t layout_version_ = 0;
  std::set<GpuId> unsettled_;  ///< GPUs where a slice may be missing
};

}  // namespace

Micros wait_after(const ActionFailures& failures) {
  constexpr std::int64_t kWaitSecondsMax = 60;
  constexpr std::int64_t kDoublingsMax = 6;  // beyond the longest wait
  if (failures.count == 0) return Micros();
  const std::int64_t doublings = std::min(failures.count - 1, kDoublingsMax);
  return Micros::seconds(std::min(std::int64_t{1} << doublings, kWaitSecondsMax));
}

Stage restore_stage(const Scenario& scenario) {
  const auto restorer = std::make_shared<Restorer>(scenario);
  return {.name = "restore",
          .observe = [restorer](const Snapshot& snapshot) { restorer->observe(snapshot); },
          .ask = [restorer](const Snapshot& snapshot, Plan& plan) { return restorer->ask(snapshot, plan); },
          .learn = {},
          .memory = memory_of(restorer)};
}

}  // namespace berth
