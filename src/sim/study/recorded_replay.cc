#include "sim/study/recorded_replay.h"

#include <set>
#include <utility>
#include <variant>

#include "engine/policy/registry.h"
#include "sim/measure/figures.h"
#include "sim/measure/timeline.h"
#include "sim/study/replay_notes.h"
#include "sim/world/world.h"

namespace berth::study {

Result<measure::PolicyResult> replay_recorded(const Scenario& scenario, const RecordedHistory& history,
                                              std::uint64_t seed, const ReplayHooks& hooks) {
  const policy::Policy& row = policy::policy_named(history.policy);
  measure::TimelineBuilder timeline(scenario, row.sharings.front());
  std::set<ServiceId> retrained;
  sim::RecordedOptions options;
  options.seed = seed;
  options.world = {.sharing = row.sharings.front(), .dispatch = row.dispatch, .only = std::nullopt};
  options.journal = [&](const sim::JournalRecord& record) {
    timeline.add(record);
    note_retrained(record, retrained);
    if (hooks.journal) hooks.journal(kRecorded, record);
  };
  if (hooks.progress) options.progress = [&](double done) { return hooks.progress(kRecorded, done); };
  auto world = sim::repeat_recorded(scenario, history.run, Instant::never(), options);
  if (!world) return pass_on(world.error());
  (*world)->finish();
  measure::PolicyResult result;
  result.name = kRecorded;
  measure::measure(scenario, **world, result);
  result.timeline = timeline.finish();
  result.notes = notes_on(scenario, retrained);
  return result;
}

}  // namespace berth::study
