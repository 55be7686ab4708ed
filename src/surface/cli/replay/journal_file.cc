#include "surface/cli/replay/journal_file.h"

#include <string_view>
#include <utility>

namespace berth::cli {

Result<JournalFile> open_journal_file(const std::optional<std::string>& path, const Scenario& scenario) {
  JournalFile journal;
  if (!path) return journal;
  auto file = edges::FileSink::open(*path);
  if (!file) return pass_on(file.error());
  journal.file = std::make_unique<edges::FileSink>(std::move(*file));
  journal.writer = std::make_unique<JournalWriter>(
      scenario, [sink = journal.file.get()](std::string_view bytes) { return sink->append(bytes); });
  return journal;
}

}  // namespace berth::cli
