#include "planner/transition/detail/bound.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace berth::transition::detail {
namespace {

constexpr std::int64_t kTableMax = 4'000'000;  ///< entries x slices of one demand

/// A slice of a demand: its size by a measure, and its rate.
struct SizedSlice {
  Size size = 0;
  Rate rate = 0;
};

std::vector<SizedSlice> standing_slices(const TransitionView& view, const std::vector<int>& standing,
                                        const Measure& measure) {
  std::vector<SizedSlice> slices;
  slices.reserve(standing.size());
  for (const int i : standing) {
    const StandingView& stood = view.standing[static_cast<std::size_t>(i)];
    const OfferView& offer =
        view.offers[static_cast<std::size_t>(view.gpus[static_cast<std::size_t>(stood.gpu)].offer)];
    const auto kind = static_cast<std::size_t>(offer.map.sites[static_cast<std::size_t>(stood.site)].kind);
    slices.push_back({(offer.*measure.of_kinds)[kind], stood.best});
  }
  return slices;
}

std::vector<SizedSlice> new_slices(const TransitionView& view, const SizeQuestion& question, const Measure& measure) {
  const DemandView& demand = view.demands[static_cast<std::size_t>(question.demand)];
  std::vector<SizedSlice> slices;
  for (std::size_t k = 0; k < view.offers.size(); ++k) {
    const OfferView& offer = view.offers[k];
    for (std::size_t kind = 0; question.is_offered[k] && kind < offer.map.kinds.size(); ++kind) {
      if (demand.rates[k][kind] > 0) slices.push_back({(offer.*measure.of_kinds)[kind], demand.rates[k][kind]});
    }
  }
  return slices;
}

/// The least size of slices that meet a need, each as often as necessary; if there is none up to the limit: kNoSize.
Size least_size(Rate need, const std::vector<SizedSlice>& slices) {
  std::vector<Rate> most = {0};
  while (most.back() < need) {
    if (slices.empty() || static_cast<Size>(most.size()) > kTableMax) return kNoSize;
    Rate best = most.back();
    for (const SizedSlice& slice : slices) {
      const Size before = static_cast<Size>(most.size()) - slice.size;
      if (before >= 0) best = std::max(best, most[static_cast<std::size_t>(before)] + slice.rate);
    }
    most.push_back(best);
  }
  return static_cast<Size>(most.size()) - 1;
}

/// most[changes][size]: the largest rate.
class Table {
 public:
  Table(std::size_t changes_max, Size size_max)
      : size_max_(size_max), most_(changes_max + 1, std::vector<Rate>(static_cast<std::size_t>(size_max) + 1, kNone)) {
    most_[0][0] = 0;
  }

  /// Keeps the slice, or drops it as a change.
  void keep_or_drop(const SizedSlice& slice) {
    for (std::size_t changes = most_.size(); changes-- > 0;) {
      for (Size size = size_max_; size >= 0; --size) {
        const Rate kept = size >= slice.size ? at(changes, size - slice.size) : kNone;
        const Rate dropped = changes > 0 ? at(changes - 1, size) : kNone;
        at(changes, size) = std::max(kept == kNone ? kNone : kept + slice.rate, dropped);
      }
    }
  }

  /// Adds new slices, each a change.
  void add(const std::vector<SizedSlice>& slices) {
    for (std::size_t changes = 1; changes < most_.size(); ++changes) {
      for (const SizedSlice& slice : slices) {
        for (Size size = slice.size; size <= size_max_; ++size) {
          const Rate before = at(changes - 1, size - slice.size);
          if (before != kNone) at(changes, size) = std::max(at(changes, size), before + slice.rate);
        }
      }
    }
  }

  [[nodiscard]] Curve curve(Rate need) const {
    Curve curve;
    Size least = kNoSize;
    for (const std::vector<Rate>& by_size : most_) {
      const auto found = std::ranges::find_if(by_size, [&](Rate rate) { return rate >= need; });
      if (found != by_size.end()) least = std::min<Size>(least, found - by_size.begin());
      curve.push_back(least);
    }
    return curve;
  }

 private:
  Rate& at(std::size_t changes, Size size) { return most_[changes][static_cast<std::size_t>(size)]; }

  Size size_max_;
  std::vector<std::vector<Rate>> most_;
};

/// The size of the fewest slices that can meet a need: larger sizes of fewer changes are useless.
Size size_of_fewest(Rate need, const std::vector<SizedSlice>& slices) {
  SizedSlice best;
  for (const SizedSlice& slice : slices) {
    if (slice.rate > best.rate || (slice.rate == best.rate && slice.size < best.size)) best = slice;
  }
  return best.rate == 0 ? 0
                        : std::min<Size>((std::max<Rate>(need, 0) + best.rate - 1) / best.rate, kTableMax) * best.size;
}

/// The least size of a demand's slices, each as often as necessary: the value for more changes than the table has.
Size least_of_all(Rate need, const std::vector<SizedSlice>& standing, const std::vector<SizedSlice>& fresh) {
  std::vector<SizedSlice> all = fresh;
  all.insert(all.end(), standing.begin(), standing.end());
  return least_size(need, all);
}

std::int64_t bound_by(const TransitionView& view, const Measure& measure) {
  const auto capacity = capacity_of(view, measure, view.budget);
  std::vector<bool> is_offered;
  is_offered.reserve(view.offers.size());
  for (const OfferView& offer : view.offers) is_offered.push_back(offer.count_max > 0);
  Curve total = {0};
  for (std::size_t d = 0; d < view.demands.size(); ++d) {
    const DemandView& demand = view.demands[d];
    if (demand.need == 0) continue;
    SizeQuestion question = {static_cast<int>(d), demand.standing, is_offered, {demand.need, demand.rate_max, {}, {}}};
    for (const int i : demand.standing) {
      const StandingView& stood = view.standing[static_cast<std::size_t>(i)];
      question.cover.standing.push_back({stood.low, stood.best});
    }
    total = joined(total, size_curve(view, question, measure));
  }
  const auto fits = [&](Size size) { return capacity ? size <= *capacity : size < kNoSize; };
  const auto found = std::ranges::find_if(total, fits);
  return found == total.end() ? 0 : found - total.begin();
}

}  // namespace

Size size_at(const Curve& curve, std::int64_t changes) {
  if (changes < 0) return kNoSize;
  return curve[std::min(static_cast<std::size_t>(changes), curve.size() - 1)];
}

Curve joined(const Curve& a, const Curve& b) {
  Curve sum(a.size() + b.size() - 1, kNoSize);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == kNoSize || (i > 0 && a[i] == a[i - 1])) continue;
    for (std::size_t j = 0; j < b.size(); ++j) {
      if (b[j] == kNoSize || (j > 0 && b[j] == b[j - 1])) continue;
      sum[i + j] = std::min(sum[i + j], a[i] + b[j]);
    }
  }
  for (std::size_t i = 1; i < sum.size(); ++i) sum[i] = std::min(sum[i], sum[i - 1]);
  while (sum.size() > 1 && sum.back() == sum[sum.size() - 2]) sum.pop_back();
  return sum;
}

std::optional<Size> capacity_of(const TransitionView& view, const Measure& measure, std::int64_t price) {
  Size most = 0;
  for (const OfferView& offer : view.offers) {
    if (offer.count_max == 0) continue;
    if (offer.price == 0) return std::nullopt;
    // Whole GPUs of one model, or a mix: no mix holds more for the price than fractions of the best model.
    most = std::max(most, price * (offer.*measure.of_gpu) / offer.price);
  }
  return most;
}

Curve size_curve(const TransitionView& view, const SizeQuestion& question, const Measure& measure) {
  const std::vector<SizedSlice> standing = standing_slices(view, question.standing, measure);
  const std::vector<SizedSlice> fresh = new_slices(view, question, measure);
  Rate need = question.cover.need;
  for (const SliceRates& slice : question.cover.fixed) need -= slice.best;
  const Size least_new = least_size(need, fresh);
  const Size least = std::min(least_new, least_of_all(need, standing, fresh));
  const auto fewest = static_cast<std::size_t>(std::clamp<std::int64_t>(fewest_changes(question.cover), 0, kTableMax));
  Size size_max = least_new == kNoSize ? 0 : least_new;
  // All dropped, and as many new slices as fit into the size: no further change helps.
  const std::size_t changes_max = standing.size() + static_cast<std::size_t>(size_max);
  size_max = std::max(size_max, size_of_fewest(need, fresh));
  for (const SizedSlice& slice : standing) size_max += slice.size;
  const auto entries = static_cast<std::int64_t>(changes_max + 1) * (size_max + 1);
  Curve curve(fewest + 1, least);
  if (need > 0 && entries * static_cast<std::int64_t>(standing.size() + fresh.size()) <= kTableMax) {
    Table table(changes_max, size_max);
    for (const SizedSlice& slice : standing) table.keep_or_drop(slice);
    table.add(fresh);
    curve = table.curve(need);
    while (curve.size() <= fewest) curve.push_back(curve.back());
  }
  std::fill_n(curve.begin(), fewest, kNoSize);
  return curve;
}

std::int64_t changes_bound(const TransitionView& view) {
  const auto unwanted = std::ranges::count(view.standing, Rate{0}, &StandingView::best);
  return unwanted + std::max(bound_by(view, kComputeSlices), bound_by(view, kUnits));
}

}  // namespace berth::transition::detail
