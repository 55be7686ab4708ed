#include "planner/many_gpus/detail/rents.h"

#include <algorithm>

namespace berth::planner::fleet {
namespace {

constexpr int kRentSlots = 3;  ///< of a block that are evaluated for rents
constexpr int kRentRounds = 3;
constexpr int kRentHalvings = 16;
constexpr double kNoPrice = 1e300;

}  // namespace

PriceRents::PriceRents(const PriceFrame& frame, const Demand& demand)
    : frame_(&frame), terms_(frame.terms), demand_(&demand) {
  set_whole();
}

void PriceRents::set_prices(std::vector<double>& prices) {
  prices_ = &prices;
  for (const BlockIndex block : Indices<BlockIndex>(frame_->blocks())) {
    if (frame_->length[block] > 0) set_rents(block);
  }
  price_progress();
}

/// The highest prices of the rungs at which no GPU earns more than its rent with this service alone.
void PriceRents::set_prices_by_rents(BlockIndex block, ServiceIndex service, const std::vector<double>& rents,
                                     double* prices) const {
  const std::size_t rungs = frame_->service_terms(service).variants.size();
  double capacity_price = kNoPrice;  // prices do not increase along the ladder
  for (const RungIndex w : Indices<RungIndex>(rungs)) {
    for (const ModelIndex m : indices_of<ModelIndex>(rents)) {
      const double whole = whole_[m][idx(service)][w];
      if (whole > 0) capacity_price = std::min(capacity_price, rents[m] / whole);
    }
    prices[w] = capacity_price;
  }
  for (const RungIndex w : Indices<RungIndex>(rungs)) {
    const double next = idx(w) + 1 < rungs ? prices[w + 1] : 0;
    prices[w] = std::min(prices[w] >= kNoPrice ? kNoPrice : prices[w] - next,
                         price_max()[frame_->capacity_at(service, w, block)]);
  }
}

/// The GPUs of a model minus those in demand at these rents.
double PriceRents::surplus_of_rent(BlockIndex block, ModelIndex model, const std::vector<double>& rents) const {
  const bool is_tail = block + 1 == frame_->blocks();
  const SlotIndex begin = is_tail ? terms_->tail() : frame_->starts[block];
  const SlotIndex end = is_tail ? begin + 1 : begin + static_cast<int>(frame_->length[block]);
  const int stride = std::max(1, (end - begin) / kRentSlots);
  double wanted = 0;
  int count = 0;
  std::vector<double> prices;
  for (const ServiceIndex i : indices_of<ServiceIndex>(frame_->places)) {
    const std::size_t rungs = frame_->service_terms(i).variants.size();
    prices.assign(rungs, 0);
    set_prices_by_rents(block, i, rents, prices.data());
    count = 0;
    for (SlotIndex slot = begin; slot < end; slot += stride, ++count) {
      double before = 0;
      for (const RungIndex w : Indices<RungIndex>(rungs)) {
        const double seconds = is_tail ? frame_->length.back() : 1;
        const double step = is_tail ? frame_->step_in_tail(i, w, true) : frame_->step_of(i, w, true);
        const double upto = std::max(before, demand_->take(i, slot, step, prices[w] * seconds).capacity);
        ModelIndex cheapest(rents.size());
        double cost = kNoPrice;
        for (const ModelIndex m : indices_of<ModelIndex>(rents)) {
          const double whole = whole_[m][idx(i)][w];
          if (whole <= 0 || rents[m] / whole >= cost) continue;
          cost = rents[m] / whole;
          cheapest = m;
        }
        if (cheapest == model) wanted += (upto - before) / whole_[cheapest][idx(i)][w];
        before = upto;
      }
    }
  }
  return gpus_of_model_[idx(model)] - wanted / std::max(1, count);
}

void PriceRents::set_rents(BlockIndex block) {
  const std::size_t models = terms_->problem.models.size();
  std::vector<double> most(models, 0);
  for (const ModelIndex m : Indices<ModelIndex>(models)) {
    for (const ServiceIndex i : indices_of<ServiceIndex>(frame_->places)) {
      for (std::size_t w = 0; w < whole_[m][idx(i)].size(); ++w) {
        double value = 0;
        for (std::size_t below = w; below < whole_[m][idx(i)].size(); ++below) {
          value += price_max()[frame_->places[idx(i)].capacity + below * frame_->blocks() + block];
        }
        most[m] = std::max(most[m], whole_[m][idx(i)][w] * value);
      }
    }
  }
  std::vector<double> rents = most;
  for (double& rent : rents) rent /= 2;
  for (int round = 0; round < kRentRounds; ++round) {
    for (const ModelIndex m : Indices<ModelIndex>(models)) {
      if (gpus_of_model_[m] == 0) continue;
      double low = 0;
      double high = most[m];
      for (int halving = 0; halving < kRentHalvings; ++halving) {
        rents[m] = (low + high) / 2;
        (surplus_of_rent(block, m, rents) > 0 ? high : low) = rents[m];
      }
    }
  }
  std::vector<double> prices;
  for (const ServiceIndex i : indices_of<ServiceIndex>(frame_->places)) {
    const std::size_t rungs = frame_->service_terms(i).variants.size();
    prices.assign(rungs, 0);
    set_prices_by_rents(block, i, rents, prices.data());
    for (const RungIndex w : Indices<RungIndex>(rungs)) {
      (*prices_)[frame_->capacity_at(i, w, block)] = std::min(prices[w], price_max()[frame_->capacity_at(i, w, block)]);
    }
  }
}

/// The capacity of a whole GPU for each variant, partitioned in the best way for that variant alone.
void PriceRents::set_whole() {
  const Problem& problem = terms_->problem;
  gpus_of_model_.assign(problem.models.size(), 0);
  for (const GpuTerms& gpu : problem.gpus) ++gpus_of_model_[idx(gpu.model)];
  whole_.resize(problem.models.size());
  for (const ModelIndex m : indices_of<ModelIndex>(problem.models)) {
    const SpaceTree& tree = terms_->trees[idx(m)];
    for (const ServiceIndex i : indices_of<ServiceIndex>(problem.services)) {
      std::vector<double>& by_rung = whole_[idx(m)].emplace_back();
      for (const int variant : terms_->fresh[idx(i)].order) {
        std::vector<double> best(tree.nodes.size(), 0);
        for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
          for (const NodeIndex child : tree.nodes[n].children) best[n] += best[idx(child)];
          for (const SiteIndex site : tree.nodes[n].sites) {
            const KindIndex kind = problem.models[idx(m)].sites[idx(site)].kind;
            best[n] = std::max(best[n], terms_->rates(m, kind, i).requests_per_second[idx(variant)]);
          }
        }
        by_rung.push_back(best.back());
      }
    }
  }
}

/// The first price of progress is the serving worth of the cheapest slice that makes it.
void PriceRents::price_progress() {
  const std::size_t services = terms_->problem.services.size();
  for (const BlockIndex block : indices_of<BlockIndex>(frame_->starts)) {
    std::vector<double> cheapest(services, kNoPrice);
    for (const ModelTerms& model : terms_->problem.models) {
      for (const std::vector<Rates>& kind : model.rates) {
        double best = 0;
        for (const ServiceIndex i : Indices<ServiceIndex>(services)) {
          const std::vector<int>& order = terms_->fresh[i].order;
          double price = 0;
          for (std::size_t w = order.size(); w-- > 0;) {
            price += (*prices_)[frame_->places[i].capacity + w * frame_->blocks() + block];
            best = std::max(best, price * kind[i].requests_per_second[idx(order[w])]);
          }
        }
        for (const ServiceIndex i : Indices<ServiceIndex>(services)) {
          if (kind[i].retraining_slots > 0) cheapest[i] = std::min(cheapest[i], best * kind[i].retraining_slots);
        }
      }
    }
    for (const ServiceIndex i : Indices<ServiceIndex>(services)) {
      if (terms_->problem.services[i].retraining && cheapest[i] < kNoPrice) {
        (*prices_)[frame_->places[i].progress + block] = cheapest[i];
      }
    }
  }
}
}  // namespace berth::planner::fleet
