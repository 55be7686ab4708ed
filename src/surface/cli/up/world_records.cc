#include "surface/cli/up/world_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "edges/sqlite_store/sqlite_store.h"
#include "journal/entry_rows.h"
#include "journal_chain/age.h"
#include "surface/cli/up/own_files.h"
#include "surface/cli/up/up_log.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kDayUs = std::int64_t{24} * 3600 * 1'000'000;
constexpr std::int64_t kOutcomeDays = 7;
constexpr std::uint64_t kOutcomesMax = 10'000'000;
/// How often it is noted that a blob is used. A day after that is more than a day after its last use.
constexpr std::int64_t kBlobNoteUs = std::int64_t{600} * 1'000'000;

}  // namespace

WorldRecords::WorldRecords(std::string folder, bool is_paced, const SteadyWallClock& wall, std::FILE* err)
    : folder_(std::move(folder)), is_paced_(is_paced), wall_(wall), err_(err) {}

Result<void> WorldRecords::open(const FolderWorld& world) {
  const std::string devices_path = devices_path_in(folder_);
  const bool has_devices = std::filesystem::exists(devices_path);
  if (!world.has_journal && has_devices) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{}: wanted a journal.db beside it, found none: put it back, or remove this file, too",
                            devices_path));
  }
  const OwnFilesOnly own_files_only;
  if (auto opened = open_store(); !opened) return opened;
  const auto epoch = store_->epoch();
  if (!epoch) return failed(epoch.error());
  auto writer = store_->open_writer(*epoch + 1);
  if (!writer) return failed(writer.error());
  auto devices = edges::DevicesFile::open(devices_path);
  if (!devices) return failed(devices.error());
  devices_ = std::move(*devices);
  const auto head = world.history ? go_on(world, has_devices) : begin(world, **writer);
  if (!head) return pass_on(head.error());
  const auto encode = [scenario = world.scenario](const live::Entry& entry) {
    return journal::row_of(entry, scenario, wall_us_now());
  };
  recorder_ = std::make_unique<edges::Recorder>(std::move(*writer), *head, encode, [this] { return sync_devices(); });
  return open_readers();
}

Result<void> WorldRecords::open_store() {
  auto opened = edges::open_sqlite_store(journal_path_in(folder_));
  if (!opened) return failed(opened.error());
  store_ = std::move(opened->store);
  has_no_past_usage_ = opened->has_no_past_usage;
  for (const std::string& note : opened->notes) log_warning(err_, note);
  return {};
}

Result<void> WorldRecords::open_readers() {
  for (auto* reader : {&old_rows_, &usage_reader_, &blob_readers_.quick, &blob_readers_.slow}) {
    auto opened = store_->open_reader();
    if (!opened) return failed(opened.error());
    *reader = std::move(*opened);
  }
  return {};
}

Result<edges::Recorder::Head> WorldRecords::go_on(const FolderWorld& world, bool has_devices) {
  const auto memory = devices_->read();
  if (!memory) return failed(memory.error());
  const std::string path = devices_path_in(folder_);
  auto left = world_of(*memory, world.scenario, path);
  if (!left) return pass_on(left.error());
  left_ = std::move(*left);
  if (!has_devices) {
    left_->is_forgotten = true;
    left_->world.orders = UINT64_MAX;
    log_warning(err_, path + " is missing: the simulated devices are empty");
  }
  return edges::Recorder::Head{.last_sequence = world.history->last_sequence,
                               .snapshot_sequence = world.history->saved_sequence,
                               .snapshot_bytes = world.history->saved_bytes};
}

Result<edges::Recorder::Head> WorldRecords::begin(const FolderWorld& world, berth::JournalWriter& writer) {
  const auto appended = writer.append({.entries = first_rows(world.beginning, world.files, wall_us_now())});
  if (!appended) return failed(appended.error());
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
  const bool has_news = changes.world || !changes.devices.empty() || !unwritten_.empty();
  if (!has_news && !is_clock_due()) return;
  has_unsynced_devices_ = true;
  edges::DevicesFile::Memory memory = memory_of(changes);
  for (auto& [gpu, body] : memory.gpus) unwritten_[gpu] = std::move(body);
  memory.gpus.assign(unwritten_.begin(), unwritten_.end());
  const auto written = devices_->write(memory);
  if (written) unwritten_.clear();
  if (!written) log_error(err_, written.error().message);
}

bool WorldRecords::is_clock_due() {
  constexpr std::chrono::milliseconds kPause{10};
  const auto now = std::chrono::steady_clock::now();
  if (!is_paced_ && now - clock_written_at_ < kPause) return false;
  clock_written_at_ = now;
  return true;
}

StoreResult<void> WorldRecords::sync_devices() {
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

void WorldRecords::prune_if_due(const Retention& retention, Instant now,
                                const std::function<std::set<Sha256>()>& used_blobs) {
  constexpr std::chrono::minutes kPause{1};
  const auto looked_at = std::chrono::steady_clock::now();
  if (looked_at < prune_at_ || recorder_->failure()) return;
  // What is forgotten cannot be brought back: a clock that was set is not believed at once, neither way.
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

bool WorldRecords::prune_by_wall_time(const Retention& retention, std::int64_t wall_us, std::set<Sha256> used_blobs) {
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

}  // namespace berth::cli
