#include "edges/run_journal/run_journal_file.h"

#include <string_view>
#include <utility>

namespace berth::edges {

Result<RunJournalFile> open_run_journal(const std::optional<std::string>& path, const Scenario& scenario) {
  RunJournalFile journal;
  if (!path) return journal;
  auto file = FileSink::open(*path);
  if (!file) return pass_on(file.error());
  journal.file = std::make_unique<FileSink>(std::move(*file));
  journal.writer = std::make_unique<RunJournalWriter>(
      scenario, [sink = journal.file.get()](std::string_view bytes) { return sink->append(bytes); });
  return journal;
}

}  // namespace berth::edges
