/// The best node for each shape, kept while nodes change.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "scheduling/placement/problem.h"

namespace berth::placement {

using NodeScore = std::int64_t;
/// The score of a node on which a pod does not fit.
inline constexpr NodeScore kNoFit = std::numeric_limits<NodeScore>::min();

/// For each shape queried so far, the scores of all nodes and a tournament among them. A node's score of a shape may
/// only depend on the node: it is recomputed when the node has changed, and only when that shape is queried.
///
/// A query costs O(d log n), d the distinct nodes that changed since the shape's last query. Memory: 12 bytes for each
/// node and shape, up to kCellsMax of them; queries for further shapes score every node.
class ScoreBoard {
 public:
  ScoreBoard(std::size_t shape_count, int node_count);

  /// To be called for each node that changed.
  void touch(NodeIndex node);
  /// To be called when scores of unchanged nodes become invalid.
  void forget();

  /// Whether the next query for the shape will score every node.
  [[nodiscard]] bool is_forgotten(ShapeIndex shape) const {
    return boards_[static_cast<std::size_t>(shape)].is_forgotten;
  }

  /// The node with the highest score, the first of equal ones; nothing if the pod fits nowhere. `score(node)` is its
  /// score, or kNoFit.
  template <class Score>
  [[nodiscard]] std::optional<NodeIndex> best(ShapeIndex shape, const Score& score) {
    Board* board = board_of(shape);
    if (board == nullptr) return best_of_all(score);
    if (board->is_forgotten) {
      fill(*board, score);
    } else {
      catch_up(*board, score);
    }
    const NodeIndex winner(board->winners[1]);
    if (board->scores[static_cast<std::size_t>(winner)] == kNoFit) return std::nullopt;
    return winner;
  }

 private:
  struct Board {
    std::vector<NodeScore> scores;       ///< by node, padded with kNoFit to a power of two
    std::vector<std::uint32_t> winners;  ///< of each pair of subtrees; 1 is the root
    bool is_forgotten = true;
    std::size_t seen = 0;  ///< the number of changes applied so far
  };
  static constexpr std::size_t kCellsMax = 1 << 24;

  [[nodiscard]] Board* board_of(ShapeIndex shape);
  void settle(Board& board, std::size_t node) const;
  void settle_all(Board& board) const;

  template <class Score>
  [[nodiscard]] std::optional<NodeIndex> best_of_all(const Score& score) const {
    std::optional<NodeIndex> best;
    NodeScore best_score = kNoFit;
    for (const NodeIndex node : Indices<NodeIndex>(node_count_)) {
      const NodeScore found = score(node);
      if (found <= best_score) continue;
      best = node;
      best_score = found;
    }
    return best;
  }

  template <class Score>
  void fill(Board& board, const Score& score) {
    board.scores.assign(width_, kNoFit);
    for (const NodeIndex node : Indices<NodeIndex>(node_count_))
      board.scores[static_cast<std::size_t>(node)] = score(node);
    board.winners.resize(width_);
    settle_all(board);
    board.seen = change_count_;
    board.is_forgotten = false;
  }

  template <class Score>
  void catch_up(Board& board, const Score& score) {
    if (change_count_ - board.seen > last_change_.size()) {
      for (std::size_t node = 0; node < last_change_.size(); ++node) {
        if (last_change_[node] > board.seen) refresh(board, node, score);
      }
    } else {
      const std::size_t dropped = change_count_ - changes_.size();
      for (std::size_t i = board.seen; i < change_count_; ++i) {
        const std::uint32_t node = changes_[i - dropped];
        if (last_change_[node] == i + 1) refresh(board, node, score);
      }
    }
    board.seen = change_count_;
  }

  template <class Score>
  void refresh(Board& board, std::size_t node, const Score& score) const {
    const NodeScore now = score(NodeIndex(node));
    if (now == board.scores[node]) return;
    board.scores[node] = now;
    settle(board, node);
  }

  int node_count_;
  std::size_t width_ = 1;  ///< leaves of a tournament
  std::vector<Board> boards_;
  std::size_t cells_ = 0;
  std::size_t change_count_ = 0;
  std::vector<std::uint32_t> changes_;    ///< changed nodes, in order of time: at least as many of the latest as nodes
  std::vector<std::size_t> last_change_;  ///< by node: the number of its latest change, from 1; 0: never changed
};

}  // namespace berth::placement
