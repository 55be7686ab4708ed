#include "ledger/books/testing/random_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/core/month.h"
#include "ledger/books/testing/lines.h"
#include "ledger/events/event.h"

namespace berth::ledger::testing {
namespace {

constexpr std::int64_t kMonths = 4;
constexpr std::array<std::string_view, 3> kGpus = {"g0", "g1", "g2"};
constexpr std::array<std::string_view, 4> kSlices = {"0", "1", "10", "2"};
constexpr std::array<std::string_view, 2> kSkus = {"a100", "h100"};
constexpr std::array<std::string_view, 3> kTenants = {"acme", "ac", "zeta"};
constexpr std::array<std::string_view, 2> kServices = {"chat", "rank"};
constexpr std::array<std::string_view, 2> kCurrencies = {"EUR", "JPY"};
constexpr std::array<std::int64_t, 7> kWeights = {1, 3, 8, 14, 28, 32, 1'000'000};
constexpr std::array<std::int64_t, 4> kCapacities = {1, 7, 56, 1'000'000};
constexpr std::array<std::int64_t, 6> kMoney = {0, 1, 7, 3'490'000, 999'999'999'999, 1'000'000'000'000'000};
constexpr std::array kUsedRoles = {Role::kInference, Role::kRetraining, Role::kJob, Role::kReserved};
constexpr std::array kUnusedRoles = {Role::kReconfiguration, Role::kStranded};
constexpr std::array kReasons = {CreditReason::kSlo, CreditReason::kPrepaid, CreditReason::kFree,
                                 CreditReason::kGoodwill};

/// A subject that only one line at a time may concern: a GPU, a slice of it, the price of a sku from an instant on.
using Place = std::string;

class RandomFile {
 public:
  RandomFile(Rng& rng, const RandomOptions& options) : rng_(rng), options_(options) {}

  [[nodiscard]] std::vector<std::string> make() {
    add_grounds();
    while (lines_.size() < options_.line_count) add_line();
    return std::move(lines_);
  }

 private:
  [[nodiscard]] bool happens(std::uint64_t percent) { return rng_.below(100) < percent; }
  template <class Values>
  [[nodiscard]] auto one_of(const Values& values) {
    return values[rng_.below(values.size())];
  }

  /// Most prices and GPUs begin early and last long: otherwise most uses would cost nothing.
  void add_grounds() {
    const std::int64_t early_us = kNovember - kMicrosPerDay;
    for (const std::string_view sku : kSkus) {
      if (!happens(80) || !take_moment(fmt::format("price {}", sku), early_us)) continue;
      const std::int64_t micro_usd = one_of(kMoney);
      lines_.push_back(price_line(any_id('p'), early_us, micro_usd, sku));
    }
    for (const std::string_view gpu : kGpus) {
      if (!happens(60)) continue;
      const GpuFields fields{.gpu = gpu, .sku = one_of(kSkus), .capacity = one_of(kCapacities)};
      const Interval when{.from_us = kNovember - kHour, .to_us = any_time() + 30 * kMicrosPerDay};
      if (take_place(fmt::format("gpu {}", gpu), when)) lines_.push_back(gpu_line(voidable_id('g'), when, fields));
    }
  }

  void add_line() {
    const std::uint64_t draw = rng_.below(100);
    if (draw < 12) {
      add_price();
    } else if (draw < 30) {
      add_gpu();
    } else if (draw < 70) {
      add_use();
    } else if (draw < 76) {
      add_paper();
    } else if (draw < 86) {
      if (options_.has_voids) add_void();
    } else if (draw < 92) {
      if (options_.has_closes) add_close();
    } else if (!lines_.empty()) {
      lines_.push_back(one_of(lines_));
    }
  }

  [[nodiscard]] std::int64_t any_time() {
    std::int64_t us = kNovember;
    switch (rng_.below(4)) {
      case 0:
        us = Month(Month::of(kNovember).index() + static_cast<std::int32_t>(rng_.below(kMonths))).begin_us();
        break;
      case 1:
        us += static_cast<std::int64_t>(rng_.below(kMonths * 30)) * kMicrosPerDay;
        break;
      case 2:
        us += static_cast<std::int64_t>(rng_.below(kMonths * 30 * 24)) * kHour;
        break;
      default:
        if (!times_.empty()) us = one_of(times_);
        break;
    }
    us += static_cast<std::int64_t>(rng_.below(3)) - 1;
    times_.push_back(us);
    return us;
  }

  [[nodiscard]] Interval any_interval() {
    constexpr std::array<std::int64_t, 4> kLengthsMax = {10, kHour, 3 * kMicrosPerDay, 60 * kMicrosPerDay};
    const std::int64_t from_us = any_time();
    std::int64_t to_us =
        from_us + 1 + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(one_of(kLengthsMax))));
    if (happens(50)) to_us = std::max(from_us + 1, to_us / kHour * kHour);
    times_.push_back(to_us);
    return {.from_us = from_us, .to_us = to_us};
  }

  /// An id of its own, or with clashes sometimes one that was there.
  [[nodiscard]] std::string any_id(char kind) {
    if (options_.has_clashes && !ids_.empty() && happens(4)) return one_of(ids_);
    ids_.push_back(fmt::format("{}{}", kind, ids_.size()));
    return ids_.back();
  }

  /// Whether a line may be about this place then. Where clashes are allowed it always may.
  [[nodiscard]] bool take_place(const Place& place, const Interval& when) {
    if (options_.has_clashes) return true;
    auto& taken = taken_[place];
    const bool is_free = std::ranges::none_of(
        taken, [&](const Interval& other) { return other.from_us < when.to_us && when.from_us < other.to_us; });
    if (is_free) taken.push_back(when);
    return is_free;
  }
  [[nodiscard]] bool take_moment(const Place& place, std::int64_t us) {
    return take_place(place, {.from_us = us, .to_us = us + 1});
  }

  void add_price() {
    const std::string_view sku = one_of(kSkus);
    const std::int64_t from_us = any_time();
    const std::int64_t micro_usd = one_of(kMoney);
    if (!take_moment(fmt::format("price {}", sku), from_us)) return;
    lines_.push_back(price_line(any_id('p'), from_us, micro_usd, sku));
  }

  void add_gpu() {
    GpuFields fields{.gpu = one_of(kGpus), .sku = one_of(kSkus), .capacity = one_of(kCapacities)};
    if (happens(30)) fields.owner = one_of(kTenants);
    if (happens(5)) fields.owner = "";
    const Interval when = any_interval();
    if (take_place(fmt::format("gpu {}", fields.gpu), when)) lines_.push_back(gpu_line(voidable_id('g'), when, fields));
  }

  void add_use() {
    UseFields fields{.gpu = one_of(kGpus), .slice = one_of(kSlices), .weight = one_of(kWeights)};
    fields.tenant = one_of(kTenants);
    fields.service = one_of(kServices);
    fields.role = one_of(kUsedRoles);
    if (happens(20)) {
      fields.role = one_of(kUnusedRoles);
      if (happens(70)) fields.tenant = "";
      if (happens(70)) fields.service = "";
    }
    const Interval when = any_interval();
    if (take_place(fmt::format("use {} {}", fields.gpu, fields.slice), when)) {
      lines_.push_back(use_line(voidable_id('u'), when, fields));
    }
  }

  /// Events that cost nothing by themselves.
  void add_paper() {
    const std::string_view tenant = one_of(kTenants);
    const std::int64_t us = any_time();
    if (happens(50)) {
      CreditFields credit{.tenant = tenant, .at_us = us, .micro_usd = one_of(kMoney), .reason = one_of(kReasons)};
      if (happens(50)) credit.expires_us = any_time();
      lines_.push_back(credit_line(voidable_id('c'), credit));
    } else if (happens(60)) {
      if (!take_moment(fmt::format("budget {}", tenant), us)) return;
      const BudgetFields budget{.tenant = tenant, .from_us = us, .micro_usd = one_of(kMoney), .is_hard = happens(50)};
      lines_.push_back(budget_line(voidable_id('b'), budget));
    } else {
      const std::string_view currency = one_of(kCurrencies);
      if (!take_moment(fmt::format("rate {}", currency), us)) return;
      lines_.push_back(rate_line(any_id('r'), us, one_of(kMoney), currency));
    }
  }

  /// Of a line that can be voided; sometimes it was voided before it came.
  [[nodiscard]] std::string voidable_id(char kind) {
    std::string id;
    if (!awaited_.empty() && happens(50)) {
      id = awaited_.back();
      awaited_.pop_back();
    } else {
      id = any_id(kind);
    }
    voidable_ids_.push_back(id);
    return id;
  }

  void add_void() {
    const std::string id = any_id('v');
    std::string of = fmt::format("later {}", ids_.size());
    if (happens(20)) {
      awaited_.push_back(of);
    } else if (options_.has_clashes && happens(20)) {
      of = one_of(ids_);
    } else if (!voidable_ids_.empty()) {
      of = one_of(voidable_ids_);
    }
    lines_.push_back(void_line({.id = id, .of = of}));
  }

  void add_close() {
    Month month = last_closed_ ? last_closed_->next() : Month::of(kNovember);
    if (options_.has_clashes && happens(30)) month = Month::of(any_time());
    if (month.begin_us() > kFebruary) return;
    if (!last_closed_ || month == last_closed_->next()) last_closed_ = month;
    lines_.push_back(close_line(any_id('x'), month));
  }

  Rng& rng_;
  const RandomOptions& options_;
  std::vector<std::string> lines_;
  std::vector<std::string> ids_;
  std::vector<std::string> voidable_ids_;
  std::vector<std::string> awaited_;  ///< ids to come, voided already
  std::vector<std::int64_t> times_;
  std::map<Place, std::vector<Interval>> taken_;
  std::optional<Month> last_closed_;
};

}  // namespace

std::vector<std::string> random_lines(Rng& rng, const RandomOptions& options) {
  return RandomFile(rng, options).make();
}

}  // namespace berth::ledger::testing
