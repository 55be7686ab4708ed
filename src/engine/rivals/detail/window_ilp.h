/// The integer program of the MIGRator-style policy: how many slices of each kind serve or retrain each service in
/// each block of a window. docs/reference/policies.md describes its origin.
///
/// Counts represent placed layouts: a GPU's layout is one of the multisets of its model (shapes), equal GPUs are
/// counted together. Variables, for block b, GPU model m, shape c, kind k, service s:
///     M[m,c,b] whole       GPUs with that shape                   sum_c M = GPUs of m
///     n[m,k,s,b] whole     slices that serve                      sum_s n + r <= sum_c count(c,k) M
///     r[m,k,s,b] 0 or 1    the slice that retrains                sum_mk r <= 1, only while stale
///     up[m,k,s,b] >= n[b] - n[b-1]                                slices that are new
///     C[s,b] = sum rate x (n - up x share of the block in which a new slice does not work yet)
///     g[s,b] <= E[min(load, C)], by tangents                      requests in time per second
/// Retraining is modelled by segments: a service's due times divide the blocks in which they lie, so that segment e is
/// the part of one block between two due times. For a segment that begins stale:
///     P[s,e] = progress at its beginning, since the last due time: sum of seconds x r / seconds on that kind
///     fresh[s,e] 0 or 1    <= P                                   done at the beginning
///     ends[m,k,s,e] 0 or 1 <= r                                   done within it, on that slice
///     rest[m,k,s,e]        <= ends, length x rest <= length - (1 - P) x seconds on k, where it ends
///     h[s,e] <= g, <= (fresh + sum rest) x mean load              those answered by the new model
/// Objective: sum over segments of length x worth x (before x g + (after - before) x h), and for an unfinished
/// retraining at the end of the window its progress x the value of its completion until the next due time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/solver/linear.h"

namespace berth::partition::detail {

/// g <= offset + slope x capacity.
struct Tangent {
  double offset = 0;
  double slope = 0;
};

struct IlpService {
  std::vector<std::vector<Tangent>> served;  ///< [block]
  std::vector<double> mean;                  ///< [block], requests per second
  double worth = 0;                          ///< of one answer per second, for one second
  double accuracy_before = 1;
  double accuracy_after = 1;
  bool is_stale = false;            ///< at the beginning, and its retraining may run
  double progress = 0;              ///< of it
  std::vector<double> due_seconds;  ///< ascending, within the window: stale from then on, progress lost
  double change_seconds = 6;        ///< until a new slice serves
  double end_value = 0;             ///< of progress 1 at the end of the window
};

struct IlpModel {
  int gpu_count = 0;
  std::vector<std::vector<int>> shapes;                 ///< [shape][kind] -> slices
  std::vector<char> is_offered;                         ///< [shape]: may be used; empty: all
  std::vector<std::vector<double>> rates;               ///< [kind][service], requests per second; 0: cannot
  std::vector<std::vector<double>> retraining_seconds;  ///< [kind][service]; 0: cannot, or not in time
  std::vector<std::vector<int>> serving_now;            ///< [kind][service]
};

struct WindowProblem {
  std::vector<double> block_seconds;
  std::vector<IlpModel> models;
  std::vector<IlpService> services;
  bool is_first = false;  ///< no slice exists: the first block's slices cost nothing
};

/// The slices of one block.
struct ModelCounts {
  std::vector<int> shapes;                   ///< [shape] -> GPUs
  std::vector<std::vector<int>> serving;     ///< [kind][service]
  std::vector<std::vector<int>> retraining;  ///< [kind][service], 0 or 1
  friend bool operator==(const ModelCounts&, const ModelCounts&) = default;
};
using BlockCounts = std::vector<ModelCounts>;  ///< by model

struct WindowAnswer {
  std::vector<BlockCounts> blocks;  ///< empty: no solution was found
  double objective = 0;
  double bound = 0;
  bool is_solved = false;  ///< optimal, within the gap allowed
};

/// How many columns the program has.
[[nodiscard]] std::int64_t column_count(const WindowProblem& problem);

/// Solves by branch and bound of the library, within limits.
[[nodiscard]] WindowAnswer solve_window(const WindowProblem& problem, const solver::MipLimits& limits);

/// The objective of a schedule, computed without the library. Requires: one entry per block, legal.
[[nodiscard]] double window_value(const WindowProblem& problem, const std::vector<BlockCounts>& blocks);

}  // namespace berth::partition::detail
