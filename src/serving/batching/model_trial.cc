#include "serving/batching/model_trial.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/rng.h"
#include "serving/batching/batch_tensors.h"
#include "serving/batching/elements.h"

namespace berth::serving {
namespace {

constexpr int kRunsPerSize = 3;

/// So many rows are made up until one differs from the first.
constexpr std::uint64_t kSeedsMax = 32;

/// Sizes that are tried for dimensions of any size: images want more than a pixel, sequences more than a token.
constexpr std::array<std::int64_t, 4> kAnySizes = {1, 16, 64, 224};

/// An element that most models accept: a small whole number, for it may be an index.
void add_element(Tensor& tensor, Rng& rng) {
  if (tensor.type == TensorType::kBytes) {
    tensor.texts.emplace_back(1, static_cast<char>('a' + rng.below(2)));
    return;
  }
  const bool is_fraction = is_float(tensor.type);
  append_element(tensor.bytes, tensor.type,
                 static_cast<double>(rng.below(is_fraction ? 8 : 2)) / (is_fraction ? 8 : 1));
}

std::vector<Tensor> made_up_inputs(std::span<const TensorSignature> signatures, std::optional<RowCount> rows,
                                   std::int64_t any_size, Rng& rng) {
  std::vector<Tensor> inputs;
  for (const TensorSignature& signature : signatures) {
    Tensor input{.name = signature.name, .type = signature.type, .shape = signature.shape};
    for (std::int64_t& size : input.shape) size = size < 0 ? any_size : size;
    if (rows) input.shape.front() = *rows;
    const std::size_t count = element_count(input);
    for (std::size_t i = 0; i < count; ++i) add_element(input, rng);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

double tolerance_of(TensorType type) { return type == TensorType::kFp16 || type == TensorType::kBf16 ? 1e-2 : 1e-4; }

bool are_close(const Tensor& a, const Tensor& b) {
  if (!is_float(a.type)) return a == b;
  if (a.type != b.type || a.shape != b.shape || a.bytes.size() != b.bytes.size()) return false;
  const std::vector<double> left = float_elements(a);
  const std::vector<double> right = float_elements(b);
  double largest = 0;
  for (const double value : left) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    const bool is_same = left[i] == right[i] || (std::isnan(left[i]) && std::isnan(right[i]));
    if (!is_same && !(std::abs(left[i] - right[i]) <= tolerance_of(a.type) * largest)) return false;
  }
  return true;
}

/// Runs a model on made-up rows, with the same size for all dimensions that may have any.
class TrialRuns {
 public:
  TrialRuns(LoadedModel& model, const TrialTerms& terms, const std::function<Instant()>& now)
      : model_(model), terms_(terms), now_(now) {}

  /// Finds a size with which one row runs. Returns whether there is one.
  [[nodiscard]] bool find_any_size() {
    for (const std::int64_t size : kAnySizes) {
      any_size_ = size;
      if (run(rows(1, terms_.seed))) return true;
      const bool has_any = std::ranges::any_of(model_.inputs(), [&](const TensorSignature& input) {
        return std::ranges::any_of(std::span(input.shape).subspan(terms_.is_batched && !input.shape.empty() ? 1 : 0),
                                   [](std::int64_t dimension) { return dimension < 0; });
      });
      if (!has_any) return false;
    }
    return false;
  }

  [[nodiscard]] std::vector<Tensor> rows(RowCount count, std::uint64_t seed) const {
    Rng rng(seed);
    return made_up_inputs(model_.inputs(), terms_.is_batched ? std::optional(count) : std::nullopt, any_size_, rng);
  }
  [[nodiscard]] std::optional<std::vector<Tensor>> run(const std::vector<Tensor>& inputs) const {
    auto outputs = model_.begin()->run(inputs);
    if (!outputs) return std::nullopt;
    return *std::move(outputs);
  }

  [[nodiscard]] std::string why_not_batched() const {
    const std::vector<Tensor> one = rows(1, terms_.seed);
    std::vector<Tensor> other = one;
    for (std::uint64_t i = 1; other == one && i <= kSeedsMax; ++i) other = rows(1, terms_.seed + i);
    const auto alone = run(one);
    const auto other_alone = run(other);
    if (!alone || !other_alone) return "a row of its own does not run";
    if (!gives_both(one, *alone, other, *other_alone) || !gives_both(other, *other_alone, one, *alone)) {
      return "two rows do not give the same outputs alone and together";
    }
    return "";
  }

  [[nodiscard]] std::vector<LatencyPoint> measure() const {
    std::vector<LatencyPoint> measured;
    const Instant begin = now_();
    for (RowCount rows_now = 1; rows_now <= terms_.rows_max; rows_now = next_size(rows_now)) {
      const auto time = shortest_time(rows(rows_now, terms_.seed));
      if (!time) break;
      measured.push_back({.rows = rows_now, .time = *time});
      if (now_() - begin > terms_.budget || rows_now == terms_.rows_max) break;
    }
    return measured;
  }

 private:
  [[nodiscard]] RowCount next_size(RowCount size) const {
    return std::min(2 * size, std::max(terms_.rows_max, size + 1));
  }

  [[nodiscard]] std::optional<Micros> shortest_time(const std::vector<Tensor>& inputs) const {
    std::optional<Micros> shortest;
    for (int i = 0; i < kRunsPerSize; ++i) {
      const Instant begin = now_();
      if (!run(inputs)) return std::nullopt;
      const Micros time = std::max(now_() - begin, Micros(1));
      shortest = std::min(shortest.value_or(time), time);
      if (time.count() > terms_.budget.count() / kRunsPerSize) break;
    }
    return shortest;
  }

  [[nodiscard]] bool gives_both(const std::vector<Tensor>& one, const std::vector<Tensor>& one_alone,
                                const std::vector<Tensor>& other, const std::vector<Tensor>& other_alone) const {
    const std::array<const std::vector<Tensor>*, 2> both = {&one, &other};
    auto together = run(join_rows(both));
    if (!together) return false;
    const std::array<RowCount, 2> counts = {1, 1};
    const auto parts = split_rows(*std::move(together), counts);
    return parts && std::ranges::equal((*parts)[0], one_alone, are_close) &&
           std::ranges::equal((*parts)[1], other_alone, are_close);
  }

  LoadedModel& model_;
  const TrialTerms& terms_;
  const std::function<Instant()>& now_;
  std::int64_t any_size_ = 1;
};

}  // namespace

Trial try_model(LoadedModel& model, const TrialTerms& terms, const std::function<Instant()>& now) {
  Trial trial;
  if (terms.is_measured && !terms.needs_proof) return trial;
  TrialRuns runs(model, terms, now);
  if (!runs.find_any_size()) {
    trial.why_not_batched = "it does not run with made-up inputs";
    return trial;
  }
  if (!terms.is_batched) {
    trial.why_not_batched = "its inputs have no dimension of rows";
  } else if (terms.needs_proof) {
    trial.why_not_batched = runs.why_not_batched();
  }
  if (!terms.is_measured) trial.times = runs.measure();
  return trial;
}

}  // namespace berth::serving
