/// Pods and the nodes on which they are to be placed, ready for deciding: models, shapes and slices are numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/index.h"
#include "base/core/result.h"
#include "domain/lists/node_list.h"
#include "domain/lists/pod_list.h"
#include "domain/mig/site_map.h"
#include "domain/values/gpu.h"

namespace berth::placement {

using NodeIndex = Index<struct NodeTag>;    ///< of `Problem::nodes`, or a place in a run's order of them
using ShapeIndex = Index<struct ShapeTag>;  ///< of `Problem::shapes`
using ModelIndex = Index<struct ModelTag>;  ///< of `Problem::models`
using CutIndex = Index<struct CutTag>;      ///< of `Problem::cuts`

inline constexpr int kGpuMilli = 1000;

/// A GPU model that can be partitioned. Its slices are sites of the map, which has every profile except the whole GPU.
struct Cut {
  GpuModel model;
  mig::SiteMap map;
};

/// A node with GPUs.
struct Node {
  int row = 0;  ///< of the list of nodes; with copies, the number of the copy
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int gpu_count = 0;
  ModelIndex model;                            ///< as the list names it
  std::optional<CutIndex> cut = std::nullopt;  ///< absent: its GPUs cannot be partitioned
};

/// A number of slices of one kind, all on one GPU.
struct SliceNeed {
  mig::KindIndex kind;
  int count = 1;
};

/// A pod's request; pods of one shape are placed alike.
struct Shape {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int gpu_count = 0;
  int gpu_milli = 0;             ///< of each GPU
  std::vector<bool> fits_model;  ///< by model
  bool names_profile = false;    ///< then it runs only on slices
  /// In order of preference: the slices needed on each model that can be partitioned (by cut), nothing if the model
  /// does not have them. Empty for pods that take no slices.
  std::vector<std::vector<std::optional<SliceNeed>>> slices = {};

  [[nodiscard]] bool is_shared() const { return gpu_count == 1 && gpu_milli < kGpuMilli; }
  /// GPU milli that it requests in total.
  [[nodiscard]] std::int64_t demand_milli() const { return std::int64_t{gpu_count} * gpu_milli; }
};

/// A kind of pods whose requests are alike except for memory, and the number of rows of that kind.
struct TypicalPods {
  std::int64_t cpu_milli = 0;
  int gpu_count = 0;
  int gpu_milli = 0;
  std::vector<bool> fits_model;
  std::int64_t count = 0;
};

/// Node and pod order are those of the lists.
struct Problem {
  std::vector<std::string> models;
  std::vector<Cut> cuts;
  std::vector<Node> nodes;
  std::vector<Shape> shapes;
  std::vector<ShapeIndex> shape_of_pod;     ///< by row of the list
  std::vector<std::string> pod_names;       ///< by row
  std::vector<std::string> gangs;           ///< by row; empty: none
  std::vector<std::int64_t> rows_of_shape;  ///< by shape: how many rows of the list
  std::vector<TypicalPods> typical;         ///< the most frequent kinds, 95 % of the rows; the most frequent first
  std::int64_t gpu_count = 0;

  [[nodiscard]] std::int64_t capacity_milli() const { return gpu_count * kGpuMilli; }
  [[nodiscard]] bool has_cuts() const { return !cuts.empty(); }
  [[nodiscard]] const Shape& shape_of(int row) const {
    return shapes[static_cast<std::size_t>(shape_of_pod[static_cast<std::size_t>(row)])];
  }
  /// The total rows of `typical`.
  [[nodiscard]] std::int64_t typical_rows() const;
};

struct ProblemOptions {
  std::optional<std::string> as_gpu = std::nullopt;  ///< every GPU counts as this model, which can be partitioned
  std::optional<int> copies = std::nullopt;          ///< the number of nodes: those with GPUs, repeated
};

/// Nodes without GPUs are left out. The gpu_milli of a pod that only names profiles follows from the first of them and
/// the first model that can hold it (of the nodes in order, else of the catalogue). Errors: an `as_gpu` that is unknown
/// or cannot be partitioned. Requires: at least one node with GPUs, and pods whose first slices some GPU can hold, or
/// with gpu_milli.
[[nodiscard]] Result<Problem> make_problem(const std::vector<ListedNode>& nodes, const std::vector<Pod>& pods,
                                           const ProblemOptions& options);

/// Whether a MIG profile of some model has that name; whether a GPU of some model can hold that many of it.
[[nodiscard]] bool is_profile_name(std::string_view name);
[[nodiscard]] bool fits_one_gpu(const SliceRequest& request);

}  // namespace berth::placement
