#include "edges/live_driver/recorder.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <variant>

namespace berth::edges {
namespace {

constexpr const char* kOnReserve =
    "no space left on the disk: only DELETE, pause, cordon and drain are recorded, in a reserve; free some space";

/// The approximate overhead of a row.
constexpr std::uint64_t kRowBytes = 100;
std::uint64_t bytes_of(const JournalEntry& entry) { return entry.body.size() + kRowBytes; }
std::uint64_t bytes_of(const UsageRow& row) { return row.body.size() + kRowBytes; }

}  // namespace

Recorder::Recorder(std::unique_ptr<JournalWriter> writer, const Head& head,
                   std::function<JournalEntry(const live::Entry&)> encode,
                   std::function<StoreResult<void>()> before_append)
    : writer_(std::move(writer)), encode_(std::move(encode)), before_append_(std::move(before_append)), head_(head) {}

bool are_vital(const std::vector<live::Entry>& orders) {
  const auto is_vital = [](const live::Entry& order) {
    if (std::holds_alternative<live::ServiceDropped>(order.what)) return true;
    if (std::holds_alternative<live::TenantDropped>(order.what)) return true;
    const auto* seen = std::get_if<live::EventSeen>(&order.what);
    if (seen == nullptr) return false;
    if (std::holds_alternative<PlanningPaused>(seen->event.what)) return true;
    const auto* scheduled = std::get_if<GpuScheduled>(&seen->event.what);
    return scheduled != nullptr && scheduled->scheduling != GpuScheduling::kOpen;
  };
  return !orders.empty() && std::ranges::all_of(orders, is_vital);
}

void Recorder::guard(DiskReserve& reserve) {
  reserve_ = &reserve;
  if (is_on_reserve()) static_cast<void>(note_failure(kOnReserve));
}

void Recorder::note(const live::Entry& entry) {
  pending_.push_back(encode_(entry));
  pending_bytes_ += bytes_of(pending_.back());
}

void Recorder::note_usage(UsageRow row) {
  pending_bytes_ += bytes_of(row);
  pending_usage_.push_back(std::move(row));
}

std::optional<std::string> Recorder::record(const std::vector<live::Entry>& entries,
                                            const std::vector<KeyedOutcome>& begun) {
  const bool is_vital = are_vital(entries);
  if (is_on_reserve() && !is_vital) return failure();
  if (entries.empty() && pending_.empty() && kept_.empty() && pending_usage_.empty()) return failure();
  JournalBatch batch;
  batch.outcomes = begun;
  if (begun_ && !entries.empty()) batch.outcomes.push_back(*std::exchange(begun_, std::nullopt));
  for (const live::Entry& entry : entries) batch.entries.push_back(encode_(entry));
  return append(std::move(batch), is_vital);
}

std::optional<std::string> Recorder::store_part(BlobPart part, const BlobRow& row) {
  if (auto known = failure()) return known;
  JournalBatch batch;
  batch.blob_parts.push_back(std::move(part));
  batch.blobs.push_back(row);
  const auto appended = append_timed(batch);
  return appended ? std::nullopt : std::optional(appended.error().message);
}

std::optional<std::string> Recorder::record_blob(const BlobRow& row) {
  if (is_on_reserve()) return failure();
  JournalBatch batch;
  batch.blobs = {row};
  if (begun_) batch.outcomes.push_back(*std::exchange(begun_, std::nullopt));
  return append(std::move(batch));
}

std::optional<std::string> Recorder::record_snapshot(int format, std::string body) {
  Draft made = draft_snapshot(format, std::move(body));
  const auto appended = append(made);
  return settle(std::move(made), appended);
}

Recorder::Draft Recorder::draft_snapshot(int format, std::string body) {
  JournalBatch batch;
  batch.snapshot =
      JournalSnapshot{.sequence = head_.last_sequence + pending_.size(), .format = format, .body = std::move(body)};
  return draft(std::move(batch));
}

bool Recorder::is_snapshot_due() const {
  constexpr std::uint64_t kRows = 20'000;      // replayed within a second
  constexpr std::uint64_t kRowsMax = 100'000;  // replayed within a few seconds
  constexpr std::size_t kShare = 2;            // of the bytes written, snapshots take at most two thirds
  const std::uint64_t rows = rows_since_snapshot();
  return rows >= kRowsMax || (rows >= kRows && bytes_since_snapshot_ >= head_.snapshot_bytes / kShare);
}

void Recorder::keep(std::vector<KeyedOutcome> outcomes) {
  for (KeyedOutcome& outcome : outcomes) kept_.insert_or_assign(outcome.key, std::move(outcome));
}

StoreResult<std::map<Sha256, KeyedOutcome>> Recorder::find_outcomes(const std::vector<Sha256>& keys) {
  auto found = writer_->find_outcomes(keys);
  if (!found) return found;
  for (const Sha256& key : keys) {
    if (const auto kept = kept_.find(key); kept != kept_.end()) found->insert_or_assign(key, kept->second);
  }
  return found;
}

bool Recorder::prune(const PruneLimits& limits) { return writer_->prune(limits).value_or(false); }

bool Recorder::has_room_for_world() const {
  constexpr std::uint64_t kShare = 4;  // the rest is for the orders themselves
  constexpr std::uint64_t kBytesMax = std::uint64_t{4} << 20U;
  if (!failure()) return true;
  return pending_bytes_ + reserve_bytes_used_ < (reserve_ == nullptr ? kBytesMax : reserve_->bytes() / kShare);
}

bool Recorder::is_on_reserve() {
  if (reserve_ == nullptr || reserve_->is_kept()) return false;
  if (!reserve_->keep()) return true;
  reserve_bytes_used_ = 0;
  static_cast<void>(note_failure(std::nullopt));  // there is space again
  return false;
}

std::optional<std::string> Recorder::append(JournalBatch batch, bool is_vital) {
  Draft made = draft(std::move(batch));
  std::vector<KeyedOutcome> answers;
  const auto appended = is_vital ? append_vital(made.batch, answers) : append_safely(made.batch);
  auto failure = settle(std::move(made), appended);
  if (appended) keep_answers(std::move(answers));
  return failure;
}

Recorder::Draft Recorder::draft(JournalBatch batch) {
  Draft made{.batch = std::move(batch),
             .noted_count = static_cast<std::ptrdiff_t>(pending_.size()),
             .noted_bytes = std::exchange(pending_bytes_, 0)};
  made.batch.entries.insert(made.batch.entries.begin(), std::make_move_iterator(pending_.begin()),
                            std::make_move_iterator(pending_.end()));
  pending_.clear();
  // Left untouched if empty, as readers of the session may access it meanwhile.
  if (!pending_usage_.empty()) made.batch.usage = std::exchange(pending_usage_, {});
  for (const auto& [key, outcome] : kept_) made.batch.outcomes.push_back(outcome);
  return made;
}

std::optional<std::string> Recorder::settle(Draft draft, const StoreResult<std::uint64_t>& appended) {
  JournalBatch& batch = draft.batch;
  if (!appended) {
    pending_.insert(pending_.begin(), std::make_move_iterator(batch.entries.begin()),
                    std::make_move_iterator(batch.entries.begin() + draft.noted_count));
    pending_bytes_ += draft.noted_bytes;
    if (!batch.usage.empty()) pending_usage_ = std::move(batch.usage);
    return note_failure(appended.error().message);
  }
  head_.last_sequence = *appended;
  for (const KeyedOutcome& outcome : batch.outcomes) kept_.erase(outcome.key);
  for (const JournalEntry& entry : batch.entries) bytes_since_snapshot_ += entry.body.size();
  if (batch.snapshot) {
    head_.snapshot_sequence = batch.snapshot->sequence;
    head_.snapshot_bytes = batch.snapshot->body.size();
    bytes_since_snapshot_ = 0;
  }
  if (reserve_ == nullptr || reserve_->is_kept()) return note_failure(std::nullopt);
  reserve_bytes_used_ += draft.noted_bytes;
  static_cast<void>(note_failure(kOnReserve));
  return std::nullopt;
}

StoreResult<std::uint64_t> Recorder::append_vital(JournalBatch& batch, std::vector<KeyedOutcome>& answers) {
  if (failure()) answers = take_answers(batch);
  auto appended = append_safely(batch);
  const bool is_full = !appended && appended.error().fault == StoreFault::kFull;
  if (!is_full || reserve_ == nullptr || !reserve_->is_kept()) return appended;
  reserve_->release();
  if (answers.empty()) answers = take_answers(batch);
  return append_safely(batch);
}

std::vector<KeyedOutcome> Recorder::take_answers(JournalBatch& batch) const {
  std::erase_if(batch.outcomes, [this](const KeyedOutcome& outcome) { return kept_.contains(outcome.key); });
  std::vector<KeyedOutcome> answers;
  for (KeyedOutcome& outcome : batch.outcomes) {
    if (outcome.body.empty()) continue;
    answers.push_back(outcome);
    outcome.body.clear();
  }
  return answers;
}

void Recorder::keep_answers(std::vector<KeyedOutcome> answers) {
  constexpr std::size_t kBytesMax = std::size_t{16} << 20U;
  std::size_t bytes = 0;
  for (const auto& [key, outcome] : kept_) bytes += outcome.body.size();
  for (KeyedOutcome& outcome : answers) {
    bytes += outcome.body.size();
    if (bytes > kBytesMax) return;
    kept_.insert_or_assign(outcome.key, std::move(outcome));
  }
}

std::optional<std::string> Recorder::note_failure(std::optional<std::string> failure) {
  const std::scoped_lock hold(own_lock_);
  failure_ = std::move(failure);
  return failure_;
}

StoreResult<std::uint64_t> Recorder::append_safely(const JournalBatch& batch) {
  if (before_append_) {
    if (auto done = before_append_(); !done) return tl::unexpected(done.error());
  }
  return append_timed(batch);
}

StoreResult<std::uint64_t> Recorder::append_timed(const JournalBatch& batch) {
  const auto began = std::chrono::steady_clock::now();
  auto appended = writer_->append(batch);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const std::scoped_lock hold(own_lock_);
  observe(commits_, took.count());
  return appended;
}

}  // namespace berth::edges
