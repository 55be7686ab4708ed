#include "planner/plan/keep_places.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "planner/plan/detail/add_slices.h"
#include "planner/window/check.h"

namespace berth::planner {
namespace {

constexpr double kObjectiveLossMax = 1e-9;  ///< of the objective: less is rounding

struct HeldPiece {
  GpuIndex gpu;
  Piece piece;
};

bool is_inference(const Piece& piece) { return piece.service != kNoService && piece.use != kRetraining; }

KindIndex kind_of(const Problem& problem, const HeldPiece& held) {
  return problem.models[problem.gpus[held.gpu].model].sites[held.piece.site].kind;
}

bool is_alike(const Problem& problem, const HeldPiece& a, const HeldPiece& b) {
  return problem.gpus[a.gpu].model == problem.gpus[b.gpu].model && kind_of(problem, a) == kind_of(problem, b);
}

/// The configuration of a GPU after its change in slot 0, if it has one.
Configuration* next_of(Schedule& schedule, GpuIndex gpu) {
  std::vector<Change>& changes = schedule.gpus[gpu];
  return changes.empty() || changes.front().slot != 0 ? nullptr : &changes.front().to;
}

/// The piece of a configuration on a site.
Piece* piece_on(Configuration& pieces, SiteIndex site) {
  const auto found = std::ranges::find(pieces, site, &Piece::site);
  return found == pieces.end() ? nullptr : &*found;
}

/// The inference pieces that stand, on GPUs that change in slot 0.
std::vector<HeldPiece> standing_of(const Problem& problem, Schedule& schedule) {
  std::vector<HeldPiece> pieces;
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
    if (next_of(schedule, gpu) == nullptr) continue;
    for (const StandingPiece& standing : problem.gpus[gpu].standing) {
      if (is_inference(standing.piece)) pieces.push_back({.gpu = gpu, .piece = standing.piece});
    }
  }
  return pieces;
}

/// Whether the pieces keep the rules for single GPUs: a GPU that does not change may break them.
bool keeps_rules(const Problem& problem, GpuIndex gpu, const Configuration& pieces) {
  const auto stands = [&](const PinnedSite& pin) {
    return std::ranges::any_of(
        pieces, [&](const Piece& piece) { return piece.site == pin.site && piece.service == pin.service; });
  };
  if (!std::ranges::all_of(problem.gpus[gpu].pins, stands)) return false;
  const auto may_share = [&](const Piece& a, const Piece& b) {
    if (a.service == b.service || a.service == kNoService || b.service == kNoService) return true;
    const ServiceTerms& one = problem.services[a.service];
    const ServiceTerms& other = problem.services[b.service];
    return !one.is_alone_on_gpu && !other.is_alone_on_gpu && one.trust_domain == other.trust_domain;
  };
  return std::ranges::all_of(pieces, [&](const Piece& a) {
    return std::ranges::all_of(pieces, [&](const Piece& b) { return may_share(a, b); });
  });
}

/// Takes out changes that change nothing: they are none. But one that is needed for a rule stays, and is a fault.
void drop_empty_changes(const Problem& problem, GpuIndex gpu, std::vector<Change>& changes) {
  Configuration now;
  for (const StandingPiece& standing : problem.gpus[gpu].standing) now.push_back(standing.piece);
  if (!keeps_rules(problem, gpu, now)) return;
  std::erase_if(changes, [&](const Change& change) {
    const bool is_empty = change.to == now;
    now = change.to;
    return is_empty;
  });
}

/// The piece that is to be on the site of a standing one after the changes in slot 0, if another service serves there.
std::optional<Piece> taken_by(Schedule& schedule, const HeldPiece& held) {
  Configuration* next = next_of(schedule, held.gpu);
  const Piece* now = next == nullptr ? nullptr : piece_on(*next, held.piece.site);
  if (now == nullptr || !is_inference(*now) || now->service == held.piece.service) return std::nullopt;
  return *now;
}

/// Gives the piece its site back, and whoever has it in the schedule the place that begins for the piece's owner; the
/// later changes of both GPUs likewise, as long as they have these pieces. Returns whether another service had it.
bool exchange(const Problem& problem, Schedule& schedule, const HeldPiece& held, const HeldPiece& begun) {
  const auto taken = taken_by(schedule, held);
  if (!taken) return false;
  const Piece& other = *taken;
  const auto give_back = [&](GpuIndex gpu, const Piece& from, const Piece& to) {
    for (Change& change : schedule.gpus[gpu]) {
      Piece* piece = piece_on(change.to, from.site);
      if (piece == nullptr || *piece != from) return;
      *piece = to;
    }
  };
  Piece moved = other;
  moved.site = begun.piece.site;
  give_back(held.gpu, other, held.piece);
  give_back(begun.gpu, begun.piece, moved);
  for (const GpuIndex gpu : {held.gpu, begun.gpu}) drop_empty_changes(problem, gpu, schedule.gpus[gpu]);
  return true;
}

class PlaceKeeping {
 public:
  PlaceKeeping(const Problem& problem, Answer& answer)
      : rules_(find_fault(problem, answer.schedule) ? without_floors(problem) : problem), answer_(answer) {}

  void run() {
    const std::vector<HeldPiece> standing = standing_of(rules_, answer_.schedule);
    if (standing.empty()) return;
    for (const HeldPiece& held : standing) {
      if (!taken_by(answer_.schedule, held)) continue;
      for (const HeldPiece& begun : begun_for(held, standing)) {
        if (keep(held, begun)) break;
      }
    }
  }

 private:
  /// The alike pieces that begin in slot 0 for the owner of `held`, those on its GPU first.
  [[nodiscard]] std::vector<HeldPiece> begun_for(const HeldPiece& held, const std::vector<HeldPiece>& standing) {
    std::vector<HeldPiece> begun;
    for (const GpuIndex gpu : indices_of<GpuIndex>(rules_.gpus)) {
      const Configuration* to = next_of(answer_.schedule, gpu);
      if (to == nullptr) continue;
      for (const Piece& piece : *to) {
        const HeldPiece each{.gpu = gpu, .piece = piece};
        const bool stood =
            std::ranges::any_of(standing, [&](const HeldPiece& one) { return one.gpu == gpu && one.piece == piece; });
        if (stood || piece.service != held.piece.service || piece.use != held.piece.use) continue;
        if (is_alike(rules_, held, each)) begun.push_back(each);
      }
    }
    std::ranges::sort(
        begun, {}, [&](const HeldPiece& each) { return std::tuple(each.gpu != held.gpu, each.gpu, each.piece.site); });
    return begun;
  }

  bool keep(const HeldPiece& held, const HeldPiece& begun) {
    Schedule tried = answer_.schedule;
    if (!exchange(rules_, tried, held, begun) || find_fault(rules_, tried)) return false;
    const double objective = evaluate(rules_, tried).objective;
    if (objective < answer_.objective - kObjectiveLossMax * std::abs(answer_.objective)) return false;
    answer_.schedule = std::move(tried);
    answer_.objective = objective;
    return true;
  }

  const Problem rules_;
  Answer& answer_;
};

}  // namespace

Answer with_places_kept(const Problem& problem, Answer answer) {
  if (!answer.is_infeasible) PlaceKeeping(problem, answer).run();
  return answer;
}

}  // namespace berth::planner
