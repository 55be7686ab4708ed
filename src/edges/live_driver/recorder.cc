#include "edges/live_driver/recorder.h"

#include <iterator>
#include <utility>

namespace berth::edges {

Recorder::Recorder(std::unique_ptr<JournalWriter> writer, std::unique_ptr<JournalReader> reader, const Head& head,
                   std::function<JournalEntry(const live::Entry&)> encode,
                   std::function<StoreResult<void>()> before_append)
    : writer_(std::move(writer)),
      reader_(std::move(reader)),
      encode_(std::move(encode)),
      before_append_(std::move(before_append)),
      head_(head) {}

std::optional<std::string> Recorder::record(const std::vector<live::Entry>& entries,
                                            const std::vector<KeyedOutcome>& begun) {
  if (entries.empty() && pending_.empty() && kept_.empty() && pending_usage_.empty()) return failure();
  JournalBatch batch;
  batch.outcomes = begun;
  if (begun_ && !entries.empty()) batch.outcomes.push_back(*std::exchange(begun_, std::nullopt));
  for (const live::Entry& entry : entries) batch.entries.push_back(encode_(entry));
  return append(std::move(batch));
}

std::optional<std::string> Recorder::record_snapshot(int format, std::string body) {
  const std::uint64_t sequence = head_.last_sequence + pending_.size();
  const std::size_t bytes = body.size();
  JournalBatch batch;
  batch.snapshot = JournalSnapshot{.sequence = sequence, .format = format, .body = std::move(body)};
  auto failure = append(std::move(batch));
  if (failure) return failure;
  head_.snapshot_sequence = sequence;
  head_.snapshot_bytes = bytes;
  bytes_since_snapshot_ = 0;
  return failure;
}

bool Recorder::is_snapshot_due() const {
  constexpr std::uint64_t kRows = 20'000;      // repeated within a second
  constexpr std::uint64_t kRowsMax = 100'000;  // within a few
  constexpr std::size_t kShare = 2;            // of the bytes written, snapshots take at most two thirds
  const std::uint64_t rows = rows_since_snapshot();
  return rows >= kRowsMax || (rows >= kRows && bytes_since_snapshot_ >= head_.snapshot_bytes / kShare);
}

void Recorder::keep(std::vector<KeyedOutcome> outcomes) {
  for (KeyedOutcome& outcome : outcomes) kept_.insert_or_assign(outcome.key, std::move(outcome));
}

StoreResult<std::map<Sha256, KeyedOutcome>> Recorder::find_outcomes(const std::vector<Sha256>& keys) {
  auto found = reader_->find_outcomes(keys);
  if (!found) return found;
  for (const Sha256& key : keys) {
    if (const auto kept = kept_.find(key); kept != kept_.end()) found->insert_or_assign(key, kept->second);
  }
  return found;
}

bool Recorder::prune(const PruneLimits& limits) { return writer_->prune(limits).value_or(false); }

std::optional<std::string> Recorder::append(JournalBatch batch) {
  const auto noted = static_cast<std::ptrdiff_t>(pending_.size());
  batch.entries.insert(batch.entries.begin(), std::make_move_iterator(pending_.begin()),
                       std::make_move_iterator(pending_.end()));
  pending_.clear();
  // Readers of the session look at it meanwhile, if it is empty.
  if (!pending_usage_.empty()) batch.usage = std::exchange(pending_usage_, {});
  for (const auto& [key, outcome] : kept_) batch.outcomes.push_back(outcome);
  const auto appended = append_safely(batch);
  if (appended) {
    head_.last_sequence = *appended;
    kept_.clear();
    for (const JournalEntry& entry : batch.entries) bytes_since_snapshot_ += entry.body.size();
    return note_failure(std::nullopt);
  }
  pending_.assign(std::make_move_iterator(batch.entries.begin()),
                  std::make_move_iterator(batch.entries.begin() + noted));
  if (!batch.usage.empty()) pending_usage_ = std::move(batch.usage);
  return note_failure(appended.error().message);
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
  return writer_->append(batch);
}

}  // namespace berth::edges
