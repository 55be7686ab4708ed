#include "planner/explain.h"

#include <algorithm>

namespace berth::planner {
namespace {

/// The problem with a service that has so many requests a second more of a variant in every slot.
Problem with_more(const Problem& problem, int service, int variant, double requests_per_second) {
  Problem changed = problem;
  ServiceTerms& terms = changed.services[static_cast<std::size_t>(service)];
  const std::size_t variants = terms.variants.size();
  terms.outside.resize(static_cast<std::size_t>(problem.slots + 1) * variants, 0.0);
  for (int slot = 0; slot <= problem.slots; ++slot) {
    terms.outside[static_cast<std::size_t>(slot) * variants + static_cast<std::size_t>(variant)] += requests_per_second;
  }
  return changed;
}

/// What is planned, but for one piece of one GPU that is nobody's as long as it stands: all else takes the same time.
double value_without(const Problem& problem, const Schedule& schedule, std::size_t gpu, const Piece& piece) {
  Problem lacking = problem;
  Schedule changes = schedule;
  const Piece unheld{.site = piece.site, .service = kNobody, .use = 0};
  for (StandingPiece& standing : lacking.gpus[gpu].standing) {
    if (standing.piece == piece) standing.piece = unheld;
  }
  for (Change& change : changes.gpus[gpu]) std::ranges::replace(change.to, piece, unheld);
  return evaluate(lacking, changes).objective;
}

/// The part of the problem whose objective is what one service gets: the others' terms do not hang on its capacity.
Problem alone(const Problem& problem, int service) {
  Problem part = problem;
  part.change_price = 0;
  for (std::size_t other = 0; other < part.services.size(); ++other) {
    if (static_cast<int>(other) == service) continue;
    part.services[other].value = 0;
    part.services[other].retraining.reset();
  }
  return part;
}

ServiceShare means_of(const Problem& problem, const std::vector<SlotFigures>& slots, const ServiceTerms& terms) {
  ServiceShare share;
  for (int slot = 0; slot < problem.slots; ++slot) {
    share.capacity += slots[static_cast<std::size_t>(slot)].capacity / problem.slots;
    share.served += slots[static_cast<std::size_t>(slot)].served / problem.slots;
    for (int sample = 0; sample < problem.samples; ++sample) {
      share.forecast += terms.loads[static_cast<std::size_t>(slot) * static_cast<std::size_t>(problem.samples) +
                                    static_cast<std::size_t>(sample)] /
                        (static_cast<double>(problem.slots) * problem.samples);
    }
  }
  return share;
}

/// What stands on each GPU in the end.
std::vector<Configuration> last_configurations(const Problem& problem, const Schedule& schedule) {
  std::vector<Configuration> last;
  for (std::size_t gpu = 0; gpu < problem.gpus.size(); ++gpu) {
    Configuration& pieces = last.emplace_back();
    if (!schedule.gpus[gpu].empty()) {
      pieces = schedule.gpus[gpu].back().to;
    } else {
      for (const StandingPiece& standing : problem.gpus[gpu].standing) pieces.push_back(standing.piece);
    }
  }
  return last;
}

/// One more slice of each kind in turn.
std::optional<SliceStep> best_step_up(const Problem& problem, const Schedule& schedule, int service, double base) {
  std::optional<SliceStep> best;
  double best_per_sm = 0;
  for (std::size_t model = 0; model < problem.models.size(); ++model) {
    const ModelTerms& terms = problem.models[model];
    for (std::size_t kind = 0; kind < terms.rates.size(); ++kind) {
      const auto& rates = terms.rates[kind][static_cast<std::size_t>(service)].requests_per_second;
      for (std::size_t variant = 0; variant < rates.size(); ++variant) {
        if (rates[variant] <= 0) continue;
        const Problem more = with_more(problem, service, static_cast<int>(variant), rates[variant]);
        const double gain = evaluate(more, schedule).objective - base;
        const double per_sm = gain / std::max(terms.sms[kind], 1);
        if (per_sm <= best_per_sm) continue;
        best_per_sm = per_sm;
        best = SliceStep{.model = static_cast<int>(model),
                         .kind = static_cast<int>(kind),
                         .requests_per_second = rates[variant],
                         .change = gain};
      }
    }
  }
  return best;
}

/// One less of those that it has in the end.
std::optional<SliceStep> best_step_down(const Problem& problem, const Schedule& schedule, int service, double base) {
  std::optional<SliceStep> best;
  const auto last = last_configurations(problem, schedule);
  for (std::size_t gpu = 0; gpu < last.size(); ++gpu) {
    const int model = problem.gpus[gpu].model;
    const ModelTerms& terms = problem.models[static_cast<std::size_t>(model)];
    for (const Piece& piece : last[gpu]) {
      if (piece.service != service || piece.use == kRetraining) continue;
      const int kind = terms.sites[static_cast<std::size_t>(piece.site)].kind;
      const double rate = terms.rates[static_cast<std::size_t>(kind)][static_cast<std::size_t>(service)]
                              .requests_per_second[static_cast<std::size_t>(piece.use)];
      const double change = value_without(problem, schedule, gpu, piece) - base;
      if (best && change <= best->change) continue;
      best = SliceStep{.model = model, .kind = kind, .requests_per_second = rate, .change = change};
    }
  }
  return best;
}

}  // namespace

std::vector<ServiceShare> explain_shares(const Problem& problem, const Schedule& schedule) {
  const Evaluation evaluation = evaluate(problem, schedule);
  std::vector<ServiceShare> shares;
  shares.reserve(problem.services.size());
  for (std::size_t index = 0; index < problem.services.size(); ++index) {
    const int service = static_cast<int>(index);
    ServiceShare& share = shares.emplace_back(means_of(problem, evaluation.services[index], problem.services[index]));
    const Problem part = alone(problem, service);
    share.value = evaluate(part, schedule).objective;
    share.one_more = best_step_up(part, schedule, service, share.value);
    share.one_less = best_step_down(part, schedule, service, share.value);
  }
  return shares;
}

}  // namespace berth::planner
