/// A table of slices whose changes are carried out one after the other, and its reports.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "domain/ports/slice_driver.h"
#include "domain/values/scenario.h"
#include "world/slices/slice_table.h"
#include "world/slices/testing/scenarios.h"

namespace berth::world::testing {

/// Actions take the times of the scenario, and none fails.
class TimedDriver : public SliceDriver {
 public:
  explicit TimedDriver(const Scenario& scenario) : scenario_(scenario) {}
  [[nodiscard]] std::optional<ActionTime> begin(const DeviceAction& action) override {
    const GpuModel& model = scenario_.model_of(action.slice.gpu);
    return ActionTime{.duration = change_time(scenario_, model, action.slice.profile, action.kind)};
  }
  void resume(const DeviceAction& /*action*/) override {}
  [[nodiscard]] ActionResult end(const DeviceAction& /*action*/) override { return {}; }
  [[nodiscard]] bool can_devices_differ() const override { return false; }

 private:
  const Scenario& scenario_;
};

class TableRun {
 public:
  /// References must outlive it.
  TableRun(const Scenario& scenario, SliceDriver& driver)
      : busy_(scenario.gpu_count(), scenario.services.size()),
        table_(
            scenario,
            [this](const auto& record) {
              lines_.push_back(std::visit([](const auto& each) { return shown(each); }, record));
            },
            busy_, driver) {}
  TableRun(const TableRun&) = delete;
  TableRun& operator=(const TableRun&) = delete;

  [[nodiscard]] SliceTable& table() { return table_; }

  void act(std::vector<Action> actions, Instant now) {
    run_to(now);
    Plan plan;
    plan.actions = std::move(actions);
    table_.act(plan, now, false);
    settle(now);
  }
  /// Carries out what is due until `until`, and reports drains as finished at once.
  void run_to(Instant until) {
    while (table_.next_time() <= until) {
      const Instant now = table_.next_time();
      table_.tick(now);
      settle(now);
    }
  }
  void settle(Instant now) {
    for (auto effects = table_.take_effects(); !effects.empty(); effects = table_.take_effects()) {
      for (const SliceEffect& effect : effects) {
        if (effect.kind == SliceEffect::Kind::kStop) table_.drained(effect.slice, now);
      }
    }
    for (Event& event : table_.take_events()) events_.push_back(std::move(event));
  }

  /// Records since the last call.
  [[nodiscard]] std::vector<std::string> take_lines() { return std::exchange(lines_, {}); }
  /// Failures since the last call: "1500 creation 1g.10gb@0 #1" (milliseconds); what was observed after them: "sees
  /// 1g.10gb@0 #1 ..".
  [[nodiscard]] std::vector<std::string> take_failures() {
    std::vector<std::string> lines;
    for (const Event& event : std::exchange(events_, {})) {
      if (const auto* failed = std::get_if<ActionFailed>(&event.what)) {
        const char* what = failed->kind == ActionKind::kCreation ? "creation " : "destruction ";
        lines.push_back(std::to_string(event.at.micros() / 1000) + " " + what +
                        named(failed->slice, failed->generation));
      }
      if (const auto* observed = std::get_if<GpuObserved>(&event.what)) lines.push_back(shown_observed(*observed));
    }
    return lines;
  }

 private:
  static std::string named(const Slice& slice, std::uint64_t generation) {
    return profile_name(a100(), slice.profile) + "@" + std::to_string(slice.start) + " #" + std::to_string(generation);
  }
  static std::string shown_observed(const GpuObserved& observed) {
    std::string line = "sees";
    for (const SeenSlice& seen : observed.slices) {
      line += " " + named(seen.slice, seen.generation) + (seen.is_pending ? " pending" : "") +
              (seen.is_leaving ? " leaving" : "") + (seen.is_foreign ? " foreign" : "");
    }
    return line;
  }

  std::vector<std::string> lines_;
  std::vector<Event> events_;
  BusyTable busy_;
  SliceTable table_;
};

}  // namespace berth::world::testing
