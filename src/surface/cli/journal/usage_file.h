/// The usage that a `berth up` has recorded, as a file of events for a ledger.
#pragma once

#include <string>

#include "base/core/result.h"

namespace berth::cli {

/// As typed.
struct UsageFileWords {
  std::string folder;
  std::string out;
  std::string from;  ///< RFC 3339; empty: since the world began
  std::string to;    ///< "now" or empty: the latest recorded instant; "hour": the last full hour (UTC) before it
};

/// Writes the file atomically, whether or not the server runs; returns a line for people. Errors: kInvalidInput (no
/// journal; times malformed or not recorded; usage that a ledger cannot represent), kUnavailable (the journal is
/// damaged, or the file cannot be written).
[[nodiscard]] Result<std::string> write_usage_file(const UsageFileWords& words);

}  // namespace berth::cli
