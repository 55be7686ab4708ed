#include "surface/cli/shared/ledger_words.h"

#include <utility>

#include "base/json/writer.h"
#include "edges/files/file_sink.h"
#include "ledger/events/event_lines.h"
#include "surface/cli/shared/ledger_folder.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/unwritable.h"

namespace berth::cli {
namespace {

using ledger::Books;
using ledger::EventLine;
using ledger::Verdict;

/// The lines that had no effect, with the reason, if they are requested.
class RefusedLines {
 public:
  [[nodiscard]] static Result<RefusedLines> open(const std::optional<std::string>& path) {
    RefusedLines lines;
    if (!path) return lines;
    auto sink = edges::FileSink::open(*path);
    if (!sink) return unwritable(sink.error());
    lines.sink_ = *std::move(sink);
    return lines;
  }
  [[nodiscard]] Result<void> add(const EventLine& line, Verdict verdict) {
    if (!sink_) return {};
    json::Writer json;
    json.open_object().member("line", line.number).member("id", line.event.id);
    json.member("reason", name_of(verdict)).close_object();
    return sink_->append(json.take_line());
  }
  [[nodiscard]] Result<void> commit() { return sink_ ? sink_->commit() : Result<void>(); }

 private:
  std::optional<edges::FileSink> sink_;
};

/// Lines between two updates of the progress.
constexpr std::uint64_t kLinesPerDrawing = 65'536;

}  // namespace

OptionTable ledger_option_rows(LedgerWords& words) {
  return {
      {"--events", "FILE", "A file of events, one JSON object per line", &words.events},
      {"--ledger", "DIR", "A ledger on disk (berth ledger ingest)", &words.ledger},
      {"--refused", "FILE", "Write the lines that had no effect to this file, with the reason", &words.refused},
  };
}

Result<LedgerRequest> check_ledger_words(const LedgerWords& words) {
  if (words.events.has_value() == words.ledger.has_value()) {
    return invalid("wanted either --events FILE or --ledger DIR, found " +
                   std::string(words.events ? "both" : "neither"));
  }
  if (words.events == "") return invalid("--events: wanted a file, found an empty path");
  if (words.ledger == "") return invalid("--ledger: wanted a folder, found an empty path");
  if (words.refused == "") return invalid("--refused: wanted a file, found an empty path");
  return LedgerRequest{.path = words.events ? *words.events : *words.ledger,
                       .is_folder = words.ledger.has_value(),
                       .refused_path = words.refused};
}

Result<LedgerText> open_ledger_text(const LedgerRequest& request, const VerbContext& context) {
  if (request.is_folder) {
    auto lines = read_ledger_lines(request.path);
    if (!lines) return pass_on(lines.error());
    return LedgerText{.name = ledger_path(request.path), .bytes = *std::move(lines)};
  }
  auto bytes = context.files->open(request.path);
  if (!bytes) return pass_on(bytes.error());
  return LedgerText{.name = request.path, .bytes = *std::move(bytes)};
}

Result<OpenLedger> open_ledger(const LedgerRequest& request, const VerbContext& context) {
  // The saved books do not list the lines without effect: if these are requested, all lines are read again.
  if (request.is_folder && !request.refused_path) {
    ProgressBar bar(context.progress(), 1, steady_now);
    auto folder =
        FolderBooks::open(request.path, *context.files, [&](double part) { bar.show("reading lines", 0, part); });
    if (!folder) return pass_on(folder.error());
    return OpenLedger{.folder = *std::move(folder)};
  }
  auto text = open_ledger_text(request, context);
  if (!text) return pass_on(text.error());
  auto refused = RefusedLines::open(request.refused_path);
  if (!refused) return pass_on(refused.error());
  const std::string_view all = text->text();
  auto books = std::make_unique<Books>([all](std::uint64_t position) { return ledger::line_at(all, position); });
  ledger::EventLines lines(all, text->name);
  ProgressBar bar(context.progress(), 1, steady_now);
  for (Result<bool> more = lines.next();; more = lines.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) break;
    const EventLine& line = lines.line();
    if (const EventLine* ahead = lines.ahead()) books->expect(*ahead);
    const Verdict verdict = books->take(line);
    if (verdict != Verdict::kAccepted) {
      if (auto added = refused->add(line, verdict); !added) return unwritable(added.error());
    }
    if (line.number % kLinesPerDrawing == 0) {
      bar.show("reading lines", 0, static_cast<double>(line.position) / static_cast<double>(all.size()));
    }
  }
  if (auto committed = refused->commit(); !committed) return unwritable(committed.error());
  return OpenLedger{.text = *std::move(text), .own_books = std::move(books)};
}

}  // namespace berth::cli
