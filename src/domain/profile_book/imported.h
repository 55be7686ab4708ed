/// Files of profiles as runs of the database, with their decimals as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/profile/contradiction.h"
#include "domain/profile/readers.h"
#include "domain/values/profile_run.h"

namespace berth::profile_book {

struct ImportTerms {
  std::string file;             ///< its path, for messages; its name becomes a part of the machine
  std::int64_t started_us = 0;  ///< when it is imported, of the epoch
  std::string berth_version = {};
};

/// What a file says.
struct ImportedFile {
  std::vector<ProfileRun> runs = {};  ///< one for each model and kind of slice, by both
  profile::Contradictions contradictions = {};
};

/// A file in Berth's own format, or in ParvaGPU's, as its first line says: of the latter the model is the name of the
/// file without its suffix. Figures of ParvaGPU's files, which are per process and in seconds, become those of the
/// slice and milliseconds, exactly, with as many digits. A file whose name ends in `.cpu.csv` was measured on a CPU.
/// Errors: as the readers of domain/profile; a file without rows.
[[nodiscard]] Result<ImportedFile> import_profiles(std::string_view text, const ImportTerms& terms,
                                                   const profile::ProfileResolver& resolve);

}  // namespace berth::profile_book
