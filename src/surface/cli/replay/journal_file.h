/// The journal of a run as a file that appears when it is complete.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "edges/files/file_sink.h"
#include "surface/cli/replay/journal_writer.h"

namespace berth::cli {

/// The file and its writer; both absent if no journal is wanted. Destroyed without `file->commit()`, it leaves no file.
struct JournalFile {
  std::unique_ptr<edges::FileSink> file;
  std::unique_ptr<JournalWriter> writer;
};

/// `path` absent: none is wanted. `scenario` is borrowed and must outlive the writer. Errors: those of FileSink::open.
[[nodiscard]] Result<JournalFile> open_journal_file(const std::optional<std::string>& path, const Scenario& scenario);

}  // namespace berth::cli
