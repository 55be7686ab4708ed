/// The database of `berth profile` in one SQLite file, behind the port `ProfileStore`.
///
/// Rows are only ever added. A run is committed as a whole and synced: a killed process leaves all of it or nothing.
/// Writers of several processes wait for each other. Each run and each report has a hash over all its figures, which
/// every reader checks.
#pragma once

#include <memory>
#include <string>

#include "base/core/result.h"
#include "domain/ports/profile_store.h"

namespace berth::edges {

enum class ProfileFileMode {
  kWrite,  ///< and creates the file if missing; its folder must exist
  kRead,   ///< the file must exist; only `runs`, `observed` and `observed_memory` may be called
};

/// Errors: kNotFound: there is no such file; kInvalidInput: it is another program's, a later version's, or damaged;
/// kUnavailable: it cannot be opened, or is locked for too long. A refused file is not changed. A new file is created
/// with its first row, so that a failed first run leaves none.
[[nodiscard]] Result<std::unique_ptr<ProfileStore>> open_profile_store(const std::string& path, ProfileFileMode mode);

}  // namespace berth::edges
