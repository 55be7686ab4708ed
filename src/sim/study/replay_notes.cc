#include "sim/study/replay_notes.h"
#include "world/slices/slice_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace berth::study {

void note_retrained(const sim::JournalRecord& record, std::set<ServiceId>& retrained) {
  const auto* slice = std::get_if<world::SliceRecord>(&record);
  const bool is_done = slice != nullptr && slice->event == world::SliceEvent::kRetrainingDone;
  if (is_done) retrained.insert(slice->services.front());
}

std::vector<std::string> notes_on(const Scenario& scenario, const std::set<ServiceId>& retrained) {
  std::vector<std::string> notes;
  for (const FleetEntry& entry : scenario.fleet) {
    const auto& profiles = entry.model.profiles;
    const bool is_estimated =
        std::any_of(profiles.begin(), profiles.end(), [](const MigProfile& profile) { return !profile.sms; });
    if (is_estimated || entry.model.is_sms_unverified) {
      notes.push_back(
          fmt::format("SM counts of {} are partly estimated: utilisation is approximate", entry.model.name));
    }
  }
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const ServiceSpec& service = scenario.services[index];
    if (!service.retraining || retrained.contains(ServiceId{index})) continue;
    notes.push_back(fmt::format("{} never retrains: no slice was free for it long enough", service.name));
  }
  return notes;
}

}  // namespace berth::study
