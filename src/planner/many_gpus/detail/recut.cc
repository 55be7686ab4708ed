#include "planner/many_gpus/detail/recut.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace berth::planner {
namespace {

bool in_one_place(const ModelTerms& model, SiteIndex a, SiteIndex b) {
  return a == b || (model.sites[static_cast<std::size_t>(a)].clashes >> b & 1) != 0;
}

class Recuts {
 public:
  Recuts(const ModelTerms& model, const GpuTerms& gpu) : model_(model), gpu_(gpu) {
    pieces_.reserve(gpu.standing.size());
    for (const StandingPiece& standing : gpu.standing) pieces_.push_back(standing.piece);
  }

  std::vector<Configuration> all() {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (is_fixed(pieces_[i])) continue;
      cut_in_two(pieces_[i]);
      for (std::size_t j = i + 1; j < pieces_.size(); ++j) {
        if (!is_fixed(pieces_[j])) make_one(pieces_[i], pieces_[j]);
      }
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] int sites() const { return static_cast<int>(model_.sites.size()); }

  [[nodiscard]] bool is_fixed(const Piece& piece) const {
    return piece.service == kNoService ||
           std::ranges::find(gpu_.pins, piece.site, &PinnedSite::site) != gpu_.pins.end();
  }

  /// The owner's piece on a site, with the use that yields most.
  [[nodiscard]] std::optional<Piece> piece_on(SiteIndex site, ServiceIndex service) const {
    const auto kind = static_cast<std::size_t>(model_.sites[static_cast<std::size_t>(site)].kind);
    const auto& rates = model_.rates[kind][static_cast<std::size_t>(service)].requests_per_second;
    const auto best = std::ranges::max_element(rates);
    if (best == rates.end() || *best <= 0) return std::nullopt;
    return Piece{.site = site, .service = service, .use = static_cast<int>(best - rates.begin())};
  }

  [[nodiscard]] bool is_free_of_others(SiteIndex site, const Piece& a, const Piece& b) const {
    return std::ranges::none_of(pieces_, [&](const Piece& other) {
      return other.site != a.site && other.site != b.site && in_one_place(model_, site, other.site);
    });
  }

  void add(const Piece& gone, const Piece& also_gone, const std::vector<Piece>& come) {
    Configuration to = come;
    for (const Piece& piece : pieces_) {
      if (piece.site != gone.site && piece.site != also_gone.site) to.push_back(piece);
    }
    std::ranges::sort(to);
    found_.push_back(std::move(to));
  }

  void cut_in_two(const Piece& piece) {
    for (const SiteIndex a : Indices<SiteIndex>(sites())) {
      if (a == piece.site || !in_one_place(model_, a, piece.site) || !is_free_of_others(a, piece, piece)) continue;
      for (SiteIndex b = a + 1; b < sites(); ++b) {
        if (b == piece.site || in_one_place(model_, a, b) || !in_one_place(model_, b, piece.site)) continue;
        if (!is_free_of_others(b, piece, piece)) continue;
        const auto first = piece_on(a, piece.service);
        const auto second = piece_on(b, piece.service);
        if (first && second) add(piece, piece, {*first, *second});
      }
    }
  }

  void make_one(const Piece& a, const Piece& b) {
    for (const SiteIndex site : Indices<SiteIndex>(sites())) {
      if (!in_one_place(model_, site, a.site) || !in_one_place(model_, site, b.site) || !is_free_of_others(site, a, b))
        continue;
      for (const ServiceIndex owner : {a.service, b.service}) {
        const auto whole = piece_on(site, owner);
        if (whole) add(a, b, {*whole});
        if (a.service == b.service) break;
      }
    }
  }

  const ModelTerms& model_;
  const GpuTerms& gpu_;
  Configuration pieces_;
  std::vector<Configuration> found_;
};

}  // namespace

std::vector<Configuration> recuts_of(const ModelTerms& model, const GpuTerms& gpu) { return Recuts(model, gpu).all(); }

}  // namespace berth::planner
