#include "live/chain/age.h"

namespace berth::chain {

StoreResult<std::uint64_t> first_row_since(JournalReader& reader, std::int64_t wall_us) {
  const auto range = reader.range();
  if (!range) return tl::unexpected(range.error());
  // Rows before `low` are older, rows from `high` on are not.
  std::uint64_t low = range->first;
  std::uint64_t high = range->last + 1;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto rows = reader.read(middle, 1);
    if (!rows) return tl::unexpected(rows.error());
    const bool is_pruned = rows->empty() || rows->front().sequence > middle;  // in the meantime
    if (is_pruned || rows->front().entry.wall_us < wall_us) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return high;
}

StoreResult<bool> has_jumped(JournalReader& reader, std::int64_t wall_us, std::int64_t within_us) {
  const auto first = first_row_since(reader, wall_us - within_us);
  if (!first) return tl::unexpected(first.error());
  if (*first <= 1) return false;
  const auto rows = reader.read(*first - 1, 2);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty() || rows->front().sequence != *first - 1) return false;  // no older row is left
  const std::int64_t after = rows->size() > 1 ? rows->back().entry.wall_us : wall_us;
  return after <= wall_us && after - rows->front().entry.wall_us > within_us;
}

}  // namespace berth::chain
