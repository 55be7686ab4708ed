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

/// The covariance, or the variances alone where pairs were not compared, with the ridge.
std::vector<double> ridged(const ChannelSpread& spread, double share) {
  const std::size_t n = spread.variance.size();
  std::vector<double> matrix = spread.covariance;
  if (matrix.empty()) {
    matrix.assign(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] = spread.variance[i];
  }
  double sum = 0;
  for (const double each : spread.variance) sum += each;
  const double ridge = sum > 0 ? share * sum / static_cast<double>(n) : 1.0;
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] += ridge;
  return matrix;
}

/// What one consumed value loses by each channel that may go next.
class ValueLoss {
 public:
  ValueLoss(const ChannelSpread& spread, std::vector<double> weights, Compensation compensation)
      : n_(spread.variance.size()), weights_(std::move(weights)) {
    std::vector<double> covariance = ridged(spread, kRidge);
    for (std::size_t i = 0; i < n_ * n_; ++i) output_ += covariance[i] * weights_[i];
    // Covariances can cancel; a value that gives nothing to the outputs does not count.
    double own = 0;
    for (std::size_t i = 0; i < n_; ++i) own += covariance[i * n_ + i] * weights_[i * n_ + i];
    output_ = std::max(output_, 1e-3 * own);
    is_inverse_ = compensation == Compensation::kReconstruct && !spread.covariance.empty();
    matrix_ = is_inverse_ ? inverse_of(covariance, n_) : std::move(covariance);
    if (!is_inverse_) gone_.assign(n_, 0.0);
  }

  /// Error added, relative to the variance of the output.
  [[nodiscard]] double added(std::size_t r) const {
    if (!(output_ > 0)) return 0;
    const double own = weights_[r * n_ + r];
    if (is_inverse_) return own / matrix_[r * n_ + r] / output_;
    return (matrix_[r * n_ + r] * own + 2 * gone_[r]) / output_;
  }

  void remove(std::size_t r) {
    if (is_inverse_) {
      remove_predicted(r);
      return;
    }
    for (std::size_t i = 0; i < n_; ++i) gone_[i] += matrix_[i * n_ + r] * weights_[i * n_ + r];
  }

 private:
  /// The others take the weights of `r` over, as far as they predict it.
  void remove_predicted(std::size_t r) {
    const double pivot = matrix_[r * n_ + r];
    std::vector<double> share(n_);
    std::vector<double> column(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      share[i] = -matrix_[i * n_ + r] / pivot;
      column[i] = weights_[i * n_ + r];
    }
    share[r] = 0;
    const double own = column[r];
    for (std::size_t i = 0; i < n_; ++i) {
      if (i == r) continue;
      double* const weights = weights_.data() + i * n_;
      double* const inverse = matrix_.data() + i * n_;
      const double both = column[i] + share[i] * own;
      const double reach = share[i] * pivot;
      for (std::size_t j = 0; j < n_; ++j) {
        weights[j] += share[i] * column[j] + share[j] * both;
        inverse[j] -= reach * share[j];
      }
    }
    for (std::size_t i = 0; i < n_; ++i) {
      matrix_[i * n_ + r] = matrix_[r * n_ + i] = 0;
      weights_[i * n_ + r] = weights_[r * n_ + i] = 0;
    }
  }

  std::size_t n_;
  std::vector<double> weights_;  ///< products of the weights of two channels, summed over filters
  double output_ = 0;
  std::vector<double> matrix_ = {};  ///< the covariance of the channels, or its inverse
  bool is_inverse_ = false;
  std::vector<double> gone_ = {};  ///< without inverse: covariance with what is gone, times weights
};

/// One per consumed value, with the weights of all its consumers.
std::vector<ValueLoss> value_losses(const Graph& graph, const ChannelGroup& group, const ChannelStatistics& statistics,
                                    Compensation compensation) {
  const GraphIndex index(graph);
  std::map<std::string_view, std::vector<double>> weights;
  for (const ChannelConsumer& consumer : group.consumers) {
    const ConstantPtr weight = constant_input(graph, index, graph.nodes[consumer.node], 1).value();
    const std::vector<double> products = FilterWeights(*weight, consumer.weight_at, group.channels).products();
    std::vector<double>& sum = weights.try_emplace(consumer.value, products.size(), 0.0).first->second;
    for (std::size_t i = 0; i < products.size(); ++i) sum[i] += products[i];
  }
  std::vector<ValueLoss> losses;
  for (auto& [value, sum] : weights) {
    const auto spread = statistics.spreads.find(value);
    ENSURE(spread != statistics.spreads.end());
    losses.emplace_back(spread->second, std::move(sum), compensation);
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
  const std::vector<double> matrix = ridged(spread, kRidge);
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
