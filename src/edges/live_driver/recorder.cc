#include "edges/live_driver/recorder.h"

#include <iterator>
#include <utility>

namespace berth::edges {

Recorder::Recorder(std::unique_ptr<JournalWriter> writer, std::function<JournalEntry(const live::Entry&)> encode,
                   std::function<StoreResult<void>()> before_append)
    : writer_(std::move(writer)), encode_(std::move(encode)), before_append_(std::move(before_append)) {}

std::optional<std::string> Recorder::record(const std::vector<live::Entry>& entries) {
  if (entries.empty() && pending_.empty() && pending_usage_.empty()) return failure();
  JournalBatch batch;
  batch.entries = std::move(pending_);
  const std::size_t noted = batch.entries.size();
  for (const live::Entry& entry : entries) batch.entries.push_back(encode_(entry));
  batch.usage = std::move(pending_usage_);
  const auto appended = append(batch);
  pending_.clear();
  pending_usage_.clear();
  if (appended) {
    last_sequence_ = *appended;
    return note_failure(std::nullopt);
  }
  batch.entries.resize(noted);
  pending_ = std::move(batch.entries);
  pending_usage_ = std::move(batch.usage);
  return note_failure(appended.error().message);
}

std::optional<std::string> Recorder::note_failure(std::optional<std::string> failure) {
  const std::scoped_lock hold(own_lock_);
  failure_ = std::move(failure);
  return failure_;
}

StoreResult<std::uint64_t> Recorder::append(const JournalBatch& batch) {
  if (before_append_) {
    if (auto done = before_append_(); !done) return tl::unexpected(done.error());
  }
  return writer_->append(batch);
}

}  // namespace berth::edges
