/// The journal of a run as a file that appears when it is complete.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "edges/files/file_sink.h"
#include "edges/run_journal/run_journal_writer.h"

namespace berth::edges {

/// The file and its writer; both absent if no journal is wanted. If destroyed without `file->commit()`, it leaves no
/// file.
struct RunJournalFile {
  std::unique_ptr<FileSink> file;
  std::unique_ptr<RunJournalWriter> writer;
};

/// `path` absent: none is wanted. `scenario` is borrowed and must outlive the writer. Errors: those of FileSink::open.
[[nodiscard]] Result<RunJournalFile> open_run_journal(const std::optional<std::string>& path, const Scenario& scenario);

}  // namespace berth::edges
