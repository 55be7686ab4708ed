#include "surface/cli/journal/usage_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/clock_text.h"
#include "base/core/text.h"
#include "base/core/whole_division.h"
#include "edges/files/file_sink.h"
#include "edges/sqlite_store/sqlite_store.h"
#include "ledger/usage/usage_events.h"
#include "live/folder/history.h"
#include "live/rows/usage_rows.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "surface/cli/journal/recorded_window.h"
#include "surface/cli/shared/unwritable.h"

namespace berth::cli {
namespace {

using ledger::Stretch;
using ledger::UsageEvents;

constexpr std::size_t kUsageRowsAtOnce = 1000;

/// A world, repeated as far as it is recorded.
struct RecordedWorld {
  std::unique_ptr<live::Session> session;
  WorldEpoch epoch;
  Instant until;  ///< everything before this instant is known
};

/// Whether everything that happened in a world with an end is known. Entries are in order: after one at the last
/// instant, only steps without effect can follow.
bool is_at_end(Instant end, const live::Session& session, const std::vector<live::Entry>& entries) {
  return session.now() >= end ||
         std::ranges::any_of(entries, [&](const live::Entry& entry) { return entry.at >= end; });
}

/// Repeats the session without solving anything.
Result<RecordedWorld> repeat_world(JournalReader& reader, const std::string& path) {
  auto history = live::read_history(reader, path);
  if (!history) return pass_on(history.error());
  if (!*history) return invalid(fmt::format("wanted a recorded world, found none in {}", path));
  const live::Beginning& beginning = (*history)->beginning;
  live::SessionOptions options;
  options.seed = beginning.seed;
  options.policy = beginning.policy;
  options.approval = beginning.approval;
  options.first_layout_takes_time = (*history)->files.is_local();
  options.has_end = beginning.until_end;
  const auto unreadable = [&](const Error& error) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", path, error.message));
  };
  auto session = live::Session::make((*history)->scenario, std::move(options));
  if (!session) return unreadable(session.error());
  if ((*history)->session) {
    if (const auto restored = (*session)->restore(*(*history)->session); !restored) return unreadable(restored.error());
  }
  (*session)->repeat((*history)->entries, UINT64_MAX);
  const Instant end = Instant::at_second((*history)->scenario.simulated_seconds());
  const bool is_over = beginning.until_end && is_at_end(end, **session, (*history)->entries);
  const Instant until = is_over ? end : (*session)->now();
  return RecordedWorld{.session = std::move(*session), .epoch = {.unix_micros = beginning.epoch_us}, .until = until};
}

/// Usage as of the last recorded instant, at which open intervals end.
class RecordedUsage {
 public:
  RecordedUsage(JournalReader& reader, const RecordedWorld& world)
      : reader_(reader), fleet_(world.session->scenario()), until_(world.until) {
    const auto& open = world.session->usage().open();
    for (std::uint32_t gpu = 0; gpu < open.size(); ++gpu) {
      for (const live::OpenUsage& what : open[gpu]) {
        if (what.from >= until_) continue;
        open_.push_back({.gpu = {gpu}, .what = what, .to = until_});
        open_keys_.insert(journal::row_of(open_.back(), fleet_).key);
      }
    }
  }

  /// All that has a part in [from, to).
  Result<std::vector<live::UsageInterval>> read(Instant from, Instant to) {
    std::vector<live::UsageInterval> found;
    std::optional<UsageKey> after;
    for (bool has_more = true; has_more;) {
      const auto rows = reader_.read_usage({.from_us = from.micros(), .to_us = to.micros()}, after, kUsageRowsAtOnce);
      if (!rows) return fail(ErrorCode::kUnavailable, rows.error().message);
      has_more = rows->size() == kUsageRowsAtOnce;
      for (const UsageRow& row : *rows) {
        after = row.key;
        // The running server has ended it since.
        if (row.key.from_us >= until_.micros() || open_keys_.contains(row.key)) continue;
        auto interval = journal::interval_of(row, fleet_);
        if (!interval) return pass_on(interval.error());
        found.push_back(*std::move(interval));
      }
    }
    std::ranges::copy_if(open_, std::back_inserter(found), [&](const auto& open) { return open.what.from < to; });
    return found;
  }

 private:
  JournalReader& reader_;
  const Scenario& fleet_;
  Instant until_;
  std::vector<live::UsageInterval> open_;
  std::set<UsageKey> open_keys_;
};

struct AskedTimes {
  Instant from;
  Instant to;  ///< open intervals are clipped there
};

constexpr const char* kNow = "now";
constexpr const char* kHour = "hour";

Result<Instant> recorded_instant(const char* option, const std::string& word, const RecordedWorld& world) {
  const auto at = world.epoch.parse(word);
  if (!at) {
    const bool is_end = std::string_view(option) == "--to";
    return invalid(fmt::format("{}: wanted a time of RFC 3339, such as {}{}, found {}", option,
                               world.epoch.text(Instant()), is_end ? ", or now or hour" : "", in_quotes(word)));
  }
  if (*at < Instant() || *at > world.until) {
    return invalid(fmt::format("{}: wanted a time that is recorded, {} to {}, found {}", option,
                               world.epoch.text(Instant()), world.epoch.text(world.until), in_quotes(word)));
  }
  return *at;
}

/// The last full hour (UTC) until an instant.
Instant hour_until(Instant until, WorldEpoch epoch) {
  constexpr std::int64_t kHourUs = 3'600'000'000;
  return Instant(floor_divide(until.micros() + epoch.unix_micros, kHourUs) * kHourUs - epoch.unix_micros);
}

Result<Instant> asked_end(const UsageFileWords& words, const RecordedWorld& world) {
  if (words.to.empty() || words.to == kNow) return world.until;
  if (words.to != kHour) return recorded_instant("--to", words.to, world);
  const Instant hour = hour_until(world.until, world.epoch);
  if (hour > Instant()) return hour;
  return invalid(
      fmt::format("--to hour: wanted a full hour that is recorded, found none: the world began at {}, and is "
                  "recorded until {}",
                  world.epoch.text(Instant()), world.epoch.text(world.until)));
}

Result<AskedTimes> asked_times(const UsageFileWords& words, const RecordedWorld& world) {
  const auto from = words.from.empty() ? Result<Instant>(Instant()) : recorded_instant("--from", words.from, world);
  if (!from) return pass_on(from.error());
  const auto to = asked_end(words, world);
  if (!to) return pass_on(to.error());
  if (*to > *from) return AskedTimes{.from = *from, .to = *to};
  return invalid(
      fmt::format("wanted --from before --to, found {} and {}", world.epoch.text(*from), world.epoch.text(*to)));
}

/// Writes the lines, hour by hour; returns their number.
Result<std::ptrdiff_t> write_lines(UsageEvents& events, RecordedUsage& usage, const AskedTimes& times,
                                   edges::FileSink& sink) {
  std::ptrdiff_t count = 0;
  const auto append = [&](const std::string& text) {
    count += std::ranges::count(text, '\n');
    return sink.append(text);
  };
  if (const auto appended = append(events.prices()); !appended) return unwritable(appended.error());
  for (Instant at = times.from; at < times.to;) {
    const Instant end = std::min(events.hour_after(at), times.to);
    const auto intervals = usage.read(at, end);
    if (!intervals) return pass_on(intervals.error());
    const auto text = events.lines({.from = at, .to = end}, *intervals);
    if (!text) return pass_on(text.error());
    if (const auto appended = append(*text); !appended) return unwritable(appended.error());
    at = end;
  }
  return count;
}

}  // namespace

Result<std::string> write_usage_file(const UsageFileWords& words) {
  if (words.out.empty()) return invalid("--out: wanted a file, found an empty path");
  const auto path = find_journal(words.folder);
  if (!path) return pass_on(path.error());
  auto reader = edges::open_sqlite_reader(*path);
  if (!reader) return fail(ErrorCode::kUnavailable, reader.error().message);
  const auto world = repeat_world(**reader, *path);
  if (!world) return pass_on(world.error());
  const auto times = asked_times(words, *world);
  if (!times) return pass_on(times.error());
  auto events = UsageEvents::make(world->session->scenario(), world->epoch.unix_micros);
  if (!events) return pass_on(events.error());
  RecordedUsage usage(**reader, *world);
  auto sink = edges::FileSink::open(words.out);
  if (!sink) return unwritable(sink.error());
  const auto count = write_lines(*events, usage, *times, *sink);
  if (!count) return pass_on(count.error());
  if (const auto committed = sink->commit(); !committed) return unwritable(committed.error());
  return fmt::format("{}: {} lines, {} to {}\n", words.out, *count, world->epoch.text(times->from),
                     world->epoch.text(times->to));
}

}  // namespace berth::cli
