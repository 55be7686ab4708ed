#include "surface/cli/journal/recorded_window.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/core/clock_text.h"
#include "base/core/text.h"
#include "domain/scenario/load.h"
#include "domain/scenario/scenario_files.h"
#include "edges/sqlite_store/sqlite_store.h"
#include "live/folder/history.h"
#include "live/whatif/what_if.h"

namespace berth::cli {
namespace {

/// The history that a window from this time on needs; all of it if `from` is not a time.
Result<live::History> read_folder(const std::string& folder, const std::string& from) {
  const auto path = find_journal(folder);
  if (!path) return pass_on(path.error());
  auto reader = edges::open_sqlite_reader(*path);
  if (!reader) return fail(ErrorCode::kUnavailable, reader.error().message);
  // Counted from 1970, a time of the world is its wall time.
  const auto from_wall = WorldEpoch{}.parse(from);
  auto history =
      live::read_long_history(**reader, *path, from_wall ? std::optional(from_wall->micros()) : std::nullopt);
  if (!history) return pass_on(history.error());
  if (!*history) return invalid(fmt::format("wanted a recorded world, found none in {}", *path));
  return **std::move(history);
}

/// Resolves the typed window to times of a world.
class WindowReader {
 public:
  /// `is_local`: the world is one of real GPUs.
  WindowReader(whatif::Window whole, WorldEpoch epoch, bool is_local)
      : whole_(whole), epoch_(epoch), is_local_(is_local) {}

  [[nodiscard]] Result<whatif::Window> read(const RecordedWindowWords& words) const {
    if (whole_.to <= whole_.from) {
      return invalid(
          fmt::format("wanted at least one second that is recorded, found none{}",
                      is_local_ ? ": services on real GPUs have requests only while their load is simulated" : ""));
    }
    const auto from = second_of("--from", words.from, whole_.from);
    if (!from) return pass_on(from.error());
    const auto to = second_of("--to", words.to, whole_.to);
    if (!to) return pass_on(to.error());
    if (*from >= *to) {
      return invalid(
          fmt::format("wanted --from at least a second before --to, found {} and {}", text(*from), text(*to)));
    }
    return whatif::Window{.from = *from, .to = *to};
  }

 private:
  [[nodiscard]] std::string text(std::int64_t second) const { return epoch_.text(Instant::at_second(second)); }

  /// The time in a word, rounded down to a second of the world.
  [[nodiscard]] Result<std::int64_t> second_of(const char* option, const std::string& word,
                                               std::int64_t by_default) const {
    if (word.empty()) return by_default;
    const auto at = epoch_.parse(word);
    const std::string recorded = fmt::format("{} to {}", text(whole_.from), text(whole_.to));
    if (!at) {
      return invalid(fmt::format("{}: wanted a time of RFC 3339, such as {}, found {}", option, text(whole_.from),
                                 in_quotes(word)));
    }
    if (at->second() < whole_.from || at->second() > whole_.to) {
      return invalid(
          fmt::format("{}: wanted a time that is recorded, {}, found {}", option, recorded, in_quotes(word)));
    }
    return at->second();
  }

  whatif::Window whole_;
  WorldEpoch epoch_;
  bool is_local_;
};

}  // namespace

Result<std::string> find_journal(const std::string& folder) {
  std::string path = folder + "/journal.db";
  if (std::filesystem::exists(path)) return path;
  return invalid(fmt::format("wanted the folder of a berth up, found {}, which has no journal.db", in_quotes(folder)));
}

Result<RecordedWindow> read_window(const RecordedWindowWords& words) {
  auto history = read_folder(words.folder, words.from);
  if (!history) return pass_on(history.error());
  const WorldEpoch epoch{.unix_micros = history->beginning.epoch_us};
  auto chronicle = whatif::read_chronicle({.scenario = std::move(history->scenario),
                                           .seed = history->beginning.seed,
                                           .policy = history->beginning.policy,
                                           .approval = history->beginning.approval,
                                           .first_layout_takes_time = history->files.is_local(),
                                           .has_end = history->beginning.until_end,
                                           .session = std::move(history->session),
                                           .entries = std::move(history->entries)});
  if (!chronicle) return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", words.folder, chronicle.error().message));
  const auto window = WindowReader(whatif::whole_window(*chronicle), epoch, history->files.is_local()).read(words);
  if (!window) return pass_on(window.error());
  const auto in_words = [&](Instant at) { return epoch.text(at); };
  auto made = whatif::what_if(*chronicle, *window, in_words);
  if (!made) return invalid(fmt::format("{}: {}", words.folder, made.error().message));
  // The scenario is read back from its text, so that it equals what a replay of the written files reads.
  live::RecordedFiles files(scenario::scenario_files(made->scenario, made->remarks), {});
  auto loaded = scenario::load_scenario_with_warnings(std::string(scenario::kScenarioPath), files);
  if (!loaded) return fail(ErrorCode::kInvalidInput, fmt::format("{}: {}", words.folder, loaded.error().message));
  loaded->value.name = words.folder;
  for (std::string& warning : loaded->warnings) warning = fmt::format("{}: {}", words.folder, warning);
  return RecordedWindow{.files = files.contents(),
                        .scenario = std::move(loaded->value),
                        .run = std::move(made->run),
                        .policy = std::move(chronicle->policy),
                        .remarks = std::move(made->remarks),
                        .warnings = std::move(loaded->warnings),
                        .from = in_words(Instant::at_second(window->from)),
                        .to = in_words(Instant::at_second(window->to))};
}

void print_remarks(const std::vector<std::string>& remarks, std::FILE* err) {
  for (const std::string& remark : remarks) {
    const std::string line = "berth: not in the scenario: " + remark + "\n";
    std::fwrite(line.data(), 1, line.size(), err);
  }
}

}  // namespace berth::cli
