#include "planner/packing/detail/beam.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/core/ensure.h"

namespace berth::packing::detail {
namespace {

/// The most covers of one demand in a search; more of them only widen it.
constexpr std::size_t kCoversMax = 30'000;
constexpr std::size_t kCoversEnough = 600;
/// Nodes for all lists of covers of one search, and for one of them.
constexpr std::int64_t kListNodesMax = 2'000'000;
constexpr std::int64_t kCoverNodesMax = 400'000;

/// Instead of a cover: a pool was closed here.
constexpr std::uint32_t kPoolEnd = UINT32_MAX;

/// Multipliers of a hash that adds up: hash(a + b) = hash(a) + hash(b).
std::vector<std::uint64_t> hash_factors(std::size_t count) {
  std::vector<std::uint64_t> factors;
  factors.reserve(count);
  std::uint64_t state = 0x9e3779b97f4a7c15;
  for (std::size_t i = 0; i < count; ++i) {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    factors.push_back((mixed ^ (mixed >> 31)) | 1);
  }
  return factors;
}

/// Finds states by their hash: open addressing, at most half full.
class HashIndex {
 public:
  /// The slot of the first state with this hash for which `is_same` holds, or an empty one.
  template <class Same>
  std::uint32_t& slot(const std::vector<std::uint64_t>& hashes, std::uint64_t hash, const Same& is_same) {
    if (2 * (hashes.size() + 1) > slots_.size()) rebuild(hashes);
    for (std::size_t i = hash >> shift_;; i = (i + 1) & (slots_.size() - 1)) {
      std::uint32_t& found = slots_[i];
      if (found == kEmpty || (hashes[found] == hash && is_same(found))) return found;
    }
  }
  void forget() { slots_.clear(); }

  static constexpr std::uint32_t kEmpty = UINT32_MAX;

 private:
  void rebuild(const std::vector<std::uint64_t>& hashes) {
    std::size_t size = 1024;
    shift_ = 54;
    while (size < 4 * (hashes.size() + 1)) {
      size *= 2;
      --shift_;
    }
    slots_.assign(size, kEmpty);
    for (std::uint32_t s = 0; s < hashes.size(); ++s) {
      std::size_t i = hashes[s] >> shift_;
      while (slots_[i] != kEmpty) i = (i + 1) & (size - 1);
      slots_[i] = s;
    }
  }

  std::vector<std::uint32_t> slots_;
  int shift_ = 54;
};

}  // namespace

/// The size of a plan: fewer slices are less, then fewer SMs.
struct Beam::Size {
  std::int64_t slices = 0;
  std::int64_t sms = 0;

  friend auto operator<=>(const Size&, const Size&) = default;
  friend Size operator+(const Size& a, const Size& b) { return {a.slices + b.slices, a.sms + b.sms}; }
};

/// A cover with its additions to every state that takes it.
struct Beam::ListedCover {
  Counts counts;
  Size size;
  std::uint64_t hash = 0;
};

/// The states of a layer. Row r of state s is at used[s x rows + r], and so on.
struct Beam::Layer {
  std::size_t kinds = 0;
  std::size_t rows = 0;
  std::size_t offers = 0;
  std::vector<std::int32_t> counts;  ///< of the open pool, with the extra slices in the first one
  std::vector<std::int64_t> used;    ///< by row: the weight of everything so far
  std::vector<std::int64_t> gpus;    ///< by offer: of the closed pools
  std::vector<Size> sizes;
  std::vector<std::uint64_t> hashes;
  std::vector<Origin> origins;
  HashIndex index;

  [[nodiscard]] std::size_t size() const { return sizes.size(); }
  [[nodiscard]] std::span<const std::int32_t> counts_of(std::size_t state) const {
    return {counts.data() + state * kinds, kinds};
  }
  [[nodiscard]] std::span<const std::int64_t> used_of(std::size_t state) const {
    return {used.data() + state * rows, rows};
  }
  [[nodiscard]] std::span<const std::int64_t> gpus_of(std::size_t state) const {
    return {gpus.data() + state * offers, offers};
  }
  [[nodiscard]] Layer empty_copy() const {
    Layer layer;
    layer.kinds = kinds;
    layer.rows = rows;
    layer.offers = offers;
    return layer;
  }
  void append(const Layer& from, std::size_t state) {
    counts.insert(counts.end(), from.counts_of(state).begin(), from.counts_of(state).end());
    used.insert(used.end(), from.used_of(state).begin(), from.used_of(state).end());
    gpus.insert(gpus.end(), from.gpus_of(state).begin(), from.gpus_of(state).end());
    sizes.push_back(from.sizes[state]);
    hashes.push_back(from.hashes[state]);
    origins.push_back(from.origins[state]);
  }

  /// The state of `from` with one more cover. States with the same usage are merged; the smallest size is kept.
  void add_sum(const Layer& from, std::size_t state, const ListedCover& cover, std::span<const std::int64_t> weight,
               std::uint32_t cover_index) {
    const std::span<const std::int32_t> base = from.counts_of(state);
    const std::uint64_t hash = from.hashes[state] + cover.hash;
    const Size size_now = from.sizes[state] + cover.size;
    const auto is_same = [&](std::uint32_t other) {
      const std::span<const std::int32_t> there = counts_of(other);
      for (std::size_t k = 0; k < kinds; ++k) {
        if (there[k] != base[k] + cover.counts[k]) return false;
      }
      return std::ranges::equal(gpus_of(other), from.gpus_of(state));
    };
    const Origin origin = {static_cast<std::uint32_t>(state), cover_index};
    std::uint32_t& slot = index.slot(hashes, hash, is_same);
    if (slot != HashIndex::kEmpty) {
      if (size_now < sizes[slot]) {
        sizes[slot] = size_now;
        origins[slot] = origin;
      }
      return;
    }
    slot = static_cast<std::uint32_t>(size());
    for (std::size_t k = 0; k < kinds; ++k) counts.push_back(base[k] + cover.counts[k]);
    for (std::size_t r = 0; r < rows; ++r) used.push_back(from.used_of(state)[r] + weight[r]);
    gpus.insert(gpus.end(), from.gpus_of(state).begin(), from.gpus_of(state).end());
    sizes.push_back(size_now);
    hashes.push_back(hash);
    origins.push_back(origin);
  }

  /// A state at the end of a pool: GPUs, slices and the start of the next pool. Among states with the same GPUs the
  /// smallest is kept.
  void add_closed(const std::vector<std::int64_t>& closed_gpus, const std::vector<std::int64_t>& weights,
                  const Size& size_now, std::uint32_t parent, const Counts& begun) {
    std::uint64_t hash = 0;
    for (const std::int64_t g : closed_gpus) hash = hash * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(g);
    const auto is_same = [&](std::uint32_t other) { return std::ranges::equal(gpus_of(other), closed_gpus); };
    std::uint32_t& slot = index.slot(hashes, hash, is_same);
    if (slot != HashIndex::kEmpty) {
      if (size_now >= sizes[slot]) return;
      sizes[slot] = size_now;
      origins[slot] = {parent, kPoolEnd};
      std::ranges::copy(weights, used.begin() + static_cast<std::ptrdiff_t>(slot * rows));
      return;
    }
    slot = static_cast<std::uint32_t>(size());
    counts.insert(counts.end(), begun.begin(), begun.end());
    used.insert(used.end(), weights.begin(), weights.end());
    gpus.insert(gpus.end(), closed_gpus.begin(), closed_gpus.end());
    sizes.push_back(size_now);
    hashes.push_back(hash);
    origins.push_back({parent, kPoolEnd});
  }
};

Beam::Beam(const Instance& instance, std::span<GpuFiller> fillers, const PlanLimits& limits,
           std::vector<LimitedRow> rows, Budget& budget)
    : instance_(instance), fillers_(fillers), limits_(limits), rows_(std::move(rows)), budget_(budget) {
  add_offer_rows();
  add_slice_row();
  weigh_demands();
  if (!is_hopeless_) list_covers();
}

Beam::~Beam() = default;

/// The most GPUs of an offer that a plan may have; kNone: any number.
std::int64_t Beam::gpus_max_of(std::size_t offer) const {
  std::int64_t most = std::min(limits_.gpus_max, instance_.offers[offer].count_max.value_or(PlanLimits::kNone));
  if (limits_.offer_gpus_max) most = std::min(most, (*limits_.offer_gpus_max)[offer]);
  const std::int64_t price = instance_.offers[offer].price;
  if (price > 0 && limits_.price_max != PlanLimits::kNone) most = std::min(most, limits_.price_max / price);
  return most;
}

void Beam::add_offer_rows() {
  for (std::size_t o = 0; o < instance_.offers.size(); ++o) {
    const std::int64_t gpus_max = gpus_max_of(o);
    if (gpus_max > kSlicesMax) continue;
    for (const GpuRow& row : fillers_[o].rows()) {
      LimitedRow limited;
      limited.row.weights.by_kind = row.weights;
      limited.row.gpu_value.assign(instance_.offers.size(), 0);
      limited.row.gpu_value[o] = row.value;
      limited.limit = row.value * gpus_max;
      rows_.push_back(std::move(limited));
    }
  }
}

void Beam::add_slice_row() {
  LimitedRow limited;
  limited.row.weights = {std::vector<std::int64_t>(instance_.kinds.size(), 0), 1};
  limited.row.gpu_value.assign(instance_.offers.size(), 0);
  limited.limit = std::min(limits_.slices_max, 2 * kSlicesMax);
  rows_.push_back(std::move(limited));
}

void Beam::weigh_demands() {
  const std::size_t demand_count = instance_.demands.size();
  least_.assign(demand_count, {});
  rest_.assign(demand_count + 1, std::vector<std::int64_t>(rows_.size(), 0));
  for (std::size_t d = demand_count; d-- > 0;) {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      least_[d].push_back(lightest_cover(instance_.demands[d], rows_[r].row.weights).bound);
      rest_[d][r] = rest_[d + 1][r] + least_[d][r];
    }
  }
  weigh_extra();
}

/// The extra slices count from the start, for any pool.
void Beam::weigh_extra() {
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    extra_weight_.push_back(Weights{rows_[r].row.weights.by_kind, 0}.of(limits_.extra));
    slack_.push_back(rows_[r].limit - rest_[0][r] - extra_weight_[r]);
    if (slack_.back() < 0) is_hopeless_ = true;
    for (std::size_t d = 0; d < instance_.demands.size() && instance_.demands[d].pool < limits_.extra_pool; ++d) {
      rest_[d][r] += extra_weight_[r];
    }
  }
}

/// Whether the pool of the extra slices begins with this demand.
bool Beam::is_extra_opened_at(std::size_t position) const {
  if (position == instance_.demands.size() || instance_.demands[position].pool != limits_.extra_pool) return false;
  return position == 0 || instance_.demands[position - 1].pool != limits_.extra_pool;
}

/// All covers that some plan within the limits could use; if there are too many, those near the lightest.
std::vector<Counts> Beam::covers_within(std::size_t demand) {
  const auto demand_count = static_cast<std::int64_t>(instance_.demands.size());
  const std::int64_t nodes_max = std::min(kCoverNodesMax, kListNodesMax / demand_count);
  CoverList list;
  for (std::int64_t divisor = 1; divisor == 1 || slack_[0] / divisor > 0; divisor *= 4) {
    std::vector<CoverLimit> limits;
    limits.reserve(rows_.size());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      // Only the tightest row is made tighter: the others exclude plans, they do not rank them.
      const std::int64_t slack = r == 0 ? slack_[r] / divisor : slack_[r];
      limits.push_back({&rows_[r].row.weights, least_[demand][r] + slack});
    }
    Budget own = {.nodes_max = std::min(nodes_max, budget_.nodes_max - budget_.nodes), .nodes = 0};
    CoverList nearer = minimal_covers(instance_.demands[demand], limits, kCoversMax, own);
    budget_.nodes += own.nodes;
    if (divisor > 1 && nearer.covers.empty()) break;
    list = std::move(nearer);
    if (divisor > 1 || !list.is_complete) has_all_covers_ = false;
    if (list.is_complete || budget_.is_spent()) break;
  }
  return std::move(list.covers);
}

void Beam::list_covers() {
  const std::vector<std::uint64_t> factors = hash_factors(instance_.kinds.size());
  for (std::size_t d = 0; d < instance_.demands.size(); ++d) {
    std::vector<ListedCover> listed;
    std::vector<std::int64_t> weights;
    for (Counts& cover : covers_within(d)) {
      for (const LimitedRow& row : rows_) weights.push_back(row.row.weights.of(cover));
      ListedCover entry{.counts = std::move(cover), .size = {}, .hash = 0};
      for (std::size_t k = 0; k < entry.counts.size(); ++k) {
        const std::int64_t n = entry.counts[k];
        entry.size = entry.size + Size{n, n * instance_.kinds[k].sms};
        entry.hash += static_cast<std::uint64_t>(n) * factors[k];
      }
      listed.push_back(std::move(entry));
    }
    covers_.push_back(std::move(listed));
    cover_weights_.push_back(std::move(weights));
  }
}

Beam::Layer Beam::first_layer() const {
  Layer layer;
  layer.kinds = instance_.kinds.size();
  layer.rows = rows_.size();
  layer.offers = instance_.offers.size();
  const bool has_extra = is_extra_opened_at(0);
  layer.counts = has_extra ? limits_.extra : Counts(layer.kinds, 0);
  layer.used = has_extra ? extra_weight_ : std::vector<std::int64_t>(layer.rows, 0);
  layer.gpus.assign(layer.offers, 0);
  layer.sizes = {{}};
  layer.hashes = {0};
  layer.origins = {{}};
  return layer;
}

/// Serves one more demand in every way from every state.
Beam::Layer Beam::expand(const Layer& from, std::size_t position, std::size_t width) {
  const std::vector<ListedCover>& covers = covers_[position];
  const std::vector<std::int64_t>& rest = rest_[position + 1];
  const std::size_t covers_max = std::min(covers.size(), std::max(kCoversEnough, width * 4));
  if (covers_max < covers.size()) is_complete_ = false;
  Layer next = from.empty_copy();
  for (std::size_t s = 0; s < from.size() && !budget_.is_spent(); ++s) {
    const std::span<const std::int64_t> used = from.used_of(s);
    for (std::size_t c = 0; c < covers_max; ++c) {
      ++budget_.nodes;
      const std::int64_t* const weight = cover_weights_[position].data() + c * rows_.size();
      std::size_t r = 0;
      while (r < rows_.size() && used[r] + weight[r] + rest[r] <= rows_[r].limit) ++r;
      if (r == 0) break;  // covers ascend by the weight of row 0
      if (r == rows_.size()) {
        next.add_sum(from, s, covers[c], {weight, rows_.size()}, static_cast<std::uint32_t>(c));
      }
    }
    if (next.size() > 8 * width) narrow(next, position + 1, 2 * width);
  }
  if (budget_.is_spent()) is_complete_ = false;
  narrow(next, position + 1, width);
  return next;
}

/// How close a state is to the limit of some row, from 0 (as light as possible) to 1 (at a limit).
double Beam::tightness(const Layer& layer, std::size_t state, std::size_t position) const {
  double tightest = 0;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const auto left = static_cast<double>(rows_[r].limit - layer.used_of(state)[r] - rest_[position][r]);
    tightest = std::max(tightest, 1 - left / (static_cast<double>(slack_[r]) + 1));
  }
  return tightest;
}

/// Keeps the `width` states that are farthest from every limit.
void Beam::narrow(Layer& layer, std::size_t position, std::size_t width) {
  if (layer.size() <= width) return;
  is_complete_ = false;
  std::vector<std::pair<double, std::size_t>> ranked;
  ranked.reserve(layer.size());
  for (std::size_t s = 0; s < layer.size(); ++s) ranked.emplace_back(tightness(layer, s, position), s);
  std::ranges::nth_element(ranked, ranked.begin() + static_cast<std::ptrdiff_t>(width));
  ranked.resize(width);
  std::ranges::sort(ranked, {}, [](const auto& entry) { return entry.second; });
  Layer kept = layer.empty_copy();
  for (const auto& [unused, s] : ranked) kept.append(layer, s);
  layer = std::move(kept);
}

/// The GPUs that a state needs once its pool is closed, by offer. Nothing: more than the limits allow.
std::optional<std::vector<std::int64_t>> Beam::gpus_when_closed(const Layer& from, std::size_t state) {
  const Counts counts(from.counts_of(state).begin(), from.counts_of(state).end());
  std::vector<std::int64_t> gpus(from.gpus_of(state).begin(), from.gpus_of(state).end());
  std::int64_t price = 0;
  std::int64_t all = 0;
  std::int64_t price_at_best = 0;
  std::int64_t all_at_best = 0;
  bool is_allowed = true;
  bool may_be_allowed = true;
  for (std::size_t o = 0; o < gpus.size(); ++o) {
    if (gpus[o] + fillers_[o].bound_for(counts) > gpus_max_of(o)) return std::nullopt;
    const GpusNeeded needed = fillers_[o].gpus_for(counts, budget_);
    const std::int64_t at_best = gpus[o] + needed.bound;
    gpus[o] += needed.gpus;
    if (needed.gpus > needed.bound && instance_.pool_count > 1) is_complete_ = false;
    if (gpus[o] > gpus_max_of(o)) is_allowed = false;
    if (at_best > gpus_max_of(o)) may_be_allowed = false;
    price += gpus[o] * instance_.offers[o].price;
    price_at_best += at_best * instance_.offers[o].price;
    all += gpus[o];
    all_at_best += at_best;
  }
  if (is_allowed && price <= limits_.price_max && all <= limits_.gpus_max) return gpus;
  // An undiscovered better partition might have been allowed: then nothing is proven.
  if (may_be_allowed && price_at_best <= limits_.price_max && all_at_best <= limits_.gpus_max) is_complete_ = false;
  return std::nullopt;
}

/// Turns the slices of a pool into GPUs. States with too many GPUs are removed.
Beam::Layer Beam::close_pool(const Layer& from, std::size_t position) {
  Layer next = from.empty_copy();
  const bool opens_extra = is_extra_opened_at(position);
  const Counts begun = opens_extra ? limits_.extra : Counts(next.kinds, 0);
  for (std::size_t s = 0; s < from.size(); ++s) {
    const std::optional<std::vector<std::int64_t>> gpus = gpus_when_closed(from, s);
    if (!gpus) continue;
    std::vector<std::int64_t> weights;
    bool may_end_well = true;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      std::int64_t weight =
          rows_[r].row.weights.per_slice * from.sizes[s].slices + (opens_extra ? extra_weight_[r] : 0);
      for (std::size_t o = 0; o < gpus->size(); ++o) weight += rows_[r].row.gpu_value[o] * (*gpus)[o];
      if (weight + rest_[position][r] > rows_[r].limit) may_end_well = false;
      weights.push_back(weight);
    }
    if (may_end_well) next.add_closed(*gpus, weights, from.sizes[s], static_cast<std::uint32_t>(s), begun);
  }
  return next;
}

/// The finished state with the least price, then the fewest GPUs, then the least size.
std::optional<std::size_t> Beam::pick_finished(const Layer& closed) const {
  std::optional<std::size_t> best;
  std::tuple<std::int64_t, std::int64_t, Size> best_score;
  for (std::size_t s = 0; s < closed.size(); ++s) {
    std::int64_t price = 0;
    std::int64_t gpus = 0;
    for (std::size_t o = 0; o < closed.offers; ++o) {
      price += closed.gpus_of(s)[o] * instance_.offers[o].price;
      gpus += closed.gpus_of(s)[o];
    }
    const std::tuple score = {price, gpus, closed.sizes[s]};
    if (best && score >= best_score) continue;
    best = s;
    best_score = score;
  }
  return best;
}

CoverChoice Beam::trace_back(const std::vector<std::vector<Origin>>& origins, std::size_t state) const {
  CoverChoice choice(instance_.demands.size());
  std::size_t d = instance_.demands.size();
  for (std::size_t layer = origins.size(); layer-- > 1;) {
    const Origin origin = origins[layer][state];
    if (origin.cover != kPoolEnd) {
      --d;
      choice[d] = covers_[d][origin.cover].counts;
    }
    state = origin.parent;
  }
  ENSURE(d == 0);
  return choice;
}

BeamAnswer Beam::run(std::size_t width) {
  if (is_hopeless_) return {.plan = std::nullopt, .is_proven_none = true};
  is_complete_ = has_all_covers_;
  Layer layer = first_layer();
  std::vector<std::vector<Origin>> origins = {layer.origins};
  for (std::size_t d = 0; d < instance_.demands.size(); ++d) {
    layer = expand(layer, d, width);
    origins.push_back(layer.origins);
    const bool is_pool_end =
        d + 1 == instance_.demands.size() || instance_.demands[d + 1].pool != instance_.demands[d].pool;
    if (is_pool_end) {
      layer = close_pool(layer, d + 1);
      origins.push_back(layer.origins);
    }
  }
  const std::optional<std::size_t> finished = pick_finished(layer);
  if (!finished) return {.plan = std::nullopt, .is_proven_none = is_complete_};
  return {.plan = trace_back(origins, *finished), .is_proven_none = false};
}

BeamAnswer Beam::run_wider(std::span<const std::size_t> widths) {
  for (const std::size_t width : widths) {
    BeamAnswer answer = run(width);
    if (answer.plan || answer.is_proven_none || budget_.is_spent()) return answer;
  }
  return {};
}

}  // namespace berth::packing::detail
