/// `berth ledger ingest`: appends a file of events to a ledger on disk.
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

/// Refuses empty paths.
[[nodiscard]] Result<IngestWords> check_ingest_words(const IngestWords& words);

/// The whole file is checked first. Then its lines are appended in batches; after each batch, {"lines":n} on `out`
/// acknowledges that n lines of the file are durable. If the file begins with everything that was ingested from an
/// earlier file, ingestion resumes after that. Errors: those of the file (nothing is written), a ledger that another
/// process has open or that is damaged.
[[nodiscard]] Result<std::string> run_ledger_ingest(const IngestWords& request, const VerbContext& context);

/// The longest source that the bytes begin with and that ends at a line's end; absent: none.
[[nodiscard]] std::optional<edges::LedgerSource> find_source(std::vector<edges::LedgerSource> sources,
                                                             std::string_view bytes);

}  // namespace berth::cli
