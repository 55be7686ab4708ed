/// The parts of the configuration file that are in force while a `berth up` runs.
#pragma once

namespace berth::up {

struct UpParts;

/// Logs what is in force at the start. To be called before anything runs.
void log_start_of_config(UpParts& parts);

/// Reads the configuration file again. An invalid file changes nothing; for a valid one, lines report the keys that do
/// not take effect.
void reload_config(UpParts& parts);

}  // namespace berth::up
