/// The points in force as rows of the csv that `pack`, `replay` and `plan` read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/profile_book/in_force.h"

namespace berth::profile_book {

/// What `--as` says, with full names.
struct SliceName {
  std::string gpu;
  std::string profile;
};
/// "GPU:PROFILE" at its first colon; absent if there is none, or nothing on one of its sides.
[[nodiscard]] std::optional<SliceName> slice_name_of(std::string_view label);

struct ExportTerms {
  std::optional<std::string> model = {};  ///< only this one
  std::optional<SliceName> as = {};       ///< what a place without a label counts as
};

struct ExportedProfiles {
  std::string csv;  ///< sorted by model, GPU, profile, processes and batch; with its header
  std::size_t row_count = 0;
  /// Rows were measured on something else than the GPU that they name.
  bool is_elsewhere = false;
  std::vector<std::string> notes = {};  ///< what was left out
};

/// Of a model several machines without a label may count as one slice: then only the one with the newest run is
/// exported, and so is only the newest of two points of one kind of slice. Errors: kNotFound: no such model, or nothing
/// to export, with why.
[[nodiscard]] Result<ExportedProfiles> export_profiles(std::span<const ModelInForce> models, const ExportTerms& terms);

}  // namespace berth::profile_book
