/// An auditor of a live session: it reads the world's journal and the session's events, nothing else, and finds
/// violations. It shares no code with the engine or the simulator, only the geometry of MIG and the weekly windows of
/// `domain`.
///
///   layout    slices of a GPU that overlap; a slice that exists twice, or is gone without having existed
///   owners    a slice that serves two services, or the next one before the first has left it
///   frozen    an action that begins in a frozen window
///   paused    an action that begins while planning is paused
///   approval  an action that needed an approval and begins without it; a plan approved after its end
///   closed    a creation or assignment that begins on a GPU that is lost, cordoned or draining; any action on a lost
///             one
///   stuck     a GPU on which actions run and nothing happens for `stuck_after`; actions that outlive their GPU's loss
///   order     a missing sequence number, time that goes back, an action that ends twice or never began
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "engine/loop/proposal.h"
#include "live/session/event_log.h"
#include "sim/world/journal.h"
#include "world/slices/slice_records.h"

namespace berth::live::testing {

class Auditor {
 public:
  struct Rules {
    Approval approval = Approval::kNever;
    /// How long actions may run on a GPU without any event there: an action has 60 s, and before it a slice drains or
    /// after it a replica starts.
    Micros stuck_after = kActionTimeMax + Micros::seconds(15);
  };

  /// Of the scenario only the fleet and the frozen windows are used.
  Auditor(Scenario scenario, const Rules& rules) : scenario_(std::move(scenario)), rules_(rules) {}

  /// From now on these windows hold: to be called before the event about them is read.
  void obey(NoChanges windows) { scenario_.no_changes = std::move(windows); }
  /// Both streams, each in its order. An event is to be read before the records that follow it.
  void read(const sim::JournalRecord& record);
  void read(const LoggedEvent& event);
  /// Another process continues at that instant: clients may not have seen what happened just before. To be called
  /// before anything is read.
  void expect_restart(Instant at) { restarts_.insert(at); }
  /// The time is `now`, and nothing happened since the last event.
  void reach(Instant now);
  /// To be called at the end: no action may be under way any more.
  void finish();
  /// Actions that have been under way for longer.
  [[nodiscard]] std::vector<std::string> find_lasting(Micros at_most) const;

  /// Violations, in the order in which they were found; the first ones. Each begins with the word of its rule.
  [[nodiscard]] const std::vector<std::string>& findings() const { return findings_; }
  /// The existing slices, including foreign ones.
  [[nodiscard]] std::set<Slice> standing() const;
  /// How often each kind of event was read.
  [[nodiscard]] std::int64_t count(EventKind kind) const;

 private:
  enum class PlanStage : std::uint8_t { kProposed, kAccepted, kOver };
  struct AuditedPlan {
    PlanStage stage = PlanStage::kProposed;
    bool is_approved = false;
  };
  struct AuditedGpu {
    bool is_lost = false;
    bool is_closed = false;       ///< cordoned or draining
    bool was_changed = false;     ///< by a plan, since the first layout
    std::int64_t open_count = 0;  ///< actions that run
    Instant last_news;
    bool is_stuck = false;  ///< and was reported
  };
  /// The name of its plan, and its number there.
  using ActionKey = std::pair<std::string, std::int64_t>;
  struct RunningAction {
    GpuId gpu;
    Instant since;
  };
  /// "action 3: create gpu-0-1g.10gb-2".
  struct ActionWords {
    std::int64_t number = 0;
    std::string_view verb;
    Slice slice;
  };

  void found(std::string what);
  void pass_to(Instant at);
  void read_slice(const LoggedEvent& event);
  void read_gpu(const LoggedEvent& event);
  void read_plan(const LoggedEvent& event);
  void read_intent(const LoggedEvent& event);
  void read_action_end(const LoggedEvent& event);
  void check_intent(const LoggedEvent& event, const ActionWords& action);
  void check_approval(const LoggedEvent& event, const AuditedPlan& plan, const AuditedGpu& gpu);
  void read_serving(const world::SliceRecord& record);
  void check_layout(GpuId gpu, Instant at);
  [[nodiscard]] bool is_in_frozen_window(Instant at) const;
  [[nodiscard]] AuditedGpu& gpu(GpuId gpu) { return gpus_[gpu]; }
  [[nodiscard]] GpuId gpu_of(std::string_view gpu_name) const;
  [[nodiscard]] Slice slice_of(std::string_view slice_name) const;
  [[nodiscard]] ActionWords action_of(std::string_view message) const;

  Scenario scenario_;
  Rules rules_;
  std::map<Slice, std::vector<ServiceId>> standing_;  ///< with the services that each serves
  std::set<Slice> foreign_;
  std::map<GpuId, AuditedGpu> gpus_;
  std::map<std::string, AuditedPlan> plans_;
  std::map<ActionKey, RunningAction> running_;
  std::set<Instant> restarts_;
  bool is_paused_ = false;
  std::uint64_t last_sequence_ = 0;
  Instant now_;
  std::map<EventKind, std::int64_t> counts_;
  std::vector<std::string> findings_;
};

}  // namespace berth::live::testing
