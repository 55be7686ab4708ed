#include "one_gpu/detail/arrangements.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

namespace berth::planner {
namespace {

/// More symmetries than these are left unused.
constexpr std::size_t kSymmetriesMax = 64;

}  // namespace

/// Pieces of one service, kind and use that are to be placed, and what is placed already.
struct Arrangements::Placing {
  struct Group {
    int kind = 0;
    int service = 0;
    int use = 0;
    int label = kNoLabel;  ///< of its service's bundles; kNoLabel: retraining
    int count = 0;         ///< wanted
    int kept = 0;
    int open = 0;  ///< of what stands, those that may still be kept
  };
  std::vector<Group> groups;
  std::vector<const Piece*> old;  ///< [site], what stands there before
  std::vector<Piece> unused;      ///< of what stands
  std::uint64_t taken = 0;
  std::uint64_t chosen = 0;
  Configuration pieces;
  std::vector<Share> most;    ///< that may still be kept
  std::vector<Piece> used;    ///< of what stands, those that may be kept
  std::vector<int> group_of;  ///< [used]
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
  for (std::size_t site = 0; site < gpu_case.model.sites.size(); ++site) {
    sites_of_kind_[ix(gpu_case.model.sites[site].kind)].push_back(static_cast<int>(site));
  }
  find_symmetries();
  find_twins();
}

int Arrangements::pin_of(int site) const {
  for (const PinnedSite& pin : case_.gpu.pins) {
    if (pin.site == site) return pin.service;
  }
  return kNobody;
}

/// Permutations of the sites that keep kinds, clashes and pins. Sites that clash with most come first: they leave few
/// choices.
void Arrangements::find_symmetries() {
  std::vector<int> order(case_.model.sites.size());
  std::iota(order.begin(), order.end(), 0);
  const auto clashes = [&](int site) { return std::popcount(case_.model.sites[ix(site)].clashes); };
  std::ranges::sort(order, [&](int a, int b) { return clashes(a) != clashes(b) ? clashes(a) > clashes(b) : a < b; });
  std::vector<int> image(order.size());
  extend_symmetry(order, 0, image, 0);
}

void Arrangements::extend_symmetry(const std::vector<int>& order, std::size_t depth, std::vector<int>& image,
                                   std::uint64_t used) {
  const std::vector<Site>& sites = case_.model.sites;
  if (symmetries_.size() >= kSymmetriesMax) return;
  if (depth == order.size()) {
    symmetries_.push_back(image);
    return;
  }
  const std::size_t site = ix(order[depth]);
  for (std::size_t to = 0; to < sites.size(); ++to) {
    if ((used >> to & 1) != 0 || sites[to].kind != sites[site].kind) continue;
    if (pin_of(static_cast<int>(to)) != pin_of(static_cast<int>(site))) continue;
    bool fits = true;
    for (std::size_t i = 0; i < depth && fits; ++i) {
      const int other = order[i];
      fits = (sites[site].clashes >> other & 1) == (sites[to].clashes >> image[ix(other)] & 1);
    }
    if (!fits) continue;
    image[site] = static_cast<int>(to);
    extend_symmetry(order, depth + 1, image, used | std::uint64_t{1} << to);
  }
}

void Arrangements::find_twins() {
  const std::vector<Site>& sites = case_.model.sites;
  twins_.assign(sites.size(), 0);
  for (std::size_t b = 0; b < sites.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const std::uint64_t both = std::uint64_t{1} << a | std::uint64_t{1} << b;
      const bool are_twins = sites[a].kind == sites[b].kind && (sites[a].clashes | both) == (sites[b].clashes | both) &&
                             pin_of(static_cast<int>(a)) == pin_of(static_cast<int>(b));
      if (are_twins) twins_[b] |= std::uint64_t{1} << a;
    }
  }
}

Configuration Arrangements::least_alike(const Configuration& pieces) const {
  Configuration least = pieces;
  Configuration other;
  for (const std::vector<int>& symmetry : symmetries_) {
    other = pieces;
    for (Piece& piece : other) piece.site = symmetry[ix(piece.site)];
    std::ranges::sort(other, {}, &Piece::site);
    if (other < least) least = other;
  }
  return least;
}

int Arrangements::number_of(const Configuration& pieces) {
  const auto [place, is_new] = numbers_.try_emplace(pieces, static_cast<int>(all_.size()));
  if (!is_new) return place->second;
  Arrangement arrangement = describe(pieces);
  arrangement.alike = alike_.try_emplace(least_alike(pieces), static_cast<int>(alike_.size())).first->second;
  all_.push_back(std::move(arrangement));
  return place->second;
}

/// Whether a piece does something that the search counts: it serves, or retrains.
bool Arrangements::is_used(const Piece& piece) const {
  if (piece.service == kNobody) return false;
  const int kind = case_.model.sites[ix(piece.site)].kind;
  if (piece.use == kRetraining) return case_.progress_rate(piece.service, kind) > 0;
  return case_.model.rates[ix(kind)][ix(piece.service)].requests_per_second[ix(piece.use)] > 0;
}

Arrangement Arrangements::describe(const Configuration& pieces) const {
  Arrangement arrangement{.pieces = pieces,
                          .shares = std::vector<Share>(case_.bundles.size()),
                          .progress_rates = std::vector<double>(case_.bundles.size())};
  std::vector<int> retraining(case_.bundles.size());
  for (const Piece& piece : pieces) {
    if (!is_used(piece) || piece.use == kRetraining) arrangement.has_spare = true;
    if (piece.service == kNobody) continue;
    const int kind = case_.model.sites[ix(piece.site)].kind;
    Share& share = arrangement.shares[ix(piece.service)];
    if (piece.use == kRetraining) {
      const bool elsewhere = case_.problem.services[ix(piece.service)].retrains_elsewhere;
      if (++retraining[ix(piece.service)] > 1 && !elsewhere) arrangement.can_stand = false;
      const double slots = case_.model.rates[ix(kind)][ix(piece.service)].retraining_slots;
      if (slots > 0) arrangement.progress_rates[ix(piece.service)] += 1 / slots;
      if (is_used(piece)) share.retraining_kind = kind;
    } else if (is_used(piece)) {
      const Bundles& bundles = case_.bundles[ix(piece.service)];
      const std::size_t variants = case_.problem.services[ix(piece.service)].variants.size();
      share.bundle = bundles.plus(share.bundle, bundles.label_of[ix(kind) * variants + ix(piece.use)]);
    }
  }
  for (int service = 0; ix(service) < case_.bundles.size(); ++service) {
    const double rate = case_.bundles[ix(service)].rate[ix(arrangement.shares[ix(service)].bundle)];
    if (!case_.keeps_floor(service, rate)) arrangement.keeps_floors = false;
  }
  arrangement.may_begin = arrangement.can_stand && may_begin(pieces);
  return arrangement;
}

bool Arrangements::may_begin(const Configuration& pieces) const {
  const std::vector<ServiceTerms>& services = case_.problem.services;
  for (const PinnedSite& pin : case_.gpu.pins) {
    const auto found = std::ranges::find(pieces, pin.site, &Piece::site);
    if (found == pieces.end() || found->service != pin.service) return false;
  }
  for (const Piece& one : pieces) {
    if (one.service == kNobody) continue;
    const ServiceTerms& terms = services[ix(one.service)];
    if (one.use == kRetraining && terms.retrains_elsewhere) return false;
    for (const Piece& other : pieces) {
      if (other.service == kNobody || other.service == one.service) continue;
      if (terms.is_alone_on_gpu || terms.trust_domain != services[ix(other.service)].trust_domain) return false;
    }
  }
  return true;
}

std::vector<Share> Arrangements::most_kept(const Arrangement& from, const std::vector<Share>& shares) const {
  std::vector<Share> kept(shares.size());
  for (std::size_t service = 0; service < shares.size(); ++service) {
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
  for (int service = 0; ix(service) < shares.size(); ++service) {
    const Share& share = shares[ix(service)];
    const Bundles& bundles = case_.bundles[ix(service)];
    for (int label = 0; ix(label) < bundles.labels.size(); ++label) {
      const int count = bundles.count_of(share.bundle, label);
      if (count == 0) continue;
      const Bundles::Label& what = bundles.labels[ix(label)];
      placing.groups.push_back(
          {.kind = what.kind, .service = service, .use = what.variant, .label = label, .count = count});
    }
    if (share.retraining_kind >= 0) {
      placing.groups.push_back({.kind = share.retraining_kind, .service = service, .use = kRetraining, .count = 1});
    }
  }
  // Those with the fewest sites first.
  std::ranges::sort(placing.groups, [&](const Placing::Group& a, const Placing::Group& b) {
    const std::size_t sites_a = sites_of_kind_[ix(a.kind)].size();
    const std::size_t sites_b = sites_of_kind_[ix(b.kind)].size();
    if (sites_a != sites_b) return sites_a < sites_b;
    return std::pair(a.service, a.use) < std::pair(b.service, b.use);
  });
  placing.old.assign(case_.model.sites.size(), nullptr);
  for (const Piece& piece : from.pieces) {
    placing.old[ix(piece.site)] = &piece;
    if (!is_used(piece)) {
      placing.unused.push_back(piece);
      continue;
    }
    for (std::size_t i = 0; i < placing.groups.size(); ++i) {
      Placing::Group& group = placing.groups[i];
      if (group.service != piece.service || group.use != piece.use) continue;
      if (group.kind != case_.model.sites[ix(piece.site)].kind) continue;
      ++group.open;
      placing.used.push_back(piece);
      placing.group_of.push_back(static_cast<int>(i));
    }
  }
  placing.most = most_kept(from, shares);
  placing.is_worth = &is_worth;
  placing.visit = &visit;
  return keep(placing, 0);
}

/// Which of what stands go on: each is tried, then done without.
bool Arrangements::keep(Placing& placing, std::size_t next) const {
  if (next == placing.used.size()) return place(placing, 0, 0, 0);
  Placing::Group& group = placing.groups[ix(placing.group_of[next])];
  const Piece& piece = placing.used[next];
  --group.open;
  if (group.kept < group.count) {
    const std::uint64_t taken = placing.taken;
    placing.taken |= case_.model.sites[ix(piece.site)].clashes;
    placing.pieces.push_back(piece);
    ++group.kept;
    const bool goes_on = keep(placing, next + 1);
    --group.kept;
    placing.pieces.pop_back();
    placing.taken = taken;
    if (!goes_on) return false;
  }
  Share& most = placing.most[ix(group.service)];
  const Share before = most;
  const bool is_fewer = group.kept + group.open < group.count;
  const bool is_missed = group.kept + group.open + 1 <= group.count;
  if (is_missed && is_fewer) {
    if (group.label == kNoLabel) {
      most.retraining_kind = -1;
    } else {
      most.bundle = case_.bundles[ix(group.service)].minus(most.bundle, group.label);
    }
  }
  const bool goes_on = most == before || (*placing.is_worth)(placing.most) ? keep(placing, next + 1) : true;
  most = before;
  ++group.open;
  return goes_on;
}

/// The new pieces of a group, of which `placed` stand already, on its sites from number `first` on.
bool Arrangements::place(Placing& placing, std::size_t group, int placed, std::size_t first) const {
  if (group == placing.groups.size()) return place_unused(placing, 0);
  const Placing::Group& what = placing.groups[group];
  if (what.kept + placed == what.count) return place(placing, group + 1, 0, 0);
  const std::vector<int>& sites = sites_of_kind_[ix(what.kind)];
  const auto is_same = [](const Piece* a, const Piece* b) {
    if (a == nullptr || b == nullptr) return a == b;
    return a->service == b->service && a->use == b->use;
  };
  for (std::size_t i = first; i < sites.size(); ++i) {
    const std::size_t site = ix(sites[i]);
    if ((placing.taken >> site & 1) != 0) continue;
    const Piece* old = placing.old[site];
    // It would go on: that was tried before.
    if (old != nullptr && old->service == what.service && old->use == what.use) continue;
    // A twin that is free and has seen the same would do as well.
    bool is_needless = false;
    for (std::uint64_t twins = twins_[site] & ~placing.taken; twins != 0 && !is_needless; twins &= twins - 1) {
      is_needless = is_same(placing.old[ix(std::countr_zero(twins))], old);
    }
    if (is_needless) continue;
    const std::uint64_t taken = placing.taken;
    placing.taken |= case_.model.sites[site].clashes;
    placing.pieces.push_back({.site = static_cast<int>(site), .service = what.service, .use = what.use});
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
  placing.taken |= case_.model.sites[ix(piece.site)].clashes;
  placing.pieces.push_back(piece);
  const bool goes_on = place_unused(placing, next + 1);
  placing.pieces.pop_back();
  placing.taken = taken;
  return goes_on;
}

}  // namespace berth::planner
