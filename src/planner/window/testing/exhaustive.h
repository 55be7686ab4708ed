/// Tries every schedule of a tiny window problem. It contains no rule of the model: `find_fault` and `evaluate` judge.
///
/// Each GPU alone gives its legal schedules (floors and budgets aside); all combinations of these are judged whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "planner/window/check.h"
#include "planner/window/problem.h"

namespace berth::planner::testing {

class Exhaustive {
 public:
  explicit Exhaustive(const Problem& problem, std::int64_t schedules_max = 30'000)
      : problem_(problem), schedules_max_(schedules_max) {}

  /// The best schedule with its objective; `is_infeasible` if none is legal. Nothing if there are too many.
  [[nodiscard]] std::optional<Answer> solve() {
    std::vector<std::vector<std::vector<Change>>> choices;
    std::int64_t combinations = 1;
    for (std::size_t gpu = 0; gpu < problem_.gpus.size(); ++gpu) {
      choices.push_back(schedules_of(gpu));
      combinations *= static_cast<std::int64_t>(choices.back().size());
      if (has_given_up_ || combinations > schedules_max_) return std::nullopt;
    }
    best_ = {};
    best_.objective = -std::numeric_limits<double>::infinity();
    best_.is_infeasible = true;
    Schedule schedule;
    combine(choices, schedule);
    best_.bound = best_.objective;
    return best_;
  }

 private:
  /// The problem of one GPU without the rules and services that involve others.
  [[nodiscard]] Problem alone(std::size_t gpu) const {
    Problem part = problem_;
    part.gpus = {problem_.gpus[gpu]};
    for (ServiceTerms& service : part.services) {
      service.floor_rate = 0;
      service.changes_max = -1;
    }
    return part;
  }

  void add_uses(const ModelTerms& model, std::size_t site, std::vector<Piece>& pieces) const {
    const std::vector<Rates>& rates = model.rates[static_cast<std::size_t>(model.sites[site].kind)];
    for (std::size_t s = 0; s < rates.size(); ++s) {
      const Piece piece{.site = SiteIndex(site), .service = ServiceIndex(s), .use = kRetraining};
      if (rates[s].retraining_slots > 0) pieces.push_back(piece);
      for (std::size_t v = 0; v < rates[s].requests_per_second.size(); ++v) {
        if (rates[s].requests_per_second[v] > 0) {
          pieces.push_back({.site = piece.site, .service = piece.service, .use = static_cast<int>(v)});
        }
      }
    }
  }

  /// Every set of pieces on sites of their own that do not clash.
  void add_configurations(const ModelTerms& model, const std::vector<std::vector<Piece>>& by_site, std::size_t site,
                          Configuration& chosen, std::vector<Configuration>& all) const {
    if (site == by_site.size()) {
      all.push_back(chosen);
      return;
    }
    add_configurations(model, by_site, site + 1, chosen, all);
    for (const Piece& old : chosen) {
      if ((model.sites[site].clashes >> old.site & 1) != 0) return;
    }
    for (const Piece& piece : by_site[site]) {
      chosen.push_back(piece);
      add_configurations(model, by_site, site + 1, chosen, all);
      chosen.pop_back();
    }
  }

  [[nodiscard]] std::vector<Configuration> configurations_of(std::size_t gpu) const {
    const ModelTerms& model = problem_.models[static_cast<std::size_t>(problem_.gpus[gpu].model)];
    std::vector<std::vector<Piece>> by_site(model.sites.size());
    for (std::size_t site = 0; site < by_site.size(); ++site) add_uses(model, site, by_site[site]);
    for (const StandingPiece& standing : problem_.gpus[gpu].standing) {
      std::vector<Piece>& pieces = by_site[static_cast<std::size_t>(standing.piece.site)];
      if (std::ranges::find(pieces, standing.piece) == pieces.end()) pieces.push_back(standing.piece);
    }
    std::vector<Configuration> all;
    Configuration chosen;
    add_configurations(model, by_site, 0, chosen, all);
    return all;
  }

  [[nodiscard]] std::vector<std::vector<Change>> schedules_of(std::size_t gpu) {
    const Problem part = alone(gpu);
    const std::vector<Configuration> configurations = configurations_of(gpu);
    std::vector<std::vector<Change>> found = {{}};
    for (std::size_t next = 0; next < found.size(); ++next) {
      if (static_cast<std::int64_t>(found.size()) > schedules_max_) has_given_up_ = true;
      if (has_given_up_) return {};
      const SlotIndex begin = found[next].empty() ? SlotIndex(0) : found[next].back().slot + 1;
      for (SlotIndex slot = begin; slot < problem_.slots; ++slot) {
        for (const Configuration& to : configurations) {
          Schedule longer{.gpus = {found[next]}};
          longer.gpus.front().push_back({.slot = slot, .to = to});
          if (!find_fault(part, longer)) found.push_back(std::move(longer.gpus.front()));
        }
      }
    }
    return found;
  }

  void combine(const std::vector<std::vector<std::vector<Change>>>& choices, Schedule& schedule) {
    const std::size_t gpu = schedule.gpus.size();
    if (gpu == choices.size()) {
      judge(schedule);
      return;
    }
    for (const std::vector<Change>& changes : choices[gpu]) {
      schedule.gpus.push_back(changes);
      combine(choices, schedule);
      schedule.gpus.pop_back();
    }
  }

  void judge(const Schedule& schedule) {
    ++best_.nodes;
    if (find_fault(problem_, schedule)) return;
    const double objective = evaluate(problem_, schedule).objective;
    if (!best_.is_infeasible && objective <= best_.objective) return;
    best_.is_infeasible = false;
    best_.objective = objective;
    best_.schedule = schedule;
  }

  const Problem& problem_;
  std::int64_t schedules_max_;
  bool has_given_up_ = false;
  Answer best_;
};

}  // namespace berth::planner::testing
