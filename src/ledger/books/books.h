/// The ledger: takes events in their order and knows, to the grain, who used what and what it cost.
///
/// Double entry: each cell of a GPU is a posting from its sku's account to those who used it, to who owns what nobody
/// used, and so on. Grains are in `amount.h`; how a cell is divided in `detail/cell_walk.h`, how months are booked in
/// `detail/booking.h`.
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
#include "ledger/events/event_lines.h"

namespace berth::ledger {

/// What became of a well-formed line.
enum class Verdict : std::uint8_t {
  kAccepted,
  kDuplicate,  ///< its id was seen, with the same values
  kConflict,   ///< its id was seen with others, or what it sets is set from the same moment
  kOverlap,    ///< with an accepted one of the same GPU, or GPU and slice
  kClosed,     ///< a price for a month that is closed
  kVoid,       ///< of a price, a rate, a void or a close
  kClose,      ///< of a month that is not the next one
};
/// Such as "duplicate".
[[nodiscard]] std::string_view name_of(Verdict verdict);

/// Money that was given to a tenant.
struct Credit {
  std::string id;
  std::string tenant;
  std::int64_t at_us = 0;
  std::int64_t micro_usd = 0;
  CreditReason reason = CreditReason::kSlo;
  std::optional<std::int64_t> expires_us;
  std::uint64_t line = 0;                    ///< that gave it
  std::optional<std::uint64_t> voided_line;  ///< at which it went
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

/// In force until the sku's next one.
struct SkuPrice {
  std::string sku;
  std::int64_t from_us = 0;
  std::int64_t micro_usd_per_gpu_hour = 0;
};

/// What a holder took of a sku on a GPU within a day. Views of the ledger's memory.
struct DayEntry {
  std::int32_t day = 0;  ///< since 1970
  std::string_view gpu;
  std::string_view tenant;
  std::string_view service;
  Role role = Role::kIdle;
  std::string_view sku;
  Amount amount;
};

/// A part of a cell: what one use took of it, or nobody.
struct CellPart {
  Interval when;
  std::string_view gpu;
  std::string_view sku;
  std::optional<std::int64_t> micro_usd_per_gpu_hour;  ///< absent: no price yet
  std::string_view slice;                              ///< empty for what nobody uses
  std::int64_t weight = 0;
  std::int64_t whole = 0;  ///< the capacity, or the sum of the weights where that is larger
  std::string_view tenant;
  std::string_view service;
  Role role = Role::kIdle;
  Amount amount;
};

class Books {
 public:
  /// The line that begins at a position that `take` was given; valid until the next call.
  using LineAt = std::function<std::string_view(std::uint64_t position)>;

  explicit Books(LineAt line_at);
  Books(Books&&) noexcept;
  Books& operator=(Books&&) noexcept;
  ~Books();

  /// Everything that is known, in a form that another process can go on with, given away in pieces. `label` is the
  /// caller's: what it covers. O(what is new + everything).
  void save(std::string_view label, const std::function<void(std::string_view)>& sink);
  /// The books that were saved, and their label; absent: these bytes are none, or of another version. The bytes must
  /// outlive the books, which read of them what they need. O(bytes), but fast: they are hashed.
  struct Saved;
  [[nodiscard]] static std::optional<Saved> restored(std::string_view bytes, LineAt line_at);
  /// The label alone. O(number of GPUs).
  [[nodiscard]] static std::optional<std::string> saved_label(std::string_view bytes);

  /// O(log uses of the GPU + days that it touches); a close counts what is new.
  Verdict take(const EventLine& line);

  /// Fetches memory that `take` will need for this line: worthwhile where there is other work in between.
  void expect(const EventLine& line) const;

  /// What is known now. O(what is new + rows).
  [[nodiscard]] Report report();
  /// Where every grain is. The sum is 0.
  [[nodiscard]] TrialBalance trial_balance();

  /// By GPU and day, parts of the interval only; entries of one day, GPU and holder may come several times.
  void for_each_entry(const Interval& within, const std::function<void(const DayEntry&)>& visit);
  /// Likewise, the single cells.
  void for_each_cell_part(const Interval& within, const std::function<void(const CellPart&)>& visit);
  /// When there is anything to ask about: from the first paid time to the last.
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
  /// Whether the ledger knows this tenant: by a use or a GPU, even a refused one, or by an accepted credit or budget.
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
