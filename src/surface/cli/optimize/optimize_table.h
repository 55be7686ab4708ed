/// What `berth optimize` found, for people.
#pragma once

#include <string>

#include "models/optimize/manifest.h"
#include "models/optimize/verification.h"

namespace berth::cli {

/// A row for the original and for each variant, the reasons of the refusals, what was left out; the last line says what
/// to use, what it saves and at what loss. `folder`: of --out, empty: nothing was written.
[[nodiscard]] std::string optimize_table(const models::Manifest& manifest, const std::string& folder, bool has_colour);

/// The last line of that table.
[[nodiscard]] std::string advice_line(const models::Manifest& manifest, const std::string& folder);

/// A row for each figure; the last line says how many hold.
[[nodiscard]] std::string verify_table(const models::Verification& verification, bool has_colour);
/// As JSON.
[[nodiscard]] std::string verify_json(const models::Verification& verification);

}  // namespace berth::cli
