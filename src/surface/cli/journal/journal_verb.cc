#include "surface/cli/journal/journal_verb.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/text.h"
#include "edges/sqlite_store/sqlite_store.h"
#include "journal/hex.h"

namespace berth::cli {
namespace {

constexpr const char* kJournalHelp =
    "Checks or prints what a berth up has recorded in its folder, whether or not it is running.";

constexpr const char* kJournalExamples = R"(Examples:
  berth journal verify ~/.local/state/berth
  berth journal export folder --from 1000 --to 2000

Exit status: 0 done, 1 something is not what was written or cannot be read, 2 bad input.)";

constexpr std::size_t kRowsAtOnce = 500;

struct JournalWords {
  std::string folder;
  std::string from = "1";
  std::string to;
};

/// The path of the journal of a folder.
Result<std::string> find_journal(const std::string& folder) {
  std::string path = folder + "/journal.db";
  if (std::filesystem::exists(path)) return path;
  return invalid(fmt::format("wanted the folder of a berth up, found {}, which has no journal.db", in_quotes(folder)));
}

tl::unexpected<Error> failed(const StoreError& error) { return fail(ErrorCode::kUnavailable, error.message); }

/// What was checked, as one line.
Result<std::string> verify(const std::string& folder) {
  const auto path = find_journal(folder);
  if (!path) return pass_on(path.error());
  const auto counts = edges::verify_sqlite_store(*path);
  if (!counts) return failed(counts.error());
  return fmt::format(
      "{}: rows {} to {} are what was written: {} rows, {} snapshots, {} outcomes, {} of usage, {} blobs\n", *path,
      counts->first, counts->last, counts->rows, counts->snapshots, counts->outcomes, counts->usage, counts->blobs);
}

/// A row as a line of JSON. The body is JSON itself.
std::string line_of(const JournalRow& row) {
  nlohmann::ordered_json line;
  line["sequence"] = row.sequence;
  line["at_us"] = row.entry.at.micros();
  line["wall_us"] = row.entry.wall_us;
  line["kind"] = row.entry.kind;
  line["format"] = row.entry.format;
  const std::string hash(row.hash.begin(), row.hash.end());
  line["hash"] = journal::hex_of(hash);
  std::string text = line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.pop_back();
  // As it is stored: its numbers are exact.
  return text + ",\"body\":" + row.entry.body + "}\n";
}

Result<std::uint64_t> sequence_of(const std::string& option, const std::string& text) {
  const auto number = parse_count(text, INT64_MAX);
  if (!number) return invalid(fmt::format("{}: {}", option, number.error().message));
  return static_cast<std::uint64_t>(*number);
}

Result<void> print_rows(const JournalWords& words, std::FILE* out) {
  const auto path = find_journal(words.folder);
  if (!path) return pass_on(path.error());
  const auto from = sequence_of("--from", words.from);
  if (!from) return pass_on(from.error());
  const auto to = words.to.empty() ? Result<std::uint64_t>(UINT64_MAX) : sequence_of("--to", words.to);
  if (!to) return pass_on(to.error());
  auto reader = edges::open_sqlite_reader(*path);
  if (!reader) return failed(reader.error());
  for (std::uint64_t next = *from; next <= *to;) {
    const auto rows = (*reader)->read(next, kRowsAtOnce);
    if (!rows) return failed(rows.error());
    if (rows->empty()) return {};
    for (const JournalRow& row : *rows) {
      if (row.sequence > *to) return {};
      const std::string line = line_of(row);
      if (std::fwrite(line.data(), 1, line.size(), out) != line.size()) {
        return fail(ErrorCode::kUnavailable, "the output cannot be written");
      }
    }
    next = rows->back().sequence + 1;
  }
  return {};
}

}  // namespace

void add_journal_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("journal", kJournalHelp);
  verb->footer(kJournalExamples);
  verb->require_subcommand(1);
  const auto words = std::make_shared<JournalWords>();
  CLI::App* verifying = verb->add_subcommand("verify", "Checks every row, and the chain of their hashes");
  verifying->add_option("DIR", words->folder, "The folder of the berth up")->required();
  verifying->callback([words, &context] { finish(context, verify(words->folder)); });
  CLI::App* exporting = verb->add_subcommand("export", "Prints rows as lines of JSON, each checked");
  exporting->add_option("DIR", words->folder, "The folder of the berth up")->required();
  exporting->add_option("--from", words->from, "The first row")->type_name("SEQ")->capture_default_str();
  exporting->add_option("--to", words->to, "The last row; default: the newest")->type_name("SEQ");
  exporting->callback([words, &context] {
    const auto printed = print_rows(*words, context.out);
    if (!printed) finish(context, tl::unexpected(printed.error()));
  });
}

}  // namespace berth::cli
