#include "partition/detail/window_ilp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace berth::partition::detail {
namespace {

using solver::Column;
using solver::Entry;
using solver::LinearModel;
using solver::Row;

constexpr int kNoColumn = -1;

/// The share of block `at` in which a slice that is new in block `since` does not work yet.
double waiting_share(const std::vector<double>& block_seconds, std::size_t since, std::size_t at,
                     double change_seconds) {
  double from = 0;
  for (std::size_t block = since; block < at; ++block) from += block_seconds[block];
  return std::clamp((change_seconds - from) / block_seconds[at], 0.0, 1.0);
}

/// The first block of the stretch between due times that a block lies in.
int phase_begin(const IlpService& service, int block) {
  int begin = 0;
  for (const int due : service.due_blocks) {
    if (due <= block) begin = due;
  }
  return begin;
}

/// Whether the model is stale at the beginning of a stretch, so that a retraining may run in it.
bool is_stale_phase(const IlpService& service, int begin) {
  return service.is_stale || std::ranges::find(service.due_blocks, begin) != service.due_blocks.end();
}

double progress_at_begin(const IlpService& service, int begin) { return begin == 0 ? service.progress : 0; }

/// Columns of the program.
class WindowColumns {
 public:
  explicit WindowColumns(const WindowProblem& problem) : problem_(problem) {
    const int block_count = static_cast<int>(problem.block_seconds.size());
    for (int block = 0; block < block_count; ++block) {
      auto& models = by_block_.emplace_back();
      for (const IlpModel& model : problem.models) models.push_back(add_model(model, block));
      auto& services = services_by_block_.emplace_back();
      for (const IlpService& service : problem.services) services.push_back(add_service(service, block));
    }
    for (const IlpService& service : problem.services) {
      const bool counts = service.end_value > 0 && is_stale_phase(service, phase_begin(service, block_count - 1));
      end_progress_.push_back(counts ? add({-service.end_value, 0, 1, false}) : kNoColumn);
    }
  }

  struct OfModel {
    std::vector<int> shapes;
    std::vector<std::vector<int>> serving;
    std::vector<std::vector<int>> fresh_slices;  ///< up
    std::vector<std::vector<int>> retraining;
  };
  struct OfService {
    int served = kNoColumn;
    int fresh = kNoColumn;         ///< kNoColumn: known
    int served_fresh = kNoColumn;  ///< kNoColumn where `fresh` is
  };

  [[nodiscard]] const OfModel& of(int block, std::size_t model) const { return by_block_[block][model]; }
  [[nodiscard]] const OfService& of_service(int block, std::size_t service) const {
    return services_by_block_[block][service];
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
    for (std::size_t shape = 0; shape < model.shapes.size(); ++shape) columns.shapes.push_back(add({0, 0, gpus, true}));
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
        const IlpService& spec = problem_.services[service];
        const bool retrains =
            model.retraining_seconds[kind][service] > 0 && is_stale_phase(spec, phase_begin(spec, block));
        retraining.push_back(retrains ? add({0, 0, 1, true}) : kNoColumn);
      }
    }
    return columns;
  }

  OfService add_service(const IlpService& service, int block) {
    OfService columns;
    const double seconds = problem_.block_seconds[block] * service.worth;
    const bool may_become_fresh = is_stale_phase(service, phase_begin(service, block));
    const double accuracy = may_become_fresh ? service.accuracy_before : service.accuracy_after;
    columns.served = add({-seconds * accuracy, 0, solver::kInfinity, false});
    const double gain = service.accuracy_after - service.accuracy_before;
    if (may_become_fresh && gain > 0) {
      columns.fresh = add({0, 0, 1, true});
      columns.served_fresh = add({-seconds * gain, 0, solver::kInfinity, false});
    }
    return columns;
  }

  const WindowProblem& problem_;
  std::vector<Column> columns_;
  std::vector<std::vector<OfModel>> by_block_;
  std::vector<std::vector<OfService>> services_by_block_;
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
        add_freshness(block, service);
        add_one_retraining(block, service);
      }
    }
    for (std::size_t service = 0; service < problem.services.size(); ++service) add_end(service);
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
    const int served = columns_.of_service(block, service).served;
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

  /// The progress made in the blocks [from, until), times `factor`.
  void add_progress_terms(Row& row, int from, int until, std::size_t service, double factor) {
    for (int block = from; block < until; ++block) {
      for (std::size_t model = 0; model < problem_.models.size(); ++model) {
        const auto& retraining = columns_.of(block, model).retraining;
        for (std::size_t kind = 0; kind < retraining.size(); ++kind) {
          const double seconds = problem_.models[model].retraining_seconds[kind][service];
          if (seconds > 0) {
            add_entry(row, retraining[kind][service], factor * problem_.block_seconds[block] / seconds);
          }
        }
      }
    }
  }

  void add_freshness(int block, std::size_t service) {
    const auto& columns = columns_.of_service(block, service);
    if (columns.fresh == kNoColumn) return;
    const IlpService& spec = problem_.services[service];
    const int begin = phase_begin(spec, block);
    Row done{-solver::kInfinity, progress_at_begin(spec, begin), {{columns.fresh, 1}}};
    add_progress_terms(done, begin, block, service, -1);
    rows_.push_back(std::move(done));
    rows_.push_back({-solver::kInfinity, 0, {{columns.served_fresh, 1}, {columns.served, -1}}});
    rows_.push_back({-solver::kInfinity, 0, {{columns.served_fresh, 1}, {columns.fresh, -spec.mean[block]}}});
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
    const int block_count = static_cast<int>(problem_.block_seconds.size());
    const int begin = phase_begin(spec, block_count - 1);
    Row row{-solver::kInfinity, progress_at_begin(spec, begin), {{column, 1}}};
    add_progress_terms(row, begin, block_count, service, -1);
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

  [[nodiscard]] double total() {
    double value = 0;
    double progress = spec_.progress;
    bool is_stale = spec_.is_stale;
    for (int block = 0; block < std::ssize(blocks_); ++block) {
      if (std::ranges::find(spec_.due_blocks, block) != spec_.due_blocks.end()) {
        is_stale = true;
        progress = 0;
      }
      const double accuracy = is_stale && progress < 1 - 1e-9 ? spec_.accuracy_before : spec_.accuracy_after;
      value += problem_.block_seconds[block] * spec_.worth * accuracy * served(block);
      if (is_stale) progress += progress_in(block);
    }
    if (is_stale) value += spec_.end_value * std::min(1.0, progress);
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

  [[nodiscard]] double progress_in(int block) const {
    double progress = 0;
    for (std::size_t model = 0; model < problem_.models.size(); ++model) {
      const auto& retraining = blocks_[block][model].retraining;
      for (std::size_t kind = 0; kind < retraining.size(); ++kind) {
        const double seconds = problem_.models[model].retraining_seconds[kind][service_];
        if (retraining[kind][service_] > 0 && seconds > 0) progress += problem_.block_seconds[block] / seconds;
      }
    }
    return progress;
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
