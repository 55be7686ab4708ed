#include "live/chain/testing/memory_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "live/chain/chain.h"

namespace berth::testing {

struct MemoryStore::State {
  std::mutex mutex;
  std::uint64_t epoch = 0;
  std::uint64_t pruned_sequence = 0;
  Sha256 pruned_hash{};
  std::vector<JournalRow> rows;
  std::map<std::uint64_t, JournalSnapshot> snapshots;
  std::map<Sha256, KeyedOutcome> outcomes;
  std::map<UsageKey, UsageRow> usage;
  std::map<Sha256, BlobRow> blobs;
  std::map<std::pair<Sha256, std::uint32_t>, BlobPart> blob_parts;
  StoreError refusal;
  int refusal_count = 0;

  [[nodiscard]] std::uint64_t head() const { return pruned_sequence + rows.size(); }
  /// The hash of a row that is kept, or of the last one pruned.
  [[nodiscard]] const Sha256& hash_of(std::uint64_t sequence) const {
    return sequence == pruned_sequence ? pruned_hash : rows.at(sequence - pruned_sequence - 1).hash;
  }
};

namespace {

using State = MemoryStore::State;

tl::unexpected<StoreError> failed(StoreFault fault, std::string message) {
  return tl::unexpected(StoreError{fault, std::move(message)});
}

class MemoryReader : public JournalReader {
 public:
  explicit MemoryReader(State& state) : state_(state) {}

  [[nodiscard]] StoreResult<Range> range() override {
    const std::lock_guard lock(state_.mutex);
    if (state_.rows.empty()) return Range{};
    return Range{state_.pruned_sequence + 1, state_.head()};
  }

  [[nodiscard]] StoreResult<std::vector<JournalRow>> read(std::uint64_t from, std::size_t count_max) override {
    const std::lock_guard lock(state_.mutex);
    std::vector<JournalRow> rows;
    from = std::max(from, state_.pruned_sequence + 1);
    for (; from <= state_.head() && rows.size() < count_max; ++from) {
      const JournalRow& row = state_.rows[from - state_.pruned_sequence - 1];
      if (row.hash != chain::row_hash(state_.hash_of(from - 1), from, row.entry)) {
        return failed(StoreFault::kDamaged, fmt::format("memory: row {}: not what was written", from));
      }
      rows.push_back(row);
    }
    return rows;
  }

  [[nodiscard]] StoreResult<std::optional<JournalSnapshot>> latest_snapshot() override { return newest(0); }
  [[nodiscard]] StoreResult<std::optional<JournalSnapshot>> older_snapshot() override { return newest(1); }

  [[nodiscard]] StoreResult<std::optional<KeyedOutcome>> find_outcome(const Sha256& key) override {
    const std::lock_guard lock(state_.mutex);
    const auto found = state_.outcomes.find(key);
    if (found == state_.outcomes.end()) return std::nullopt;
    return found->second;
  }

  [[nodiscard]] StoreResult<std::vector<KeyedOutcome>> read_outcomes(const std::optional<Sha256>& after,
                                                                     std::size_t count_max) override {
    const std::lock_guard lock(state_.mutex);
    std::vector<KeyedOutcome> outcomes;
    auto at = after ? state_.outcomes.upper_bound(*after) : state_.outcomes.begin();
    for (; at != state_.outcomes.end() && outcomes.size() < count_max; ++at) outcomes.push_back(at->second);
    return outcomes;
  }

  [[nodiscard]] StoreResult<std::vector<UsageRow>> read_usage(const UsageSpan& span,
                                                              const std::optional<UsageKey>& after,
                                                              std::size_t count_max) override {
    const std::lock_guard lock(state_.mutex);
    std::vector<UsageRow> rows;
    if (span.from_us >= span.to_us) return rows;
    auto at = after ? state_.usage.upper_bound(*after) : state_.usage.begin();
    for (; at != state_.usage.end() && rows.size() < count_max; ++at) {
      if (at->first.from_us < span.to_us && at->second.to_us > span.from_us) rows.push_back(at->second);
    }
    return rows;
  }

  [[nodiscard]] StoreResult<std::optional<BlobRow>> find_blob(const Sha256& blob) override {
    const std::lock_guard lock(state_.mutex);
    const auto found = state_.blobs.find(blob);
    if (found == state_.blobs.end()) return std::nullopt;
    return found->second;
  }

  [[nodiscard]] StoreResult<std::vector<BlobRow>> read_blobs(const std::optional<Sha256>& after,
                                                             std::size_t count_max) override {
    const std::lock_guard lock(state_.mutex);
    std::vector<BlobRow> rows;
    auto at = after ? state_.blobs.upper_bound(*after) : state_.blobs.begin();
    for (; at != state_.blobs.end() && rows.size() < count_max; ++at) rows.push_back(at->second);
    return rows;
  }

  [[nodiscard]] StoreResult<std::optional<BlobPart>> read_blob_part(const Sha256& blob, std::uint32_t index) override {
    const std::lock_guard lock(state_.mutex);
    const auto found = state_.blob_parts.find({blob, index});
    if (found == state_.blob_parts.end()) return std::nullopt;
    return found->second;
  }

 private:
  StoreResult<std::optional<JournalSnapshot>> newest(std::size_t skipped) {
    const std::lock_guard lock(state_.mutex);
    if (state_.snapshots.size() <= skipped) return std::nullopt;
    return std::next(state_.snapshots.rbegin(), static_cast<std::ptrdiff_t>(skipped))->second;
  }

  State& state_;
};

class MemoryWriter : public JournalWriter {
 public:
  MemoryWriter(State& state, std::uint64_t epoch) : state_(state), epoch_(epoch) {}

  [[nodiscard]] StoreResult<std::uint64_t> append(const JournalBatch& batch) override {
    const std::lock_guard lock(state_.mutex);
    if (auto permitted = permit(); !permitted) return tl::unexpected(permitted.error());
    std::map<Sha256, KeyedOutcome> outcomes = state_.outcomes;
    for (const KeyedOutcome& outcome : batch.outcomes) {
      const auto known = outcomes.find(outcome.key);
      const bool is_begun = known != outcomes.end() && !known->second.is_finished() && !known->second.is_expired() &&
                            known->second.request == outcome.request;
      if (known == outcomes.end() || is_begun) {
        outcomes.insert_or_assign(outcome.key, outcome);
        continue;
      }
      return failed(StoreFault::kFailed, "memory: a key of the batch has an outcome already");
    }
    std::map<UsageKey, UsageRow> usage = state_.usage;
    for (const UsageRow& row : batch.usage) {
      if (usage.emplace(row.key, row).second) continue;
      return failed(StoreFault::kFailed, "memory: a key of the batch has a row of usage already");
    }
    ENSURE(!batch.snapshot || batch.snapshot->sequence <= state_.head() + batch.entries.size());
    state_.outcomes = std::move(outcomes);
    state_.usage = std::move(usage);
    for (const JournalEntry& entry : batch.entries) {
      const std::uint64_t sequence = state_.head() + 1;
      state_.rows.push_back({sequence, entry, chain::row_hash(state_.hash_of(sequence - 1), sequence, entry)});
    }
    if (batch.snapshot) state_.snapshots.insert_or_assign(batch.snapshot->sequence, *batch.snapshot);
    while (state_.snapshots.size() > 2) state_.snapshots.erase(state_.snapshots.begin());
    for (const BlobPart& part : batch.blob_parts) state_.blob_parts.insert_or_assign({part.blob, part.index}, part);
    for (const BlobRow& row : batch.blobs) state_.blobs.insert_or_assign(row.blob, row);
    return state_.head();
  }

  [[nodiscard]] StoreResult<std::map<Sha256, KeyedOutcome>> find_outcomes(const std::vector<Sha256>& keys) override {
    const std::lock_guard lock(state_.mutex);
    std::map<Sha256, KeyedOutcome> found;
    for (const Sha256& key : keys) {
      if (const auto at = state_.outcomes.find(key); at != state_.outcomes.end()) found.insert(*at);
    }
    return found;
  }

  [[nodiscard]] StoreResult<bool> prune(const PruneLimits& limits) override {
    const std::lock_guard lock(state_.mutex);
    if (auto permitted = permit(); !permitted) return tl::unexpected(permitted.error());
    const std::uint64_t covered = state_.snapshots.empty() ? 0 : state_.snapshots.rbegin()->first;
    const std::uint64_t last = std::min(limits.rows_before == 0 ? 0 : limits.rows_before - 1, covered);
    if (last > state_.pruned_sequence) {
      state_.pruned_hash = state_.hash_of(last);
      const auto count = static_cast<std::ptrdiff_t>(last - state_.pruned_sequence);
      state_.rows.erase(state_.rows.begin(), state_.rows.begin() + count);
      state_.pruned_sequence = last;
    }
    std::erase_if(state_.outcomes, [&](const auto& each) { return each.second.wall_us < limits.keys_before_wall_us; });
    std::vector<KeyedOutcome*> live;
    for (auto& [key, outcome] : state_.outcomes) {
      if (outcome.wall_us < limits.outcomes_before_wall_us) expire(outcome);
      if (!outcome.is_expired()) live.push_back(&outcome);
    }
    std::ranges::sort(live, std::greater(), &KeyedOutcome::wall_us);
    for (std::size_t i = limits.outcomes_max; i < live.size(); ++i) expire(*live[i]);
    return false;
  }

  [[nodiscard]] StoreResult<bool> prune_blobs(const BlobUse& use) override {
    const std::lock_guard lock(state_.mutex);
    if (auto permitted = permit(); !permitted) return tl::unexpected(permitted.error());
    for (auto& [blob, row] : state_.blobs) {
      if (use.used.contains(blob) && row.used_wall_us < use.note_before_wall_us) row.used_wall_us = use.now_wall_us;
    }
    std::erase_if(state_.blobs, [&](const auto& each) {
      return !use.used.contains(each.first) && each.second.used_wall_us < use.unused_before_wall_us;
    });
    std::erase_if(state_.blob_parts, [&](const auto& each) { return !state_.blobs.contains(each.first.first); });
    return false;
  }

  [[nodiscard]] StoreResult<bool> prune_usage(std::int64_t before_us) override {
    const std::lock_guard lock(state_.mutex);
    if (auto permitted = permit(); !permitted) return tl::unexpected(permitted.error());
    std::erase_if(state_.usage, [&](const auto& each) { return each.second.to_us <= before_us; });
    return false;
  }

 private:
  static void expire(KeyedOutcome& outcome) {
    outcome.status = 0;
    outcome.body.clear();
  }

  StoreResult<void> permit() {
    if (state_.epoch > epoch_) {
      return failed(StoreFault::kDeposed, fmt::format("memory: a writer of epoch {} has taken over", state_.epoch));
    }
    if (state_.refusal_count == 0) return {};
    --state_.refusal_count;
    return tl::unexpected(state_.refusal);
  }

  State& state_;
  std::uint64_t epoch_;
};

}  // namespace

MemoryStore::MemoryStore() : state_(std::make_unique<State>()) {}
MemoryStore::~MemoryStore() = default;

StoreResult<std::unique_ptr<JournalWriter>> MemoryStore::open_writer(std::uint64_t epoch) {
  const std::lock_guard lock(state_->mutex);
  if (state_->epoch > epoch) {
    return failed(StoreFault::kDeposed, fmt::format("memory: a writer of epoch {} has taken over", state_->epoch));
  }
  state_->epoch = epoch;
  return std::make_unique<MemoryWriter>(*state_, epoch);
}

StoreResult<std::unique_ptr<JournalReader>> MemoryStore::open_reader() {
  return std::make_unique<MemoryReader>(*state_);
}

StoreResult<std::uint64_t> MemoryStore::epoch() {
  const std::lock_guard lock(state_->mutex);
  return state_->epoch;
}

void MemoryStore::refuse_next(StoreError error, int count) {
  const std::lock_guard lock(state_->mutex);
  state_->refusal = std::move(error);
  state_->refusal_count = count;
}

void MemoryStore::damage_row(std::uint64_t sequence) {
  const std::lock_guard lock(state_->mutex);
  ENSURE(sequence > state_->pruned_sequence && sequence <= state_->head());
  std::string& body = state_->rows[sequence - state_->pruned_sequence - 1].entry.body;
  ENSURE(!body.empty());
  body[0] = static_cast<char>(body[0] ^ 1);
}

}  // namespace berth::testing
