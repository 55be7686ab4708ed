#include "live/session/testing/usage_auditor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/sort_stably.h"
#include "live/session/usage_book.h"
#include "sim/world/world_left.h"
#include "sim/world/world_memory.h"
namespace berth::live::testing {
namespace {

constexpr std::size_t kUsageFindingsMax = 5;

int units_of(const GpuModel& model, const Slice& slice) {
  if (slice.profile.is_full()) return std::max(model.units, 1);
  return model.profiles.at(slice.profile.index).length;
}

std::string holders_text(const Scenario& scenario, const std::vector<ServiceId>& services) {
  std::string text;
  for (const ServiceId id : services) {
    const ServiceSpec& spec = scenario.services[id.index];
    text += " " + spec.tenant + "/" + spec.name;
  }
  return text;
}

/// The state of a slice according to its device.
std::string usage_word_of(const Scenario& scenario, const world::SliceMemory& slice) {
  if (slice.is_foreign) return "foreign";
  if (slice.phase != world::SlicePhase::kUp || slice.is_unwanted || slice.next) return "changing";
  const bool is_orphan =
      std::ranges::any_of(slice.services, [&](ServiceId id) { return scenario.services[id.index].is_absent; });
  if (is_orphan) return "changing";
  return slice.services.empty() ? "free" : "held" + holders_text(scenario, slice.services);
}

std::string usage_word_of(const UsagePart& part) {
  switch (part.state) {
    case UsageState::kHeld: {
      std::string text = "held";
      for (const ServiceName& holder : part.holders) text += " " + holder.tenant + "/" + holder.name;
      return text;
    }
    case UsageState::kChanging:
      return "changing";
    case UsageState::kFree:
      return "free";
    case UsageState::kLost:
      return "lost";
    case UsageState::kForeign:
      return "foreign";
  }
  return "";
}

}  // namespace

void UsageAuditor::lose(std::size_t kept_entries, Instant since) {
  std::erase_if(told_, [&](const auto& told) { return told.second > kept_entries; });
  looks_.erase(looks_.lower_bound(since), looks_.end());
}

void UsageAuditor::look(const Session& session) {
  const sim::WorldLeft left = session.world_left();
  std::map<Unit, std::string>& words = looks_[session.now()];
  words.clear();
  for (std::uint32_t gpu = 0; gpu < left.devices.size(); ++gpu) {
    const GpuModel& model = session.scenario().model_of({gpu});
    for (int unit = 0; unit < std::max(model.units, 1); ++unit) {
      std::string word = left.devices[gpu].is_lost ? "lost" : "free";
      bool is_taken = left.devices[gpu].is_lost;
      // Slices that wait for room have only the units that no other slice has.
      for (const bool waits : {false, true}) {
        for (const world::SliceMemory& slice : left.devices[gpu].slices) {
          const bool is_there = unit >= slice.slice.start && unit < slice.slice.start + units_of(model, slice.slice);
          if (is_taken || !is_there || waits != (slice.phase == world::SlicePhase::kWaitingForRoom)) continue;
          word = usage_word_of(session.scenario(), slice);
          is_taken = true;
        }
      }
      words[{gpu, unit}] = word;
    }
  }
}

std::map<UsageAuditor::Unit, std::vector<UsageAuditor::Time>> UsageAuditor::timeline(const Session& session) const {
  std::map<Unit, std::vector<Time>> timeline;
  const auto add = [&](GpuId gpu, const OpenUsage& what, Instant to) {
    for (int unit = what.part.start; unit < what.part.start + what.part.units; ++unit) {
      timeline[{gpu.index, unit}].push_back({.from = what.from, .to = to, .what = usage_word_of(what.part)});
    }
  };
  for (const auto& [interval, entries] : told_) add(interval.gpu, interval.what, interval.to);
  for (std::uint32_t gpu = 0; gpu < session.usage().open().size(); ++gpu) {
    for (const OpenUsage& open : session.usage().open()[gpu]) add({gpu}, open, session.now());
  }
  for (auto& [unit, times] : timeline) {
    sort_stably(times, [](const Time& time) { return std::pair(time.from, time.to); });
  }
  return timeline;
}

std::vector<std::string> UsageAuditor::findings(const Session& session) const {
  std::vector<std::string> findings;
  const auto find = [&](const Unit& unit, Instant at, const std::string& text) {
    if (findings.size() < kUsageFindingsMax) {
      findings.push_back(fmt::format("gpu {} unit {} at {} us: {}", unit.gpu, unit.unit, at.micros(), text));
    }
  };
  // A slice that never got its room is gone from its device at once; the world reports that when it continues.
  const auto is_late_news = [](const Time& time, Instant at, const std::string& word) {
    return word == "free" && time.what == "changing" && time.to - at <= Micros::seconds(1);
  };
  const auto timeline = this->timeline(session);
  std::size_t units = 0;
  for (std::uint32_t gpu = 0; gpu < session.scenario().gpu_count(); ++gpu) {
    units += static_cast<std::size_t>(std::max(1, session.scenario().model_of({gpu}).units));
  }
  if (timeline.size() != units) find({}, Instant(), "there are more or fewer units than the fleet has");
  for (const auto& [unit, times] : timeline) {
    Instant reached;
    for (const Time& time : times) {
      if (time.from < reached) find(unit, time.from, "two things at a time, the second is " + time.what);
      if (time.from > reached) find(unit, reached, "nothing until " + time.what);
      if (time.to < time.from) find(unit, time.from, "it ends before it begins");
      reached = time.to;
    }
    if (reached != session.now()) find(unit, reached, "nothing from then on");
    auto time = times.begin();
    for (const auto& [at, words] : looks_) {
      while (time != times.end() && time->to <= at) ++time;
      if (time == times.end()) break;
      const std::string& word = words.at(unit);
      if (time->from <= at && time->what != word && !is_late_news(*time, at, word))
        find(unit, at,
             fmt::format("it is {}, but from {} to {} us recorded as {}", word, time->from.micros(), time->to.micros(),
                         time->what));
    }
  }
  return findings;
}

std::map<std::string, int> UsageAuditor::counts() const {
  std::map<std::string, int> counts;
  for (const auto& [interval, entries] : told_) {
    const std::string word = usage_word_of(interval.what.part);
    ++counts[word.substr(0, word.find(' '))];
  }
  return counts;
}

}  // namespace berth::live::testing
