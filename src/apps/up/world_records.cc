#include "apps/up/world_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "apps/up/own_files.h"
#include "apps/up/up_log.h"
#include "edges/sqlite_store/sqlite_store.h"
#include "live/chain/age.h"
#include "live/folder/devices_left.h"
#include "live/rows/entry_rows.h"

namespace berth::up {
namespace {

constexpr std::int64_t kDayUs = std::int64_t{24} * 3600 * 1'000'000;
constexpr std::int64_t kOutcomeDays = 7;
constexpr std::uint64_t kOutcomesMax = 10'000'000;
/// How often the use of a blob is recorded. A day after that record is more than a day after its last use.
constexpr std::int64_t kBlobNoteUs = std::int64_t{600} * 1'000'000;

Result<edges::Recorder::Head> head_of(const live::History& history) {
  return edges::Recorder::Head{.last_sequence = history.last_sequence,
                               .snapshot_sequence = history.saved_sequence,
                               .snapshot_bytes = history.saved_bytes};
}

/// Merges newer changes into the memory.
void add_changes(DevicesMemory& memory, DevicesMemory changes) {
  std::map<std::uint32_t, std::string> gpus(std::make_move_iterator(changes.gpus.begin()),
                                            std::make_move_iterator(changes.gpus.end()));
  gpus.merge(std::map<std::uint32_t, std::string>(memory.gpus.begin(), memory.gpus.end()));
  memory.gpus.assign(gpus.begin(), gpus.end());
  if (!changes.world.empty()) memory.world = std::move(changes.world);
  if (!changes.clock.empty()) memory.clock = std::move(changes.clock);
}

}  // namespace

WorldRecords::WorldRecords(std::string folder, bool is_paced, const SteadyWallClock& wall, std::FILE* err)
    : folder_(std::move(folder)), is_paced_(is_paced), wall_(wall), err_(err) {}

Result<void> WorldRecords::open(const live::FolderWorld& world) {
  if (auto read = read_devices(world); !read) return read;
  const OwnFilesOnly own_files_only;
  if (auto opened = open_store(); !opened) return opened;
  const auto epoch = store_->epoch();
  if (!epoch) return live::failed(epoch.error());
  auto writer = store_->open_writer(*epoch + 1);
  if (!writer) return live::failed(writer.error());
  epoch_ = *epoch + 1;
  auto devices = edges::DevicesFile::open(live::devices_path_in(folder_));
  if (!devices) return live::failed(devices.error());
  devices_ = std::move(*devices);
  const auto head = world.history ? head_of(*world.history) : begin(world, **writer);
  if (!head) return pass_on(head.error());
  const auto encode = [scenario = world.scenario](const live::Entry& entry) {
    return journal::row_of(entry, scenario, wall_us_now());
  };
  recorder_ = std::make_unique<edges::Recorder>(std::move(*writer), *head, encode, [this] { return sync_devices(); });
  return open_readers();
}

Result<void> WorldRecords::read_devices(const live::FolderWorld& world) {
  const std::string path = live::devices_path_in(folder_);
  const bool has_file = std::filesystem::exists(path);
  if (!world.has_journal && has_file) {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("{}: wanted a journal.db beside it, found none: put it back, or remove this file, too", path));
  }
  const auto memory = edges::DevicesFile::read(path);
  if (!memory) return live::failed(memory.error());
  if (!world.history) return {};
  auto left = live::world_of(*memory, world.scenario, path);
  if (!left) return pass_on(left.error());
  left_ = std::move(*left);
  const bool goes_on = world.history->session || !world.history->entries.empty();
  if (!goes_on || !memory->world.empty()) return {};
  left_->world.orders = UINT64_MAX;  // nothing is carried out again
  log_warning(err_, fmt::format("{} is {}: the simulated devices are empty", path, has_file ? "empty" : "missing"));
  return {};
}

Result<void> WorldRecords::open_store() {
  auto opened = edges::open_sqlite_store(live::journal_path_in(folder_));
  if (!opened) return live::failed(opened.error());
  store_ = std::move(opened->store);
  has_no_past_usage_ = opened->has_no_past_usage;
  for (const std::string& note : opened->notes) log_warning(err_, note);
  return {};
}

Result<void> WorldRecords::open_readers() {
  for (auto* reader : {&old_rows_, &usage_reader_, &blob_readers_.quick, &blob_readers_.parts, &blob_readers_.slow}) {
    auto opened = store_->open_reader();
    if (!opened) return live::failed(opened.error());
    *reader = std::move(*opened);
  }
  return {};
}

Result<edges::Recorder::Head> WorldRecords::begin(const live::FolderWorld& world, berth::JournalWriter& writer) {
  const auto appended = writer.append({.entries = live::first_rows(world.beginning, world.files, wall_us_now())});
  if (!appended) return live::failed(appended.error());
  return edges::Recorder::Head{.last_sequence = *appended};
}

void WorldRecords::guard() {
  const OwnFilesOnly own_files_only;
  reserve_ = std::make_unique<edges::ReserveFile>(folder_ + "/reserve");
  if (!reserve_->keep()) {
    log_warning(err_, fmt::format("{}/reserve: no space for {} bytes and a quarter more: nothing but DELETE, pause, "
                                  "cordon and drain is recorded until there is",
                                  folder_, reserve_->bytes()));
  }
  recorder_->guard(*reserve_);
}

void WorldRecords::remember(const live::WorldChanges& changes) {
  const bool has_news = changes.world || !changes.devices.empty() || has_unwritten();
  if (!has_news && !is_clock_due()) return;
  add_changes(unwritten_, live::memory_of(changes));
  if (const auto written = write_devices(); !written) log_error(err_, written.error().message);
}

StoreResult<void> WorldRecords::write_devices() {
  has_unsynced_devices_ = true;
  auto written = devices_->write(unwritten_);
  if (written) unwritten_ = {};
  return written;
}

bool WorldRecords::is_clock_due() {
  constexpr std::chrono::milliseconds kPause{10};
  const auto now = std::chrono::steady_clock::now();
  if (!is_paced_ && now - clock_written_at_ < kPause) return false;
  clock_written_at_ = now;
  return true;
}

StoreResult<void> WorldRecords::sync_devices() {
  if (has_unwritten()) {
    if (auto written = write_devices(); !written) return written;
  }
  if (!std::exchange(has_unsynced_devices_, false)) return {};
  auto synced = devices_->sync();
  if (!synced) has_unsynced_devices_ = true;
  return synced;
}

StoreResult<std::vector<UsageRow>> WorldRecords::read_usage(const UsageSpan& span, const std::optional<UsageKey>& after,
                                                            std::size_t count_max) {
  const std::scoped_lock hold(usage_lock_);
  return usage_reader_->read_usage(span, after, count_max);
}

void WorldRecords::prune_if_due(const live::Retention& retention, Instant now,
                                const std::function<std::set<Sha256>()>& used_blobs) {
  constexpr std::chrono::minutes kPause{1};
  const auto looked_at = std::chrono::steady_clock::now();
  if (looked_at < prune_at_ || recorder_->failure()) return;
  // What is removed cannot be restored, so a clock that was set is not trusted at once, in either direction.
  const std::int64_t wall_us = std::min(wall_us_now(), wall_.now_us());
  const bool has_more = is_clock_believed(wall_us) && prune_by_wall_time(retention, wall_us, used_blobs());
  const bool has_more_usage = recorder_->prune_usage(now - Micros(retention.usage_days * kDayUs));  // of the world
  if (!has_more && !has_more_usage) prune_at_ = looked_at + kPause;
}

bool WorldRecords::is_clock_believed(std::int64_t wall_us) {
  const auto has_jumped = chain::has_jumped(*old_rows_, wall_us, kDayUs);
  const bool is_doubted = !has_jumped || *has_jumped;
  const bool was_doubted = std::exchange(is_clock_doubted_, is_doubted);
  if (is_doubted && !was_doubted) {
    const char* why =
        "the wall clock went on by more than a day between two rows, or since the last one: nothing is removed for its "
        "age before it has gone on for a day";
    log_warning(err_, has_jumped ? why : has_jumped.error().message);
  }
  return !is_doubted;
}

bool WorldRecords::prune_by_wall_time(const live::Retention& retention, std::int64_t wall_us,
                                      std::set<Sha256> used_blobs) {
  const std::int64_t events_since_us = wall_us - retention.events_days * kDayUs;
  const auto first = chain::first_row_since(*old_rows_, events_since_us);
  const bool has_more = first && recorder_->prune({.rows_before = *first,
                                                   .outcomes_before_wall_us = wall_us - kOutcomeDays * kDayUs,
                                                   .keys_before_wall_us = events_since_us,
                                                   .outcomes_max = kOutcomesMax});
  const bool has_more_blobs = recorder_->prune_blobs({.used = std::move(used_blobs),
                                                      .now_wall_us = wall_us,
                                                      .note_before_wall_us = wall_us - kBlobNoteUs,
                                                      .unused_before_wall_us = wall_us - kDayUs - kBlobNoteUs});
  return has_more || has_more_blobs;
}

}  // namespace berth::up
