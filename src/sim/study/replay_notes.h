/// Remarks on the figures of a run.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "domain/values/scenario.h"
#include "sim/world/journal.h"

namespace berth::study {

/// Adds the service whose retraining is done, if the record says so.
void note_retrained(const sim::JournalRecord& record, std::set<ServiceId>& retrained);

/// Estimates that the figures contain, and models that stayed stale: those that are not among `retrained`.
[[nodiscard]] std::vector<std::string> notes_on(const Scenario& scenario, const std::set<ServiceId>& retrained);

}  // namespace berth::study
