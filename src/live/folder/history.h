/// The past of a `berth up`: what its folder has recorded, so that it continues where it ended. The scenario and every
/// file that it names are recorded, too, so that the originals are no longer needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/journal_store.h"
#include "domain/values/scenario.h"
#include "engine/loop/proposal.h"
#include "gpu/device/local_gpu.h"
#include "live/folder/recorded_files.h"
#include "live/session/entry.h"

namespace berth::live {

/// What a world began with, which never changes.
struct Beginning {
  std::optional<std::string> scenario = std::nullopt;  ///< path as stated; absent: the demo, or none in a local world
  std::uint64_t seed = 1;
  std::string policy = "berth";
  Approval approval = Approval::kNever;
  bool until_end = false;
  std::int64_t epoch_us = 0;  ///< wall time of the world's second 0: microseconds since 1970
  friend bool operator==(const Beginning&, const Beginning&) = default;
};

/// What was recorded so far.
struct History {
  Beginning beginning;
  RecordedFiles files;
  Scenario scenario;
  std::optional<std::vector<device::LocalGpu>> fleet;  ///< of a local world
  std::optional<std::string> session;                  ///< saved bytes (Session::save); absent: it was never saved
  std::uint64_t saved_sequence = 0;                    ///< the last row before the save
  std::size_t saved_bytes = 0;                         ///< of the whole snapshot
  std::vector<Entry> entries;                          ///< after it
  std::uint64_t last_sequence = 0;                     ///< of the last row
};

/// The version of a snapshot's bytes; local worlds use the next one, so that versions without local worlds refuse them.
inline constexpr int kSnapshotFormat = 2;
[[nodiscard]] int snapshot_format(const RecordedFiles& files);

/// A snapshot of a world: it replaces all earlier rows, including those of the beginning.
[[nodiscard]] std::string snapshot_bytes(const Beginning& beginning, const RecordedFiles& files,
                                         const std::string& session);

/// "never", "first", "always".
[[nodiscard]] std::string_view approval_word(Approval approval);

/// The scenario of a local world for which none was stated: its GPUs, and no services.
[[nodiscard]] Scenario scenario_without_services();

/// The rows at the beginning of a journal: the beginning, and the files of the scenario.
[[nodiscard]] std::vector<JournalEntry> first_rows(const Beginning& beginning, const RecordedFiles& files,
                                                   std::int64_t wall_us);

/// Reads what a start needs of a journal, and checks it: the newest snapshot and the rows after it, or else all rows.
/// Of the rows that the snapshot covers the latest 100,000 are checked, too. Absent if the journal has no rows. `path`
/// is for messages. Errors: a row or a snapshot that was altered, or that a later version wrote.
[[nodiscard]] Result<std::optional<History>> read_history(JournalReader& reader, const std::string& path);

/// The same, as far back as possible: all rows, or, if the first ones are gone, the older snapshot and all rows after
/// it. `from_wall_us`: only what is needed for a window from that time of the world on, including the past that its
/// policies may see; the newest snapshot that is early enough is then used. If GPUs were added, the history begins
/// with a snapshot that has them.
[[nodiscard]] Result<std::optional<History>> read_long_history(JournalReader& reader, const std::string& path,
                                                               std::optional<std::int64_t> from_wall_us);

}  // namespace berth::live
