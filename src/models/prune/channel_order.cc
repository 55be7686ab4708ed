#include "models/prune/channel_order.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/core/ensure.h"
#include "models/graph/graph_index.h"
#include "models/prune/detail/filter_weights.h"
#include "models/prune/detail/symmetric.h"

namespace berth::models {
namespace {

// Added to each variance, relative to the mean variance: what is learnt from rows is not exact, and channels that are
// alike must not get large weights of opposite sign.
constexpr double kRidge = 1e-3;

/// What is added to each variance.
double ridge_of(const ChannelSpread& spread) {
  double sum = 0;
  for (const double each : spread.variance) sum += each;
  return sum > 0 ? kRidge * sum / static_cast<double>(spread.variance.size()) : 1.0;
}

/// Requires: pairs were compared.
std::vector<double> ridged(const ChannelSpread& spread) {
  const std::size_t n = spread.variance.size();
  std::vector<double> matrix = spread.covariance;
  const double ridge = ridge_of(spread);
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] += ridge;
  return matrix;
}

/// What one consumed value loses by each channel that may go next. Of channels whose pairs were not compared, only
/// diagonals are kept.
class ValueLoss {
 public:
  /// `weights`: products of the weights of two channels, summed over all else; only of each with itself, where pairs
  /// were not compared.
  ValueLoss(const ChannelSpread& spread, std::vector<double> weights, Compensation compensation)
      : n_(spread.variance.size()), step_(spread.covariance.empty() ? 0 : n_), weights_(std::move(weights)) {
    if (step_ == 0) {
      matrix_ = spread.variance;
      for (double& each : matrix_) each += ridge_of(spread);
    } else {
      matrix_ = ridged(spread);
    }
    double own = 0;
    for (std::size_t i = 0; i < n_; ++i) own += matrix_[at(i, i)] * weights_[at(i, i)];
    for (std::size_t i = 0; i < matrix_.size(); ++i) output_ += matrix_[i] * weights_[i];
    // Channels may cancel each other, and then an error relative to their sum says little.
    output_ = std::max(output_, 1e-3 * own);
    is_inverse_ = compensation == Compensation::kReconstruct && step_ != 0;
    if (is_inverse_) matrix_ = inverse_of(matrix_, n_);
    if (!is_inverse_) gone_.assign(n_, 0.0);
  }

  /// Error added, relative to the variance of the output.
  [[nodiscard]] double added(std::size_t r) const {
    if (!(output_ > 0)) return 0;
    const double own = weights_[at(r, r)];
    if (is_inverse_) return own / matrix_[at(r, r)] / output_;
    return (matrix_[at(r, r)] * own + 2 * gone_[r]) / output_;
  }

  void remove(std::size_t r) {
    if (is_inverse_) return remove_predicted(r);
    for (std::size_t i = 0; i < n_ && step_ != 0; ++i) gone_[i] += matrix_[at(i, r)] * weights_[at(i, r)];
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t i, std::size_t j) const { return i * step_ + j; }

  /// The others take the weights of `r` over, as far as they predict it.
  void remove_predicted(std::size_t r) {
    const double pivot = matrix_[at(r, r)];
    std::vector<double> share(n_);
    std::vector<double> column(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      share[i] = -matrix_[at(i, r)] / pivot;
      column[i] = weights_[at(i, r)];
    }
    share[r] = 0;
    const double own = column[r];
    for (std::size_t i = 0; i < n_; ++i) {
      if (i == r || (share[i] == 0 && column[i] == 0)) continue;  // such as all that are gone
      double* const weights = weights_.data() + at(i, 0);
      double* const inverse = matrix_.data() + at(i, 0);
      const double both = column[i] + share[i] * own;
      const double reach = share[i] * pivot;
      for (std::size_t j = 0; j < n_; ++j) {
        weights[j] += share[i] * column[j] + share[j] * both;
        inverse[j] -= reach * share[j];
      }
    }
    for (std::size_t i = 0; i < n_; ++i) {
      matrix_[at(i, r)] = matrix_[at(r, i)] = 0;
      weights_[at(i, r)] = weights_[at(r, i)] = 0;
    }
  }

  std::size_t n_;
  std::size_t step_;  ///< from row to row; 0: only diagonals
  std::vector<double> weights_;
  std::vector<double> matrix_ = {};  ///< the covariance of the channels, or its inverse
  bool is_inverse_ = false;
  double output_ = 0;
  std::vector<double> gone_ = {};  ///< without inverse: covariance with what is gone, times weights
};

/// One per consumed value, with the weights of all its consumers.
std::vector<ValueLoss> value_losses(const Graph& graph, const ChannelGroup& group, const ChannelStatistics& statistics,
                                    Compensation compensation) {
  const GraphIndex index(graph);
  std::map<std::string_view, std::vector<double>> weights;
  for (const ChannelConsumer& consumer : group.consumers) {
    const ConstantPtr weight = constant_input(graph, index, graph.nodes[consumer.node], 1).value();
    const FilterWeights filters(*weight, consumer.weight_at, group.channels);
    const bool has_pairs = !statistics.spreads.at(consumer.value).covariance.empty();
    const std::vector<double> products = has_pairs ? filters.products() : filters.squares();
    std::vector<double>& sum = weights.try_emplace(consumer.value, products.size(), 0.0).first->second;
    for (std::size_t i = 0; i < products.size(); ++i) sum[i] += products[i];
  }
  std::vector<ValueLoss> losses;
  for (auto& [value, sum] : weights) {
    losses.emplace_back(statistics.spreads.find(value)->second, std::move(sum), compensation);
  }
  return losses;
}

}  // namespace

std::vector<ChannelStep> channel_order(const Graph& graph, const ChannelGroup& group,
                                       const ChannelStatistics& statistics, Compensation compensation) {
  ENSURE(!group.left_out);
  std::vector<ValueLoss> losses = value_losses(graph, group, statistics, compensation);
  const auto count = static_cast<std::size_t>(group.channels);
  std::vector<bool> is_gone(count, false);
  std::vector<ChannelStep> order;
  double error = 0;
  while (order.size() < count) {
    std::size_t best = count;
    double best_added = 0;
    for (std::size_t c = 0; c < count; ++c) {
      if (is_gone[c]) continue;
      double added = 0;
      for (const ValueLoss& loss : losses) added += loss.added(c);
      if (best < count && !(added < best_added)) continue;
      best = c;
      best_added = added;
    }
    for (ValueLoss& loss : losses) loss.remove(best);
    is_gone[best] = true;
    error = std::max(error, error + best_added);
    order.push_back({best, error});
  }
  return order;
}

std::vector<double> stand_ins(const ChannelSpread& spread, const std::vector<bool>& kept) {
  std::vector<std::size_t> stays;
  std::vector<std::size_t> goes;
  for (std::size_t c = 0; c < kept.size(); ++c) (kept[c] ? stays : goes).push_back(c);
  std::vector<double> shares(goes.size() * stays.size(), 0.0);
  if (spread.covariance.empty()) return shares;
  const std::vector<double> matrix = ridged(spread);
  const std::size_t n = kept.size();
  std::vector<double> among(stays.size() * stays.size());
  for (std::size_t i = 0; i < stays.size(); ++i) {
    for (std::size_t j = 0; j < stays.size(); ++j) among[i * stays.size() + j] = matrix[stays[i] * n + stays[j]];
  }
  const std::vector<double> inverse = inverse_of(among, stays.size());
  for (std::size_t r = 0; r < goes.size(); ++r) {
    for (std::size_t i = 0; i < stays.size(); ++i) {
      const double with = matrix[goes[r] * n + stays[i]];
      if (with == 0) continue;
      for (std::size_t j = 0; j < stays.size(); ++j) {
        shares[r * stays.size() + j] += with * inverse[i * stays.size() + j];
      }
    }
  }
  return shares;
}

}  // namespace berth::models
