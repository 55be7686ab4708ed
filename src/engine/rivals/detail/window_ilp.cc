#include "engine/rivals/detail/window_ilp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace berth::partition::detail {
namespace {

using solver::Column;
using solver::LinearModel;
using solver::Row;

constexpr int kNoColumn = -1;
constexpr double kProgressTolerance = 1e-9;

/// The share of block `at` in which a slice that is new in block `since` is not ready yet.
double waiting_share(const std::vector<double>& block_seconds, std::size_t since, std::size_t at,
                     double change_seconds) {
  double from = 0;
  for (std::size_t block = since; block < at; ++block) from += block_seconds[block];
  return std::clamp((change_seconds - from) / block_seconds[at], 0.0, 1.0);
}

/// The part of one block between two due times of a service.
struct BlockPart {
  int block = 0;
  double seconds = 0;
  int phase = 0;  ///< due times before it
};

std::vector<BlockPart> block_parts_of(const IlpService& service, const std::vector<double>& block_seconds) {
  std::vector<BlockPart> parts;
  parts.reserve(block_seconds.size() + service.due_seconds.size());
  double now = 0;
  double until = 0;
  std::size_t phase = 0;
  for (int block = 0; block < std::ssize(block_seconds); ++block) {
    until += block_seconds[block];
    for (; phase < service.due_seconds.size() && service.due_seconds[phase] < until; ++phase) {
      const double due = service.due_seconds[phase];
      if (due > now) parts.push_back({.block = block, .seconds = due - now, .phase = static_cast<int>(phase)});
      now = std::max(now, due);
    }
    parts.push_back({.block = block, .seconds = until - now, .phase = static_cast<int>(phase)});
    now = until;
  }
  return parts;
}

/// Whether the model is stale at the beginning of a phase, so that a retraining may run in it.
bool is_stale_phase(const IlpService& service, int phase) { return phase > 0 || service.is_stale; }

double progress_at_begin(const IlpService& service, int phase) { return phase == 0 ? service.progress : 0; }

double gain_of(const IlpService& service) { return std::max(0.0, service.accuracy_after - service.accuracy_before); }

/// Columns of the program.
class WindowColumns {
 public:
  explicit WindowColumns(const WindowProblem& problem) : problem_(problem) {
    for (const IlpService& service : problem.services)
      block_parts_.push_back(block_parts_of(service, problem.block_seconds));
    const int block_count = static_cast<int>(problem.block_seconds.size());
    for (int block = 0; block < block_count; ++block) {
      auto& models = by_block_.emplace_back();
      for (const IlpModel& model : problem.models) models.push_back(add_model(model, block));
      auto& served = served_.emplace_back();
      for (std::size_t service = 0; service < problem.services.size(); ++service) {
        served.push_back(add({-accuracy_seconds(block, service), 0, solver::kInfinity, false}));
      }
    }
    for (std::size_t service = 0; service < problem.services.size(); ++service) {
      auto& fresh = fresh_.emplace_back();
      for (std::size_t part = 0; part < block_parts_[service].size(); ++part) {
        fresh.push_back(add_freshness(part, service));
      }
      const IlpService& spec = problem.services[service];
      const bool counts = spec.end_value > 0 && is_stale_phase(spec, block_parts_[service].back().phase);
      end_progress_.push_back(counts ? add({-spec.end_value, 0, 1, false}) : kNoColumn);
    }
  }

  struct OfModel {
    std::vector<int> shapes;
    std::vector<std::vector<int>> serving;
    std::vector<std::vector<int>> fresh_slices;  ///< up
    std::vector<std::vector<int>> retraining;
  };
  /// A retraining that ends within a part, on one kind of slice.
  struct End {
    std::size_t model = 0;
    std::size_t kind = 0;
    int ends = kNoColumn;
    int rest = kNoColumn;
  };
  struct PartColumns {
    int fresh = kNoColumn;         ///< kNoColumn: cannot be
    int served_fresh = kNoColumn;  ///< kNoColumn: nothing, or it began fresh
    std::vector<End> ends;
  };

  [[nodiscard]] const OfModel& of(int block, std::size_t model) const { return by_block_[block][model]; }
  [[nodiscard]] int served(int block, std::size_t service) const { return served_[block][service]; }
  [[nodiscard]] const std::vector<BlockPart>& parts(std::size_t service) const { return block_parts_[service]; }
  [[nodiscard]] const PartColumns& columns_of_part(std::size_t service, std::size_t part) const {
    return fresh_[service][part];
  }
  [[nodiscard]] int end_progress(std::size_t service) const { return end_progress_[service]; }
  [[nodiscard]] std::vector<Column> take() { return std::move(columns_); }
  [[nodiscard]] std::int64_t count() const { return std::ssize(columns_); }

 private:
  int add(const Column& column) {
    columns_.push_back(column);
    return static_cast<int>(columns_.size()) - 1;
  }

  OfModel add_model(const IlpModel& model, int block) {
    OfModel columns;
    const double gpus = model.gpu_count;
    for (std::size_t shape = 0; shape < model.shapes.size(); ++shape) {
      const bool is_offered = model.is_offered.empty() || model.is_offered[shape] != 0;
      columns.shapes.push_back(add({0, 0, is_offered ? gpus : 0, true}));
    }
    for (std::size_t kind = 0; kind < model.rates.size(); ++kind) {
      int pieces = 0;
      for (const auto& shape : model.shapes) pieces = std::max(pieces, shape[kind] * model.gpu_count);
      auto& serving = columns.serving.emplace_back();
      auto& fresh = columns.fresh_slices.emplace_back();
      auto& retraining = columns.retraining.emplace_back();
      for (std::size_t service = 0; service < problem_.services.size(); ++service) {
        const bool serves = model.rates[kind][service] > 0;
        serving.push_back(serves ? add({0, 0, static_cast<double>(pieces), true}) : kNoColumn);
        const bool is_free = block == 0 && problem_.is_first;
        fresh.push_back(serves && !is_free ? add({0, 0, static_cast<double>(pieces), false}) : kNoColumn);
        const bool retrains = model.retraining_seconds[kind][service] > 0 && may_retrain(block, service);
        retraining.push_back(retrains ? add({0, 0, 1, true}) : kNoColumn);
      }
    }
    return columns;
  }

  [[nodiscard]] bool may_retrain(int block, std::size_t service) const {
    return std::ranges::any_of(block_parts_[service], [&](const BlockPart& part) {
      return part.block == block && is_stale_phase(problem_.services[service], part.phase);
    });
  }

  /// The worth of one answer per second throughout the block, before any retraining is done in it.
  [[nodiscard]] double accuracy_seconds(int block, std::size_t service) const {
    const IlpService& spec = problem_.services[service];
    double sum = 0;
    for (const BlockPart& part : block_parts_[service]) {
      if (part.block != block) continue;
      sum += part.seconds * (is_stale_phase(spec, part.phase) ? spec.accuracy_before : spec.accuracy_after);
    }
    return sum * spec.worth;
  }

  /// The maximum possible progress at the beginning of a part.
  [[nodiscard]] double progress_most(std::size_t index, std::size_t service) const {
    const BlockPart& part = block_parts_[service][index];
    double fastest = solver::kInfinity;
    for (const IlpModel& model : problem_.models) {
      for (const auto& by_service : model.retraining_seconds) {
        if (by_service[service] > 0) fastest = std::min(fastest, by_service[service]);
      }
    }
    double progress = progress_at_begin(problem_.services[service], part.phase);
    for (std::size_t i = 0; i < index; ++i) {
      const BlockPart& earlier = block_parts_[service][i];
      if (earlier.phase == part.phase) progress += earlier.seconds / fastest;
    }
    return progress;
  }

  /// Adds columns for "done at the beginning" and "ends within", each only if possible.
  PartColumns add_freshness(std::size_t index, std::size_t service) {
    PartColumns columns;
    const BlockPart& part = block_parts_[service][index];
    const IlpService& spec = problem_.services[service];
    const double gain = gain_of(spec);
    if (!is_stale_phase(spec, part.phase) || gain <= 0) return columns;
    const double progress = progress_most(index, service);
    if (progress >= 1 - kProgressTolerance) columns.fresh = add({0, 0, 1, true});
    for (std::size_t model = 0; model < problem_.models.size(); ++model) {
      const auto& by_kind = problem_.models[model].retraining_seconds;
      for (std::size_t kind = 0; kind < by_kind.size(); ++kind) {
        const double seconds = by_kind[kind][service];
        if (seconds <= 0 || (1 - progress) * seconds >= part.seconds) continue;
        columns.ends.push_back({model, kind, add({0, 0, 1, true}), add({0, 0, 1, false})});
      }
    }
    const bool may_be = columns.fresh != kNoColumn || !columns.ends.empty();
    if (may_be) columns.served_fresh = add({-part.seconds * spec.worth * gain, 0, solver::kInfinity, false});
    return columns;
  }

  const WindowProblem& problem_;
  std::vector<Column> columns_;
  std::vector<std::vector<BlockPart>> block_parts_;  ///< [service]
  std::vector<std::vector<OfModel>> by_block_;
  std::vector<std::vector<int>> served_;         ///< [block][service]
  std::vector<std::vector<PartColumns>> fresh_;  ///< [service][part]
  std::vector<int> end_progress_;
};

/// Rows of the program.
class WindowRows {
 public:
  WindowRows(const WindowProblem& problem, const WindowColumns& columns) : problem_(problem), columns_(columns) {
    for (int block = 0; block < std::ssize(problem.block_seconds); ++block) {
      for (std::size_t model = 0; model < problem.models.size(); ++model) add_layout(block, model);
      for (std::size_t service = 0; service < problem.services.size(); ++service) {
        add_covered(block, service);
        add_capacity(block, service);
        add_one_retraining(block, service);
      }
    }
    for (std::size_t service = 0; service < problem.services.size(); ++service) {
      for (std::size_t part = 0; part < columns.parts(service).size(); ++part) {
        add_freshness(service, part);
      }
      add_end(service);
    }
  }

  [[nodiscard]] std::vector<Row> take() { return std::move(rows_); }

 private:
  void add_layout(int block, std::size_t model_index) {
    const IlpModel& model = problem_.models[model_index];
    const auto& columns = columns_.of(block, model_index);
    Row gpus{static_cast<double>(model.gpu_count), static_cast<double>(model.gpu_count), {}};
    for (const int shape : columns.shapes) gpus.entries.push_back({shape, 1});
    rows_.push_back(std::move(gpus));
    for (std::size_t kind = 0; kind < model.rates.size(); ++kind) {
      Row owners{-solver::kInfinity, 0, {}};
      for (std::size_t shape = 0; shape < model.shapes.size(); ++shape) {
        const int count = model.shapes[shape][kind];
        if (count > 0) owners.entries.push_back({columns.shapes[shape], -static_cast<double>(count)});
      }
      for (const int column : columns.serving[kind]) add_entry(owners, column, 1);
      for (const int column : columns.retraining[kind]) add_entry(owners, column, 1);
      rows_.push_back(std::move(owners));
      for (std::size_t service = 0; service < problem_.services.size(); ++service) {
        add_new_slices(block, model_index, kind, service);
      }
    }
  }

  static void add_entry(Row& row, int column, double factor) {
    if (column != kNoColumn && factor != 0) row.entries.push_back({column, factor});
  }

  /// up >= n[b] - n[b-1]
  void add_new_slices(int block, std::size_t model, std::size_t kind, std::size_t service) {
    const int fresh = columns_.of(block, model).fresh_slices[kind][service];
    if (fresh == kNoColumn) return;
    Row row{-solver::kInfinity, 0, {}};
    add_entry(row, columns_.of(block, model).serving[kind][service], 1);
    add_entry(row, fresh, -1);
    if (block == 0) {
      row.upper = problem_.models[model].serving_now[kind][service];
    } else {
      add_entry(row, columns_.of(block - 1, model).serving[kind][service], -1);
    }
    rows_.push_back(std::move(row));
  }

  void add_covered(int block, std::size_t service) {
    Row row{1, solver::kInfinity, {}};
    for (std::size_t model = 0; model < problem_.models.size(); ++model) {
      for (const auto& by_service : columns_.of(block, model).serving) add_entry(row, by_service[service], 1);
    }
    rows_.push_back(std::move(row));
  }

  void add_capacity(int block, std::size_t service) {
    const IlpService& spec = problem_.services[service];
    const int served = columns_.served(block, service);
    for (const Tangent& tangent : spec.served[block]) {
      Row row{-solver::kInfinity, tangent.offset, {{served, 1}}};
      if (tangent.slope > 0) add_capacity_terms(row, block, service, -tangent.slope);
      rows_.push_back(std::move(row));
    }
  }

  void add_capacity_terms(Row& row, int block, std::size_t service, double factor) {
    for (std::size_t model = 0; model < problem_.models.size(); ++model) {
      for (std::size_t kind = 0; kind < problem_.models[model].rates.size(); ++kind) {
        const double rate = problem_.models[model].rates[kind][service];
        if (rate <= 0) continue;
        add_entry(row, columns_.of(block, model).serving[kind][service], factor * rate);
        for (int since = block; since >= 0; --since) {
          const double waiting =
              waiting_share(problem_.block_seconds, since, block, problem_.services[service].change_seconds);
          if (waiting <= 0) break;
          add_entry(row, columns_.of(since, model).fresh_slices[kind][service], -factor * rate * waiting);
        }
      }
    }
  }

  /// The progress made in the parts of a phase before `until`, times `factor`.
  void add_progress_terms(Row& row, int phase, std::size_t until, std::size_t service, double factor) {
    // A block's slice counts once per row, for any number of its parts.
    std::vector<double> seconds_in(problem_.block_seconds.size(), 0);
    for (std::size_t i = 0; i < until; ++i) {
      const BlockPart& part = columns_.parts(service)[i];
      if (part.phase == phase) seconds_in[part.block] += part.seconds;
    }
    for (int block = 0; block < std::ssize(seconds_in); ++block) {
      if (seconds_in[block] <= 0) continue;
      for (std::size_t model = 0; model < problem_.models.size(); ++model) {
        const auto& retraining = columns_.of(block, model).retraining;
        for (std::size_t kind = 0; kind < retraining.size(); ++kind) {
          const double seconds = problem_.models[model].retraining_seconds[kind][service];
          if (seconds > 0) add_entry(row, retraining[kind][service], factor * seconds_in[block] / seconds);
        }
      }
    }
  }

  void add_freshness(std::size_t service, std::size_t index) {
    const auto& columns = columns_.columns_of_part(service, index);
    if (columns.served_fresh == kNoColumn) return;
    const BlockPart& part = columns_.parts(service)[index];
    const IlpService& spec = problem_.services[service];
    if (columns.fresh != kNoColumn) {
      Row done{-solver::kInfinity, progress_at_begin(spec, part.phase), {{columns.fresh, 1}}};
      add_progress_terms(done, part.phase, index, service, -1);
      rows_.push_back(std::move(done));
    }
    rows_.push_back({-solver::kInfinity, 0, {{columns.served_fresh, 1}, {columns_.served(part.block, service), -1}}});
    const double mean = spec.mean[part.block];
    Row fresh{-solver::kInfinity, 0, {{columns.served_fresh, 1}}};
    add_entry(fresh, columns.fresh, -mean);
    for (const auto& end : columns.ends) {
      add_entry(fresh, end.rest, -mean);
      add_end_within(end, service, index);
    }
    rows_.push_back(std::move(fresh));
  }

  /// length x rest <= length - (1 - P) x seconds, where `ends`; else no limit.
  void add_end_within(const WindowColumns::End& end, std::size_t service, std::size_t index) {
    const BlockPart& part = columns_.parts(service)[index];
    const double seconds = problem_.models[end.model].retraining_seconds[end.kind][service];
    const int retraining = columns_.of(part.block, end.model).retraining[end.kind][service];
    rows_.push_back({-solver::kInfinity, 0, {{end.ends, 1}, {retraining, -1}}});
    rows_.push_back({-solver::kInfinity, 0, {{end.rest, 1}, {end.ends, -1}}});
    Row rest{-solver::kInfinity,
             part.seconds + seconds * progress_at_begin(problem_.services[service], part.phase),
             {{end.rest, part.seconds}, {end.ends, seconds}}};
    add_progress_terms(rest, part.phase, index, service, -seconds);
    rows_.push_back(std::move(rest));
  }

  void add_one_retraining(int block, std::size_t service) {
    Row row{-solver::kInfinity, 1, {}};
    for (std::size_t model = 0; model < problem_.models.size(); ++model) {
      for (const auto& by_service : columns_.of(block, model).retraining) add_entry(row, by_service[service], 1);
    }
    if (!row.entries.empty()) rows_.push_back(std::move(row));
  }

  void add_end(std::size_t service) {
    const int column = columns_.end_progress(service);
    if (column == kNoColumn) return;
    const IlpService& spec = problem_.services[service];
    const int phase = columns_.parts(service).back().phase;
    Row row{-solver::kInfinity, progress_at_begin(spec, phase), {{column, 1}}};
    add_progress_terms(row, phase, columns_.parts(service).size(), service, -1);
    rows_.push_back(std::move(row));
  }

  const WindowProblem& problem_;
  const WindowColumns& columns_;
  std::vector<Row> rows_;
};

int whole(const std::vector<double>& values, int column) {
  return column == kNoColumn ? 0 : static_cast<int>(std::lround(values[column]));
}

ModelCounts counts_from(const WindowColumns::OfModel& columns, const std::vector<double>& values) {
  ModelCounts counts;
  for (const int column : columns.shapes) counts.shapes.push_back(whole(values, column));
  const auto read = [&](const std::vector<std::vector<int>>& from, std::vector<std::vector<int>>& to) {
    for (const auto& by_service : from) {
      auto& row = to.emplace_back();
      for (const int column : by_service) row.push_back(whole(values, column));
    }
  };
  read(columns.serving, counts.serving);
  read(columns.retraining, counts.retraining);
  return counts;
}

/// The value of one service under a schedule.
class ServiceValue {
 public:
  ServiceValue(const WindowProblem& problem, const std::vector<BlockCounts>& blocks, std::size_t service)
      : problem_(problem), blocks_(blocks), service_(service), spec_(problem.services[service]) {}

  [[nodiscard]] double total() const {
    double value = 0;
    int phase = 0;
    double progress = spec_.progress;
    for (const BlockPart& part : block_parts_of(spec_, problem_.block_seconds)) {
      if (part.phase != phase) progress = 0;
      phase = part.phase;
      const bool is_stale = is_stale_phase(spec_, phase);
      const double rate = retraining_rate(part.block);
      const double answered = served(part.block);
      double worth = (is_stale ? spec_.accuracy_before : spec_.accuracy_after) * answered;
      if (is_stale) {
        const double fresh = fresh_share(progress, rate, part.seconds) * spec_.mean[part.block];
        worth += gain_of(spec_) * std::min(answered, fresh);
      }
      value += part.seconds * spec_.worth * worth;
      progress += part.seconds * rate;
    }
    if (is_stale_phase(spec_, phase)) value += spec_.end_value * std::min(1.0, progress);
    return value;
  }

 private:
  [[nodiscard]] int new_slices(int block, std::size_t model, std::size_t kind) const {
    const int now = blocks_[block][model].serving[kind][service_];
    if (block == 0) {
      return problem_.is_first ? 0 : std::max(0, now - problem_.models[model].serving_now[kind][service_]);
    }
    return std::max(0, now - blocks_[block - 1][model].serving[kind][service_]);
  }

  [[nodiscard]] double served(int block) const {
    double capacity = 0;
    for (std::size_t model = 0; model < problem_.models.size(); ++model) {
      for (std::size_t kind = 0; kind < problem_.models[model].rates.size(); ++kind) {
        const double rate = problem_.models[model].rates[kind][service_];
        capacity += rate * blocks_[block][model].serving[kind][service_];
        for (int since = block; since >= 0; --since) {
          const double waiting = waiting_share(problem_.block_seconds, since, block, spec_.change_seconds);
          if (waiting <= 0) break;
          capacity -= rate * waiting * new_slices(since, model, kind);
        }
      }
    }
    double served = std::numeric_limits<double>::infinity();
    for (const Tangent& tangent : spec_.served[block]) {
      served = std::min(served, tangent.offset + tangent.slope * capacity);
    }
    return std::max(0.0, served);
  }

  /// The share of a part in which the new model serves.
  static double fresh_share(double progress, double rate, double seconds) {
    if (progress >= 1 - kProgressTolerance) return 1;
    return rate <= 0 ? 0 : std::clamp(1 - (1 - progress) / rate / seconds, 0.0, 1.0);
  }

  /// The progress of a retraining per second.
  [[nodiscard]] double retraining_rate(int block) const {
    double rate = 0;
    for (std::size_t model = 0; model < problem_.models.size(); ++model) {
      const auto& retraining = blocks_[block][model].retraining;
      for (std::size_t kind = 0; kind < retraining.size(); ++kind) {
        const double seconds = problem_.models[model].retraining_seconds[kind][service_];
        if (retraining[kind][service_] > 0 && seconds > 0) rate += 1 / seconds;
      }
    }
    return rate;
  }

  const WindowProblem& problem_;
  const std::vector<BlockCounts>& blocks_;
  std::size_t service_;
  const IlpService& spec_;
};

}  // namespace

std::int64_t column_count(const WindowProblem& problem) { return WindowColumns(problem).count(); }

WindowAnswer solve_window(const WindowProblem& problem, const solver::MipLimits& limits) {
  WindowColumns columns(problem);
  LinearModel model;
  model.rows = WindowRows(problem, columns).take();
  model.columns = columns.take();
  const solver::MipAnswer found = solver::solve_mip(model, limits);
  WindowAnswer answer;
  answer.bound = -found.bound;
  if (found.values.empty()) return answer;
  answer.objective = -found.objective;
  answer.is_solved = found.status == solver::Status::kOptimal;
  for (int block = 0; block < std::ssize(problem.block_seconds); ++block) {
    auto& counts = answer.blocks.emplace_back();
    for (std::size_t m = 0; m < problem.models.size(); ++m) {
      counts.push_back(counts_from(columns.of(block, m), found.values));
    }
  }
  return answer;
}

double window_value(const WindowProblem& problem, const std::vector<BlockCounts>& blocks) {
  double value = 0;
  for (std::size_t service = 0; service < problem.services.size(); ++service) {
    value += ServiceValue(problem, blocks, service).total();
  }
  return value;
}

}  // namespace berth::partition::detail
