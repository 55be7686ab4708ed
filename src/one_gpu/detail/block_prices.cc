#include "one_gpu/detail/block_prices.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace berth::planner {
namespace {

constexpr int kPivotsMax = 300;
/// After so many pivots the first column that helps is taken, not the best one, so that none comes round again.
constexpr int kPivotsGreedy = 150;
constexpr double kPivotMin = 1e-9;

}  // namespace

BlockPrices::BlockPrices(const GpuCase& gpu_case)
    : case_(gpu_case),
      kinds_(gpu_case.rooms.kinds()),
      services_(static_cast<int>(gpu_case.bundles.size())),
      rows_(kinds_ + services_ + 1) {
  // Every service has nothing, and the GPU is some room.
  const int room = gpu_case.rooms.maximal().front();
  inverse_.assign(ix(rows_) * ix(rows_), 0);
  for (int row = 0; row < rows_; ++row) inverse_[ix(row) * ix(rows_) + ix(row)] = 1;
  for (int kind = 0; kind < kinds_; ++kind) {
    basis_.push_back({.group = services_ + 1, .number = kind});
    levels_.push_back(gpu_case.rooms.count_of(room, kind));
    inverse_[ix(kind) * ix(rows_) + ix(rows_ - 1)] = gpu_case.rooms.count_of(room, kind);
  }
  for (int service = 0; service < services_; ++service) {
    basis_.push_back({.group = service, .number = 0});
    levels_.push_back(1);
  }
  basis_.push_back({.group = services_, .number = room});
  levels_.push_back(1);
}

double BlockPrices::value_of(const Column& column, const std::vector<std::vector<double>>& values) const {
  return column.group < services_ ? values[ix(column.group)][ix(column.number)] : 0;
}

void BlockPrices::fill(const Column& column, std::vector<double>& entries) const {
  std::ranges::fill(entries, 0);
  if (column.group > services_) {
    entries[ix(column.number)] = 1;
    return;
  }
  const bool is_room = column.group == services_;
  for (int kind = 0; kind < kinds_; ++kind) {
    const int count = case_.rooms.count_of(column.number, kind);
    entries[ix(kind)] = is_room ? -count : count;
  }
  entries[ix(kinds_ + column.group)] = 1;
}

std::vector<double> BlockPrices::duals(const std::vector<std::vector<double>>& values) const {
  std::vector<double> dual(ix(rows_));
  for (int row = 0; row < rows_; ++row) {
    const double value = value_of(basis_[ix(row)], values);
    if (value == 0) continue;
    const double* line = inverse_.data() + ix(row) * ix(rows_);
    for (int i = 0; i < rows_; ++i) dual[ix(i)] += value * line[i];
  }
  return dual;
}

/// The column that gains most, or the first that gains; whether there is one.
bool BlockPrices::price(const std::vector<std::vector<double>>& values, const std::vector<double>& dual,
                        bool takes_first, Column& best) const {
  const Rooms& rooms = case_.rooms;
  double scale = 0;
  for (const double each : dual) scale = std::max(scale, std::abs(each));
  double most = 1e-10 * (1 + scale);
  bool is_found = false;
  const auto offer = [&](double gain, const Column& column) {
    if (gain <= most || (is_found && takes_first)) return;
    most = gain;
    best = column;
    is_found = true;
  };
  std::vector<double> of_room(ix(rooms.count()));
  for (int room = 0; room < rooms.count(); ++room) {
    double sum = 0;
    for (int kind = 0; kind < kinds_; ++kind) sum += dual[ix(kind)] * rooms.count_of(room, kind);
    of_room[ix(room)] = sum;
  }
  for (int kind = 0; kind < kinds_; ++kind) offer(-dual[ix(kind)], {.group = services_ + 1, .number = kind});
  for (const int room : rooms.maximal()) {
    offer(of_room[ix(room)] - dual[ix(rows_ - 1)], {.group = services_, .number = room});
  }
  for (int service = 0; service < services_; ++service) {
    const double least = dual[ix(kinds_ + service)];
    for (int room = 0; room < rooms.count(); ++room) {
      const double gain = values[ix(service)][ix(room)] - of_room[ix(room)] - least;
      offer(gain, {.group = service, .number = room});
    }
  }
  return is_found;
}

bool BlockPrices::pivot(const Column& column) {
  std::vector<double> entries(ix(rows_));
  fill(column, entries);
  std::vector<double> step(ix(rows_));
  int leaves = -1;
  double least = 0;
  for (int row = 0; row < rows_; ++row) {
    const double* line = inverse_.data() + ix(row) * ix(rows_);
    double sum = 0;
    for (int i = 0; i < rows_; ++i) sum += line[i] * entries[ix(i)];
    step[ix(row)] = sum;
    if (sum <= kPivotMin) continue;
    const double ratio = std::max(levels_[ix(row)], 0.0) / sum;
    if (leaves >= 0 && ratio >= least) continue;
    least = ratio;
    leaves = row;
  }
  if (leaves < 0) return false;
  double* line = inverse_.data() + ix(leaves) * ix(rows_);
  const double divisor = step[ix(leaves)];
  for (int i = 0; i < rows_; ++i) line[i] /= divisor;
  for (int row = 0; row < rows_; ++row) {
    if (row == leaves || step[ix(row)] == 0) continue;
    double* other = inverse_.data() + ix(row) * ix(rows_);
    for (int i = 0; i < rows_; ++i) other[i] -= step[ix(row)] * line[i];
    levels_[ix(row)] -= step[ix(row)] * least;
  }
  levels_[ix(leaves)] = least;
  basis_[ix(leaves)] = column;
  return true;
}

std::vector<double> BlockPrices::solve(const std::vector<std::vector<double>>& values) {
  for (int count = 0; count < kPivotsMax; ++count) {
    Column column;
    if (!price(values, duals(values), count >= kPivotsGreedy, column) || !pivot(column)) break;
  }
  std::vector<double> prices = duals(values);
  prices.resize(ix(kinds_));
  for (double& each : prices) each = std::max(each, 0.0);
  return prices;
}

}  // namespace berth::planner
