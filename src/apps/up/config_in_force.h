/// What of the configuration file is in force while a `berth up` runs.
#pragma once

namespace berth::up {

struct UpParts;

/// Says what is in force at the start. Nothing runs yet.
void log_start_of_config(UpParts& parts);

/// Reads the configuration file again. An invalid one changes nothing; of a valid one, lines say what it does not
/// change.
void reload_config(UpParts& parts);

}  // namespace berth::up
