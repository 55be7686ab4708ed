#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "base/core/text.h"
#include "base/json/writer.h"
#include "domain/scenario/scenario_files.h"
#include "edges/files/file_sink.h"
#include "edges/sqlite_store/sqlite_store.h"
#include "live/rows/hex.h"
#include "surface/cli/journal/recorded_window.h"
#include "surface/cli/journal/usage_file.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/shared/printable.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kJournalHelp =
    "Checks or prints what a berth up has recorded in its folder, or turns it into a scenario or into events of a "
    "ledger, whether or not it is running.";

constexpr const char* kJournalExamples = R"(Examples:
  berth journal verify ~/.local/state/berth
  berth journal export folder --from 1000 --to 2000
  berth journal scenario folder --from 2026-11-22T10:00:00Z -o hour && berth replay hour/scenario.yaml
  berth journal usage folder --out usage.jsonl && berth ledger report --events usage.jsonl
  berth journal usage folder --out usage.jsonl --to hour && berth ledger ingest --ledger L --events usage.jsonl

Exit status: 0 done, 1 something is not what was written or cannot be read, 2 bad input.)";

constexpr std::size_t kRowsAtOnce = 500;

struct JournalWords {
  std::string folder;
  std::string from;
  std::string to;
};

tl::unexpected<Error> store_failure(const StoreError& error) { return fail(ErrorCode::kUnavailable, error.message); }

/// An output that cannot be written is a failure of the environment, whatever the code of the error.
tl::unexpected<Error> not_written(const Error& error) { return fail(ErrorCode::kUnavailable, error.message); }

/// Verifies the journal; the result is one line.
Result<std::string> verify(const std::string& folder) {
  const auto path = find_journal(folder);
  if (!path) return pass_on(path.error());
  const auto counts = edges::verify_sqlite_store(*path);
  if (!counts) return store_failure(counts.error());
  return fmt::format(
      "{}: rows {} to {} are what was written: {} rows, {} snapshots, {} outcomes, {} of usage, {} blobs\n", *path,
      counts->first, counts->last, counts->rows, counts->snapshots, counts->outcomes, counts->usage, counts->blobs);
}

/// A row as a line of JSON. The body is JSON itself.
std::string line_of(const JournalRow& row) {
  json::Writer line;
  line.open_object().member("sequence", row.sequence).member("at_us", row.entry.at.micros());
  line.member("wall_us", row.entry.wall_us).member("kind", row.entry.kind).member("format", row.entry.format);
  line.member("hash", journal::hex_of(std::string(row.hash.begin(), row.hash.end())));
  line.key("body").written(row.entry.body);  // as stored: its numbers are exact
  return line.close_object().take_line();
}

Result<std::uint64_t> sequence_of(const std::string& option, const std::string& text) {
  const auto number = parse_count(text, INT64_MAX);
  if (!number) return invalid(fmt::format("{}: {}", option, number.error().message));
  return static_cast<std::uint64_t>(*number);
}

/// On a terminal no label of an earlier version can control it; elsewhere rows are printed as they are stored.
Result<void> print_rows(const JournalWords& words, const VerbContext& context) {
  std::FILE* out = context.out;
  const auto path = find_journal(words.folder);
  if (!path) return pass_on(path.error());
  const auto from = words.from.empty() ? Result<std::uint64_t>(1) : sequence_of("--from", words.from);
  if (!from) return pass_on(from.error());
  const auto to = words.to.empty() ? Result<std::uint64_t>(UINT64_MAX) : sequence_of("--to", words.to);
  if (!to) return pass_on(to.error());
  auto reader = edges::open_sqlite_reader(*path);
  if (!reader) return store_failure(reader.error());
  const auto range = (*reader)->range();
  if (!range) return store_failure(range.error());
  if (!words.from.empty() && *from < range->first) {
    return invalid(fmt::format("--from: wanted a row that is there, {} to {}, found {}: older ones were removed",
                               range->first, range->last, *from));
  }
  for (std::uint64_t next = *from; next <= *to;) {
    const auto rows = (*reader)->read(next, kRowsAtOnce);
    if (!rows) return store_failure(rows.error());
    if (rows->empty()) return {};
    for (const JournalRow& row : *rows) {
      if (row.sequence > *to) return {};
      const std::string stored = line_of(row);
      const std::string line = context.is_live_terminal() ? printable_json(stored) : stored;
      if (std::fwrite(line.data(), 1, line.size(), out) != line.size()) {
        return fail(ErrorCode::kUnavailable, "the output cannot be written");
      }
    }
    next = rows->back().sequence + 1;
  }
  return {};
}

/// Writes a window as a scenario with its files into a folder, the scenario last. Reports what it left out.
Result<std::string> write_scenario(const RecordedWindowWords& words, const std::string& out, std::FILE* err) {
  if (out.empty()) return invalid("-o: wanted a folder, found an empty path");
  const auto window = read_window(words);
  if (!window) return pass_on(window.error());
  print_remarks(window->remarks, err);
  std::error_code failure;
  for (const char* part : {"profiles", "arrivals"}) {
    std::filesystem::create_directories(std::filesystem::path(out) / part, failure);
    if (failure) return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", out, failure.message()));
  }
  const std::string main(scenario::kScenarioPath);
  for (const auto& [path, content] : window->files) {
    if (path == main) continue;
    if (auto written = edges::write_file_whole(fmt::format("{}/{}", out, path), content); !written)
      return not_written(written.error());
  }
  if (auto written = edges::write_file_whole(fmt::format("{}/{}", out, main), window->files.at(main)); !written) {
    return not_written(written.error());
  }
  return fmt::format("{}/{}: {} to {}, {} s, {} services\n", out, main, window->from, window->to,
                     window->scenario.simulated_seconds(), window->scenario.services.size());
}

/// The words of `berth journal scenario`, as typed.
struct ScenarioFolderWords {
  RecordedWindowWords window;
  std::string out;
};

OptionTable journal_verify_option_rows(JournalWords& words) {
  return {{"DIR", "TEXT", "The folder of the berth up", &words.folder, kRequired}};
}

OptionTable journal_export_option_rows(JournalWords& words) {
  return {
      {"DIR", "TEXT", "The folder of the berth up", &words.folder, kRequired},
      {"--from", "SEQ", "The first row; default: the oldest that is left", &words.from},
      {"--to", "SEQ", "The last row; default: the newest", &words.to},
  };
}

OptionTable journal_scenario_option_rows(ScenarioFolderWords& words) {
  return {
      {"DIR", "TEXT", "The folder of the berth up", &words.window.folder, kRequired},
      {"--from", "TIME", "Its first second; default: the first that is recorded", &words.window.from},
      {"--to", "TIME", "The second after its last; default: as far as is recorded", &words.window.to},
      {"-o,--output", "OUT", "The folder that gets scenario.yaml and its files", &words.out, kRequired},
  };
}

OptionTable journal_usage_option_rows(UsageFileWords& words) {
  return {
      {"DIR", "TEXT", "The data folder of berth up", &words.folder, kRequired},
      {"--from", "TIME", "First instant; default: when the world began", &words.from},
      {"--to", "TIME",
       "What is still open ends at this instant; now (the default): the latest recorded one; hour: the last full hour",
       &words.to},
      {"--out", "FILE", "The file to write", &words.out, kRequired},
  };
}

void run_journal_verify(const JournalWords& words, VerbContext& context) { finish(context, verify(words.folder)); }

void run_journal_export(const JournalWords& words, VerbContext& context) {
  const auto printed = print_rows(words, context);
  if (!printed) finish(context, pass_on(printed.error()));
}

void run_journal_scenario(const ScenarioFolderWords& words, VerbContext& context) {
  finish(context, write_scenario(words.window, words.out, context.err));
}

void run_journal_usage(const UsageFileWords& words, VerbContext& context) { finish(context, write_usage_file(words)); }

}  // namespace

Verb journal_verb() {
  return {.name = "journal",
          .help = kJournalHelp,
          .examples = kJournalExamples,
          .subcommands = {with_words({.name = "verify", .help = "Checks every row, and the chain of their hashes"},
                                     journal_verify_option_rows, run_journal_verify),
                          with_words({.name = "export", .help = "Prints rows as lines of JSON, each checked"},
                                     journal_export_option_rows, run_journal_export),
                          with_words({.name = "scenario",
                                      .help = "Writes what came and stood there as a scenario for berth replay"},
                                     journal_scenario_option_rows, run_journal_scenario),
                          with_words({.name = "usage", .help = "Writes usage as events for berth ledger"},
                                     journal_usage_option_rows, run_journal_usage)}};
}

}  // namespace berth::cli
