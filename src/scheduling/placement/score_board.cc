#include "scheduling/placement/score_board.h"

#include <algorithm>
#include <bit>

namespace berth::placement {
namespace {

constexpr std::size_t kChangesMin = 1'024;

}  // namespace

ScoreBoard::ScoreBoard(std::size_t shape_count, int node_count)
    : node_count_(node_count),
      width_(std::max<std::size_t>(2, std::bit_ceil(static_cast<std::size_t>(node_count)))),
      boards_(shape_count),
      last_change_(static_cast<std::size_t>(node_count)) {}

void ScoreBoard::touch(NodeIndex node) {
  // A board that has missed more changes than there are nodes scans the nodes instead.
  const std::size_t nodes = last_change_.size();
  if (changes_.size() >= 2 * nodes + kChangesMin) {
    changes_.erase(changes_.begin(), changes_.end() - static_cast<std::ptrdiff_t>(nodes));
  }
  changes_.push_back(static_cast<std::uint32_t>(static_cast<int>(node)));
  last_change_[static_cast<std::size_t>(node)] = ++change_count_;
}

void ScoreBoard::forget() {
  for (Board& board : boards_) board.is_forgotten = true;
}

ScoreBoard::Board* ScoreBoard::board_of(ShapeIndex shape) {
  Board& board = boards_[static_cast<std::size_t>(shape)];
  if (!board.scores.empty()) return &board;
  if (cells_ + width_ > kCellsMax) return nullptr;
  cells_ += width_;
  return &board;
}

void ScoreBoard::settle(Board& board, std::size_t node) const {
  // The children of an inner position p are 2p and 2p + 1; below the lowest row they are the nodes themselves.
  const std::size_t half = width_ / 2;
  const auto better = [&](std::uint32_t left, std::uint32_t right) {
    return board.scores[right] > board.scores[left] ? right : left;
  };
  std::size_t position = half + node / 2;
  const auto pair = static_cast<std::uint32_t>(node & ~std::size_t{1});
  board.winners[position] = better(pair, pair + 1);
  for (position /= 2; position > 0; position /= 2) {
    board.winners[position] = better(board.winners[2 * position], board.winners[2 * position + 1]);
  }
}

void ScoreBoard::settle_all(Board& board) const {
  const std::size_t half = width_ / 2;
  for (std::size_t position = width_ - 1; position > 0; --position) {
    const auto pair = static_cast<std::uint32_t>(2 * (position - half));
    const std::uint32_t left = position >= half ? pair : board.winners[2 * position];
    const std::uint32_t right = position >= half ? pair + 1 : board.winners[2 * position + 1];
    board.winners[position] = board.scores[right] > board.scores[left] ? right : left;
  }
}

}  // namespace berth::placement
