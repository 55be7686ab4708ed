/// Tiny random transitions for tests, and every plan of one, found by trying all contents of all GPUs. Legality is
/// decided by the rules of MIG (`mig::find_clash`), not by the view.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "domain/mig/catalogue.h"
#include "planner/packing/pack.h"
#include "planner/packing/testing/first_fit.h"
#include "planner/packing/testing/reference.h"
#include "planner/transition/detail/cover.h"
#include "planner/transition/detail/view.h"
#include "planner/transition/transition.h"

namespace berth::transition::detail {

inline std::size_t ix(std::int64_t index) { return static_cast<std::size_t>(index); }

inline std::optional<Packing> first_fit(const PackingProblem& problem) {
  return packing::reference::FirstFit(problem).solve();
}

/// The arguments of `plan_transition`.
struct TransitionCase {
  PackingProblem problem;
  StandingPlan standing;
  packing::PackResult fewest;
};

/// Limits of a drawn transition.
struct TransitionSize {
  int demands_max = 3;
  int gpus_max = 3;  ///< existing ones
};

/// Draws a transition from one seed, on A30 and L4: points that are not usable, demands that are gone, tenants that
/// share a GPU and may not, any legal existing plan.
class TransitionGenerator {
 public:
  explicit TransitionGenerator(std::uint64_t seed, const TransitionSize& size = {})
      : rng_(Rng(seed).split("transition")), size_(size) {}

  /// Nothing if no plan was found for the new demands.
  [[nodiscard]] std::optional<TransitionCase> draw() {
    draw_offers();
    drawn_.problem.rules.keeps_tenants_apart = chance(25);
    for (int i = from(1, size_.demands_max); i > 0; --i) draw_demand();
    draw_standing();
    if (chance(15)) drawn_.problem.rules.headroom = Decimal(3, 2);
    const std::optional<Packing> packing = packing::reference::FirstFit(drawn_.problem).solve();
    if (!packing) return std::nullopt;
    drawn_.fewest.packing = *packing;
    // A first fit leaves room in the budget; the fewest GPUs leave little.
    if (chance(50)) {
      if (auto fewest = packing::pack(drawn_.problem, {.nodes_max = 20'000})) drawn_.fewest = *std::move(fewest);
    }
    return drawn_;
  }

 private:
  [[nodiscard]] int from(int low, int high) {
    return low + static_cast<int>(rng_.below(static_cast<std::uint64_t>(high - low) + 1));
  }
  [[nodiscard]] bool chance(int percent) { return from(1, 100) <= percent; }

  void draw_offers() {
    std::vector<GpuOffer>& offers = drawn_.problem.offers;
    offers.push_back({.model = *mig::find_gpu_model("A30-24GB")});
    if (chance(35)) offers.push_back({.model = *mig::find_gpu_model("L4-24GB")});
    const bool is_priced = chance(40);
    for (GpuOffer& offer : offers) {
      if (chance(15)) offer.count_max = from(0, 3);
      if (is_priced) offer.micro_usd_per_hour = chance(8) ? 0 : 100'000 * from(1, 4);
    }
  }

  void draw_demand() {
    PackingProblem& problem = drawn_.problem;
    const std::string name = "m" + std::to_string(problem.demands.size());
    problem.tables.push_back({.model = name, .points = {}});
    for (const GpuOffer& offer : problem.offers) {
      for (const ProfileId profile : packing::reference::all_profiles(offer.model)) {
        if (chance(chance_of_rows(offer.model, profile))) draw_rows(offer.model, profile);
      }
    }
    problem.demands.push_back({.model = name,
                               .tenant = chance(50) ? name : "shared",
                               .requests_per_second = chance(6) ? Decimal(0) : Decimal(from(1, 14), 2),
                               .latency_ms = Decimal(100)});
  }

  static int chance_of_rows(const GpuModel& model, ProfileId profile) {
    if (!model.is_mig_capable()) return 90;
    if (profile.is_full()) return 8;
    return model.profiles[profile.index].is_plain() ? 75 : 4;
  }

  void draw_rows(const GpuModel& model, ProfileId profile) {
    const int size = profile.is_full() ? 4 : model.profiles[profile.index].compute_slices;
    for (const int batch : {1, 4}) {
      if (batch > 1 && chance(50)) continue;
      drawn_.problem.tables.back().points.push_back({.gpu = model.name,
                                                     .profile = profile_name(model, profile),
                                                     .batch = batch,
                                                     .processes = chance(6) ? 4 : 1,
                                                     .requests_per_second = Decimal(std::int64_t{size} * from(2, 5), 2),
                                                     .latency_ms = Decimal(chance(6) ? 60 : 10)});
    }
  }

  void draw_standing() {
    StandingPlan& standing = drawn_.standing;
    standing.demands = drawn_.problem.demands;
    if (chance(20)) standing.demands.front().tenant = "gone";
    if (chance(20)) standing.demands.push_back({"other", "other", Decimal(3), Decimal(50)});
    if (chance(20)) standing.demands.front().latency_ms = Decimal(80);
    for (int gpus = from(0, size_.gpus_max); gpus > 0; --gpus) {
      const auto offer = static_cast<std::uint32_t>(rng_.below(drawn_.problem.offers.size()));
      standing.packing.gpu_offers.push_back(offer);
      draw_slices(drawn_.problem.offers[offer].model);
    }
    std::ranges::sort(standing.packing.slices, {}, &PackedSlice::slice);
  }

  /// On the last GPU.
  void draw_slices(const GpuModel& model) {
    mig::State state;
    for (int tries = from(0, 5); tries > 0; --tries) {
      const bool is_full = !model.is_mig_capable() || chance(10);
      mig::Placement site{0, is_full ? ProfileId::full() : drawn_profile(model)};
      if (!is_full) {
        const std::vector<int>& starts = model.profiles[site.profile.index].starts;
        site.start = starts[rng_.below(starts.size())];
      }
      state.push_back(site);
      if (mig::find_clash(model, state)) {
        state.pop_back();
        continue;
      }
      add_slice(model, site);
    }
  }

  /// Mostly a small one, so that several fit on one GPU.
  [[nodiscard]] ProfileId drawn_profile(const GpuModel& model) {
    const std::vector<ProfileId> profiles =
        chance(5) ? mig::all_rules(model).profiles : mig::plain_rules(model).profiles;
    return profiles[rng_.below(chance(60) ? 1 : profiles.size())];
  }

  /// A slice at one of its rows, or at a point that was never measured.
  void add_slice(const GpuModel& model, const mig::Placement& site) {
    StandingPlan& standing = drawn_.standing;
    const auto gpu = static_cast<std::uint32_t>(standing.packing.gpu_offers.size() - 1);
    PackedSlice packed{.slice = {.gpu = {gpu}, .start = site.start, .profile = site.profile},
                       .demand = static_cast<std::uint32_t>(rng_.below(standing.demands.size())),
                       .batch = 64,
                       .processes = 1,
                       .requests_per_second = Decimal(from(1, 6))};
    const PerformanceTable* table = drawn_.problem.table_of(standing.demands[packed.demand].model);
    for (const PerformancePoint& point : table == nullptr ? std::vector<PerformancePoint>{} : table->points) {
      if (point.gpu != model.name || point.profile != profile_name(model, site.profile)) continue;
      if (packed.batch < 64 && chance(50)) continue;
      packed.batch = point.batch;
      packed.processes = point.processes;
      packed.requests_per_second = point.requests_per_second;
    }
    standing.packing.slices.push_back(packed);
  }

  Rng rng_;
  TransitionSize size_;
  TransitionCase drawn_;
};

/// A transition of a seed, and its view.
struct DrawnCase {
  std::uint64_t seed = 0;
  TransitionCase drawn;
  TransitionView view;
};

/// The cases of `count` seeds (see `case_seeds`), without the seeds that give none. The views keep pointers into them.
[[nodiscard]] inline std::deque<DrawnCase> drawn_cases(std::uint64_t count) {
  std::deque<DrawnCase> cases;
  for (const std::uint64_t seed : berth::testing::case_seeds(count)) {
    std::optional<TransitionCase> drawn = TransitionGenerator(seed).draw();
    if (!drawn) continue;
    DrawnCase& each = cases.emplace_back(DrawnCase{.seed = seed, .drawn = std::move(*drawn), .view = {}});
    each.view = *view_of(each.drawn.problem, each.drawn.standing, each.drawn.fewest);
  }
  return cases;
}

/// Some choice of points carries the need and leaves no surplus slice.
inline bool is_tight_somehow(Rate need, const std::vector<SliceRates>& items) {
  for (std::uint32_t chosen = 0; chosen < (1U << items.size()); ++chosen) {
    Rate sum = 0;
    Rate least = INT64_MAX;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Rate rate = ((chosen >> i) & 1U) != 0 ? items[i].best : items[i].low;
      sum += rate;
      least = std::min(least, rate);
    }
    if (sum >= need && (items.empty() || sum - least < need)) return true;
  }
  return false;
}

/// Whether one is surplus at the lowest points; then it is surplus at any points and with any additional slices.
inline bool has_surplus(Rate need, const std::vector<SliceRates>& items) {
  Rate sum = 0;
  Rate least = INT64_MAX;
  for (const SliceRates& item : items) {
    sum += item.low;
    least = std::min(least, item.low);
  }
  return !items.empty() && sum - least >= need;
}

/// The two rates of a slice of a plan.
inline SliceRates item_on(const TransitionView& view, int gpu, const Held& held) {
  const auto at = [](int index) { return static_cast<std::size_t>(index); };
  if (held.standing != kNone) {
    return {view.standing[at(held.standing)].low, view.standing[at(held.standing)].best};
  }
  const std::size_t offer = at(view.gpus[at(gpu)].offer);
  const std::size_t kind = at(view.offers[offer].map.sites[at(held.site)].kind);
  const Rate rate = view.demands[at(held.demand)].rates[offer][kind];
  return {rate, rate};
}

/// Why a plan is not one of the view's, or nothing: sites, tenants, kept slices, the budget, the demands.
inline std::optional<std::string> find_plan_fault(const TransitionView& view, const SlicesByGpu& plan) {
  const auto at = [](int index) { return static_cast<std::size_t>(index); };
  if (plan.size() != view.gpus.size()) return "the plan has another number of sites";
  std::vector<std::vector<SliceRates>> items(view.demands.size());
  std::vector<std::int64_t> counts(view.offers.size(), 0);
  std::vector<bool> is_kept(view.standing.size(), false);
  std::int64_t price = 0;
  for (std::size_t gpu = 0; gpu < plan.size(); ++gpu) {
    const std::size_t offer = at(view.gpus[gpu].offer);
    mig::State state;
    for (const Held& held : plan[gpu]) {
      if (held.demand == kNone) return "a slice has no demand";
      state.push_back(view.offers[offer].map.sites[at(held.site)].placement());
      items[at(held.demand)].push_back(item_on(view, static_cast<int>(gpu), held));
      if (items[at(held.demand)].back().best == 0) return "a slice serves nothing";
      if (view.keeps_tenants_apart &&
          view.demands[at(held.demand)].tenant != view.demands[at(plan[gpu].front().demand)].tenant) {
        return "two tenants on one GPU";
      }
      if (held.standing == kNone) continue;
      const StandingView& stood = view.standing[at(held.standing)];
      if (stood.gpu != static_cast<int>(gpu) || stood.site != held.site || stood.demand != held.demand) {
        return "a slice is kept elsewhere than it stands";
      }
      if (is_kept[at(held.standing)]) return "a slice is kept twice";
      is_kept[at(held.standing)] = true;
    }
    if (auto clash = mig::find_clash(*view.offers[offer].model, state)) return clash;
    if (plan[gpu].empty()) continue;
    price += view.offers[offer].price;
    if (++counts[offer] > view.offers[offer].count_max) return "more GPUs than there are";
  }
  if (price > view.budget) return "beyond the budget";
  for (std::size_t d = 0; d < items.size(); ++d) {
    const Rate need = view.demands[d].need;
    if (need == 0 ? !items[d].empty() : !is_tight_somehow(need, items[d])) {
      return "demand " + std::to_string(d) + " is not served, or has a surplus slice";
    }
  }
  return std::nullopt;
}

/// Every plan of a view, by trying every content of every GPU. A slice of a demand at the site of one of its existing
/// slices counts as that one. New GPUs of one model are interchangeable: of plans that differ only in their order one
/// is visited.
class EveryPlan {
 public:
  using Visit = std::function<void(const SlicesByGpu& plan, std::int64_t changes)>;

  /// The GPUs that are not `free` keep what `fixed` has there.
  EveryPlan(const TransitionView& view, std::vector<bool> free, SlicesByGpu fixed)
      : view_(view), free_(std::move(free)), plan_(std::move(fixed)), items_(view.demands.size()) {
    counts_.assign(view.offers.size(), 0);
    for (std::size_t gpu = 0; gpu < plan_.size(); ++gpu) {
      contents_.push_back(free_[gpu] ? contents_of(static_cast<int>(gpu)) : std::vector<Content>{plan_[gpu]});
      plan_[gpu].clear();
    }
  }
  explicit EveryPlan(const TransitionView& view)
      : EveryPlan(view, std::vector<bool>(view.gpus.size(), true), SlicesByGpu(view.gpus.size())) {}

  /// False if there are too many, so that not all were visited.
  [[nodiscard]] bool visit(const Visit& visit) {
    visit_ = &visit;
    try_gpu(0, 0);
    return steps_ <= kStepsMax;
  }

  /// The fewest changes; INT64_MAX if there is no plan, nothing if there are too many.
  [[nodiscard]] std::optional<std::int64_t> fewest() {
    std::int64_t least = INT64_MAX;
    if (!visit([&](const SlicesByGpu&, std::int64_t changes) { least = std::min(least, changes); })) {
      return std::nullopt;
    }
    return least;
  }

 private:
  static constexpr std::int64_t kStepsMax = 200'000;

  using Content = std::vector<Held>;

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  [[nodiscard]] std::vector<Content> contents_of(int gpu) {
    const OfferView& offer = view_.offers[at(view_.gpus[at(gpu)].offer)];
    std::vector<Content> contents;
    mig::Rules rules;
    for (std::size_t kind = 0; kind < offer.map.kinds.size(); ++kind) {
      const auto runs = [&](const DemandView& demand) {
        return demand.need > 0 && demand.rates[at(view_.gpus[at(gpu)].offer)][kind] > 0;
      };
      if (std::ranges::none_of(view_.demands, runs)) continue;
      if (offer.map.kinds[kind].profile.is_full()) {
        Content content;
        assign(gpu, {{0, ProfileId::full()}}, content, contents);
      } else {
        rules.profiles.push_back(offer.map.kinds[kind].profile);
      }
    }
    const auto add = [&](const mig::State& state) {
      Content content;
      assign(gpu, state, content, contents);
    };
    if (offer.model->is_mig_capable()) {
      mig::for_each_state(*offer.model, rules, add);
    } else {
      contents.emplace_back();
    }
    return contents;
  }

  void assign(int gpu, const mig::State& state, Content& content, std::vector<Content>& contents) {
    if (++steps_ > kStepsMax) return;
    if (content.size() == state.size()) {
      contents.push_back(content);
      return;
    }
    const OfferView& offer = view_.offers[at(view_.gpus[at(gpu)].offer)];
    const int site = offer.site_of(state[content.size()]);
    for (int d = 0; d < static_cast<int>(view_.demands.size()); ++d) {
      const DemandView& demand = view_.demands[at(d)];
      const Held held{site, d, standing_at(gpu, site, d)};
      if (demand.need == 0 || item_on(view_, gpu, held).best == 0) continue;
      if (view_.keeps_tenants_apart && !content.empty() &&
          view_.demands[at(content.front().demand)].tenant != demand.tenant) {
        continue;
      }
      content.push_back(held);
      assign(gpu, state, content, contents);
      content.pop_back();
    }
  }

  [[nodiscard]] int standing_at(int gpu, int site, int demand) const {
    for (std::size_t i = 0; i < view_.standing.size(); ++i) {
      const StandingView& stood = view_.standing[i];
      if (stood.gpu == gpu && stood.site == site && stood.demand == demand && stood.best > 0) {
        return static_cast<int>(i);
      }
    }
    return kNone;
  }

  void try_gpu(std::size_t gpu, std::size_t first) {
    if (++steps_ > kStepsMax) return;
    if (gpu == contents_.size()) return finish();
    const std::size_t offer = at(view_.gpus[gpu].offer);
    for (std::size_t i = first; i < contents_[gpu].size(); ++i) {
      const Content& content = contents_[gpu][i];
      const bool is_used = !content.empty();
      if (is_used &&
          (price_ + view_.offers[offer].price > view_.budget || counts_[offer] >= view_.offers[offer].count_max)) {
        continue;
      }
      for (const Held& held : content) {
        items_[at(held.demand)].push_back(item_on(view_, static_cast<int>(gpu), held));
      }
      if (!is_any_surplus(content)) {
        price_ += is_used ? view_.offers[offer].price : 0;
        counts_[offer] += is_used ? 1 : 0;
        plan_[gpu] = content;
        try_gpu(gpu + 1, is_twin(gpu + 1) ? i : 0);
        plan_[gpu].clear();
        counts_[offer] -= is_used ? 1 : 0;
        price_ -= is_used ? view_.offers[offer].price : 0;
      }
      for (const Held& held : content) items_[at(held.demand)].pop_back();
    }
  }

  [[nodiscard]] bool is_any_surplus(const Content& content) const {
    return std::ranges::any_of(content, [&](const Held& held) {
      return has_surplus(view_.demands[at(held.demand)].need, items_[at(held.demand)]);
    });
  }

  /// Whether it is a new GPU after a new one of the same model.
  [[nodiscard]] bool is_twin(std::size_t gpu) const {
    if (gpu == 0 || gpu >= view_.gpus.size() || !free_[gpu] || !free_[gpu - 1]) return false;
    const GpuView& own = view_.gpus[gpu];
    const GpuView& before = view_.gpus[gpu - 1];
    return !own.is_standing && !before.is_standing && own.offer == before.offer;
  }

  void finish() {
    for (std::size_t d = 0; d < items_.size(); ++d) {
      if (!is_tight_somehow(view_.demands[d].need, items_[d])) return;
    }
    std::int64_t changes = std::ssize(view_.standing);
    for (const Content& content : plan_) {
      for (const Held& held : content) changes += held.standing == kNone ? 1 : -1;
    }
    (*visit_)(plan_, changes);
  }

  const TransitionView& view_;
  std::vector<bool> free_;
  SlicesByGpu plan_;
  std::vector<std::vector<SliceRates>> items_;  ///< by demand
  std::vector<std::vector<Content>> contents_;  ///< by GPU
  std::vector<std::int64_t> counts_;
  std::int64_t price_ = 0;
  std::int64_t steps_ = 0;
  const Visit* visit_ = nullptr;
};

/// One of all plans, each equally likely; nothing if there are none, or too many.
inline std::optional<SlicesByGpu> any_plan(const TransitionView& view, Rng& rng) {
  std::optional<SlicesByGpu> chosen;
  std::uint64_t seen = 0;
  const bool are_all = EveryPlan(view).visit([&](const SlicesByGpu& plan, std::int64_t) {
    if (rng.below(++seen) == 0) chosen = plan;
  });
  return are_all ? chosen : std::nullopt;
}

}  // namespace berth::transition::detail
