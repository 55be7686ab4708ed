/// Tiny problems of one GPU, and every configuration that its GPU can have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "planner/one_gpu/detail/arrangements.h"
#include "planner/one_gpu/detail/gpu_case.h"
#include "planner/window/testing/problems.h"

namespace berth::planner::testing {

/// More joint states than a tiny problem has.
inline constexpr int kStatesMax = 100'000;

/// tiny_problem with only its first GPU.
[[nodiscard]] inline Problem one_gpu_of_tiny(std::uint64_t seed) {
  Problem problem = tiny_problem(Rng(seed));
  problem.gpus.resize(1);
  return problem;
}

/// Whether a piece can serve, or retrain here.
[[nodiscard]] inline bool does_something(const GpuCase& gpu_case, const Piece& piece) {
  if (piece.service == kNoService) return false;
  const KindIndex kind = gpu_case.model.sites[piece.site].kind;
  const Rates& rates = gpu_case.model.rates[kind][piece.service];
  if (piece.use != kRetraining) return rates.requests_per_second[piece.use] > 0;
  const ServiceTerms& terms = gpu_case.problem.services[piece.service];
  return may_be_stale(terms) && !terms.retrains_elsewhere && rates.retraining_slots > 0;
}

/// The room of a service's share.
[[nodiscard]] inline RoomIndex room_of(const GpuCase& gpu_case, ServiceIndex service, const Share& share) {
  const RoomIndex room = gpu_case.bundles[service].room[share.bundle];
  return share.retraining_kind < 0 ? room : gpu_case.rooms.add(room, share.retraining_kind);
}

[[nodiscard]] inline Configuration standing_of(const GpuCase& gpu_case) {
  Configuration pieces;
  for (const StandingPiece& standing : gpu_case.gpu.standing) pieces.push_back(standing.piece);
  return pieces;
}

/// Every configuration of pieces that do something, and of pieces of `old` that do not. No service retrains twice.
class Configurations {
 public:
  Configurations(const GpuCase& gpu_case, const Configuration& old) : case_(gpu_case), old_(old) {
    add(SiteIndex(0), 0);
  }
  [[nodiscard]] const std::vector<Configuration>& all() const { return all_; }

 private:
  void add(SiteIndex site, std::uint64_t taken) {
    if (ix(site) == case_.model.sites.size()) {
      all_.push_back(now_);
      return;
    }
    add(site + 1, taken);
    if ((taken >> site & 1) != 0) return;
    for (const Piece& piece : pieces_on(site)) {
      const bool retrains_already =
          piece.use == kRetraining && does_something(case_, piece) &&
          std::ranges::any_of(now_, [&](const Piece& other) {
            return other.service == piece.service && other.use == kRetraining && does_something(case_, other);
          });
      if (retrains_already) continue;
      now_.push_back(piece);
      add(site + 1, taken | case_.model.sites[site].clashes);
      now_.pop_back();
    }
  }

  [[nodiscard]] std::vector<Piece> pieces_on(SiteIndex site) const {
    std::vector<Piece> pieces;
    for (const ServiceIndex service : indices_of<ServiceIndex>(case_.problem.services)) {
      const int variants = static_cast<int>(case_.problem.services[service].variants.size());
      for (int use = kRetraining; use < variants; ++use) {
        const Piece piece{.site = site, .service = service, .use = use};
        if (does_something(case_, piece)) pieces.push_back(piece);
      }
    }
    for (const Piece& piece : old_) {
      if (piece.site == site && !does_something(case_, piece)) pieces.push_back(piece);
    }
    return pieces;
  }

  const GpuCase& case_;
  const Configuration& old_;
  Configuration now_;
  std::vector<Configuration> all_;
};

}  // namespace berth::planner::testing
