#include "planner/one_gpu/detail/block_prices.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace berth::planner {
namespace {

constexpr int kPivotsMax = 300;
/// After this many pivots the first improving column is taken instead of the best one, so that the method cannot cycle.
constexpr int kPivotsGreedy = 150;
constexpr double kPivotMin = 1e-9;

}  // namespace

BlockPrices::BlockPrices(const GpuCase& gpu_case)
    : case_(gpu_case),
      kinds_(gpu_case.rooms.kinds()),
      services_(static_cast<int>(gpu_case.bundles.size())),
      rows_(kinds_ + services_ + 1) {
  // The first basis: every service has the empty room, and the GPU is some maximal room.
  const RoomIndex room = gpu_case.rooms.maximal().front();
  inverse_.assign(ix(rows_) * ix(rows_), 0);
  for (int row = 0; row < rows_; ++row) inverse_[ix(row) * ix(rows_) + ix(row)] = 1;
  for (const KindIndex kind : Indices<KindIndex>(kinds_)) {
    basis_.push_back({.of = RoomChoice::Of::kSlack, .kind = kind});
    levels_.push_back(gpu_case.rooms.count_of(room, kind));
    inverse_[ix(kind) * ix(rows_) + ix(rows_ - 1)] = gpu_case.rooms.count_of(room, kind);
  }
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    basis_.push_back({.of = RoomChoice::Of::kService, .service = service, .room = kEmptyRoom});
    levels_.push_back(1);
  }
  basis_.push_back({.of = RoomChoice::Of::kGpu, .room = room});
  levels_.push_back(1);
}

double BlockPrices::value_of(const RoomChoice& column, const std::vector<std::vector<double>>& values) const {
  return column.of == RoomChoice::Of::kService ? values[column.service][column.room] : 0;
}

void BlockPrices::fill(const RoomChoice& column, std::vector<double>& entries) const {
  std::ranges::fill(entries, 0);
  if (column.of == RoomChoice::Of::kSlack) {
    entries[column.kind] = 1;
    return;
  }
  const bool is_gpu = column.of == RoomChoice::Of::kGpu;
  for (const KindIndex kind : Indices<KindIndex>(kinds_)) {
    const int count = case_.rooms.count_of(column.room, kind);
    entries[kind] = is_gpu ? -count : count;
  }
  entries[kinds_ + (is_gpu ? services_ : static_cast<int>(column.service))] = 1;
}

std::vector<double> BlockPrices::duals(const std::vector<std::vector<double>>& values) const {
  std::vector<double> dual(ix(rows_));
  for (int row = 0; row < rows_; ++row) {
    const double value = value_of(basis_[row], values);
    if (value == 0) continue;
    const double* line = inverse_.data() + ix(row) * ix(rows_);
    for (int i = 0; i < rows_; ++i) dual[i] += value * line[i];
  }
  return dual;
}

/// Finds the column that gains most, or the first that gains. Returns whether there is one.
bool BlockPrices::price(const std::vector<std::vector<double>>& values, const std::vector<double>& dual,
                        bool takes_first, RoomChoice& best) const {
  const Rooms& rooms = case_.rooms;
  double scale = 0;
  for (const double each : dual) scale = std::max(scale, std::abs(each));
  double most = 1e-10 * (1 + scale);
  bool is_found = false;
  const auto offer = [&](double gain, const RoomChoice& column) {
    if (gain <= most || (is_found && takes_first)) return;
    most = gain;
    best = column;
    is_found = true;
  };
  std::vector<double> of_room(ix(rooms.count()));
  for (const RoomIndex room : Indices<RoomIndex>(rooms.count())) {
    double sum = 0;
    for (const KindIndex kind : Indices<KindIndex>(kinds_)) sum += dual[kind] * rooms.count_of(room, kind);
    of_room[room] = sum;
  }
  for (const KindIndex kind : Indices<KindIndex>(kinds_))
    offer(-dual[kind], {.of = RoomChoice::Of::kSlack, .kind = kind});
  for (const RoomIndex room : rooms.maximal()) {
    offer(of_room[room] - dual[rows_ - 1], {.of = RoomChoice::Of::kGpu, .room = room});
  }
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    const double least = dual[kinds_ + service];
    for (const RoomIndex room : Indices<RoomIndex>(rooms.count())) {
      const double gain = values[service][room] - of_room[room] - least;
      offer(gain, {.of = RoomChoice::Of::kService, .service = service, .room = room});
    }
  }
  return is_found;
}

bool BlockPrices::pivot(const RoomChoice& column) {
  std::vector<double> entries(ix(rows_));
  fill(column, entries);
  std::vector<double> step(ix(rows_));
  int leaves = -1;
  double least = 0;
  for (int row = 0; row < rows_; ++row) {
    const double* line = inverse_.data() + ix(row) * ix(rows_);
    double sum = 0;
    for (int i = 0; i < rows_; ++i) sum += line[i] * entries[i];
    step[row] = sum;
    if (sum <= kPivotMin) continue;
    const double ratio = std::max(levels_[row], 0.0) / sum;
    if (leaves >= 0 && ratio >= least) continue;
    least = ratio;
    leaves = row;
  }
  if (leaves < 0) return false;
  double* line = inverse_.data() + ix(leaves) * ix(rows_);
  const double divisor = step[leaves];
  for (int i = 0; i < rows_; ++i) line[i] /= divisor;
  for (int row = 0; row < rows_; ++row) {
    if (row == leaves || step[row] == 0) continue;
    double* other = inverse_.data() + ix(row) * ix(rows_);
    for (int i = 0; i < rows_; ++i) other[i] -= step[row] * line[i];
    levels_[row] -= step[row] * least;
  }
  levels_[leaves] = least;
  basis_[leaves] = column;
  return true;
}

std::vector<double> BlockPrices::solve(const std::vector<std::vector<double>>& values) {
  for (int count = 0; count < kPivotsMax; ++count) {
    RoomChoice column;
    if (!price(values, duals(values), count >= kPivotsGreedy, column) || !pivot(column)) break;
  }
  std::vector<double> prices = duals(values);
  prices.resize(ix(kinds_));
  for (double& each : prices) each = std::max(each, 0.0);
  return prices;
}

}  // namespace berth::planner
