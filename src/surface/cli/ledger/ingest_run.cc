#include "surface/cli/ledger/ingest_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/core/text.h"
#include "base/json/writer.h"
#include "ledger/events/event_lines.h"
#include "live/chain/field_hash.h"
#include "surface/cli/shared/ledger_folder.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/report_folder.h"

namespace berth::cli {
namespace {

using edges::LedgerFile;
using edges::LedgerSource;

constexpr std::uint64_t kBatchLines = 10'000;
/// Lines between two updates of the progress.
constexpr std::uint64_t kIngestedPerDrawing = 65'536;

/// Checks that every line is an event; returns their number.
Result<std::uint64_t> check_lines(std::string_view bytes, const std::string& path, ProgressBar& bar) {
  ledger::EventLines lines(bytes, path);
  std::uint64_t count = 0;
  for (Result<bool> more = lines.next();; more = lines.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) return count;
    ++count;
    if (count % kIngestedPerDrawing == 0) {
      bar.show("checking lines", 0, static_cast<double>(lines.line().position) / static_cast<double>(bytes.size()));
    }
  }
}

/// Whether a line ends at this byte.
bool is_line_end(std::string_view bytes, std::uint64_t at) {
  const std::string_view rest = bytes.substr(at);
  return rest.empty() || rest.starts_with('\n') || rest.starts_with("\r\n");
}

/// Reads a file line by line and hashes the bytes that it has passed.
class Taking {
 public:
  explicit Taking(std::string_view bytes) : bytes_(bytes), lines_(bytes) {}

  /// Passes the lines that were ingested before.
  void pass(const LedgerSource& source) {
    while (passed_.lines < source.lines && next()) {
    }
  }
  /// Passes at most `count` lines and adds them to `text`, each with LF. Returns how many.
  std::uint64_t take(std::uint64_t count, std::string& text) {
    std::uint64_t taken = 0;
    while (taken < count && next()) {
      text.append(lines_.line()).push_back('\n');
      ++taken;
    }
    return taken;
  }
  [[nodiscard]] LedgerSource passed() {
    hash_.add(bytes_.substr(hashed_, passed_.bytes - hashed_));
    hashed_ = passed_.bytes;
    chain::BytesHash so_far = hash_;
    passed_.hash = so_far.finish();
    return passed_;
  }

 private:
  bool next() {
    if (!lines_.next() || (is_blank(lines_.line()) && lines_.is_rest_blank())) return false;
    ++passed_.lines;
    passed_.bytes = static_cast<std::uint64_t>(lines_.line().data() + lines_.line().size() - bytes_.data());
    return true;
  }

  std::string_view bytes_;
  LineReader lines_;
  LedgerSource passed_;
  chain::BytesHash hash_;
  std::uint64_t hashed_ = 0;
};

/// Reports that this many lines of the file are durable.
void acknowledge(std::uint64_t lines, std::FILE* out) {
  fmt::print(out, "{}", json::Writer().open_object().member("lines", lines).close_object().take_line());
  std::fflush(out);
}

Result<void> append_lines(LedgerFile& file, std::string_view bytes, std::uint64_t line_count,
                          const VerbContext& context, ProgressBar& bar) {
  const auto sources = file.sources();
  if (!sources) return ledger_failure(sources.error());
  const auto run = file.next_run();
  if (!run) return ledger_failure(run.error());
  Taking taking(bytes);
  if (const auto known = find_source(*sources, bytes)) taking.pass(*known);
  if (const std::uint64_t lines = taking.passed().lines; lines > 0 || line_count == 0) acknowledge(lines, context.out);
  std::string text;
  while (const std::uint64_t taken = taking.take(kBatchLines, text)) {
    const LedgerSource passed = taking.passed();
    const auto appended = file.append({.text = text, .lines = taken, .run = *run, .source = passed});
    if (!appended) return ledger_failure(appended.error());
    acknowledge(passed.lines, context.out);
    bar.show("writing lines", 0, static_cast<double>(passed.lines) / static_cast<double>(line_count));
    text.clear();
  }
  return {};
}

/// Saves what is derived from the lines, so that the next query is faster.
Result<void> save_books(const std::string& folder, const VerbContext& context, ProgressBar& bar) {
  const auto is_due = FolderBooks::is_save_due(folder, *context.files);
  if (!is_due) return pass_on(is_due.error());
  if (!*is_due) return {};
  auto books = FolderBooks::open(folder, *context.files, [&](double part) { bar.show("counting", 0, part); });
  return books ? books->save() : Result<void>(pass_on(books.error()));
}

}  // namespace

OptionTable ledger_ingest_option_rows(IngestWords& words) {
  return {
      {"--ledger", "DIR", "The folder of the ledger; created if it does not exist", &words.ledger, kRequired},
      {"--events", "FILE", "A file of events, one JSON object per line", &words.events, kRequired},
  };
}

Result<IngestWords> check_ingest_words(const IngestWords& words) {
  if (words.events.empty()) return invalid("--events: wanted a file, found an empty path");
  if (words.ledger.empty()) return invalid("--ledger: wanted a folder, found an empty path");
  return words;
}

std::optional<LedgerSource> find_source(std::vector<LedgerSource> sources, std::string_view bytes) {
  std::ranges::sort(sources, {}, &LedgerSource::bytes);
  std::optional<LedgerSource> longest;
  chain::BytesHash hash;
  std::uint64_t hashed = 0;
  for (const LedgerSource& source : sources) {
    if (source.bytes > bytes.size()) break;
    if (!is_line_end(bytes, source.bytes)) continue;
    hash.add(bytes.substr(hashed, source.bytes - hashed));
    hashed = source.bytes;
    chain::BytesHash so_far = hash;
    if (so_far.finish() == source.hash) longest = source;
  }
  return longest;
}

Result<std::string> run_ledger_ingest(const IngestWords& request, const VerbContext& context) {
  const auto bytes = context.files->open(request.events);
  if (!bytes) return pass_on(bytes.error());
  const std::string_view all = (*bytes)->bytes();
  ProgressBar bar(context.progress(), 1, steady_now);
  const auto line_count = check_lines(all, request.events, bar);
  if (!line_count) return pass_on(line_count.error());
  ReportFolder folder;
  if (auto made = folder.make(request.ledger, "--ledger"); !made) return pass_on(made.error());
  const auto file = LedgerFile::open(ledger_path(request.ledger));
  if (!file) return ledger_failure(file.error());
  folder.keep();
  FolderBooks::remove_unfinished(request.ledger);  // this process has the ledger locked
  if (auto appended = append_lines(**file, all, *line_count, context, bar); !appended) return pass_on(appended.error());
  if (auto saved = save_books(request.ledger, context, bar); !saved) return pass_on(saved.error());
  return std::string();
}

}  // namespace berth::cli
