#include "planner/many_gpus/detail/exchange.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace berth::planner::fleet {
namespace {

constexpr int kTableSteps = 24;       ///< of a table, to each side
constexpr int kTableStride = 3;       ///< distance of the slots that a table evaluates
constexpr double kMoveLeast = 1e-8;   ///< of the most that any schedule is worth
constexpr double kLateShare = 0.125;  ///< of the window: near its begin, and near its end

}  // namespace

double Exchange::Account::of(double shift, When when) const {
  const std::vector<double>& table = worth[static_cast<std::size_t>(when)];
  const double at = std::clamp(shift / step + kTableSteps, 0.0, 2.0 * kTableSteps - 1e-9);
  const auto low = static_cast<std::size_t>(at);
  const double share = at - static_cast<double>(low);
  return table[low] * (1 - share) + table[low + 1] * share;
}

Exchange::Exchange(const Terms& terms) : terms_(&terms) {
  for (const ModelTerms& model : terms.problem.models) {
    first_kind_.emplace_back(kinds_);
    kinds_ += static_cast<int>(model.rates.size());
  }
  for (const ServiceIndex i : indices_of<ServiceIndex>(terms.problem.services)) {
    const ServiceTerms& service = terms.problem.services[idx(i)];
    account_of_.emplace_back(service.variants.size(), AccountIndex(-1));
    if (service.changes_max >= 0) continue;
    for (int use = 0; idx(use) < service.variants.size(); ++use) {
      double most = 0;
      std::vector<double> rates;
      for (const ModelTerms& model : terms.problem.models) {
        for (const std::vector<Rates>& kind : model.rates) {
          rates.push_back(kind[idx(i)].requests_per_second[idx(use)]);
          most = std::max(most, rates.back());
        }
      }
      if (most <= 0) continue;
      account_of_.back()[idx(use)] = AccountIndex(accounts_.size());
      accounts_.push_back({.service = i, .use = use, .step = most / kTableSteps, .worth = {}});
      rates_.insert(rates_.end(), rates.begin(), rates.end());
    }
  }
}

void Exchange::fill_account(const FleetState& state, Account& account) const {
  const ServiceTerms& service = terms_->problem.services[idx(account.service)];
  const ServiceSupply& now = state.service(account.service);
  const std::size_t variants = service.variants.size();
  const Freshness freshness = freshness_of(*terms_, account.service, now.progress);
  for (std::vector<double>& table : account.worth) table.assign(2 * kTableSteps + 1, 0);
  std::vector<double> capacity(variants);
  for (SlotIndex slot(terms_->slots % kTableStride); slot <= terms_->slots; slot += kTableStride) {
    const bool is_tail = slot == terms_->slots;
    const double* held = now.capacity.data() + idx(slot) * variants;
    const double fresh_seconds = is_tail ? freshness.tail_fresh_seconds : kTableStride * freshness.is_fresh[idx(slot)];
    const double all_seconds = is_tail ? terms_->problem.tail_seconds : kTableStride;
    const bool is_bound = service.floor_rate > 0 && !is_tail && slot >= terms_->problem.floors_from;
    for (int k = -kTableSteps; k <= kTableSteps; ++k) {
      capacity.assign(held, held + variants);
      capacity[idx(account.use)] = std::max(0.0, capacity[idx(account.use)] + k * account.step);
      double worth = 0;
      if (fresh_seconds > 0) worth += fresh_seconds * terms_->worth(account.service, slot, true, capacity.data());
      if (all_seconds > fresh_seconds) {
        worth += (all_seconds - fresh_seconds) * terms_->worth(account.service, slot, false, capacity.data());
      }
      if (is_bound) {
        const double more = service.counts_slices ? static_cast<double>(k) / kTableSteps : k * account.step;
        const double shortfall = 1 - (now.standing[idx(slot)] + more) / service.floor_rate;
        worth -= std::max(0.0, shortfall) * kTableStride * terms_->shortfall_price;
      }
      account.worth[is_tail ? 1 : 0][idx(k + kTableSteps)] += worth;
    }
  }
  for (int k = 0; k <= 2 * kTableSteps; ++k) account.worth[2][k] = account.worth[0][k] + account.worth[1][k];
  for (std::vector<double>& table : account.worth) {
    const double base = table[kTableSteps];
    for (double& worth : table) worth -= base;
  }
}

std::optional<Exchange::When> Exchange::when_of(const Path& path, const Stay& stay) const {
  const double early = kLateShare * terms_->slots;
  const bool is_new = !path.changes.empty() && stay.from >= path.changes.front().slot && stay.ready > stay.from;
  if (!is_new) return std::nullopt;
  const bool has_tail = stay.until > terms_->slots;
  if (stay.from <= early && has_tail) return When::kBoth;
  if (stay.from <= early && stay.until >= terms_->slots - early) return When::kWindow;
  if (has_tail && stay.from >= terms_->slots - early) return When::kTail;
  return std::nullopt;
}

void Exchange::collect(const FleetState& state) {
  std::map<std::tuple<AccountIndex, FleetKindIndex, When>, std::vector<BegunSlice>> slices;
  for (const GpuIndex gpu : indices_of<GpuIndex>(terms_->problem.gpus)) {
    const GpuTerms& terms = terms_->problem.gpus[idx(gpu)];
    for (const Stay& stay : state.path(gpu).stays) {
      const std::optional<When> when = when_of(state.path(gpu), stay);
      if (!when || stay.piece.use == kRetraining) continue;
      if (std::ranges::find(terms.pins, stay.piece.site, &PinnedSite::site) != terms.pins.end()) continue;
      const AccountIndex account = account_of_[idx(stay.piece.service)][idx(stay.piece.use)];
      if (account < 0) continue;
      slices[{account, first_kind_[idx(terms.model)] + static_cast<int>(stay.kind), *when}].push_back(
          {.gpu = gpu, .site = stay.piece.site, .from = stay.from});
    }
  }
  slice_groups_.clear();
  for (auto& [key, list] : slices) {
    const auto& [account, kind, when] = key;
    slice_groups_.push_back({.account = account, .kind = kind, .when = when, .slices = std::move(list)});
  }
}

Exchange::OwnerChange Exchange::best_for(SliceGroupIndex from) const {
  const SliceGroup& holding = slice_groups_[from];
  const Account& giver = accounts_[idx(holding.account)];
  const double rate_here = rate(holding.account, holding.kind);
  const double lost = giver.of(-rate_here, holding.when);
  OwnerChange best{
      .gain = kMoveLeast * terms_->value_max, .from = from, .with = SliceGroupIndex(-1), .account = AccountIndex(-1)};
  const auto may_join = [&](AccountIndex account) {
    return accounts_[idx(account)].service != giver.service &&
           terms_->group[idx(accounts_[idx(account)].service)] == terms_->group[idx(giver.service)];
  };
  for (const AccountIndex account : indices_of<AccountIndex>(accounts_)) {
    if (!may_hold(account, holding.kind) || !may_join(account)) continue;
    const double gain = lost + accounts_[idx(account)].of(rate(account, holding.kind), holding.when);
    if (gain > best.gain) best = {.gain = gain, .from = best.from, .with = SliceGroupIndex(-1), .account = account};
  }
  for (SliceGroupIndex with = from + 1; idx(with) < slice_groups_.size(); ++with) {
    const SliceGroup& other = slice_groups_[with];
    if (other.kind == holding.kind || other.when != holding.when || !may_join(other.account)) continue;
    if (!may_hold(other.account, holding.kind) || !may_hold(holding.account, other.kind)) continue;
    const double gain = giver.of(rate(holding.account, other.kind) - rate_here, holding.when) +
                        accounts_[idx(other.account)].of(
                            rate(other.account, holding.kind) - rate(other.account, other.kind), holding.when);
    if (gain > best.gain) best = {.gain = gain, .from = best.from, .with = with, .account = AccountIndex(-1)};
  }
  return best;
}

std::vector<Exchange::OwnerChange> Exchange::owner_changes() const {
  std::vector<OwnerChange> found;
  for (const SliceGroupIndex from : indices_of<SliceGroupIndex>(slice_groups_)) {
    const OwnerChange change = best_for(from);
    if (change.with >= 0 || change.account >= 0) found.push_back(change);
  }
  std::ranges::sort(found, [](const OwnerChange& a, const OwnerChange& b) {
    return a.gain != b.gain ? a.gain > b.gain : a.from < b.from;
  });
  return found;
}

bool Exchange::apply(FleetState& state, const OwnerChange& change) {
  ++nodes_;
  const SliceGroup& from = slice_groups_[idx(change.from)];
  const AccountIndex taker = change.with >= 0 ? slice_groups_[idx(change.with)].account : change.account;
  const BegunSlice slice = from.slices.back();
  std::optional<BegunSlice> other;
  if (change.with >= 0) other = slice_groups_[idx(change.with)].slices.back();
  if (other && other->gpu == slice.gpu) return false;
  const double before = state.score();
  const auto give = [&](const BegunSlice& each, AccountIndex old_account, AccountIndex new_account) {
    const Account& old_owner = accounts_[idx(old_account)];
    const Account& new_owner = accounts_[idx(new_account)];
    Path path = state.path(each.gpu);
    const Piece old{.site = each.site, .service = old_owner.service, .use = old_owner.use};
    const Piece piece{.site = each.site, .service = new_owner.service, .use = new_owner.use};
    std::vector<Change> changes =
        given_away(terms_->problem.gpus[idx(each.gpu)], path,
                   {.piece = old, .kind = {}, .from = each.from, .ready = {}, .until = terms_->tail_end()}, piece);
    if (!may_carry_out(*terms_, each.gpu, changes)) return path;
    state.take_out(each.gpu);
    state.put(each.gpu, make_path(*terms_, each.gpu, std::move(changes)));
    return path;
  };
  Path first = give(slice, from.account, taker);
  std::optional<Path> second;
  if (other) second = give(*other, taker, from.account);
  if (state.score() > before + kMoveLeast * terms_->value_max) return true;
  state.take_out(slice.gpu);
  state.put(slice.gpu, std::move(first));
  if (!other) return false;
  state.take_out(other->gpu);
  state.put(other->gpu, std::move(*second));
  return false;
}

double Exchange::run(FleetState& state, int passes) {
  const double before = state.score();
  for (Account& account : accounts_) fill_account(state, account);
  for (int pass = 0; pass < passes; ++pass) {
    collect(state);
    std::vector<char> is_moved(terms_->problem.services.size(), 0);
    bool has_gained = false;
    for (const OwnerChange& change : owner_changes()) {
      const SliceGroup& from = slice_groups_[idx(change.from)];
      const AccountIndex taker = change.with >= 0 ? slice_groups_[idx(change.with)].account : change.account;
      const ServiceIndex giver_service = accounts_[idx(from.account)].service;
      const ServiceIndex taker_service = accounts_[idx(taker)].service;
      if (is_moved[idx(giver_service)] != 0 || is_moved[idx(taker_service)] != 0) continue;
      is_moved[idx(giver_service)] = is_moved[idx(taker_service)] = 1;
      has_gained |= apply(state, change);
    }
    if (!has_gained) break;
    for (Account& account : accounts_) {
      if (is_moved[idx(account.service)] != 0) fill_account(state, account);
    }
  }
  return state.score() - before;
}

}  // namespace berth::planner::fleet
