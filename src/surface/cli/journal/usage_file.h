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
  std::string to;    ///< empty: as far as usage is final (each GPU up to its last change or full hour)
};

/// Writes the file atomically, whether or not the server runs; returns a line for people. Errors: kInvalidInput (no
/// journal; times malformed or not recorded; usage that a ledger cannot represent), kUnavailable (the journal is
/// damaged, or the file cannot be written).
[[nodiscard]] Result<std::string> write_usage_file(const UsageFileWords& words);

}  // namespace berth::cli
