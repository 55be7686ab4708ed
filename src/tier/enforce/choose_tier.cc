#include "tier/enforce/choose_tier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace berth::tier {
namespace {

/// A model that turns out to be dearer is left again after this part of the time for which moves are remembered.
constexpr double kPartUntilLeft =
    static_cast<double>(kSavingApart.count()) / static_cast<double>(kSavingMemory.count());

/// A model as it is judged for a question.
struct JudgedTier {
  const TierOffer* offer = nullptr;
  double probability = 0;
  std::vector<double> usd_at_levels;   ///< of its levels, the surest first; empty: it does not surely carry every rate
  std::optional<double> usd_per_hour;  ///< what it is expected to cost; absent: likewise
  double capacity = 0;                 ///< at the rows that are sure enough

  [[nodiscard]] bool is_sufficient() const { return usd_per_hour.has_value(); }
};

/// What the model costs for these rates at each level; a level at which it cannot carry them costs as much as the
/// dearest of the others. Requires: it carries them at one of its levels.
std::vector<double> usd_at_levels(const TierOffer& offer, std::span<const double> rates) {
  std::vector<std::optional<double>> found;
  double most = 0;
  for (const OfferLevel& level : offer.levels) {
    found.push_back(mean_usd_per_hour(level.offers, offer.gpus, rates));
    most = std::max(most, found.back().value_or(0));
  }
  std::vector<double> usd;
  usd.reserve(found.size());
  for (const auto& each : found) usd.push_back(each.value_or(most));
  return usd;
}

/// The mean of f over the levels, each of which stands for the speeds that are nearest to it.
template <class Function>
double mean_over_levels(const std::vector<OfferLevel>& levels, Function f) {
  double sum = 0;
  double from = 1;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const double until = i + 1 == levels.size() ? 0 : (levels[i].sure + levels[i + 1].sure) / 2;
    sum += (from - until) * f(i);
    from = until;
  }
  return sum;
}

class TierChooser {
 public:
  TierChooser(const TierQuestion& question, TierMemory& memory) : question_(question), memory_(memory) {
    most_ = *std::ranges::max_element(question.rates);
    for (const TierOffer& offer : question.tiers) judged_.push_back(judge(offer));
    const std::optional<double> otherwise = usd_otherwise();
    for (JudgedTier& tier : judged_) {
      if (!tier.usd_at_levels.empty()) tier.usd_per_hour = expected_usd(tier, otherwise);
    }
  }

  std::optional<TierChoice> choose() {
    note_shortage();
    if (memory_.gpu.empty()) return begin();
    const JudgedTier* now = find(memory_.gpu);
    if (now == nullptr) return move(best({}), "its model is not in the fleet any more");
    if (auto choice = leave_missed(*now)) return choice;
    if (auto choice = leave_without_room()) return choice;
    return save(*now);
  }

 private:
  [[nodiscard]] JudgedTier judge(const TierOffer& offer) const {
    JudgedTier judged{.offer = &offer, .probability = 0, .usd_at_levels = {}, .usd_per_hour = {}, .capacity = 0};
    if (!offer.has_rows || offer.levels.empty()) return judged;
    const OfferLevel& level = offer.level_for(question_.sure);
    judged.probability = probability_of(offer, most_);
    if (mean_usd_per_hour(level.offers, offer.gpus, question_.rates)) {
      judged.usd_at_levels = usd_at_levels(offer, question_.rates);
    }
    judged.capacity = capacity_of(level.offers, offer.gpus);
    return judged;
  }

  /// What it costs without a model that is only predicted: that of its model, or, as long as it has none, the least of
  /// those that are known. Nothing: no such model is sufficient.
  [[nodiscard]] std::optional<double> usd_otherwise() const {
    std::optional<double> least;
    for (const JudgedTier& tier : judged_) {
      if (tier.usd_at_levels.empty() || tier.offer->is_predicted) continue;
      if (!memory_.gpu.empty() && tier.offer->gpu != memory_.gpu) continue;
      least = std::min(least.value_or(tier.usd_at_levels.front()), tier.usd_at_levels.front());
    }
    return least;
  }

  /// The mean over what a predicted model may cost. Where that is more than `otherwise`, it is left again.
  [[nodiscard]] static double expected_usd(const JudgedTier& tier, std::optional<double> otherwise) {
    return mean_over_levels(tier.offer->levels, [&](std::size_t level) {
      const double usd = tier.usd_at_levels[level];
      if (!tier.offer->is_predicted || !otherwise || usd <= *otherwise) return usd;
      return kPartUntilLeft * usd + (1 - kPartUntilLeft) * *otherwise;
    });
  }

  [[nodiscard]] const JudgedTier* find(const std::string& gpu) const {
    const auto found = std::ranges::find_if(judged_, [&](const JudgedTier& tier) { return tier.offer->gpu == gpu; });
    return found == judged_.end() ? nullptr : &*found;
  }

  /// The cheapest sufficient model but that one, and those that were left for want of room within so much time; nullptr
  /// if there is none.
  [[nodiscard]] const JudgedTier* best(const std::string& except, Micros full_for = kSavingApart) const {
    const JudgedTier* best = nullptr;
    for (const JudgedTier& tier : judged_) {
      if (!tier.is_sufficient() || tier.offer->gpu == except || was_full(tier.offer->gpu, full_for)) continue;
      if (best == nullptr || *tier.usd_per_hour < *best->usd_per_hour) best = &tier;
    }
    return best;
  }

  /// The model that most likely keeps the target, where none does surely enough.
  [[nodiscard]] const JudgedTier* likeliest() const {
    const JudgedTier* best = nullptr;
    const auto rank = [](const JudgedTier& tier) { return std::pair(tier.probability, tier.capacity); };
    for (const JudgedTier& tier : judged_) {
      if (!tier.offer->has_rows) continue;
      if (best == nullptr || rank(tier) > rank(*best)) best = &tier;
    }
    return best;
  }

  [[nodiscard]] bool was_full(const std::string& gpu, Micros within) const {
    const auto left = memory_.without_room.find(gpu);
    return left != memory_.without_room.end() && question_.now < left->second + within;
  }

  void note_shortage() {
    if (!question_.is_short) {
      memory_.short_since.reset();
    } else if (!memory_.short_since) {
      memory_.short_since = question_.now;
    }
  }

  std::optional<TierChoice> begin() {
    if (const JudgedTier* tier = best({})) return move(tier, "the cheapest model that keeps the target surely enough");
    return move(likeliest(), "no model keeps the target surely enough; this one does most likely");
  }

  std::optional<TierChoice> leave_missed(const JudgedTier& now) {
    const bool is_missed =
        !now.offer->has_rows || (!now.offer->is_predicted && now.offer->levels.front().offers.empty());
    if (!is_missed) return std::nullopt;
    const std::string why = fmt::format("measured: no slice of {} keeps the latency target", now.offer->gpu);
    if (const JudgedTier* tier = best(now.offer->gpu)) return move(tier, why);
    const JudgedTier* tier = likeliest();
    if (tier == nullptr || tier->probability <= now.probability) return std::nullopt;
    return move(tier, why + "; this model does most likely");
  }

  std::optional<TierChoice> leave_without_room() {
    if (!memory_.short_since || question_.now < *memory_.short_since + kWithoutRoom) return std::nullopt;
    const JudgedTier* tier = best(memory_.gpu);
    if (tier == nullptr) return std::nullopt;
    memory_.without_room[memory_.gpu] = question_.now;
    return move(tier, fmt::format("no room for its load on {} for {:.0f} s", memory_.gpu,
                                  (question_.now - *memory_.short_since).to_seconds()));
  }

  std::optional<TierChoice> save(const JudgedTier& now) {
    if (question_.now < memory_.chosen_at + kSavingAfter) return std::nullopt;
    std::vector<Instant>& saved = memory_.saved_at;
    if (!saved.empty() && question_.now < saved.back() + kSavingApart) return std::nullopt;
    std::erase_if(saved, [&](Instant at) { return at + kSavingMemory <= question_.now; });
    const std::size_t moves = saved.size() + leaves_without_room();
    if (moves >= kSavingMoves) return std::nullopt;
    const JudgedTier* tier = best(memory_.gpu, kSavingMemory);
    if (tier == nullptr || !now.usd_per_hour) return std::nullopt;
    const double share = kSavingShare * std::exp2(static_cast<double>(moves));
    if (*tier->usd_per_hour > *now.usd_per_hour * (1 - share)) return std::nullopt;
    saved.push_back(question_.now);
    return move(tier,
                fmt::format("saves {:.0f} % of {:.4g} USD per hour on {}",
                            100 * (1 - *tier->usd_per_hour / *now.usd_per_hour), *now.usd_per_hour, now.offer->gpu));
  }

  /// Within kSavingMemory. They move the service as much as savings do.
  [[nodiscard]] std::size_t leaves_without_room() const {
    const auto is_recent = [&](const auto& left) { return question_.now < left.second + kSavingMemory; };
    return static_cast<std::size_t>(std::ranges::count_if(memory_.without_room, is_recent));
  }

  std::optional<TierChoice> move(const JudgedTier* tier, std::string why) {
    if (tier == nullptr || tier->offer->gpu == memory_.gpu) return std::nullopt;
    memory_.gpu = tier->offer->gpu;
    memory_.chosen_at = question_.now;
    memory_.short_since.reset();
    TierChoice choice{.service = {},
                      .at = question_.now,
                      .gpu = tier->offer->gpu,
                      .is_predicted = tier->offer->is_predicted,
                      .probability = tier->probability,
                      .usd_per_hour = tier->usd_per_hour.value_or(0),
                      .reason = std::move(why),
                      .rejected = {}};
    for (const JudgedTier& other : judged_) {
      if (&other != tier) choice.rejected.push_back({.gpu = other.offer->gpu, .why = why_not(other, *tier)});
    }
    return choice;
  }

  [[nodiscard]] std::string why_not(const JudgedTier& tier, const JudgedTier& chosen) const {
    if (!tier.offer->has_rows) return "the service's profile has no row for it";
    if (was_full(tier.offer->gpu, kSavingMemory)) {
      return fmt::format("had no room for the load within the last {:.0f} hours", kSavingMemory.to_seconds() / 3600);
    }
    if (tier.is_sufficient() && chosen.is_sufficient()) {
      return fmt::format("{:.4g} USD per hour, against {:.4g}", *tier.usd_per_hour, *chosen.usd_per_hour);
    }
    if (!tier.offer->is_predicted && tier.offer->levels.front().offers.empty()) {
      return "no slice of it keeps the latency target";
    }
    if (tier.probability < question_.sure) {
      return fmt::format("keeps {:.4g} requests per second within the target with probability {:.3g}, below {:.3g}",
                         most_, tier.probability, question_.sure);
    }
    return fmt::format("carries {:.4g} of {:.4g} requests per second", tier.capacity, most_);
  }

  const TierQuestion& question_;
  TierMemory& memory_;
  double most_ = 0;  ///< the highest of the rates
  std::vector<JudgedTier> judged_;
};

}  // namespace

std::optional<TierChoice> choose_tier(const TierQuestion& question, TierMemory& memory) {
  return TierChooser(question, memory).choose();
}

}  // namespace berth::tier
