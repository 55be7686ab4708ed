#include "live/folder/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/core/archive.h"
#include "base/json/document.h"
#include "base/json/writer.h"
#include "base/yaml/reader.h"
#include "domain/scenario/load.h"
#include "live/folder/local_fleet.h"
#include "live/folder/tier_files.h"
#include "live/folder/up_request.h"
#include "live/rows/entry_rows.h"
#include "live/rows/hex.h"
#include "live/session/demo.h"

namespace berth::live {
namespace {

using json::Writer;

constexpr const char* kOpened = "Opened";
constexpr const char* kFile = "ScenarioFile";
constexpr const char* kFolder = "ScenarioFolder";
constexpr int kFormat = 1;
constexpr int kLocalFormat = 2;    ///< of the row Opened of a local world: versions without local worlds refuse it
constexpr int kClusterFormat = 3;  ///< likewise of a world of a cluster
constexpr int kSnapshotFormatMax = kSnapshotFormat + 2;

int format_of(const RecordedFiles& files) {
  if (files.cluster()) return kClusterFormat;
  return files.is_local() ? kLocalFormat : kFormat;
}
constexpr std::array<const char*, 3> kApprovals = {"never", "first", "always"};

std::string beginning_json(const Beginning& beginning) {
  Writer json;
  json.open_object().member("scenario", beginning.scenario).member("seed", beginning.seed);
  json.member("policy", beginning.policy).member("approval", approval_word(beginning.approval));
  json.member("until_end", beginning.until_end).member("epoch_us", beginning.epoch_us);
  return json.close_object().take();
}

bool is_of_beginning(const std::string& kind) { return kind == kOpened || kind == kFile || kind == kFolder; }

std::string row_text(const yaml::Value& json, std::string_view key) { return json.at(key).text("a text"); }

/// Nothing if its approval is unknown; other errors are in the report.
std::optional<Beginning> beginning_of(const yaml::Value& json) {
  Beginning beginning;
  const yaml::Value scenario = json.at("scenario");
  if (!scenario.is_written()) scenario.refuse("a path, or null");
  if (scenario.is_present()) beginning.scenario = scenario.text("a path");
  beginning.seed = json.at("seed").whole_unsigned();
  beginning.policy = row_text(json, "policy");
  const std::string approval = row_text(json, "approval");
  const auto* word = std::ranges::find(kApprovals, approval);
  if (word == kApprovals.end()) return std::nullopt;
  beginning.approval = static_cast<Approval>(word - kApprovals.begin());
  beginning.until_end = json.at("until_end").truth();
  beginning.epoch_us = json.at("epoch_us").whole({.min = INT64_MIN});
  return beginning;
}

/// Separates the rows of the beginning from those of the session.
class HistoryReader {
 public:
  explicit HistoryReader(std::string path) : path_(std::move(path)) {}

  Result<void> take(const JournalRow& row) {
    const std::string& kind = row.entry.kind;
    if (!is_of_beginning(kind)) return take_entry(row);
    const auto tree = json::parse_document(row.entry.body, "row", json::kNoLimits);
    if (!tree) return wrong(row, kOtherBody);
    if (row.entry.format > kClusterFormat) return wrong(row, "a later version has written it");
    yaml::Report report("row");
    auto taken = take_beginning(row, yaml::Value(*tree, report));
    return report.has_failed() ? wrong(row, kOtherBody) : std::move(taken);
  }

  /// The rows that follow come after the snapshot.
  Result<void> take(JournalSnapshot snapshot) {
    const auto wrong = [&](const char* what) {
      return fail(ErrorCode::kUnavailable, fmt::format("{}: snapshot of row {}: {}", path_, snapshot.sequence, what));
    };
    if (snapshot.format > kSnapshotFormatMax) return wrong("a later version has written it: use that version");
    ArchiveReader archive(snapshot.body);
    archive(beginning_.emplace(), files_, session_.emplace());
    const bool is_later = snapshot.format > snapshot_format(files_);
    if (is_later || !archive.is_at_end()) return wrong("not what this version writes");
    saved_sequence_ = snapshot.sequence;
    saved_bytes_ = snapshot.body.size();
    return {};
  }

  /// From which time of the world on a snapshot made soon after `at` is sufficient: changes then under way have
  /// settled, and the past that policies may see is known.
  Result<std::int64_t> serves_from_wall_us(Instant at) {
    constexpr std::int64_t kSettlingSeconds = 600;
    if (auto loaded = load_scenario(); !loaded) return pass_on(loaded.error());
    const Micros lead = Micros::seconds(std::max(kSettlingSeconds, scenario_->history_seconds));
    return beginning_->epoch_us + (at + lead).micros();
  }

  /// The fleet of what was taken so far, as recorded; empty: the devices are simulated.
  [[nodiscard]] std::string fleet_text() const {
    const auto& contents = session_ ? files_.contents() : contents_;
    const auto found = contents.find(kLocalFleetFile);
    return found == contents.end() ? std::string() : found->second;
  }

  Result<History> finish(std::uint64_t last_sequence) {
    if (!beginning_) return fail(ErrorCode::kUnavailable, path_ + ": wanted a row Opened, found none");
    if (auto loaded = load_scenario(); !loaded) return pass_on(loaded.error());
    return History{.beginning = *beginning_,
                   .files = std::move(files_),
                   .scenario = std::move(*scenario_),
                   .fleet = std::move(fleet_),
                   .session = std::move(session_),
                   .saved_sequence = saved_sequence_,
                   .saved_bytes = saved_bytes_,
                   .entries = std::move(entries_),
                   .last_sequence = last_sequence};
  }

 private:
  static constexpr const char* kOtherBody = "its body is not of that kind";

  /// Reads a row before the first entry, and its body. Errors are in the report of `json`.
  Result<void> take_beginning(const JournalRow& row, const yaml::Value& json) {
    if (row.entry.kind == kOpened) {
      beginning_ = beginning_of(json);
      return beginning_ ? Result<void>() : wrong(row, "its approval is not known");
    }
    const std::string path = row_text(json, "path");
    if (row.entry.kind == kFolder) {
      std::vector<std::string>& names = folders_[path];
      names.clear();
      for (const yaml::Value& name : json.at("names").items("names")) names.push_back(name.text("a name"));
      return {};
    }
    const auto bytes = journal::bytes_of_hex(row_text(json, "hex"));
    if (!bytes) return wrong(row, "its content is not hexadecimal");
    contents_[path] = *bytes;
    return {};
  }

  Result<void> take_entry(const JournalRow& row) {
    if (auto loaded = load_scenario(); !loaded) return loaded;
    auto entry = journal::entry_of(row, *scenario_);
    if (!entry) return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", path_, entry.error().message));
    entries_.push_back(std::move(*entry));
    return {};
  }

  /// Loads the scenario: its files come before the first entry.
  Result<void> load_scenario() {
    if (scenario_) return {};
    if (!beginning_) return fail(ErrorCode::kUnavailable, path_ + ": wanted a row Opened first");
    if (!session_) files_ = RecordedFiles(contents_, folders_);
    Result<Scenario> scenario = files_.is_local() ? scenario_without_services() : demo_scenario();
    if (beginning_->scenario) {
      scenario = scenario::load_scenario(*beginning_->scenario, files_, {.allows_empty = true});
    }
    if (scenario && files_.cluster() && !beginning_->scenario) scenario->name = word(WorldKind::kKubernetes);
    if (scenario && files_.is_local()) scenario = with_fleet(std::move(*scenario));
    if (!scenario) return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", path_, scenario.error().message));
    if (auto put = put_tier_settings(*scenario, files_.contents()); !put) {
      return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", path_, put.error().message));
    }
    scenario_ = std::move(*scenario);
    return {};
  }

  /// Its GPUs at that time: those with which it began, and others that were added.
  Result<Scenario> with_fleet(Scenario scenario) {
    auto fleet = read_fleet_json(files_.contents().at(kLocalFleetFile));
    if (!fleet) return pass_on(fleet.error());
    if (auto put = device::put_recorded_fleet(scenario, *fleet); !put) return pass_on(put.error());
    fleet_ = std::move(*fleet);
    return scenario;
  }

  [[nodiscard]] Result<void> wrong(const JournalRow& row, const char* what) const {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{}: row {}, kind {}: {}", path_, row.sequence, row.entry.kind, what));
  }

  std::string path_;
  std::optional<Beginning> beginning_;
  std::map<std::string, std::string> contents_;
  std::map<std::string, std::vector<std::string>> folders_;
  RecordedFiles files_;
  std::optional<std::string> session_;
  std::uint64_t saved_sequence_ = 0;
  std::size_t saved_bytes_ = 0;
  std::optional<Scenario> scenario_;
  std::optional<std::vector<device::LocalGpu>> fleet_;
  std::vector<Entry> entries_;
};

tl::unexpected<Error> unreadable(const StoreError& error) { return fail(ErrorCode::kUnavailable, error.message); }

/// Reads the snapshot, if there is one, and the rows after it. Checks `checked_before` of the rows before it, too.
Result<std::optional<History>> read_after(JournalReader& reader, JournalReader::Range range,
                                          std::optional<JournalSnapshot> snapshot, std::uint64_t checked_before,
                                          const std::string& path) {
  constexpr std::size_t kRows = 1000;
  if (range.last == 0 && !snapshot) return std::optional<History>();
  HistoryReader history(path);
  std::uint64_t next = range.first;
  std::uint64_t saved = 0;
  if (snapshot) {
    saved = snapshot->sequence;
    next = std::max(next, saved + 1 - std::min(saved, checked_before));
    if (auto taken = history.take(*std::move(snapshot)); !taken) return pass_on(taken.error());
  }
  while (next <= range.last) {
    const auto rows = reader.read(next, kRows);
    if (!rows) return unreadable(rows.error());
    if (rows->empty()) break;
    if (rows->front().sequence != next) {
      return fail(ErrorCode::kUnavailable, fmt::format("{}: rows from {} on were removed for their age while they were "
                                                       "read: run it again",
                                                       path, next));
    }
    for (const JournalRow& row : *rows) {
      if (row.sequence <= saved) continue;
      if (auto taken = history.take(row); !taken) return pass_on(taken.error());
    }
    next = rows->back().sequence + 1;
  }
  auto read = history.finish(std::max(saved, next - 1));
  if (!read) return pass_on(read.error());
  return std::optional(std::move(*read));
}

/// The fleet at a snapshot, or, without one, at the first row, which is 1.
Result<std::string> fleet_at(JournalReader& reader, const std::optional<JournalSnapshot>& snapshot,
                             const std::string& path) {
  constexpr std::size_t kRows = 100;
  HistoryReader history(path);
  if (snapshot) {
    if (auto taken = history.take(*snapshot); !taken) return pass_on(taken.error());
    return history.fleet_text();
  }
  for (std::uint64_t next = 1;; next += kRows) {
    const auto rows = reader.read(next, kRows);
    if (!rows) return unreadable(rows.error());
    for (const JournalRow& row : *rows) {
      if (!is_of_beginning(row.entry.kind)) return history.fleet_text();
      if (auto taken = history.take(row); !taken) return pass_on(taken.error());
    }
    if (rows->size() < kRows) return history.fleet_text();
  }
}

/// Whether the snapshot is early enough before that time of the world that a window from there on needs no older row.
Result<bool> is_early_enough(JournalReader& reader, const JournalSnapshot& snapshot, std::int64_t from_wall_us,
                             const std::string& path) {
  if (snapshot.format < kSnapshotFormat) return false;
  const auto rows = reader.read(snapshot.sequence, 1);
  if (!rows) return unreadable(rows.error());
  if (rows->empty() || rows->front().sequence != snapshot.sequence) return false;  // nothing says when it was made
  HistoryReader history(path);
  if (auto taken = history.take(snapshot); !taken) return pass_on(taken.error());
  const auto from = history.serves_from_wall_us(rows->front().entry.at);
  if (!from) return pass_on(from.error());
  return *from <= from_wall_us;
}

}  // namespace

int snapshot_format(const RecordedFiles& files) { return kSnapshotFormat + format_of(files) - kFormat; }

Scenario scenario_without_services() {
  Scenario scenario;
  scenario.name = "local";
  return scenario;
}

std::string_view approval_word(Approval approval) { return kApprovals[static_cast<std::size_t>(approval)]; }

std::vector<JournalEntry> first_rows(const Beginning& beginning, const RecordedFiles& files, std::int64_t wall_us) {
  std::vector<JournalEntry> rows;
  const auto add = [&](const char* kind, int format, std::string body) {
    rows.push_back({.at = Instant(), .wall_us = wall_us, .kind = kind, .format = format, .body = std::move(body)});
  };
  add(kOpened, format_of(files), beginning_json(beginning));
  Writer json;
  for (const auto& [path, content] : files.contents()) {
    json.open_object().member("path", path).member("hex", journal::hex_of(content)).close_object();
    add(kFile, kFormat, json.take());
  }
  for (const auto& [path, names] : files.folders()) {
    json.open_object().member("path", path).list("names", names).close_object();
    add(kFolder, kFormat, json.take());
  }
  return rows;
}

std::string snapshot_bytes(const Beginning& beginning, const RecordedFiles& files, const std::string& session) {
  ArchiveWriter archive;
  archive(beginning, files, session);
  return archive.take();
}

Result<std::optional<History>> read_history(JournalReader& reader, const std::string& path) {
  constexpr std::uint64_t kCheckedBefore = 100'000;  // of the rows that a snapshot covers: a fraction of a second
  const auto range = reader.range();
  if (!range) return unreadable(range.error());
  auto snapshot = reader.latest_snapshot();
  if (!snapshot) return unreadable(snapshot.error());
  // What an earlier format does not store follows from the rows, if all of them are there.
  if (*snapshot && (*snapshot)->format < kSnapshotFormat && range->first == 1) snapshot->reset();
  return read_after(reader, *range, *std::move(snapshot), kCheckedBefore, path);
}

Result<std::optional<History>> read_long_history(JournalReader& reader, const std::string& path,
                                                 std::optional<std::int64_t> from_wall_us) {
  // A running server may remove rows meanwhile: then a snapshot covers them.
  const auto range = reader.range();
  if (!range) return unreadable(range.error());
  auto newest = reader.latest_snapshot();
  if (!newest) return unreadable(newest.error());
  auto older = reader.older_snapshot();
  if (!older) return unreadable(older.error());
  // Rows before a snapshot with another fleet are of that fleet, and cannot be repeated with the present one.
  const auto present = *newest ? fleet_at(reader, *newest, path) : Result<std::string>();
  if (!present) return pass_on(present.error());
  const auto has_present_fleet = [&](const std::optional<JournalSnapshot>& from) -> Result<bool> {
    if (!*newest || present->empty()) return true;
    const auto fleet = fleet_at(reader, from, path);
    if (!fleet) return pass_on(fleet.error());
    return *fleet == *present;
  };
  for (auto* snapshot : {&*newest, &*older}) {
    if (!from_wall_us || !*snapshot) continue;
    const auto is_same = has_present_fleet(*snapshot);
    if (!is_same) return pass_on(is_same.error());
    if (!*is_same) continue;
    const auto early = is_early_enough(reader, **snapshot, *from_wall_us, path);
    if (!early) return pass_on(early.error());
    if (*early) return read_after(reader, *range, std::move(*snapshot), 0, path);
  }
  if (range->first <= 1) {
    const auto is_same = has_present_fleet(std::nullopt);
    if (!is_same) return pass_on(is_same.error());
    if (*is_same) return read_after(reader, *range, std::nullopt, 0, path);
  }
  bool is_older_usable = *older && (*older)->sequence + 1 >= range->first;
  if (is_older_usable) {
    const auto is_same = has_present_fleet(*older);
    if (!is_same) return pass_on(is_same.error());
    is_older_usable = *is_same;
  }
  return read_after(reader, *range, is_older_usable ? *std::move(older) : *std::move(newest), 0, path);
}

}  // namespace berth::live
