/// The ledger: takes events in their order and accounts, to the grain, for who used what and what it cost.
///
/// Double entry: each cell of a GPU is posted from its sku's account to the accounts of those who used it, of the owner
/// of its idle time, and so on. Grains are in `amount.h`; the division of a cell is in `detail/cell_walk.h`, the
/// booking of months in `detail/booking.h`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/date.h"
#include "base/core/month.h"
#include "ledger/books/amount.h"
#include "ledger/books/report.h"
#include "ledger/events/event.h"

namespace berth::ledger {

struct EventLine;

/// The ledger's decision on a well-formed line.
enum class Verdict : std::uint8_t {
  kAccepted,
  kDuplicate,  ///< its id was seen before, with the same values
  kConflict,   ///< its id was seen before with other values, or the same value is already set from the same instant
  kOverlap,    ///< it overlaps an accepted one of the same GPU, or GPU and slice
  kClosed,     ///< a price for a month that is closed
  kVoid,       ///< of a price, a rate, a void or a close
  kClose,      ///< of a month that is not the next one
};
/// Such as "duplicate".
[[nodiscard]] std::string_view name_of(Verdict verdict);

/// Money given to a tenant.
struct Credit {
  std::string id;
  std::string tenant;
  std::int64_t at_us = 0;
  std::int64_t micro_usd = 0;
  CreditReason reason = CreditReason::kSlo;
  std::optional<std::int64_t> expires_us;
  std::uint64_t line = 0;                    ///< the line that gave it
  std::optional<std::uint64_t> voided_line;  ///< the line that voided it
};

struct Budget {
  std::string tenant;
  std::int64_t from_us = 0;
  std::int64_t micro_usd_per_month = 0;
  bool is_hard = false;
};

struct Rate {
  std::string currency;
  std::int64_t from_us = 0;
  std::int64_t micro_per_usd = 0;
  std::uint64_t line = 0;
};

/// A price, in force until the sku's next one.
struct SkuPrice {
  std::string sku;
  std::int64_t from_us = 0;
  std::int64_t micro_usd_per_gpu_hour = 0;
};

/// A holder's amount of a sku on a GPU within a day. Views into the ledger's memory.
struct DayEntry {
  std::int32_t day = 0;  ///< since 1970
  std::string_view gpu;
  std::string_view tenant;
  std::string_view service;
  Role role = Role::kIdle;
  std::string_view sku;
  Amount amount;
};

/// A part of a cell: that of one use, or the unused rest.
struct CellPart {
  Interval when;
  std::string_view gpu;
  std::string_view sku;
  std::optional<std::int64_t> micro_usd_per_gpu_hour;  ///< absent: no price yet
  std::string_view slice;                              ///< empty for the unused rest
  std::int64_t weight = 0;
  std::int64_t whole = 0;  ///< the capacity, or the sum of the weights if that is larger
  std::string_view tenant;
  std::string_view service;
  Role role = Role::kIdle;
  Amount amount;
};

class Books {
 public:
  /// Returns the line at a position that was passed to `take`; valid until the next call.
  using LineAt = std::function<std::string_view(std::uint64_t position)>;

  explicit Books(LineAt line_at);
  Books(Books&&) noexcept;
  Books& operator=(Books&&) noexcept;
  ~Books();

  /// Saves the complete books, so that another process can continue from them, in pieces to `sink`. `label`: a text of
  /// the caller that describes their coverage. O(all).
  void save(std::string_view label, const std::function<void(std::string_view)>& sink);
  /// The saved books and their label; absent: the bytes are not saved books, or of another version. The bytes must
  /// outlive the books, which read from them on demand. O(bytes), but fast: they are only hashed.
  struct Saved;
  [[nodiscard]] static std::optional<Saved> restored(std::string_view bytes, LineAt line_at);
  /// The label alone. O(number of GPUs).
  [[nodiscard]] static std::optional<std::string> saved_label(std::string_view bytes);

  /// Decides on a line. O(log uses of the GPU + days that it touches); a close also counts what is new.
  Verdict take(const EventLine& line);

  /// Prefetches memory that `take` will need for this line: worthwhile if there is other work in between.
  void expect(const EventLine& line) const;

  /// The current report. O(new events + rows).
  [[nodiscard]] Report report();
  /// The balances of all accounts. Their sum is 0.
  [[nodiscard]] TrialBalance trial_balance();

  /// Visits entries by GPU and day, limited to the interval; a day, GPU and holder may have several entries.
  void for_each_entry(const Interval& within, const std::function<void(const DayEntry&)>& visit);
  /// Likewise for single cells.
  void for_each_cell_part(const Interval& within, const std::function<void(const CellPart&)>& visit);
  /// From the first paid time to the last; absent: nothing is paid.
  [[nodiscard]] std::optional<Interval> paid_time() const;

  /// In the order of their lines; budgets without voided ones.
  [[nodiscard]] std::span<const Credit> credits() const;
  [[nodiscard]] std::vector<Budget> budgets() const;
  [[nodiscard]] std::span<const Rate> rates() const;
  /// By the bytes of the sku, then by time.
  [[nodiscard]] std::vector<SkuPrice> prices() const;
  [[nodiscard]] std::optional<Month> last_closed() const;
  /// The line that closed the month. Requires: it is closed.
  [[nodiscard]] std::uint64_t close_line(Month month) const;
  /// Whether this tenant occurs in the ledger: in a use or a GPU, even a refused one, or in an accepted credit or
  /// budget.
  [[nodiscard]] bool has_tenant(std::string_view tenant) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Books::Saved {
  std::string label;
  Books books;
};

}  // namespace berth::ledger
