#include "live/whatif/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "live/whatif/remarks.h"
#include "live/whatif/speeds.h"
#include "sim/world/world.h"
#include "world/slices/device_memory.h"

namespace berth::whatif {
namespace {

/// Makes a scenario of the window.
class Builder {
 public:
  Builder(const Chronicle& chronicle, const Window& window)
      : chronicle_(chronicle),
        window_(window),
        span_({.from = Instant::at_second(window.from), .until = Instant::at_second(window.to)}) {}

  Result<WhatIf> build(const TimeWords& words) {
    for (std::uint32_t index = 0; index < chronicle_.services.size(); ++index) {
      if (!chronicle_.services[index].is_there_in(span_)) continue;
      new_ids_[{index}] = {static_cast<std::uint32_t>(services_.size())};
      services_.push_back(&chronicle_.services[index]);
    }
    if (chronicle_.scenario.gpu_count() == 0) return invalid("the fleet has no GPU");
    if (services_.empty()) {
      return invalid(fmt::format("no service was there from {} to {}", words(span_.from), words(span_.until)));
    }
    for (const ServicePast* service : services_) factors_.push_back(factors_in(chronicle_, *service, span_));
    WhatIf made{.scenario = rules(), .run = recorded(), .remarks = remarks_on(chronicle_, span_, words)};
    for (std::size_t i = 0; i < services_.size(); ++i) {
      if (!factors_[i].empty()) made.remarks.push_back(remark_on(*services_[i], factors_[i]));
    }
    for (const ServicePast* service : services_) made.scenario.services.push_back(service_of(*service));
    made.scenario.layout = layout_of(made.run);
    leave_out_other_models(made);
    return made;
  }

 private:
  // ---- the scenario

  [[nodiscard]] Scenario rules() const {
    Scenario rules = chronicle_.scenario;
    rules.services = {};
    rules.layout.reset();
    rules.no_changes = {};
    rules.frozen.clear();
    for (const FrozenWindow& frozen : chronicle_.scenario.frozen) {
      if (frozen.until <= span_.from || frozen.from >= span_.until) continue;
      const Instant from = std::max(frozen.from, span_.from);
      rules.frozen.push_back({.from = in_window(from), .until = in_window(frozen.until)});
    }
    return rules;
  }

  [[nodiscard]] Instant in_window(Instant at) const { return at - (span_.from - Instant()); }

  [[nodiscard]] ServiceSpec service_of(const ServicePast& past) {
    const SpecPast& last = past.spec_before(span_.until);
    ServiceSpec service = at_measured_speed(*last.spec, factors_[new_id_of(past).index]);
    service.name = label_of(past.name);
    service.arrivals = arrivals_of(past);
    if (service.retraining) service.retraining->offset = last.due_after(span_.from);
    // Pins of services that never existed together may clash.
    if (!past.is_there_at(span_.until - Micros(1))) service.pins.clear();
    return service;
  }

  [[nodiscard]] ServiceId new_id_of(const ServicePast& past) const {
    return new_ids_.at({static_cast<std::uint32_t>(&past - chronicle_.services.data())});
  }

  /// "tenant.name", which may also be another service's if names have dots.
  [[nodiscard]] std::string label_of(const live::ServiceName& name) {
    const std::string label = fmt::format("{}.{}", name.tenant, name.name);
    std::string free = label;
    for (int count = 2; !labels_.insert(free).second; ++count) free = fmt::format("{} ({})", label, count);
    return free;
  }

  [[nodiscard]] Arrivals arrivals_of(const ServicePast& past) const {
    const std::int64_t oldest = window_.from - chronicle_.scenario.history_seconds;
    const auto first = past.arrivals.lower_bound(oldest);
    const std::int64_t begin = first == past.arrivals.end() ? window_.from : std::min(first->first, window_.from);
    CountTrace trace;
    trace.counts.resize(static_cast<std::size_t>(window_.to - begin));
    for (auto it = first; it != past.arrivals.end() && it->first < window_.to; ++it) {
      trace.counts[static_cast<std::size_t>(it->first - begin)] = static_cast<std::uint32_t>(it->second);
    }
    return {.source = std::move(trace), .from_second = window_.from - begin, .seconds = window_.to - window_.from};
  }

  // ---- what happened to the devices

  [[nodiscard]] sim::RecordedRun recorded() const {
    const Micros lead = span_.from - chronicle_.begin;
    sim::RecordedRun run;
    if (lead > Micros() || chronicle_.run.left) run.left = left_at_window(lead);
    for (const ServicePast* service : services_) set_first_spec(*service, run);
    for (const sim::RecordedOrder& order : chronicle_.run.orders) {
      const Instant at = order.at - lead;
      if (at < Instant() || at >= in_window(span_.until)) continue;
      sim::RecordedOrder renamed{.at = at, .what = order.what};
      if (auto* given = std::get_if<sim::PlanOrder>(&renamed.what)) rename(given->plan);
      if (auto* set = std::get_if<ServiceSet>(&renamed.what)) {
        const auto known = new_ids_.find(set->service);
        if (known == new_ids_.end()) continue;
        set->service = known->second;
      }
      run.orders.push_back(std::move(renamed));
    }
    return run;
  }

  /// The scenario has the spec of the window's end, at the measured speed; a service that began with another one gets
  /// that at second 0, and so does one whose faults the run has: they make its table slower themselves.
  void set_first_spec(const ServicePast& past, sim::RecordedRun& run) const {
    const SpecPast& first = past.spec_before(span_.from);
    const SpecPast& last = past.spec_before(span_.until);
    const bool is_same = &first == &last || is_same_but_arrivals(*first.spec, *last.spec);
    const bool is_slowed = !factors_[new_id_of(past).index].empty() && has_serving_fault(past);
    if (is_same && !is_slowed) return;
    ServiceSpec spec = *first.spec;
    if (spec.retraining) spec.retraining->offset = first.due_after(span_.from);
    ServiceSet set{.service = new_id_of(past),
                   .spec = std::make_shared<const ServiceSpec>(std::move(spec)),
                   .restarts_retraining = first.spec->retraining != last.spec->retraining};
    run.orders.push_back({.at = Instant(), .what = std::move(set)});
  }

  /// Whether an order of the run made its batches take another time than its table says, before the window's end.
  [[nodiscard]] bool has_serving_fault(const ServicePast& past) const {
    const ServiceId service{static_cast<std::uint32_t>(&past - chronicle_.services.data())};
    return std::ranges::any_of(chronicle_.run.orders, [&](const sim::RecordedOrder& order) {
      const auto* injected = std::get_if<sim::FaultInjection>(&order.what);
      return injected != nullptr && chronicle_.begin + (order.at - Instant()) < span_.until &&
             injected->fault.serving && injected->fault.serving->service == service;
    });
  }

  /// The memory of the devices at the window's beginning: the earlier orders, carried out without requests.
  [[nodiscard]] sim::WorldLeft left_at_window(Micros lead) const {
    Scenario before = chronicle_.scenario;
    before.services = {};
    for (const ServicePast& past : chronicle_.services) {
      const SpecPast& spec = past.specs.front();
      ServiceSpec service = *spec.spec;
      service.arrivals = {};
      if (service.retraining) service.retraining->offset = spec.due_after(chronicle_.begin);
      before.services.push_back(std::move(service));
    }
    const sim::RecordedOptions options{.seed = chronicle_.seed, .world = {.is_endless = true, .only = std::nullopt}};
    const auto world = sim::repeat_recorded(before, chronicle_.run, Instant() + lead, options);
    ENSURE(world.has_value());
    sim::WorldLeft left = sim::moved_back(sim::left_of(**world, before), lead);
    std::vector<sim::ServiceMemory> services(services_.size());
    for (const auto& [old_id, new_id] : new_ids_) services[new_id.index] = left.world.services[old_id.index];
    left.world.services = std::move(services);
    for (world::DeviceMemory& device : left.devices) rename(device);
    return left;
  }

  void rename(world::DeviceMemory& device) const {
    for (world::SliceMemory& slice : device.slices) {
      rename(slice.services, slice.role);
      if (slice.next) rename(slice.next->holding.services, slice.next->holding.role);
    }
  }

  void rename(Plan& plan) const {
    for (Action& action : plan.actions) {
      auto* assign = std::get_if<AssignSlice>(&action.what);
      if (assign != nullptr) rename(assign->holding.services, assign->holding.role);
    }
  }

  /// Services that did not exist in the window hold nothing any more.
  void rename(std::vector<ServiceId>& services, Role& role) const {
    std::vector<ServiceId> renamed;
    for (const ServiceId service : services) {
      if (const auto known = new_ids_.find(service); known != new_ids_.end()) renamed.push_back(known->second);
    }
    services = std::move(renamed);
    if (services.empty()) role = Role::kInference;
  }

  /// The slices at second 0; absent if there are none, or some are shared, which the format cannot express.
  [[nodiscard]] static std::optional<std::vector<Holding>> layout_of(const sim::RecordedRun& run) {
    std::vector<Holding> layout;
    if (run.left) {
      for (const world::DeviceMemory& device : run.left->devices) {
        for (const world::SliceMemory& slice : device.slices) {
          const bool stands = !slice.is_unwanted && !slice.is_foreign && slice.phase >= world::SlicePhase::kStarting;
          if (!stands) continue;
          layout.push_back({.slice = slice.slice, .role = slice.role, .services = slice.services});
        }
      }
    }
    for (const sim::RecordedOrder& order : run.orders) {
      const auto* given = std::get_if<sim::PlanOrder>(&order.what);
      if (given == nullptr || !given->is_first_layout) continue;
      for (const Action& action : given->plan.actions) {
        if (const auto* assign = std::get_if<AssignSlice>(&action.what)) layout.push_back(assign->holding);
      }
    }
    const bool is_shared =
        std::ranges::any_of(layout, [](const Holding& holding) { return holding.services.size() > 1; });
    if (layout.empty() || is_shared) return std::nullopt;
    std::ranges::sort(layout, {}, &Holding::slice);
    return layout;
  }

  /// Takes slices out of the layout whose GPU model the spec of the window's end does not allow: with them the scenario
  /// would be refused.
  static void leave_out_other_models(WhatIf& made) {
    if (!made.scenario.layout) return;
    std::map<ServiceId, int> counts;
    std::erase_if(*made.scenario.layout, [&](const Holding& holding) {
      const std::string& model = made.scenario.model_of(holding.slice.gpu).name;
      const auto forbids = [&](ServiceId service) { return !made.scenario.services[service.index].tier.allows(model); };
      const auto found = std::ranges::find_if(holding.services, forbids);
      if (found == holding.services.end()) return false;
      ++counts[*found];
      return true;
    });
    if (made.scenario.layout->empty()) made.scenario.layout.reset();
    for (const auto& [service, count] : counts) {
      const ServiceSpec& spec = made.scenario.services[service.index];
      made.remarks.push_back(fmt::format("{}: slices on other GPU models than {} ({}) are not in the layout", spec.name,
                                         spec.tier.gpu, count));
    }
  }

  const Chronicle& chronicle_;
  const Window& window_;
  Span span_;
  std::vector<const ServicePast*> services_;  ///< those of the window
  std::vector<SpeedFactors> factors_;         ///< of the same; of service 0 each
  std::map<ServiceId, ServiceId> new_ids_;    ///< by index in Chronicle::services
  std::set<std::string> labels_;
};

}  // namespace

Window whole_window(const Chronicle& chronicle) {
  const Instant begin = chronicle.begin;
  const bool is_whole = begin == Instant::at_second(begin.second());
  return {.from = begin.second() + (is_whole ? 0 : 1), .to = chronicle.until};
}

Result<WhatIf> what_if(const Chronicle& chronicle, const Window& window, const TimeWords& words) {
  const Window whole = whole_window(chronicle);
  ENSURE(whole.from <= window.from && window.from < window.to && window.to <= whole.to);
  return Builder(chronicle, window).build(words);
}

}  // namespace berth::whatif
