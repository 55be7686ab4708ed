#include "live/chain/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "live/chain/chain.h"
#include "live/chain/field_hash.h"

namespace berth::chain {
namespace {

constexpr std::size_t kRowsPerRead = 256;

tl::unexpected<StoreError> damaged(std::string message) {
  return tl::unexpected(StoreError{StoreFault::kDamaged, std::move(message)});
}

/// Accepts a gap before the row only if older rows were pruned since the walk began.
StoreResult<void> check_gap(JournalReader& reader, std::uint64_t wanted, std::uint64_t found) {
  const auto range = reader.range();
  if (!range) return tl::unexpected(range.error());
  if (found > wanted && range->first >= found) return {};
  return damaged(fmt::format("row {}: missing; row {} follows row {}", wanted, found, wanted - 1));
}

StoreResult<void> check_row(const std::optional<JournalRow>& previous, const JournalRow& row) {
  if (row.sequence != 1 && !previous)
    return {};  // the previous row was pruned: the reader compares with the part of it that is kept
  const Sha256 before = previous ? previous->hash : Sha256{};
  if (row.hash == row_hash(before, row.sequence, row.entry)) return {};
  return damaged(fmt::format("row {}: its hash does not fit its content and the row before", row.sequence));
}

StoreResult<void> count_rows(JournalReader& reader, JournalCounts& counts) {
  const auto range = reader.range();
  if (!range) return tl::unexpected(range.error());
  std::uint64_t next = range->first;
  std::optional<JournalRow> previous;
  while (next != 0) {
    auto rows = reader.read(next, kRowsPerRead);
    if (!rows) return tl::unexpected(rows.error());
    if (rows->empty()) break;
    for (JournalRow& row : *rows) {
      if (row.sequence != next) {
        if (auto checked = check_gap(reader, next, row.sequence); !checked) return checked;
        previous.reset();
      }
      if (auto checked = check_row(previous, row); !checked) return checked;
      if (counts.first == 0) counts.first = row.sequence;
      counts.last = row.sequence;
      ++counts.rows;
      next = row.sequence + 1;
      previous = std::move(row);
    }
  }
  if (counts.last >= range->last) return {};
  const auto now = reader.range();  // empty if all of them were pruned in the meantime
  if (!now) return tl::unexpected(now.error());
  if (now->last == 0 || now->first > counts.last) return {};
  return damaged(fmt::format("row {}: missing; the last row is {}", counts.last + 1, range->last));
}

StoreResult<void> count_snapshots(JournalReader& reader, JournalCounts& counts) {
  for (const auto& snapshot : {reader.latest_snapshot(), reader.older_snapshot()}) {
    if (!snapshot) return tl::unexpected(snapshot.error());
    if (snapshot->has_value()) ++counts.snapshots;
  }
  return {};
}

StoreResult<void> count_outcomes(JournalReader& reader, JournalCounts& counts) {
  std::optional<Sha256> last;
  while (true) {
    const auto outcomes = reader.read_outcomes(last, kRowsPerRead);
    if (!outcomes) return tl::unexpected(outcomes.error());
    if (outcomes->empty()) return {};
    for (const KeyedOutcome& outcome : *outcomes) {
      if (last && outcome.key <= *last) return damaged("outcomes: their keys are out of order");
      last = outcome.key;
      ++counts.outcomes;
    }
  }
}

/// The usage of one GPU's units. Rows of one place come in order of time, and places one after another.
class UsageCover {
 public:
  explicit UsageCover(std::uint32_t gpu) : gpu_(gpu) {}
  [[nodiscard]] std::uint32_t gpu() const { return gpu_; }
  [[nodiscard]] std::size_t row_count() const { return row_count_; }

  StoreResult<void> add(const UsageRow& row) {
    ++row_count_;
    constexpr std::int32_t kUnitsMax = 1024;
    const std::int32_t end = row.units > 0 && row.units <= kUnitsMax ? row.key.start + row.units : 0;
    if (row.key.start < 0 || row.key.start > kUnitsMax || end <= row.key.start || row.to_us <= row.key.from_us) {
      return damaged(
          fmt::format("usage of gpu-{} from {} us on: wanted units and a time, found none", gpu_, row.key.from_us));
    }
    if (units_.size() < static_cast<std::size_t>(end)) units_.resize(static_cast<std::size_t>(end));
    for (std::int32_t unit = row.key.start; unit < end; ++unit) {
      units_[static_cast<std::size_t>(unit)].add(row.key.from_us, row.to_us);
    }
    return {};
  }

  /// If rows do not overlap, a gap makes the sum of their times smaller than the span from the first to the last.
  [[nodiscard]] StoreResult<void> check() const {
    for (std::size_t unit = 0; unit < units_.size(); ++unit) {
      const Unit& times = units_[unit];
      if (times.sum == static_cast<std::uint64_t>(times.last) - static_cast<std::uint64_t>(times.first)) continue;
      return damaged(fmt::format("usage of gpu-{}, unit {}: a row is missing, or two overlap", gpu_, unit));
    }
    return {};
  }

 private:
  struct Unit {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::uint64_t sum = 0;
    void add(std::int64_t from, std::int64_t to) {
      const bool is_first = sum == 0;
      first = is_first ? from : std::min(first, from);
      last = is_first ? to : std::max(last, to);
      sum += static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
    }
  };
  std::uint32_t gpu_;
  std::size_t row_count_ = 0;
  std::vector<Unit> units_;
};

/// Checks the usage of one GPU. Rows come and go between two reads, so what looks wrong is read again, all at once.
StoreResult<void> check_cover(JournalReader& reader, const UsageCover& cover) {
  auto checked = cover.check();
  if (checked) return checked;
  const std::uint32_t gpu = cover.gpu();
  const UsageKey before{.gpu = gpu - 1, .start = INT32_MAX, .from_us = INT64_MAX};
  for (std::size_t count_max = cover.row_count() + kRowsPerRead;; count_max *= 2) {
    const auto rows = reader.read_usage({}, gpu == 0 ? std::nullopt : std::optional(before), count_max);
    if (!rows) return tl::unexpected(rows.error());
    const auto end = std::ranges::find_if(*rows, [&](const UsageRow& row) { return row.key.gpu != gpu; });
    if (end == rows->end() && rows->size() == count_max) continue;  // there may be more
    UsageCover again(gpu);
    for (auto row = rows->begin(); row != end; ++row) {
      if (auto added = again.add(*row); !added) return added;
    }
    return again.check();
  }
}

StoreResult<void> count_usage(JournalReader& reader, JournalCounts& counts) {
  std::optional<UsageRow> last;
  std::optional<UsageCover> cover;
  while (true) {
    auto rows = reader.read_usage({}, last ? std::optional(last->key) : std::nullopt, kRowsPerRead);
    if (!rows) return tl::unexpected(rows.error());
    if (rows->empty()) return cover ? check_cover(reader, *cover) : StoreResult<void>();
    for (UsageRow& row : *rows) {
      if (last && row.key <= last->key) return damaged("usage: its keys are out of order");
      if (cover && cover->gpu() != row.key.gpu) {
        if (auto checked = check_cover(reader, *cover); !checked) return checked;
        cover.reset();
      }
      if (!cover) cover.emplace(row.key.gpu);
      if (auto added = cover->add(row); !added) return added;
      ++counts.usage;
      last = std::move(row);
    }
  }
}

/// Checks that the counted parts exist and that together they match the name. The blob may be removed in the meantime.
StoreResult<void> check_blob(JournalReader& reader, const BlobRow& row) {
  BytesHash hash;
  std::uint64_t bytes = 0;
  for (std::uint32_t index = 0; index < row.part_count; ++index) {
    const auto part = reader.read_blob_part(row.blob, index);
    if (!part) return tl::unexpected(part.error());
    if (!*part) {
      const auto now = reader.find_blob(row.blob);
      if (!now) return tl::unexpected(now.error());
      if (!*now || (*now)->part_count <= index) return {};
      return damaged(fmt::format("blob {}: part {} is missing", hex_of(row.blob), index));
    }
    hash.add((*part)->bytes);
    bytes += (*part)->bytes.size();
  }
  if (bytes == row.bytes && (!row.is_whole || hash.finish() == row.blob)) return {};
  return damaged(fmt::format("blob {}: its bytes are not those of its name", hex_of(row.blob)));
}

StoreResult<void> count_blobs(JournalReader& reader, JournalCounts& counts) {
  std::optional<Sha256> last;
  while (true) {
    const auto rows = reader.read_blobs(last, kRowsPerRead);
    if (!rows) return tl::unexpected(rows.error());
    if (rows->empty()) return {};
    for (const BlobRow& row : *rows) {
      if (last && row.blob <= *last) return damaged("blobs: their names are out of order");
      if (auto checked = check_blob(reader, row); !checked) return checked;
      last = row.blob;
      ++counts.blobs;
    }
  }
}

}  // namespace

StoreResult<JournalCounts> verify_journal(JournalReader& reader) {
  JournalCounts counts;
  if (auto walked = count_rows(reader, counts); !walked) return tl::unexpected(walked.error());
  if (auto walked = count_snapshots(reader, counts); !walked) return tl::unexpected(walked.error());
  if (auto walked = count_outcomes(reader, counts); !walked) return tl::unexpected(walked.error());
  if (auto walked = count_usage(reader, counts); !walked) return tl::unexpected(walked.error());
  if (auto walked = count_blobs(reader, counts); !walked) return tl::unexpected(walked.error());
  return counts;
}

}  // namespace berth::chain
