#include "journal_chain/age.h"

namespace berth::chain {

StoreResult<std::uint64_t> first_row_since(JournalReader& reader, std::int64_t wall_us) {
  const auto range = reader.range();
  if (!range) return tl::unexpected(range.error());
  // Those before `low` are older, those from `high` on are not.
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

}  // namespace berth::chain
