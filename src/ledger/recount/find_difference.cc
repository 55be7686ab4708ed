#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "ledger/recount/detail/row_order.h"
#include "ledger/recount/recount.h"

namespace berth::ledger {
namespace {

using Difference = std::optional<std::string>;

Difference compare(std::string_view what, Int128 here, Int128 there, std::string_view unit = "") {
  if (here == there) return std::nullopt;
  return fmt::format("{}: {}{} here, {} there", what, here, unit, there);
}

/// The first difference present.
Difference first_of(const std::vector<Difference>& differences) {
  const auto found =
      std::ranges::find_if(differences, [](const Difference& difference) { return difference.has_value(); });
  return found == differences.end() ? std::nullopt : *found;
}

Difference compare_counts(const LineCounts& a, const LineCounts& b) {
  return first_of({compare("lines", a.lines, b.lines), compare("accepted", a.accepted, b.accepted),
                   compare("duplicates", a.duplicates, b.duplicates), compare("conflicts", a.conflicts, b.conflicts),
                   compare("overlaps", a.overlaps, b.overlaps),
                   compare("refused_closed", a.refused_closed, b.refused_closed),
                   compare("refused_void", a.refused_void, b.refused_void),
                   compare("refused_close", a.refused_close, b.refused_close), compare("voided", a.voided, b.voided)});
}

std::string shown(std::string_view text) {
  const bool is_plain =
      std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  return is_plain ? std::string(text) : in_quotes(text);
}

std::string name_of_row(const MonthRows& month, const RowKey& key) {
  const std::string kind = key.of ? "correction of " + key.of->to_string() : "usage";
  return fmt::format("{}, {}/{}/{}/{}/{}", month.month.to_string(), shown(key.tenant), shown(key.service),
                     shown(key.sku), name_of(key.role), kind);
}

Difference compare_rows(const std::string& name, const Row& a, const Row& b) {
  return first_of({compare(name, a.amount.grains, b.amount.grains, " grains"),
                   compare(name, a.amount.gpu_us, b.amount.gpu_us, " gpu_us"),
                   compare(name, a.micro_usd, b.micro_usd, " micro_usd")});
}

/// Walks over two sorted lists side by side. `is_earlier` orders them; `alone` says that an element is in one list
/// only, `both` compares two that belong together.
template <class T, class IsEarlier, class Alone, class Both>
Difference walk(const std::vector<T>& a, const std::vector<T>& b, const IsEarlier& is_earlier, const Alone& alone,
                const Both& both) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i == b.size() || (i < a.size() && is_earlier(a[i], b[i]))) return alone(a[i], "here", "there");
    if (i == a.size() || is_earlier(b[i], a[i])) return alone(b[i], "there", "here");
    if (Difference difference = both(a[i], b[i])) return difference;
  }
  return std::nullopt;
}

Difference compare_months(const MonthRows& a, const MonthRows& b) {
  const std::string name = a.month.to_string();
  if (a.is_closed != b.is_closed) {
    return fmt::format("{}: {} here, {} there", name, a.is_closed ? "closed" : "open", b.is_closed ? "closed" : "open");
  }
  Difference difference = walk(
      a.rows, b.rows, [](const Row& x, const Row& y) { return recounting::precedes(x.key, y.key); },
      [&](const Row& row, std::string_view where, std::string_view missing) -> Difference {
        return fmt::format("{}: {} grains {}, no row {}", name_of_row(a, row.key), row.amount.grains, where, missing);
      },
      [&](const Row& x, const Row& y) { return x == y ? std::nullopt : compare_rows(name_of_row(a, x.key), x, y); });
  return difference ? difference : compare(name, a.micro_usd, b.micro_usd, " micro_usd");
}

}  // namespace

Difference find_difference(const Report& a, const Report& b) {
  if (Difference difference = compare_counts(a.counts, b.counts)) return difference;
  Difference difference = walk(
      a.months, b.months, [](const MonthRows& x, const MonthRows& y) { return x.month < y.month; },
      [](const MonthRows& month, std::string_view where, std::string_view missing) -> Difference {
        return fmt::format("{}: {} rows {}, none {}", month.month.to_string(), month.rows.size(), where, missing);
      },
      compare_months);
  if (difference) return difference;
  return first_of({compare("unpriced_us", a.unpriced_us, b.unpriced_us),
                   compare("unbacked_us", a.unbacked_us, b.unbacked_us), compare("grains", a.grains, b.grains),
                   compare("carried_grains", a.carried_grains, b.carried_grains),
                   compare("micro_usd", a.micro_usd, b.micro_usd)});
}

}  // namespace berth::ledger
