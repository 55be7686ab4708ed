/// A faulty world: a whole installation simulated in one process without threads, with its clients and all its
/// failures, drawn from one seed. At the end everything is healed, and it must recover.
///
/// While it runs, an auditor reads events and the world's records, another one compares usage with the devices, and a
/// ledger compares the clients' orders with the state after each kill. Same seed, same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/swarm/testing/ledger.h"
#include "apps/swarm/testing/machine.h"
#include "apps/swarm/testing/process.h"
#include "base/core/rng.h"
#include "domain/values/scenario.h"
#include "live/session/testing/late_solver.h"
#include "live/session/testing/story.h"
#include "live/session/testing/usage_auditor.h"

namespace berth::swarm::testing {

/// Kinds of trouble. Each world has some of them.
enum class Trouble : std::uint8_t {
  kClockJump,     ///< of the wall clock, forward or back
  kKill,          ///< between two writes of the process, or in the middle of one
  kPowerCut,      ///< what was not synced is lost
  kFailingStore,  ///< for some time nothing can be recorded
  kSlowStore,     ///< for some time entries are recorded only seldom
  kLostNode,      ///< all GPUs of a node are lost, and return
  kSlowSolver,    ///< for some time answers come after minutes, or not at all
  kDevices,       ///< they are slow, fail, report falsely, have foreign slices
  kOperators,     ///< pause, cordon, drain, close windows
};
inline constexpr std::size_t kTroubleCount = 9;
[[nodiscard]] std::string_view word(Trouble trouble);

struct WorldOptions {
  std::uint64_t seed = 1;
  std::int64_t troubled_seconds = 6'600;  ///< of wall time
};

class World {
 public:
  static constexpr std::uint32_t kGpus = 3;
  static constexpr std::int64_t kGpusPerNode = 2;

  explicit World(const WorldOptions& options);

  /// Trouble, healing, recovery, and the end of all services. Requires: called once.
  void run();

  /// Violations, in the order in which they were found; the first ones.
  [[nodiscard]] const std::vector<std::string>& findings() const { return findings_; }
  /// How often each kind of trouble occurred.
  [[nodiscard]] const std::array<std::int64_t, kTroubleCount>& troubles() const { return troubles_; }
  [[nodiscard]] const Ledger::Counts& orders() const { return ledger_->counts(); }
  [[nodiscard]] std::int64_t restarts() const { return restarts_; }
  [[nodiscard]] std::int64_t snapshots() const { return snapshots_; }
  [[nodiscard]] std::int64_t world_seconds() const { return process_->session().now().second(); }
  [[nodiscard]] std::int64_t questions() const { return questions_; }
  [[nodiscard]] std::size_t event_count() const { return story_.last_event(); }
  /// Everything that clients could see, as bytes: two runs of a seed have the same.
  [[nodiscard]] std::string told() const;
  /// What went wrong, and when: for debugging a seed.
  [[nodiscard]] const std::string& diary() const { return diary_; }

 private:
  /// Trouble that ends at its time.
  struct Episode {
    Trouble trouble = Trouble::kKill;
    std::int64_t until_us = 0;  ///< of the steady clock
    std::function<bool()> end;  ///< returns whether it is over
  };

  [[nodiscard]] Scenario random_scenario();
  [[nodiscard]] bool has(Trouble trouble) const { return kinds_.contains(trouble); }
  void note(Trouble trouble);
  void note(const std::string& what);
  void found(std::string what);
  void found(const std::vector<std::string>& all);

  // ---- one second of wall time
  void pass_second();
  void live_second();
  void bury();
  void start_again();
  void compare_past(const live::Session& repeated);
  [[nodiscard]] bool is_up() const { return process_ && !process_->is_dead(); }

  // ---- what goes wrong
  void begin_trouble();
  void begin(Trouble trouble);
  void end_episodes();
  void jump_clock();
  void kill_soon(bool loses_power);
  void fail_store();
  void heal_store();
  void slow_store();
  void lose_node();
  void slow_solver();
  void spoil_devices();
  void add_episode(Trouble trouble, std::int64_t seconds_max, std::function<bool()> end);

  // ---- what clients do
  void order_something();
  [[nodiscard]] ServiceSpec random_service(Rng& rng) const;
  void set_service();
  void remove_service();
  void set_tenant();
  void operate();
  bool send(std::function<bool(live::Session&)> order, std::function<void(Ordered&)> apply);
  bool inject(const sim::FaultOrder& order);
  bool approve_waiting();
  bool schedule(GpuId gpu, GpuScheduling scheduling);
  bool resume();
  bool set_no_changes(const NoChanges& windows);
  bool remove(const live::ServiceName& name);

  // ---- the end
  void heal();
  /// Repeats the order until it is recorded.
  void insist(const std::function<bool()>& order);
  void pass_quietly(std::int64_t world_seconds);
  void expect_recovery();
  void expect_service_of_one();
  void expect_all_gpus_in_use();
  void remove_all();
  void expect_end();
  [[nodiscard]] live::testing::Auditor audited() const;

  Rng rng_;
  WorldOptions options_;
  std::set<Trouble> kinds_;
  Approval approval_ = Approval::kNever;
  std::string policy_ = "berth";
  Scenario scenario_;
  std::int64_t wall_us_ = 1'700'000'000'000'000;
  std::int64_t steady_us_ = 0;  ///< a clock that does not jump
  Machine machine_;
  Micros solver_delay_;
  live::testing::LateSolver solver_;
  live::testing::Story story_;
  live::testing::UsageAuditor usage_;
  std::unique_ptr<Process> process_;  ///< null: it is down
  std::optional<Ledger> ledger_;
  bool loses_power_ = false;  ///< at the next end of the process
  bool has_failing_store_ = false;
  std::int64_t record_every_ = 1;  ///< seconds
  std::vector<Episode> episodes_;
  std::uint64_t safe_event_ = 0;  ///< the last one that clients may have seen
  std::array<std::int64_t, kTroubleCount> troubles_{};
  std::int64_t restarts_ = 0;
  std::int64_t snapshots_ = 0;
  std::int64_t questions_ = 0;  ///< to the solver
  std::string diary_;
  std::vector<std::string> findings_;
};

}  // namespace berth::swarm::testing
