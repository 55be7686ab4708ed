#include "planner/detail/fleet_bound.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/ensure.h"

namespace berth::planner::fleet {
namespace {

constexpr double kCountLeast = 1e-3;  ///< of a GPU: fewer pieces do not count
constexpr double kSpreadLast = 0.003;
constexpr double kSpreadFade = 0.95;
constexpr int kRentSlots = 3;  ///< of a stretch that are looked at for rents
constexpr int kRentRounds = 3;
constexpr int kScalings = 6;
constexpr double kGolden = 0.6180339887498949;
constexpr double kReference = 0.5;  ///< of the scaled rents
constexpr double kReferenceLeast = 0.1;
constexpr double kBudgetReference = 0.05;
constexpr double kMomentum = 0.7;
constexpr double kDamping = 1;     ///< of the way to balanced prices
constexpr double kAstray = 3e-3;   ///< of the bound: no way to a better one
constexpr double kQuick = 1.5e-4;  ///< of the bound, won in one step
constexpr double kSoftnessSafe = 0.02;

constexpr int kRentHalvings = 16;
constexpr std::size_t kDelaysMax = 4;
constexpr double kUnlimited = 1e300;
constexpr double kScaleLeast = 0.03;
constexpr double kFirstStep = 1;  ///< of Polyak's
constexpr double kStepMost = 2;
constexpr double kLonger = 1.1;   ///< after a better bound
constexpr double kShorter = 0.7;  ///< after so many steps without one
constexpr int kPatience = 3;

double sum_before(const std::vector<double>& sums, int from, int until) {
  return until > from ? sums[idx(until)] - sums[idx(from)] : 0;
}

}  // namespace

PriceSearch::PriceSearch(const Terms& terms, std::vector<int> starts) : terms_(&terms), starts_(std::move(starts)) {
  set_delays();
  std::size_t block = 0;
  length_.assign(blocks(), 0);
  for (int slot = 0; slot < terms.slots; ++slot) {
    while (block + 1 < starts_.size() && starts_[block + 1] <= slot) ++block;
    block_of_.push_back(static_cast<int>(block));
    ++length_[block];
  }
  block_of_.push_back(static_cast<int>(blocks()) - 1);
  length_.back() = terms.problem.tail_seconds;
  place_prices();
  levels_.resize(places_.size());
  for (const ServiceTerms& service : terms.problem.services) {
    const std::size_t size = service.variants.size() * blocks() * 2 * idx(terms.problem.samples);
    gathered_.emplace_back(service.retraining ? size : 0);
  }
  sort_loads();
  set_scales();
  for (std::size_t m = 0; m < terms.problem.models.size(); ++m) {
    for (int group = 0; group <= terms.groups; ++group) {
      spaces_.emplace_back(terms.trees[m], grid_);
      tables_.emplace_back(terms.problem.models[m].rates.size());
      offers_.emplace_back(terms.problem.models[m].rates.size());
      shares_.emplace_back(terms.trees[m], static_cast<int>(terms.problem.models[m].rates.size()), grid_.width());
    }
  }
}

/// Points for each delay of each service would be too many: delays count as the next shorter one of a few.
void PriceSearch::set_delays() {
  std::vector<int> delays;
  for (const Readiness& readiness : terms_->serving) {
    delays.push_back(readiness.on_same_site);
    delays.push_back(readiness.on_new_site);
  }
  std::ranges::sort(delays);
  std::vector<int> different = delays;
  const auto repeated = std::ranges::unique(different);
  different.erase(repeated.begin(), repeated.end());
  if (different.size() > kDelaysMax) {
    different.clear();
    for (std::size_t k = 0; k < kDelaysMax; ++k) {
      const int delay = delays[delays.size() * k / kDelaysMax];
      if (different.empty() || delay > different.back()) different.push_back(delay);
    }
  }
  const auto shorter = [&](int delay) { return *(std::ranges::upper_bound(different, delay) - 1); };
  for (const Readiness& readiness : terms_->serving) {
    serving_.push_back(
        {.on_same_site = shorter(readiness.on_same_site), .on_new_site = shorter(readiness.on_new_site)});
  }
  grid_ = make_grid(*terms_, starts_, different);
}

void PriceSearch::place_prices() {
  std::size_t next = 0;
  for (int i = 0; idx(i) < terms_->problem.services.size(); ++i) {
    const ServiceTerms& service = service_terms(i);
    Places places;
    places.capacity = next;
    next += service.variants.size() * blocks();
    places.floor = next;
    next += service.floor_rate > 0 ? blocks() : 0;
    places.progress = next;
    next += service.retraining ? blocks() : 0;
    places.change = next;
    next += service.changes_max >= 0 ? 1 : 0;
    places_.push_back(places);
  }
  prices_.assign(next, 0);
  scales_.assign(next, 0);
  price_max_.assign(next, 0);
  slope_.assign(next, 0);
  direction_.assign(next, 0);
}

void PriceSearch::sort_loads() {
  const std::size_t samples = idx(terms_->problem.samples);
  for (const ServiceTerms& service : terms_->problem.services) {
    Loads loads{.sorted = service.loads, .rest = std::vector<double>((idx(terms_->slots) + 1) * (samples + 1))};
    for (std::size_t slot = 0; slot <= idx(terms_->slots); ++slot) {
      const auto begin = loads.sorted.begin() + static_cast<long>(slot * samples);
      std::sort(begin, begin + static_cast<long>(samples), std::greater());
      double* rest = loads.rest.data() + slot * (samples + 1);
      for (std::size_t s = samples; s-- > 0;) rest[s] = rest[s + 1] + begin[static_cast<long>(s)];
    }
    loads_.push_back(std::move(loads));
    add_ranks(static_cast<int>(loads_.size()) - 1);
  }
}

void PriceSearch::add_ranks(int service) {
  const ServiceTerms& terms = service_terms(service);
  const Loads& loads = loads_[idx(service)];
  const auto samples = static_cast<std::size_t>(terms_->problem.samples);
  const std::size_t rungs = terms.variants.size();
  Ranks ranks{.capacity = std::vector<double>(blocks() * samples),
              .served = std::vector<double>(blocks() * samples),
              .outside = std::vector<double>(blocks() * rungs)};
  for (int slot = 0; slot <= terms_->slots; ++slot) {
    const double seconds = slot == terms_->slots ? length_.back() : 1;
    const std::size_t block = block_of(slot);
    for (std::size_t k = 0; k < samples; ++k) {
      const double load = loads.sorted[idx(slot) * samples + k];
      const double rest = loads.rest[idx(slot) * (samples + 1) + k];
      ranks.capacity[block * samples + k] += seconds * load;
      ranks.served[block * samples + k] +=
          seconds * (static_cast<double>(k) * load + rest) / static_cast<double>(samples);
    }
    double outside = 0;
    for (std::size_t w = 0; w < rungs && !terms.outside.empty(); ++w) {
      outside += terms.outside[idx(slot) * rungs + idx(terms_->fresh[idx(service)].order[w])];
      ranks.outside[w * blocks() + block] += seconds * outside;
    }
  }
  ranks_.push_back(std::move(ranks));
}

// ---- the rungs of the ladder

double PriceSearch::step_of(int service, std::size_t rung, bool is_fresh) const {
  const Ladder& fresh = terms_->fresh[idx(service)];
  if (is_fresh) return fresh.step[rung];
  // In the order of the fresh model, whose prices these are. Where the stale one has another order, each variant counts
  // as good as the best behind it: more than it is worth, but concave.
  const ServiceTerms& terms = service_terms(service);
  const auto accuracy = [&](std::size_t from) {
    double best = 0;
    for (std::size_t w = from; w < fresh.order.size(); ++w) {
      best = std::max(best, terms.variants[idx(fresh.order[w])].accuracy_before);
    }
    return best;
  };
  return terms.value * (accuracy(rung) - accuracy(rung + 1));
}

double PriceSearch::step_in_tail(int service, std::size_t rung, bool is_fresh) const {
  const double tail = terms_->problem.tail_seconds;
  const std::optional<RetrainingTerms>& retraining = service_terms(service).retraining;
  double fresh_seconds = retraining ? std::min(tail, retraining->tail_fresh_seconds) : tail;
  if (!is_fresh) fresh_seconds = 0;
  const double stale = fresh_seconds < tail ? (tail - fresh_seconds) * step_of(service, rung, false) : 0;
  return fresh_seconds * step_of(service, rung, true) + stale;
}

void PriceSearch::set_scales() {
  for (int i = 0; idx(i) < terms_->problem.services.size(); ++i) {
    double rate = 0;
    for (const ModelTerms& model : terms_->problem.models) {
      for (const std::vector<Rates>& kind : model.rates) {
        if (service_terms(i).retraining && kind[idx(i)].retraining_slots > 0) {
          rate = std::max(rate, 1 / kind[idx(i)].retraining_slots);
        }
      }
    }
    rate_max_.push_back(rate);
    set_scales_of(i);
  }
}

void PriceSearch::set_scales_of(int service) {
  const ServiceTerms& terms = service_terms(service);
  const Places& places = places_[idx(service)];
  const std::size_t samples = idx(terms_->problem.samples);
  std::vector<double> requests(blocks(), 0);
  double all = 0;
  for (int slot = 0; slot <= terms_->slots; ++slot) {
    const double seconds = slot == terms_->slots ? terms_->problem.tail_seconds : 1;
    const double load = loads_[idx(service)].rest[idx(slot) * (samples + 1)] / terms_->problem.samples;
    requests[block_of(slot)] += seconds * load;
    all += seconds * load;
  }
  double best = 0;
  for (std::size_t w = 0; w < terms.variants.size(); ++w) {
    const double step = std::max(step_of(service, w, true), step_of(service, w, false));
    best += step;
    for (std::size_t block = 0; block < blocks(); ++block) {
      const std::size_t at = places.capacity + w * blocks() + block;
      price_max_[at] = step;
      const double least = all * length_[block] / std::max(1.0, terms_->slots + length_.back()) * 0.1;
      scales_[at] = step / std::max({requests[block], least, 1e-6});
    }
  }
  for (std::size_t block = 0; block < blocks() && terms.floor_rate > 0; ++block) {
    price_max_[places.floor + block] = kUnlimited;
    scales_[places.floor + block] = best / (terms.floor_rate * std::max(1.0, length_[block]));
  }
  if (terms.retraining) {
    double gain = terms.retraining->progress_value;
    for (std::size_t w = 0; w < terms.variants.size(); ++w) {
      gain += std::max(0.0, step_of(service, w, true) - step_of(service, w, false)) * all / 2;
    }
    for (std::size_t block = 0; block < blocks(); ++block) {
      price_max_[places.progress + block] = kUnlimited;
      scales_[places.progress + block] = gain;
    }
  }
  if (terms.changes_max >= 0) {
    price_max_[places.change] = kUnlimited;
    scales_[places.change] = best * all / 20 / (terms.changes_max + 1);
  }
}

/// What a whole GPU can serve of each variant, cut in the best way for it alone.
void PriceSearch::set_whole() {
  const Problem& problem = terms_->problem;
  gpus_of_model_.assign(problem.models.size(), 0);
  for (const GpuTerms& gpu : problem.gpus) ++gpus_of_model_[idx(gpu.model)];
  whole_.resize(problem.models.size());
  for (int m = 0; idx(m) < problem.models.size(); ++m) {
    const SpaceTree& tree = terms_->trees[idx(m)];
    for (int i = 0; idx(i) < problem.services.size(); ++i) {
      std::vector<double>& by_rung = whole_[idx(m)].emplace_back();
      for (const int variant : terms_->fresh[idx(i)].order) {
        std::vector<double> best(tree.nodes.size(), 0);
        for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
          for (const int child : tree.nodes[n].children) best[n] += best[idx(child)];
          for (const int site : tree.nodes[n].sites) {
            const int kind = problem.models[idx(m)].sites[idx(site)].kind;
            best[n] = std::max(best[n], terms_->rates(m, kind, i).requests_per_second[idx(variant)]);
          }
        }
        by_rung.push_back(best.back());
      }
    }
  }
}

/// The highest prices of the rungs at which no GPU earns more than its rent with this service alone.
void PriceSearch::set_prices_by_rents(std::size_t block, int service, const std::vector<double>& rents,
                                      double* prices) const {
  const std::size_t rungs = service_terms(service).variants.size();
  double capacity_price = kUnlimited;  // never higher behind than in front
  for (std::size_t w = 0; w < rungs; ++w) {
    for (std::size_t m = 0; m < rents.size(); ++m) {
      const double whole = whole_[m][idx(service)][w];
      if (whole > 0) capacity_price = std::min(capacity_price, rents[m] / whole);
    }
    prices[w] = capacity_price;
  }
  const std::size_t place = places_[idx(service)].capacity;
  for (std::size_t w = 0; w < rungs; ++w) {
    const double next = w + 1 < rungs ? prices[w + 1] : 0;
    prices[w] =
        std::min(prices[w] >= kUnlimited ? kUnlimited : prices[w] - next, price_max_[place + w * blocks() + block]);
  }
}

/// GPUs of a model less those that are wanted at these rents.
double PriceSearch::surplus_of_rent(std::size_t block, int model, const std::vector<double>& rents) const {
  const bool is_tail = block + 1 == blocks();
  const int begin = is_tail ? terms_->slots : starts_[block];
  const int end = is_tail ? begin + 1 : begin + static_cast<int>(length_[block]);
  const int stride = std::max(1, (end - begin) / kRentSlots);
  double wanted = 0;
  int count = 0;
  std::vector<double> prices;
  for (int i = 0; idx(i) < places_.size(); ++i) {
    const std::size_t rungs = service_terms(i).variants.size();
    prices.assign(rungs, 0);
    set_prices_by_rents(block, i, rents, prices.data());
    count = 0;
    for (int slot = begin; slot < end; slot += stride, ++count) {
      double before = 0;
      for (std::size_t w = 0; w < rungs; ++w) {
        const double seconds = is_tail ? length_.back() : 1;
        const double step = is_tail ? step_in_tail(i, w, true) : step_of(i, w, true);
        const double upto = std::max(before, take(i, slot, step, prices[w] * seconds).capacity);
        std::size_t cheapest = rents.size();
        double cost = kUnlimited;
        for (std::size_t m = 0; m < rents.size(); ++m) {
          const double whole = whole_[m][idx(i)][w];
          if (whole <= 0 || rents[m] / whole >= cost) continue;
          cost = rents[m] / whole;
          cheapest = m;
        }
        if (cheapest == idx(model)) wanted += (upto - before) / whole_[cheapest][idx(i)][w];
        before = upto;
      }
    }
  }
  return gpus_of_model_[idx(model)] - wanted / std::max(1, count);
}

void PriceSearch::set_rents(std::size_t block) {
  const std::size_t models = terms_->problem.models.size();
  std::vector<double> most(models, 0);
  for (std::size_t m = 0; m < models; ++m) {
    for (int i = 0; idx(i) < places_.size(); ++i) {
      for (std::size_t w = 0; w < whole_[m][idx(i)].size(); ++w) {
        double value = 0;
        for (std::size_t below = w; below < whole_[m][idx(i)].size(); ++below) {
          value += price_max_[places_[idx(i)].capacity + below * blocks() + block];
        }
        most[m] = std::max(most[m], whole_[m][idx(i)][w] * value);
      }
    }
  }
  std::vector<double> rents = most;
  for (double& rent : rents) rent /= 2;
  for (int round = 0; round < kRentRounds; ++round) {
    for (std::size_t m = 0; m < models; ++m) {
      if (gpus_of_model_[m] == 0) continue;
      double low = 0;
      double high = most[m];
      for (int halving = 0; halving < kRentHalvings; ++halving) {
        rents[m] = (low + high) / 2;
        (surplus_of_rent(block, static_cast<int>(m), rents) > 0 ? high : low) = rents[m];
      }
    }
  }
  std::vector<double> prices;
  for (int i = 0; idx(i) < places_.size(); ++i) {
    const std::size_t rungs = service_terms(i).variants.size();
    prices.assign(rungs, 0);
    set_prices_by_rents(block, i, rents, prices.data());
    for (std::size_t w = 0; w < rungs; ++w) {
      prices_[places_[idx(i)].capacity + w * blocks() + block] =
          std::min(prices[w], price_max_[places_[idx(i)].capacity + w * blocks() + block]);
    }
  }
}

void PriceSearch::start_from_rents() {
  set_whole();
  for (std::size_t block = 0; block < blocks(); ++block) {
    if (length_[block] > 0) set_rents(block);
  }
  price_progress();
  best_prices_ = prices_;
  for (const Places& places : places_) {  // cheap capacity moves in smaller steps
    for (std::size_t k = places.capacity; k < places.floor; ++k) {
      const double share = price_max_[k] > 0 ? kScaleLeast + prices_[k] / price_max_[k] : 1;
      scales_[k] *= share;
      const std::size_t floor = places.floor + (k - places.capacity);
      if (floor < places.progress) scales_[floor] *= share;
    }
  }
}

/// At first progress costs what the cheapest slice for it would serve otherwise.
void PriceSearch::price_progress() {
  const std::size_t services = terms_->problem.services.size();
  for (std::size_t block = 0; block < starts_.size(); ++block) {
    std::vector<double> cheapest(services, kUnlimited);
    for (const ModelTerms& model : terms_->problem.models) {
      for (const std::vector<Rates>& kind : model.rates) {
        double best = 0;
        for (std::size_t i = 0; i < services; ++i) {
          const std::vector<int>& order = terms_->fresh[i].order;
          double price = 0;
          for (std::size_t w = order.size(); w-- > 0;) {
            price += prices_[places_[i].capacity + w * blocks() + block];
            best = std::max(best, price * kind[i].requests_per_second[idx(order[w])]);
          }
        }
        for (std::size_t i = 0; i < services; ++i) {
          if (kind[i].retraining_slots > 0) cheapest[i] = std::min(cheapest[i], best * kind[i].retraining_slots);
        }
      }
    }
    for (std::size_t i = 0; i < services; ++i) {
      if (terms_->problem.services[i].retraining && cheapest[i] < kUnlimited) {
        prices_[places_[i].progress + block] = cheapest[i];
      }
    }
  }
}

// ---- services

PriceSearch::Taken PriceSearch::take(int service, int slot, double step, double price) const {
  const auto samples = static_cast<std::size_t>(terms_->problem.samples);
  if (step <= 0 || price >= step) return {};
  const Loads& loads = loads_[idx(service)];
  const auto above = static_cast<std::size_t>(price * static_cast<double>(samples) / step);
  if (above >= samples) return {};
  const double capacity = loads.sorted[idx(slot) * samples + above];
  const double served = (static_cast<double>(above) * capacity + loads.rest[idx(slot) * (samples + 1) + above]) /
                        static_cast<double>(samples);
  return {.worth = step * served - price * capacity, .capacity = capacity};
}

PriceSearch::NetWorth PriceSearch::net_worth(int service) const {
  const std::size_t rungs = service_terms(service).variants.size();
  const bool has_stale = service_terms(service).retraining.has_value();
  NetWorth net;
  net.stale.assign(idx(terms_->slots) + 1, 0);
  net.fresh.assign(idx(terms_->slots) + 1, 0);
  const double* prices = prices_.data() + places_[idx(service)].capacity;
  for (std::size_t w = 0; w < rungs; ++w) {
    const double fresh = step_of(service, w, true);
    const double stale = has_stale ? step_of(service, w, false) : 0;
    double fresh_sum = 0;
    double stale_sum = 0;
    for (int slot = 0; slot < terms_->slots; ++slot) {
      const double price = prices[w * blocks() + block_of(slot)];
      fresh_sum += take(service, slot, fresh, price).worth;
      if (has_stale) stale_sum += take(service, slot, stale, price).worth;
      net.fresh[idx(slot) + 1] += fresh_sum;
      net.stale[idx(slot) + 1] += stale_sum;
    }
    const double price = prices[w * blocks() + blocks() - 1] * length_.back();
    net.tail_fresh += take(service, terms_->slots, step_in_tail(service, w, true), price).worth;
    if (has_stale) net.tail_stale += take(service, terms_->slots, step_in_tail(service, w, false), price).worth;
  }
  return net;
}

/// What the service takes in a slot goes to the slope. Returns what stands elsewhere, at the prices.
double PriceSearch::charge(int service, int slot, bool is_fresh) {
  const ServiceTerms& terms = service_terms(service);
  const std::size_t variants = terms.variants.size();
  const bool is_tail = slot == terms_->slots;
  const double seconds = is_tail ? length_.back() : 1;
  double outside = 0;
  double paid = 0;
  for (std::size_t w = 0; w < variants; ++w) {
    const std::size_t at = places_[idx(service)].capacity + w * blocks() + block_of(slot);
    const double step = is_tail ? step_in_tail(service, w, is_fresh) : step_of(service, w, is_fresh);
    const int variant = terms_->fresh[idx(service)].order[w];
    if (!terms.outside.empty()) outside += terms.outside[idx(slot) * variants + idx(variant)];
    slope_[at] += seconds * (outside - take(service, slot, step, prices_[at] * seconds).capacity);
    paid += seconds * outside * prices_[at];
    gather_levels(service, slot, w, is_fresh);
  }
  return paid;
}

/// Notes what the service would take in a slot at falling prices.
void PriceSearch::gather_levels(int service, int slot, std::size_t rung, bool is_fresh) {
  const auto samples = static_cast<std::size_t>(terms_->problem.samples);
  const double seconds = slot == terms_->slots ? length_.back() : 1;
  const double* sorted = loads_[idx(service)].sorted.data() + idx(slot) * samples;
  double* quantities =
      gathered_[idx(service)].data() + ((rung * blocks() + block_of(slot)) * 2 + (is_fresh ? 1 : 0)) * samples;
  for (std::size_t k = 0; k < samples; ++k) {
    quantities[k] += seconds * (sorted[k] - (k + 1 < samples ? sorted[k + 1] : 0));
  }
}

std::vector<PriceSearch::Segment> PriceSearch::segments(int service) const {
  const RetrainingTerms& terms = *service_terms(service).retraining;
  std::vector<Segment> segments;
  Segment now{.begin = 0,
              .end = terms_->slots,
              .is_last = true,
              .is_fresh = !terms.is_stale,
              .fresh_from = terms.fresh_in > 0 ? terms.fresh_in : -1,
              .progress = terms.progress,
              .counts_from = 0};
  const bool is_unfinished = terms.is_stale && terms.fresh_in <= 0;
  for (const int due : terms.due_slots) {
    now.end = due;
    now.is_last = false;
    if (due > 0) segments.push_back(now);
    const bool keeps = terms.keeps_unfinished && (due > 0 || is_unfinished);
    now = {.begin = due,
           .end = terms_->slots,
           .is_last = true,
           .is_fresh = false,
           .fresh_from = -1,
           .progress = keeps ? terms.progress : 0,
           .counts_from = keeps ? 0 : due};
  }
  segments.push_back(now);
  return segments;
}

/// The cheapest way to get `amount` of progress in slots from `from` to `until` at prices below `limit`.
double PriceSearch::pay_progress(int service, int from, int until, double amount, double limit, bool is_charged,
                                 double* bought) const {
  const std::size_t place = places_[idx(service)].progress;
  std::vector<std::size_t> order(starts_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t block) { return std::pair(prices_[place + block], block); });
  double paid = 0;
  double left = amount;
  for (const std::size_t block : order) {
    if (left <= 0 || prices_[place + block] >= limit) break;
    const int begin = std::max(from, starts_[block]);
    const int end = std::min(until, block + 1 < starts_.size() ? starts_[block + 1] : terms_->slots);
    if (end <= begin) continue;
    const double part = std::min(left, (end - begin) * rate_max_[idx(service)]);
    paid += part * prices_[place + block];
    left -= part;
    if (is_charged) slope_[place + block] -= part;
  }
  *bought = amount - left;
  return paid;
}

PriceSearch::Completion PriceSearch::best_completion(int service, const Segment& segment, const NetWorth& net) const {
  const ServiceTerms& terms = service_terms(service);
  const RetrainingTerms& retraining = *terms.retraining;
  double given = segment.progress;
  double bought = 0;
  const auto add_outside = [&](int slot) {
    if (!terms.outside_progress.empty()) given += terms.outside_progress[idx(slot)];
  };
  for (int slot = segment.counts_from; slot < segment.begin; ++slot) add_outside(slot);
  Completion best{.worth = sum_before(net.stale, segment.begin, segment.end), .slot = -1};
  if (segment.is_last) {
    double all = given;
    for (int slot = segment.begin; slot < segment.end; ++slot) {
      if (!terms.outside_progress.empty()) all += terms.outside_progress[idx(slot)];
    }
    const double paid = pay_progress(service, segment.counts_from, segment.end, std::max(0.0, kDone - all),
                                     retraining.progress_value, false, &bought);
    best.worth += net.tail_stale + retraining.progress_value * (std::min(1.0, all) + bought) - paid;
  }
  const int last = segment.is_last ? segment.end : segment.end - 1;
  for (int slot = segment.begin; slot <= last; ++slot) {
    const double amount = std::max(0.0, kDone - 1e-9 - given);
    const double paid = pay_progress(service, segment.counts_from, slot, amount, kUnlimited, false, &bought);
    if (slot < segment.end) add_outside(slot);
    if (bought < amount) continue;
    const int fresh_from = std::min(segment.end, slot + retraining.swap_slots);
    const double worth = sum_before(net.stale, segment.begin, fresh_from) +
                         sum_before(net.fresh, fresh_from, segment.end) + (segment.is_last ? net.tail_fresh : 0) - paid;
    if (worth > best.worth) best = {.worth = worth, .slot = slot};
  }
  return best;
}

double PriceSearch::value_of_segment(int service, const Segment& segment, const NetWorth& net) {
  const RetrainingTerms& retraining = *service_terms(service).retraining;
  int fresh_from = segment.end;
  bool is_tail_fresh = true;
  double worth = 0;
  double bought = 0;
  if (segment.is_fresh || segment.fresh_from >= 0) {
    fresh_from = segment.is_fresh ? segment.begin : std::min(segment.end, segment.fresh_from);
    worth = sum_before(net.stale, segment.begin, fresh_from) + sum_before(net.fresh, fresh_from, segment.end) +
            (segment.is_last ? net.tail_fresh : 0);
  } else {
    const Completion best = best_completion(service, segment, net);
    const auto& outside = service_terms(service).outside_progress;
    const int until = best.slot >= 0 ? best.slot : segment.end;
    double given = segment.progress;
    for (int slot = segment.counts_from; slot < until && !outside.empty(); ++slot) given += outside[idx(slot)];
    const double limit = best.slot >= 0 ? kUnlimited : segment.is_last ? retraining.progress_value : 0;
    pay_progress(service, segment.counts_from, until, std::max(0.0, kDone - given), limit, true, &bought);
    if (best.slot >= 0) fresh_from = std::min(segment.end, best.slot + retraining.swap_slots);
    is_tail_fresh = best.slot >= 0;
    worth = best.worth;
  }
  for (int slot = segment.begin; slot < segment.end; ++slot) worth += charge(service, slot, slot >= fresh_from);
  if (segment.is_last) worth += charge(service, terms_->slots, is_tail_fresh);
  return worth;
}

/// All slots of a stretch have one price and one accuracy: what is taken is the same rank of each slot's loads.
double PriceSearch::value_always_fresh(int service) {
  const std::size_t rungs = service_terms(service).variants.size();
  const auto samples = static_cast<std::size_t>(terms_->problem.samples);
  const std::size_t place = places_[idx(service)].capacity;
  const Ranks& ranks = ranks_[idx(service)];
  double sum = 0;
  for (std::size_t w = 0; w < rungs; ++w) {
    const double step = terms_->fresh[idx(service)].step[w];
    for (std::size_t block = 0; block < blocks(); ++block) {
      const double price = prices_[place + w * blocks() + block];
      const double outside = ranks.outside[w * blocks() + block];
      slope_[place + w * blocks() + block] += outside;
      sum += price * outside;
      if (step <= 0 || price >= step) continue;
      const auto above = static_cast<std::size_t>(price * static_cast<double>(samples) / step);
      if (above >= samples) continue;
      const double capacity = ranks.capacity[block * samples + above];
      slope_[place + w * blocks() + block] -= capacity;
      sum += step * ranks.served[block * samples + above] - price * capacity;
    }
  }
  return sum;
}

double PriceSearch::value_of_service(int service) {
  const ServiceTerms& terms = service_terms(service);
  const Places& places = places_[idx(service)];
  double sum = 0;
  if (terms.retraining) {
    const NetWorth net = net_worth(service);
    std::ranges::fill(gathered_[idx(service)], 0);
    for (const Segment& segment : segments(service)) sum += value_of_segment(service, segment, net);
  } else {
    sum = value_always_fresh(service);
  }
  for (int slot = terms_->problem.floors_from; terms.floor_rate > 0 && slot < terms_->slots; ++slot) {
    const double lacks = terms.outside_floor_rate - terms.floor_rate * (1 - 1e-9);
    sum += prices_[places.floor + block_of(slot)] * lacks;
    slope_[places.floor + block_of(slot)] += lacks;
  }
  if (terms.changes_max >= 0) {
    sum += prices_[places.change] * terms.changes_max;
    slope_[places.change] += terms.changes_max;
  }
  return sum;
}

// ---- GPUs

void PriceSearch::sum_prices() {
  sums_.resize(terms_->problem.services.size());
  const std::size_t size = idx(terms_->slots) + 2;
  for (int i = 0; idx(i) < sums_.size(); ++i) {
    const ServiceTerms& terms = service_terms(i);
    const Places& places = places_[idx(i)];
    const std::vector<int>& order = terms_->fresh[idx(i)].order;
    Sums& sums = sums_[idx(i)];
    sums.serving.resize(order.size());
    std::vector<double> by_block(blocks(), 0);
    for (std::size_t w = order.size(); w-- > 0;) {
      for (std::size_t block = 0; block < blocks(); ++block) {
        by_block[block] += prices_[places.capacity + w * blocks() + block];
      }
      std::vector<double>& serving = sums.serving[idx(order[w])];
      serving.resize(size);
      for (int slot = 0; slot <= terms_->slots; ++slot) {
        const double seconds = slot == terms_->slots ? length_.back() : 1;
        serving[idx(slot) + 1] = serving[idx(slot)] + by_block[block_of(slot)] * seconds;
      }
    }
    if (terms.floor_rate > 0) {
      sums.floor.assign(size, 0);
      for (int slot = 0; slot <= terms_->slots; ++slot) {
        const bool is_bound = slot >= terms_->problem.floors_from && slot < terms_->slots;
        sums.floor[idx(slot) + 1] = sums.floor[idx(slot)] + (is_bound ? prices_[places.floor + block_of(slot)] : 0);
      }
    }
    if (terms.retraining) {
      sums.progress.assign(size, 0);
      for (int slot = 0; slot < terms_->slots; ++slot) {
        sums.progress[idx(slot) + 1] = sums.progress[idx(slot)] + prices_[places.progress + block_of(slot)];
      }
      sums.progress.back() = sums.progress[idx(terms_->slots)];
    }
  }
}

std::vector<Offer> PriceSearch::offers_of(int model, int kind, int service) const {
  const Rates& rates = terms_->rates(model, kind, service);
  const ServiceTerms& terms = service_terms(service);
  const Sums& sums = sums_[idx(service)];
  const double begin_cost = terms.changes_max >= 0 ? prices_[places_[idx(service)].change] : 0;
  std::vector<Offer> offers;
  const auto add = [&](int use, Readiness readiness, const std::vector<double>& ready, double scale) {
    // Between groups pieces may follow each other on every site of the GPU at once.
    if (terms_->groups > 1) readiness.on_new_site = readiness.on_same_site;
    const bool counts = use != kRetraining && !sums.floor.empty();
    offers.push_back({.service = service,
                      .use = use,
                      .readiness = readiness,
                      .ready = ready.data(),
                      .ready_scale = scale,
                      .stands = counts ? sums.floor.data() : nullptr,
                      .stands_scale = scale,
                      .begin_cost = terms_->groups > 1 ? 0 : begin_cost});
  };
  for (int use = 0; idx(use) < rates.requests_per_second.size(); ++use) {
    const double rate = rates.requests_per_second[idx(use)];
    if (rate > 0) add(use, serving_[idx(service)], sums.serving[idx(use)], rate);
  }
  if (terms.retraining && rates.retraining_slots > 0 && !terms.retrains_elsewhere) {
    add(kRetraining, terms_->retraining, sums.progress, 1 / rates.retraining_slots);
  }
  return offers;
}

void PriceSearch::fill_spaces() {
  const std::size_t width = grid_.width();
  any_.assign(terms_->problem.models.size(), {});
  any_base_ = any_;
  for (int m = 0; idx(m) < terms_->problem.models.size(); ++m) {
    const ModelTerms& model = terms_->problem.models[idx(m)];
    any_base_[idx(m)].assign(width * width, 0);
    for (int group = 0; group <= terms_->groups; ++group) {
      if (terms_->groups == 1 && group == 1) continue;
      std::vector<PieceTable>& tables = tables_[idx(space_of(m, group))];
      for (int kind = 0; idx(kind) < tables.size(); ++kind) {
        std::vector<Offer>& offers = offers_[idx(space_of(m, group))][idx(kind)];
        offers.clear();
        for (int i = 0; idx(i) < sums_.size(); ++i) {
          if (group < terms_->groups && terms_->group[idx(i)] != group) continue;
          for (const Offer& offer : offers_of(m, kind, i)) offers.push_back(offer);
        }
        fill_piece_maxima(*terms_, grid_, offers, tables[idx(kind)]);
      }
      SpaceValues& space = spaces_[idx(space_of(m, group))];
      space.fill(model, tables);
      if (group == terms_->groups || terms_->groups == 1) continue;
      const std::vector<double>& root = space.cell(static_cast<int>(terms_->trees[idx(m)].nodes.size()) - 1).entry_new;
      for (std::size_t i = 0; i < root.size(); ++i) any_base_[idx(m)][i] = std::max(any_base_[idx(m)][i], root[i]);
    }
    if (terms_->groups == 1) continue;
    any_[idx(m)] = any_base_[idx(m)];
    for (std::size_t a = 0; a + 2 < width; ++a) {
      for (std::size_t point = a + 1; point + 1 < width; ++point) {
        for (std::size_t b = point + 1; b < width; ++b) {
          double& best = any_[idx(m)][a * width + b];
          best = std::max(best, any_[idx(m)][a * width + point] + any_base_[idx(m)][point * width + b]);
        }
      }
    }
  }
}

double PriceSearch::solve_gpu(int gpu) {
  ++nodes_;
  const GpuTerms& terms = terms_->problem.gpus[idx(gpu)];
  const ModelTerms& model = terms_->model_of(gpu);
  const std::size_t width = grid_.width();
  const int size = grid_.size();
  const int first_change = terms_->first_change[idx(gpu)];
  int first = first_change >= terms_->slots ? size : 0;
  while (first + 1 < size && grid_.points[idx(first) + 1] <= first_change) ++first;
  standing_.resize(terms.standing.size());
  bool is_mixed = !terms.pins.empty();
  int group = -1;
  for (std::size_t i = 0; i < terms.standing.size(); ++i) {
    const auto& [piece, ready_in] = terms.standing[i];
    standing_[i].site = piece.site;
    std::vector<double>& until = standing_[i].until;
    until.assign(width, 0);
    if (piece.service == kNobody) continue;
    const int its_group = terms_->group[idx(piece.service)];
    is_mixed |= group >= 0 && group != its_group;
    group = its_group;
    const Rates& rates = model.rates[idx(model.sites[idx(piece.site)].kind)][idx(piece.service)];
    const Sums& sums = sums_[idx(piece.service)];
    const bool retrains = piece.use == kRetraining;
    if (retrains && (sums.progress.empty() || rates.retraining_slots <= 0)) continue;
    const double rate = retrains ? 1 / rates.retraining_slots : rates.requests_per_second[idx(piece.use)];
    const std::vector<double>& ready = retrains ? sums.progress : sums.serving[idx(piece.use)];
    for (std::size_t b = idx(first); b < width; ++b) {
      int slot = b + 1 == width ? terms_->slots + 1 : grid_.points[b];
      if (static_cast<int>(b) == first && first < size) slot = std::max(slot, first_change);
      const int from = std::min(ready_in, terms_->slots);
      until[b] = rate * sum_before(ready, from, slot);
      if (!retrains && !sums.floor.empty()) until[b] += rate * sums.floor[idx(slot)];
    }
  }
  const int all = terms_->groups == 1 ? 0 : terms_->groups;
  switch_point_ = size;
  space_ = space_of(terms.model, is_mixed || group < 0 || terms_->groups == 1 ? all : group);
  SpaceValues& space = spaces_[idx(space_)];
  if (!terms.pins.empty()) {
    const auto offers = [&](int kind, int service) { return offers_of(terms.model, kind, service); };
    space.add_rules(model, tables_[idx(space_)], pin_rules(*terms_, grid_, gpu, offers, pin_tables_));
  }
  double worth = walk_.solve(space, standing_, first);
  if (space_ == space_of(terms.model, all)) return worth;
  for (int point = first; point < size; ++point) {
    const double switched = walk_.until(space, point) + any_[idx(terms.model)][idx(point) * width + idx(size)];
    if (switched <= worth) continue;
    worth = switched;
    switch_point_ = point;
  }
  return worth;
}

void PriceSearch::add_to_blocks(std::size_t place, int from, int until, double amount) {
  for (std::size_t block = 0; block < starts_.size(); ++block) {
    const int begin = std::max(from, starts_[block]);
    const int end = std::min(until, block + 1 < starts_.size() ? starts_[block + 1] : terms_->slots);
    if (end > begin) slope_[place + block] += amount * (end - begin);
  }
  if (until > terms_->slots) slope_[place + starts_.size()] += amount * length_.back();
}

void PriceSearch::add_piece(int model, const Piece& piece, int from, int ready, int until, double share) {
  if (piece.service == kNobody) return;
  const ServiceTerms& service = service_terms(piece.service);
  const Places& places = places_[idx(piece.service)];
  const int kind = terms_->problem.models[idx(model)].sites[idx(piece.site)].kind;
  const Rates& rates = terms_->rates(model, kind, piece.service);
  if (piece.use == kRetraining) {
    if (service.retraining && rates.retraining_slots > 0) {
      add_to_blocks(places.progress, ready, std::min(until, terms_->slots), share / rates.retraining_slots);
    }
    return;
  }
  const double rate = share * rates.requests_per_second[idx(piece.use)];
  const std::vector<int>& order = terms_->fresh[idx(piece.service)].order;
  for (std::size_t w = order.size(); w-- > 0;) {
    add_to_blocks(places.capacity + w * blocks(), ready, until, rate);
    if (order[w] == piece.use) break;
  }
  if (service.floor_rate > 0) {
    add_to_blocks(places.floor, std::max(from, terms_->problem.floors_from), std::min(until, terms_->slots), rate);
  }
}

void PriceSearch::add_supply(int gpu, double weight) {
  const GpuTerms& terms = terms_->problem.gpus[idx(gpu)];
  const SpaceTree& tree = terms_->trees[idx(terms.model)];
  const SpaceValues& own = spaces_[idx(space_)];
  std::vector<int> stays_until;
  std::vector<Wanted> wanted;  // where sites are pinned
  walk_.trace_rooms(own, switch_point_, terms_->slots, stays_until, rooms_);
  for (const Room& room : rooms_) {
    if (own.is_ruled(room.node)) {
      own.trace(room.node, room.from_point, room.until_point, room.is_on_same_site, terms_->slots, wanted);
    } else {
      shares_[idx(space_)].add(tree, room, weight);
    }
  }
  const std::size_t width = grid_.width();
  const int root = static_cast<int>(tree.nodes.size()) - 1;
  for (int a = switch_point_, end = grid_.size(); a < end;) {  // backwards: the last stretch of any group first
    int begin = a;
    const std::vector<double>& any = any_[idx(terms.model)];
    const std::vector<double>& base = any_base_[idx(terms.model)];
    const double worth = any[idx(a) * width + idx(end)];
    while (begin > a || worth != base[idx(a) * width + idx(end)]) {
      begin = begin == a ? a + 1 : begin + 1;
      ENSURE(begin < end);
      if (any[idx(a) * width + idx(begin)] + base[idx(begin) * width + idx(end)] == worth) break;
    }
    for (int group = 0; group < terms_->groups; ++group) {
      const SpaceValues& space = spaces_[idx(space_of(terms.model, group))];
      if (space.cell(root).entry_new[idx(begin) * width + idx(end)] != base[idx(begin) * width + idx(end)]) continue;
      shares_[idx(space_of(terms.model, group))].add(
          tree, {.node = root, .from_point = begin, .until_point = end, .is_on_same_site = false}, weight);
      break;
    }
    end = begin;
  }
  for (std::size_t i = 0; i < stays_until.size(); ++i) {
    add_piece(terms.model, terms.standing[i].piece, 0, std::min(terms.standing[i].ready_in, terms_->slots),
              stays_until[i], weight);
  }
  const ModelTerms& model = terms_->model_of(gpu);
  for (const Wanted& each : wanted) {
    if (each.piece.service != kNobody) {
      add_wanted(terms.model, each, each.piece, weight);
    } else {
      spread_piece(terms.model, space_, model.sites[idx(each.piece.site)].kind, each, weight);
    }
  }
}

void PriceSearch::add_wanted(int model, const Wanted& wanted, const Piece& piece, double share) {
  const Readiness& readiness = piece.use == kRetraining ? terms_->retraining : serving_[idx(piece.service)];
  const bool is_quick = wanted.is_on_same_site || terms_->groups > 1;
  const int ready = wanted.from + (is_quick ? readiness.on_same_site : readiness.on_new_site);
  add_piece(model, piece, wanted.from, std::min(ready, terms_->slots), wanted.until, share);
  if (!is_quick && service_terms(piece.service).changes_max >= 0) {
    slope_[places_[idx(piece.service)].change] -= share;
  }
}

/// Many GPUs want the same piece, and other services would pay nearly as much: each gets a part. The slope is then one
/// of a smoother function near the bound's.
void PriceSearch::spread_pieces() {
  const std::size_t width = grid_.width();
  for (int m = 0; idx(m) < terms_->problem.models.size(); ++m) {
    for (int group = 0; group <= terms_->groups; ++group) {
      if (terms_->groups == 1 && group == 1) continue;
      const int space = space_of(m, group);
      SpaceShares& shares = shares_[idx(space)];
      shares.spread(spaces_[idx(space)], terms_->problem.models[idx(m)], spread_);
      for (int kind = 0; idx(kind) < tables_[idx(space)].size(); ++kind) {
        for (const bool is_same : {false, true}) {
          const std::vector<double>& counts = shares.pieces(kind, is_same);
          for (std::size_t at = 0; at < counts.size(); ++at) {
            if (counts[at] <= kCountLeast) continue;
            const int from = static_cast<int>(at / width);
            const int until = static_cast<int>(at % width);
            const SpaceValues& values = spaces_[idx(space)];
            spread_piece(m, space, kind,
                         {.piece = {},
                          .from = values.slot_of(from, terms_->slots),
                          .until = values.slot_of(until, terms_->slots),
                          .is_on_same_site = is_same,
                          .from_point = from,
                          .until_point = until},
                         counts[at]);
          }
        }
      }
      shares.clear();
    }
  }
}

void PriceSearch::spread_piece(int model, int space, int kind, const Wanted& wanted, double count) {
  const std::vector<Offer>& offers = offers_[idx(space)][idx(kind)];
  worths_.clear();
  double best = 0;
  for (const Offer& offer : offers) {
    worths_.push_back(worth_of(*terms_, grid_, offer, wanted.from_point, wanted.until_point, wanted.is_on_same_site));
    best = std::max(best, worths_.back());
  }
  if (best <= 0) return;
  const std::vector<Site>& sites = terms_->problem.models[idx(model)].sites;
  const int site = static_cast<int>(std::ranges::find(sites, kind, &Site::kind) - sites.begin());
  const std::size_t at = idx(wanted.from_point) * grid_.width() + idx(wanted.until_point);
  const double lack = spread_ * std::max(best, shares_[idx(space)].piece_reference(kind, at));
  double sum = 0;
  for (double& worth : worths_) {
    worth = share_weight(worth, best, lack);
    sum += worth;
  }
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (worths_[i] <= 0) continue;
    add_wanted(model, wanted, {.site = site, .service = offers[i].service, .use = offers[i].use},
               count * worths_[i] / sum);
  }
}

double PriceSearch::value_of_gpus() {
  sum_prices();
  fill_spaces();
  double sum = 0;
  for (int gpu = 0; idx(gpu) < terms_->problem.gpus.size(); ++gpu) {
    const double weight = weights_[idx(gpu)];
    if (weight <= 0) continue;
    sum += weight * solve_gpu(gpu);
    add_supply(gpu, weight);
    if (!terms_->problem.gpus[idx(gpu)].pins.empty()) spaces_[idx(space_)].drop_rules();
  }
  spread_pieces();
  return sum;
}

// ---- the search

double PriceSearch::value() {
  std::ranges::fill(slope_, 0);
  double sum = 0;
  for (int i = 0; idx(i) < terms_->problem.services.size(); ++i) sum += value_of_service(i);
  taken_ = slope_;
  return sum + value_of_gpus();
}

void PriceSearch::run(double objective, const BoundOptions& options) {
  choose_gpus(options.gpus_max);
  prices_ = best_prices_;
  bound_ = value();
  double share = kFirstStep;
  int waited = 0;
  direction_ = slope_;
  for (int step = 0; step < options.steps; ++step) {
    spread_ = std::max(kSpreadLast, spread_ * kSpreadFade);
    if (bound_ - objective <= options.gap * std::abs(bound_)) break;
    double length = 0;
    for (std::size_t k = 0; k < prices_.size(); ++k) {
      direction_[k] += options.novelty * (slope_[k] - direction_[k]);
      length += scales_[k] * direction_[k] * direction_[k];
    }
    if (length <= 0) break;
    const double stride = share * (bound_ - objective) / length;
    for (std::size_t k = 0; k < prices_.size(); ++k) {
      prices_[k] = std::clamp(best_prices_[k] - stride * scales_[k] * direction_[k], 0.0, price_max_[k]);
    }
    const double now = value();
    if (now < bound_) {
      bound_ = now;
      best_prices_ = prices_;
      share = std::min(kStepMost, share * kLonger);
      waited = 0;
    } else if (++waited >= kPatience) {
      share *= kShorter;
      waited = 0;
    }
  }
}

/// All prices as one: the share of them that makes the bound least (golden section; the bound is convex).
void PriceSearch::scale_rents(int gpus_max) {
  choose_gpus(gpus_max);
  const std::vector<double> rents = best_prices_;
  const auto scale = [&](double share) {
    for (std::size_t k = 0; k < prices_.size(); ++k) prices_[k] = share * rents[k];
  };
  const auto value_at = [&](double share) {
    scale(share);
    return value();
  };
  double low = 0;
  double high = 1;
  double left = 1 - kGolden;
  double right = kGolden;
  double at_left = value_at(left);
  double at_right = value_at(right);
  for (int i = 0; i < kScalings; ++i) {
    if (at_left < at_right) {
      high = right;
      right = std::exchange(left, high - kGolden * (high - low));
      at_right = std::exchange(at_left, value_at(left));
    } else {
      low = left;
      left = std::exchange(right, low + kGolden * (high - low));
      at_left = std::exchange(at_right, value_at(right));
    }
  }
  const double best = at_left < at_right ? left : right;
  scale(std::max(kReferenceLeast, kReference * best));
  set_reference();
  bound_ = value_at(best);
  best_prices_ = prices_;
}

/// Lacks and steps are counted in shares of what these prices make things worth, at least.
void PriceSearch::set_reference() {
  reference_ = prices_;
  for (int i = 0; idx(i) < places_.size(); ++i) {
    const int most = service_terms(i).changes_max;
    const std::size_t at = places_[idx(i)].change;
    if (most >= 0) reference_[at] = std::max(reference_[at], kBudgetReference * scales_[at] * (most + 1));
  }
  sum_prices();
  fill_spaces();
  for (std::size_t space = 0; space < shares_.size(); ++space) {
    shares_[space].set_reference(spaces_[space], tables_[space]);
  }
}

void PriceSearch::run_balance(const BalanceOptions& options) {
  choose_gpus(options.gpus_max);
  const double fade = std::pow(options.softness_last / options.softness_first, 1.0 / std::max(1, options.steps - 1));
  double least = options.softness_last;
  spread_ = options.softness_first;
  prices_ = best_prices_;
  bound_ = value();
  std::vector<double> last = prices_;
  for (int step = 0; step < options.steps; ++step) {
    const std::vector<double> before = prices_;
    const double was = bound_;
    for (std::size_t k = 0; k < prices_.size(); ++k) {
      prices_[k] = std::clamp(prices_[k] + kMomentum * (before[k] - last[k]), 0.0, price_max_[k]);
    }
    for (int i = 0; idx(i) < places_.size(); ++i) balance_service(i);
    last = before;
    const double now = value();
    if (now < bound_) {
      bound_ = now;
      best_prices_ = prices_;
    } else if (now > bound_ + kAstray * std::abs(bound_) && step > options.steps / 8 && least < kSoftnessSafe) {
      prices_ = last = best_prices_;  // too hard for such steps
      least = spread_ = std::min(kSoftnessSafe, 2 * spread_);
      value();
    }
    // As long as steps are long, softness helps.
    if (bound_ > was - kQuick * std::abs(was)) spread_ = std::max(least, spread_ * fade);
  }
}

/// What a service would take in each stretch, where its model is always fresh.
void PriceSearch::set_levels(int service) {
  const std::size_t rungs = service_terms(service).variants.size();
  const auto samples = static_cast<std::size_t>(terms_->problem.samples);
  std::vector<std::vector<DemandLevel>>& all = levels_[idx(service)];
  all.assign(rungs * blocks(), {});
  for (std::size_t w = 0; w < rungs; ++w) {
    const double step = terms_->fresh[idx(service)].step[w];
    for (std::size_t block = 0; block < blocks() && step > 0; ++block) {
      std::vector<DemandLevel>& levels = all[w * blocks() + block];
      levels.reserve(samples);
      double before = 0;
      for (std::size_t k = samples; k-- > 0;) {  // the largest load of all samples comes last
        const double capacity = ranks_[idx(service)].capacity[block * samples + k];
        const double price = step * static_cast<double>(k + 1) / static_cast<double>(samples);
        levels.push_back({.price = price, .quantity = capacity - before});
        before = capacity;
      }
    }
  }
}

/// The same at the prices of the last value, where the model is not always fresh: the slots' levels were gathered by
/// `charge`.
void PriceSearch::merge_levels(int service) {
  const std::size_t rungs = service_terms(service).variants.size();
  const auto samples = static_cast<std::size_t>(terms_->problem.samples);
  std::vector<std::vector<DemandLevel>>& all = levels_[idx(service)];
  all.assign(rungs * blocks(), {});
  for (std::size_t w = 0; w < rungs; ++w) {
    for (std::size_t block = 0; block < blocks(); ++block) {
      if (length_[block] <= 0) continue;
      std::vector<DemandLevel>& levels = all[w * blocks() + block];
      levels.reserve(2 * samples);
      for (const bool is_fresh : {true, false}) {
        const double* quantities =
            gathered_[idx(service)].data() + ((w * blocks() + block) * 2 + (is_fresh ? 1 : 0)) * samples;
        const bool is_tail = block + 1 == blocks();
        const double step =
            is_tail ? step_in_tail(service, w, is_fresh) / length_[block] : step_of(service, w, is_fresh);
        for (std::size_t k = 0; k < samples; ++k) {
          const double price = step * static_cast<double>(k + 1) / static_cast<double>(samples);
          if (quantities[k] > 0 && price > 0) levels.push_back({.price = price, .quantity = quantities[k]});
        }
      }
      std::ranges::sort(levels, [](const DemandLevel& a, const DemandLevel& b) {
        return a.price != b.price ? a.price > b.price : a.quantity > b.quantity;
      });
    }
  }
}

void PriceSearch::balance_service(int service) {
  const ServiceTerms& terms = service_terms(service);
  const Places& places = places_[idx(service)];
  if (terms.retraining) {
    merge_levels(service);
  } else if (levels_[idx(service)].empty()) {
    set_levels(service);
  }
  for (std::size_t w = terms.variants.size(); w-- > 0;) {
    for (std::size_t block = 0; block < blocks(); ++block) {
      if (length_[block] > 0) balance_block(service, w, block);
    }
  }
  for (std::size_t block = 0; block < starts_.size() && terms.retraining; ++block)
    balance_price(places.progress + block);
  if (terms.changes_max >= 0) balance_price(places.change);
}

void PriceSearch::balance_block(int service, std::size_t rung, std::size_t block) {
  const ServiceTerms& terms = service_terms(service);
  const Places& places = places_[idx(service)];
  const std::size_t rungs = terms.variants.size();
  const std::size_t at = places.capacity + rung * blocks() + block;
  const std::size_t floor = places.floor + block;
  const bool has_floor = terms.floor_rate > 0 && rung + 1 == rungs;
  const double supply = supply_of(at);
  double aside = terms.floor_rate > 0 && rung + 1 < rungs ? prices_[floor] : 0;
  double reference = 0;
  for (std::size_t other = 0; other < rungs; ++other) {
    const std::size_t its = places.capacity + other * blocks() + block;
    if (other >= rung) reference += reference_[its];
    if (other == rung || supply <= 0) continue;
    const std::size_t shared = places.capacity + std::min(rung, other) * blocks() + block;
    aside += std::min(1.0, supply_of(shared) / supply) * prices_[its];
  }
  BalanceBlock each{.demand = &levels_[idx(service)][rung * blocks() + block],
                    .outside = ranks_[idx(service)].outside[rung * blocks() + block],
                    .supply = supply,
                    .price = prices_[at],
                    .floor_need = has_floor ? -taken_[floor] : 0,
                    .floor_supply = has_floor ? supply_of(floor) : 0,
                    .floor_price = has_floor ? prices_[floor] : 0};
  balance(each, aside, reference, spread_);
  move_price(at, each.price);
  if (has_floor) move_price(floor, each.floor_price);
}

/// Of what is taken whatever it costs, or not at all.
void PriceSearch::balance_price(std::size_t at) {
  const double wants = std::max(0.0, -taken_[at]);
  const double has = supply_of(at);
  const double growth = balanced_growth(has, wants);
  move_price(at, prices_[at] + growth * spread_ * std::max(prices_[at], reference_[at]));
}

double PriceSearch::supply_of(std::size_t at) const { return std::max(0.0, slope_[at] - taken_[at]); }

void PriceSearch::move_price(std::size_t at, double to) {
  prices_[at] = std::clamp(prices_[at] + kDamping * (to - prices_[at]), 0.0, price_max_[at]);
}

/// GPUs of each model at equal distances, each counted for those between.
void PriceSearch::choose_gpus(int most) {
  const Problem& problem = terms_->problem;
  const int stride = std::max(1, static_cast<int>(problem.gpus.size()) / std::max(1, most));
  std::vector<int> seen(problem.models.size(), 0);
  std::vector<int> chosen(problem.models.size(), 0);
  weights_.assign(problem.gpus.size(), 0);
  for (std::size_t gpu = 0; gpu < problem.gpus.size(); ++gpu) {
    const int model = problem.gpus[gpu].model;
    if (seen[idx(model)]++ % stride != 0) continue;
    weights_[gpu] = 1;
    ++chosen[idx(model)];
  }
  for (std::size_t gpu = 0; gpu < problem.gpus.size(); ++gpu) {
    const int model = problem.gpus[gpu].model;
    weights_[gpu] *= static_cast<double>(seen[idx(model)]) / std::max(1, chosen[idx(model)]);
  }
}

void PriceSearch::take_best_prices() {
  prices_ = best_prices_;
  sum_prices();
  fill_spaces();
}

PriceCaps PriceSearch::caps() const {
  PriceCaps caps;
  const auto differences = [&](const std::vector<double>& sums) {
    std::vector<double> each;
    each.reserve(sums.size());
    for (std::size_t slot = 0; slot + 1 < sums.size(); ++slot) each.push_back(sums[slot + 1] - sums[slot]);
    return each;
  };
  for (const Sums& sums : sums_) {
    caps.floor.push_back(differences(sums.floor));
    std::vector<std::vector<double>>& serving = caps.serving.emplace_back();
    for (const std::vector<double>& variant : sums.serving) serving.push_back(differences(variant));
  }
  return caps;
}

}  // namespace berth::planner::fleet
