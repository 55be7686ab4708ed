#include "planner/one_gpu/detail/arrangements.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

namespace berth::planner {
namespace {

/// Further symmetries are ignored.
constexpr std::size_t kSymmetriesMax = 64;

}  // namespace

/// The pieces to be placed, in groups of one service, kind and use, and those placed already.
struct Arrangements::Placing {
  struct PlacingGroup {
    KindIndex kind = KindIndex(0);
    ServiceIndex service = ServiceIndex(0);
    int use = 0;
    ItemIndex item = kNoItem;  ///< of its service's bundles; kNoItem: retraining
    int count = 0;             ///< wanted
    int kept = 0;
    int open = 0;  ///< standing pieces that may still be kept
  };
  std::vector<PlacingGroup> groups;
  std::vector<const Piece*> old;  ///< [site], the standing piece there
  std::vector<Piece> unused;      ///< standing pieces that do nothing that counts in the search
  std::uint64_t taken = 0;
  std::uint64_t chosen = 0;
  Configuration pieces;
  std::vector<Share> most;            ///< the shares that may still be kept
  std::vector<Piece> used;            ///< standing pieces that may be kept
  std::vector<std::size_t> group_of;  ///< [used]
  const IsWorth* is_worth = nullptr;
  const Visit* visit = nullptr;
};

std::size_t Arrangements::Hash::operator()(const Configuration& pieces) const {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const Piece& piece : pieces) {
    const std::int64_t service = piece.service + 1;
    const auto code = static_cast<std::uint64_t>((service * 64 + piece.use + 1) * 64 + piece.site);
    hash = (hash ^ code) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

Arrangements::Arrangements(const GpuCase& gpu_case) : case_(gpu_case) {
  sites_of_kind_.resize(ix(gpu_case.rooms.kinds()));
  for (const SiteIndex site : indices_of<SiteIndex>(gpu_case.model.sites)) {
    sites_of_kind_[gpu_case.model.sites[site].kind].push_back(site);
  }
  find_symmetries();
  find_twins();
}

ServiceIndex Arrangements::pin_of(SiteIndex site) const {
  for (const PinnedSite& pin : case_.gpu.pins) {
    if (pin.site == site) return pin.service;
  }
  return kNoService;
}

/// Permutations of the sites that keep kinds, clashes and pins. Sites with the most clashes come first: they leave few
/// choices.
void Arrangements::find_symmetries() {
  std::vector<SiteIndex> order(case_.model.sites.size());
  std::iota(order.begin(), order.end(), SiteIndex(0));
  const auto clashes = [&](SiteIndex site) { return std::popcount(case_.model.sites[site].clashes); };
  std::ranges::sort(
      order, [&](SiteIndex a, SiteIndex b) { return clashes(a) != clashes(b) ? clashes(a) > clashes(b) : a < b; });
  std::vector<SiteIndex> image(order.size());
  extend_symmetry(order, 0, image, 0);
}

void Arrangements::extend_symmetry(const std::vector<SiteIndex>& order, std::size_t depth,
                                   std::vector<SiteIndex>& image, std::uint64_t used) {
  const std::vector<Site>& sites = case_.model.sites;
  if (symmetries_.size() >= kSymmetriesMax) return;
  if (depth == order.size()) {
    symmetries_.push_back(image);
    return;
  }
  const SiteIndex site = order[depth];
  for (const SiteIndex to : indices_of<SiteIndex>(sites)) {
    if ((used >> to & 1) != 0 || sites[to].kind != sites[site].kind) continue;
    if (pin_of(to) != pin_of(site)) continue;
    bool fits = true;
    for (std::size_t i = 0; i < depth && fits; ++i) {
      const SiteIndex other = order[i];
      fits = (sites[site].clashes >> other & 1) == (sites[to].clashes >> image[other] & 1);
    }
    if (!fits) continue;
    image[site] = to;
    extend_symmetry(order, depth + 1, image, used | std::uint64_t{1} << to);
  }
}

void Arrangements::find_twins() {
  const std::vector<Site>& sites = case_.model.sites;
  twins_.assign(sites.size(), 0);
  for (const SiteIndex b : indices_of<SiteIndex>(sites)) {
    for (const SiteIndex a : Indices<SiteIndex>(static_cast<int>(b))) {
      const std::uint64_t both = std::uint64_t{1} << a | std::uint64_t{1} << b;
      const bool are_twins = sites[a].kind == sites[b].kind && (sites[a].clashes | both) == (sites[b].clashes | both) &&
                             pin_of(a) == pin_of(b);
      if (are_twins) twins_[b] |= std::uint64_t{1} << a;
    }
  }
}

Configuration Arrangements::least_alike(const Configuration& pieces) const {
  Configuration least = pieces;
  Configuration other;
  for (const std::vector<SiteIndex>& symmetry : symmetries_) {
    other = pieces;
    for (Piece& piece : other) piece.site = symmetry[piece.site];
    std::ranges::sort(other, {}, &Piece::site);
    if (other < least) least = other;
  }
  return least;
}

ArrangementIndex Arrangements::number_of(const Configuration& pieces) {
  const auto [place, is_new] = numbers_.try_emplace(pieces, ArrangementIndex(all_.size()));
  if (!is_new) return place->second;
  Arrangement arrangement = describe(pieces);
  arrangement.alike = alike_.try_emplace(least_alike(pieces), AlikeIndex(alike_.size())).first->second;
  all_.push_back(std::move(arrangement));
  return place->second;
}

/// Whether a piece does something that the search counts: it serves, or retrains.
bool Arrangements::is_used(const Piece& piece) const {
  if (piece.service == kNoService) return false;
  const KindIndex kind = case_.model.sites[piece.site].kind;
  if (piece.use == kRetraining) return case_.progress_rate(piece.service, kind) > 0;
  return case_.model.rates[kind][piece.service].requests_per_second[piece.use] > 0;
}

Arrangement Arrangements::describe(const Configuration& pieces) const {
  Arrangement arrangement{.pieces = pieces,
                          .shares = std::vector<Share>(case_.bundles.size()),
                          .progress_rates = std::vector<double>(case_.bundles.size())};
  std::vector<int> retraining(case_.bundles.size());
  std::vector<int> serving(case_.bundles.size());
  for (const Piece& piece : pieces) {
    if (piece.service != kNoService && piece.use != kRetraining) ++serving[piece.service];
    if (!is_used(piece)) arrangement.has_unused = true;
    if (!is_used(piece) || piece.use == kRetraining) arrangement.has_spare = true;
    if (piece.service == kNoService) continue;
    const KindIndex kind = case_.model.sites[piece.site].kind;
    Share& share = arrangement.shares[piece.service];
    if (piece.use == kRetraining) {
      const bool elsewhere = case_.problem.services[piece.service].retrains_elsewhere;
      if (++retraining[piece.service] > 1 && !elsewhere) arrangement.can_stand = false;
      const double slots = case_.model.rates[kind][piece.service].retraining_slots;
      if (slots > 0) arrangement.progress_rates[piece.service] += 1 / slots;
      if (is_used(piece)) share.retraining_kind = kind;
    } else if (is_used(piece)) {
      const Bundles& bundles = case_.bundles[piece.service];
      share.bundle = bundles.plus(share.bundle, bundles.item(kind, piece.use));
    }
  }
  bool has_room = true;
  for (const ServiceIndex service : indices_of<ServiceIndex>(case_.bundles)) {
    const double rate = case_.bundles[service].rate[arrangement.shares[service].bundle];
    const ServiceTerms& terms = case_.problem.services[service];
    const bool has_too_few = terms.counts_slices && serving[service] + terms.outside_floor_rate < terms.floor_rate;
    if (!case_.keeps_floor(service, rate) || has_too_few) arrangement.keeps_floors = false;
    if (terms.slices_max >= 0 && serving[service] + terms.outside_slices > terms.slices_max) has_room = false;
  }
  arrangement.may_begin = arrangement.can_stand && has_room && may_begin(pieces);
  return arrangement;
}

bool Arrangements::may_begin(const Configuration& pieces) const {
  const std::vector<ServiceTerms>& services = case_.problem.services;
  for (const PinnedSite& pin : case_.gpu.pins) {
    const auto found = std::ranges::find(pieces, pin.site, &Piece::site);
    if (found == pieces.end() || found->service != pin.service) return false;
  }
  for (const Piece& one : pieces) {
    if (one.service == kNoService) continue;
    const ServiceTerms& terms = services[one.service];
    if (one.use == kRetraining && terms.retrains_elsewhere) return false;
    for (const Piece& other : pieces) {
      if (other.service == kNoService || other.service == one.service) continue;
      if (terms.is_alone_on_gpu || terms.trust_domain != services[other.service].trust_domain) return false;
    }
  }
  return true;
}

std::vector<Share> Arrangements::most_kept(const Arrangement& from, const std::vector<Share>& shares) const {
  std::vector<Share> kept(shares.size());
  for (const ServiceIndex service : indices_of<ServiceIndex>(shares)) {
    const Share& old = from.shares[service];
    const Share& now = shares[service];
    kept[service].bundle = case_.bundles[service].common_part(old.bundle, now.bundle);
    if (old.retraining_kind == now.retraining_kind) kept[service].retraining_kind = now.retraining_kind;
  }
  return kept;
}

bool Arrangements::visit_placings(const Arrangement& from, const std::vector<Share>& shares, const IsWorth& is_worth,
                                  const Visit& visit) const {
  Placing placing;
  for (const ServiceIndex service : indices_of<ServiceIndex>(shares)) {
    const Share& share = shares[service];
    const Bundles& bundles = case_.bundles[service];
    for (const ItemIndex item : indices_of<ItemIndex>(bundles.items)) {
      const int count = bundles.count_of(share.bundle, item);
      if (count == 0) continue;
      const Bundles::Item& what = bundles.items[item];
      placing.groups.push_back(
          {.kind = what.kind, .service = service, .use = what.variant, .item = item, .count = count});
    }
    if (share.retraining_kind >= 0) {
      placing.groups.push_back({.kind = share.retraining_kind, .service = service, .use = kRetraining, .count = 1});
    }
  }
  // The groups with the fewest sites first.
  std::ranges::sort(placing.groups, [&](const Placing::PlacingGroup& a, const Placing::PlacingGroup& b) {
    const std::size_t sites_a = sites_of_kind_[a.kind].size();
    const std::size_t sites_b = sites_of_kind_[b.kind].size();
    if (sites_a != sites_b) return sites_a < sites_b;
    return std::pair(a.service, a.use) < std::pair(b.service, b.use);
  });
  placing.old.assign(case_.model.sites.size(), nullptr);
  for (const Piece& piece : from.pieces) {
    placing.old[piece.site] = &piece;
    if (!is_used(piece)) {
      placing.unused.push_back(piece);
      continue;
    }
    for (std::size_t i = 0; i < placing.groups.size(); ++i) {
      Placing::PlacingGroup& group = placing.groups[i];
      if (group.service != piece.service || group.use != piece.use) continue;
      if (group.kind != case_.model.sites[piece.site].kind) continue;
      ++group.open;
      placing.used.push_back(piece);
      placing.group_of.push_back(i);
    }
  }
  placing.most = most_kept(from, shares);
  placing.is_worth = &is_worth;
  placing.visit = &visit;
  return keep(placing, 0);
}

/// Chooses the standing pieces that continue: each is kept first, then left out.
bool Arrangements::keep(Placing& placing, std::size_t next) const {
  if (next == placing.used.size()) return place(placing, 0, 0, 0);
  Placing::PlacingGroup& group = placing.groups[placing.group_of[next]];
  const Piece& piece = placing.used[next];
  --group.open;
  if (group.kept < group.count) {
    const std::uint64_t taken = placing.taken;
    placing.taken |= case_.model.sites[piece.site].clashes;
    placing.pieces.push_back(piece);
    ++group.kept;
    const bool goes_on = keep(placing, next + 1);
    --group.kept;
    placing.pieces.pop_back();
    placing.taken = taken;
    if (!goes_on) return false;
  }
  Share& most = placing.most[group.service];
  const Share before = most;
  const bool is_fewer = group.kept + group.open < group.count;
  const bool is_missed = group.kept + group.open + 1 <= group.count;
  if (is_missed && is_fewer) {
    if (group.item == kNoItem) {
      most.retraining_kind = kNoKind;
    } else {
      most.bundle = case_.bundles[group.service].minus(most.bundle, group.item);
    }
  }
  const bool goes_on = most == before || (*placing.is_worth)(placing.most) ? keep(placing, next + 1) : true;
  most = before;
  ++group.open;
  return goes_on;
}

/// Places the new pieces of a group, of which `placed` are placed already, on its sites from number `first` on.
bool Arrangements::place(Placing& placing, std::size_t group, int placed, std::size_t first) const {
  if (group == placing.groups.size()) return place_unused(placing, 0);
  const Placing::PlacingGroup& what = placing.groups[group];
  if (what.kept + placed == what.count) return place(placing, group + 1, 0, 0);
  const std::vector<SiteIndex>& sites = sites_of_kind_[what.kind];
  const auto is_same = [](const Piece* a, const Piece* b) {
    if (a == nullptr || b == nullptr) return a == b;
    return a->service == b->service && a->use == b->use;
  };
  for (std::size_t i = first; i < sites.size(); ++i) {
    const SiteIndex site = sites[i];
    if ((placing.taken >> site & 1) != 0) continue;
    const Piece* old = placing.old[site];
    // The old piece would continue, which was tried before.
    if (old != nullptr && old->service == what.service && old->use == what.use) continue;
    // A free twin site with the same history would do as well.
    bool is_needless = false;
    for (std::uint64_t twins = twins_[site] & ~placing.taken; twins != 0 && !is_needless; twins &= twins - 1) {
      is_needless = is_same(placing.old[std::countr_zero(twins)], old);
    }
    if (is_needless) continue;
    const std::uint64_t taken = placing.taken;
    placing.taken |= case_.model.sites[site].clashes;
    placing.pieces.push_back({.site = site, .service = what.service, .use = what.use});
    const bool goes_on = place(placing, group, placed + 1, i + 1);
    placing.pieces.pop_back();
    placing.taken = taken;
    if (!goes_on) return false;
  }
  return true;
}

bool Arrangements::place_unused(Placing& placing, std::size_t next) const {
  if (next == placing.unused.size()) {
    Configuration pieces = placing.pieces;
    std::ranges::sort(pieces, {}, &Piece::site);
    return (*placing.visit)(pieces);
  }
  if (!place_unused(placing, next + 1)) return false;
  const Piece& piece = placing.unused[next];
  if ((placing.taken >> piece.site & 1) != 0) return true;
  const std::uint64_t taken = placing.taken;
  placing.taken |= case_.model.sites[piece.site].clashes;
  placing.pieces.push_back(piece);
  const bool goes_on = place_unused(placing, next + 1);
  placing.pieces.pop_back();
  placing.taken = taken;
  return goes_on;
}

}  // namespace berth::planner
