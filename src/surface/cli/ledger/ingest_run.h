/// `berth ledger ingest`: takes a file of events into a ledger on disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "edges/sqlite_store/ledger_file.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct IngestWords {
  std::string ledger;
  std::string events;
};

[[nodiscard]] OptionTable ledger_ingest_option_rows(IngestWords& words);

[[nodiscard]] Result<IngestWords> check_ingest_words(const IngestWords& words);

/// The file of events is checked to its end first. Then its lines are appended in batches; after each, {"lines":n} says
/// on `out` that n lines of the file are on the disk. A file that begins with all that was taken from one goes on
/// behind that. Errors: those of the file (nothing is written), a ledger that another process has open or that is
/// damaged.
[[nodiscard]] Result<std::string> run_ledger_ingest(const IngestWords& request, const VerbContext& context);

/// The longest source that these bytes begin with, up to a line's end; absent: none.
[[nodiscard]] std::optional<edges::LedgerSource> find_source(std::vector<edges::LedgerSource> sources,
                                                             std::string_view bytes);

}  // namespace berth::cli
