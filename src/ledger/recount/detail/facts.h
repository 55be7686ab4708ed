/// Which lines are accepted, and which of them count.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/core/month.h"
#include "ledger/recount/detail/cells.h"
#include "ledger/recount/detail/line.h"

namespace berth::ledger::recounting {

/// The verdict on a line; reasons for refusal in the order of their checks.
enum class Verdict { kAccepted, kDuplicate, kConflict, kOverlap, kClosed, kVoid, kClose };

/// The first event with an id.
struct Seen {
  Event event;
  bool counts = false;  ///< accepted and not voided
};

struct GpuMonth {
  std::vector<const Seen*> uses;  ///< all accepted ones that touch the month, including voided ones
  bool is_changed = true;         ///< since it was counted
  MonthCount counted;
};

struct GpuFacts {
  PaidPeriods paid;
  std::map<std::string_view, std::map<std::int64_t, const Use*>> uses;  ///< those that count, by slice and from_us
  std::map<Month, GpuMonth> months;
};

class Facts {
 public:
  /// Decides about the next line.
  [[nodiscard]] Verdict take(Line line);

  [[nodiscard]] std::uint64_t voided() const { return voided_; }
  [[nodiscard]] const Prices& prices() const { return prices_; }
  [[nodiscard]] std::map<std::string_view, GpuFacts>& gpus() { return gpus_; }

 private:
  [[nodiscard]] Verdict take_new(const Seen& seen);
  [[nodiscard]] Verdict take_price(const Price& price);
  [[nodiscard]] Verdict take_gpu(const Gpu& gpu);
  [[nodiscard]] Verdict take_use(const Use& use, const Seen& seen);
  [[nodiscard]] Verdict take_void(std::string_view of);
  [[nodiscard]] Verdict take_close(Month month);
  void drop(Seen& seen);

  std::unordered_map<std::string, Seen> seen_;    ///< by id, including refused events
  std::unordered_set<std::string> voided_ahead_;  ///< ids that were voided before they arrived
  std::uint64_t voided_ = 0;
  Prices prices_;
  std::set<std::pair<std::string_view, std::int64_t>> budgets_;  ///< tenant and from_us of those that count
  std::set<std::pair<std::string_view, std::int64_t>> rates_;    ///< currency and from_us
  std::map<std::string_view, GpuFacts> gpus_;
  std::optional<Month> last_closed_;
};

}  // namespace berth::ledger::recounting
