#include "scheduling/placement/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "domain/mig/catalogue.h"

namespace berth::placement {
namespace {

constexpr std::int64_t kTypicalPercent = 95;

const GpuModel* find_exact_model(std::string_view name) {
  for (const GpuModel& model : mig::gpu_models()) {
    if (model.name == name && model.is_mig_capable()) return &model;
  }
  return nullptr;
}

const MigProfile* find_named_profile(const GpuModel& model, std::string_view name) {
  const auto found = std::ranges::find(model.profiles, name, &MigProfile::name);
  return found == model.profiles.end() ? nullptr : &*found;
}

/// The smallest plain profile that has at least that share of the GPU's memory; fewer compute slices first.
const MigProfile& smallest_profile(const GpuModel& model, int gpu_milli) {
  const MigProfile* best = nullptr;
  for (const MigProfile& profile : model.profiles) {
    if (!profile.is_plain() || std::int64_t{profile.length} * kGpuMilli < std::int64_t{gpu_milli} * model.units)
      continue;
    if (best == nullptr ||
        std::pair(profile.length, profile.compute_slices) < std::pair(best->length, best->compute_slices)) {
      best = &profile;
    }
  }
  return *best;  // a profile of the whole GPU exists on every model
}

SliceNeed need_of(const Cut& cut, const MigProfile& profile, int count) {
  const ProfileId id{static_cast<std::uint16_t>(&profile - cut.model.profiles.data())};
  return {.kind = *cut.map.find_kind(id), .count = count};
}

/// Builds the parts of a problem in the order of their dependencies.
class ProblemMaker {
 public:
  ProblemMaker(const std::vector<Pod>& pods, const ProblemOptions& options) : pods_(pods), options_(options) {}

  Result<Problem> make(const std::vector<ListedNode>& nodes) {
    if (auto added = add_nodes(nodes); !added) return pass_on(added.error());
    for (const Pod& pod : pods_) add_pod(pod);
    add_typical();
    return std::move(problem_);
  }

 private:
  std::optional<CutIndex> cut_of(const std::string& model_name) {
    const GpuModel* model = find_exact_model(options_.as_gpu ? as_gpu_name_ : model_name);
    if (model == nullptr) return std::nullopt;
    for (const CutIndex cut : indices_of<CutIndex>(problem_.cuts)) {
      if (problem_.cuts[static_cast<std::size_t>(cut)].model.name == model->name) return cut;
    }
    problem_.cuts.push_back({.model = *model, .map = mig::make_site_map(*model, mig::all_rules(*model).profiles)});
    return CutIndex(problem_.cuts.size() - 1);
  }

  ModelIndex model_of(const std::string& name) {
    const auto known = std::ranges::find(problem_.models, name);
    const auto index = known - problem_.models.begin();
    if (known == problem_.models.end()) problem_.models.push_back(name);
    return ModelIndex(index);
  }

  Result<void> add_nodes(const std::vector<ListedNode>& nodes) {
    if (options_.as_gpu) {
      const auto model = mig::find_gpu_model(*options_.as_gpu);
      if (!model) return pass_on(model.error());
      if (!model->is_mig_capable()) {
        return invalid(fmt::format("wanted a GPU model with MIG, found {}", in_quotes(*options_.as_gpu)));
      }
      as_gpu_name_ = model->name;
    }
    std::vector<int> rows;
    for (std::size_t row = 0; row < nodes.size(); ++row) {
      if (nodes[row].gpu_count > 0) rows.push_back(static_cast<int>(row));
    }
    const auto count = options_.copies ? static_cast<std::size_t>(*options_.copies) : rows.size();
    problem_.nodes.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const int row = rows[i % rows.size()];
      add_node(nodes[static_cast<std::size_t>(row)], options_.copies ? static_cast<int>(i) : row);
    }
    for (const Node& node : problem_.nodes) problem_.gpu_count += node.gpu_count;
    return {};
  }

  void add_node(const ListedNode& node, int row) {
    problem_.nodes.push_back({.row = row,
                              .cpu_milli = node.cpu_milli,
                              .memory_mib = node.memory_mib,
                              .gpu_count = node.gpu_count,
                              .model = model_of(node.gpu_model),
                              .cut = cut_of(node.gpu_model)});
  }

  /// The milli of the first slices named, on the first model of the nodes that can hold them, else on the first of the
  /// catalogue.
  [[nodiscard]] int milli_of_slices(const SliceRequest& wanted) const {
    std::vector<const GpuModel*> models;
    models.reserve(problem_.cuts.size() + mig::gpu_models().size());
    for (const Cut& cut : problem_.cuts) models.push_back(&cut.model);
    for (const GpuModel& model : mig::gpu_models()) models.push_back(&model);
    for (const GpuModel* model : models) {
      const MigProfile* profile = find_named_profile(*model, wanted.profile);
      if (profile == nullptr || wanted.count > profile->instances_max) continue;
      return kGpuMilli * wanted.count * profile->length / model->units;
    }
    ENSURE(false);  // fits_one_gpu
    return 0;
  }

  [[nodiscard]] std::vector<bool> models_of(const Pod& pod) const {
    std::vector<bool> fits(problem_.models.size(), pod.gpu_spec.empty() || pod.gpu_count == 0);
    for (const std::string& name : pod.gpu_models) {
      const auto known = std::ranges::find(problem_.models, name);
      if (known != problem_.models.end()) fits[static_cast<std::size_t>(known - problem_.models.begin())] = true;
    }
    return fits;
  }

  void add_slices(const Pod& pod, Shape& shape) const {
    for (const SliceRequest& request : pod.slices) {
      auto& needs = shape.slices.emplace_back(problem_.cuts.size());
      for (std::size_t i = 0; i < needs.size(); ++i) {
        const Cut& cut = problem_.cuts[i];
        const MigProfile* profile = find_named_profile(cut.model, request.profile);
        if (profile != nullptr) needs[i] = need_of(cut, *profile, request.count);
      }
    }
    if (!pod.slices.empty() || !shape.is_shared() || problem_.cuts.empty()) return;
    auto& needs = shape.slices.emplace_back();
    for (const Cut& cut : problem_.cuts) {
      needs.emplace_back(need_of(cut, smallest_profile(cut.model, shape.gpu_milli), 1));
    }
  }

  void add_pod(const Pod& pod) {
    Shape shape{.cpu_milli = pod.cpu_milli,
                .memory_mib = pod.memory_mib,
                .gpu_count = pod.gpu_count,
                .gpu_milli = pod.gpu_milli,
                .fits_model = models_of(pod),
                .names_profile = !pod.slices.empty()};
    if (shape.names_profile && shape.gpu_milli == 0) shape.gpu_milli = milli_of_slices(pod.slices.front());
    std::string profiles;
    for (const SliceRequest& request : pod.slices) profiles += fmt::format("{}x{}|", request.count, request.profile);
    const auto key =
        std::tuple(shape.cpu_milli, shape.memory_mib, shape.gpu_count, shape.gpu_milli, shape.fits_model, profiles);
    const auto [known, is_new] = shapes_.try_emplace(key, ShapeIndex(problem_.shapes.size()));
    if (is_new) {
      add_slices(pod, shape);
      problem_.shapes.push_back(std::move(shape));
      problem_.rows_of_shape.push_back(0);
    }
    ++problem_.rows_of_shape[static_cast<std::size_t>(known->second)];
    problem_.shape_of_pod.push_back(known->second);
    problem_.pod_names.push_back(pod.name);
    problem_.gangs.push_back(pod.gang);
  }

  /// Groups of rows with equal requests, gpu_spec as written; memory is not compared. The rule is that of
  /// docs/reference/scheduling.md for `fgd`.
  void add_typical() {
    using Key = std::tuple<std::int64_t, int, int, std::string>;
    std::map<Key, TypicalPods> groups;
    for (std::size_t row = 0; row < pods_.size(); ++row) {
      const Shape& shape = problem_.shape_of(static_cast<int>(row));
      TypicalPods& group = groups[Key(shape.cpu_milli, shape.gpu_milli, shape.gpu_count, pods_[row].gpu_spec)];
      if (group.count++ > 0) continue;
      group.cpu_milli = shape.cpu_milli;
      group.gpu_count = shape.gpu_count;
      group.gpu_milli = shape.gpu_milli;
      group.fits_model = shape.fits_model;
    }
    std::vector<TypicalPods> ordered;
    ordered.reserve(groups.size());
    for (auto& [key, group] : groups) ordered.push_back(std::move(group));
    sort_by_count(ordered);
    std::int64_t rows = 0;
    for (TypicalPods& group : ordered) {
      if (rows * 100 >= kTypicalPercent * static_cast<std::int64_t>(pods_.size())) break;
      rows += group.count;
      problem_.typical.push_back(std::move(group));
    }
  }

  /// Descending; equal counts stay in the order of their keys.
  static void sort_by_count(std::vector<TypicalPods>& groups) {
    std::vector<std::size_t> order(groups.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return std::pair(-groups[a].count, a) < std::pair(-groups[b].count, b);
    });
    std::vector<TypicalPods> sorted;
    sorted.reserve(groups.size());
    for (const std::size_t i : order) sorted.push_back(std::move(groups[i]));
    groups = std::move(sorted);
  }

  const std::vector<Pod>& pods_;
  const ProblemOptions& options_;
  std::string as_gpu_name_;
  Problem problem_;
  std::map<std::tuple<std::int64_t, std::int64_t, int, int, std::vector<bool>, std::string>, ShapeIndex> shapes_;
};

}  // namespace

std::int64_t Problem::typical_rows() const {
  std::int64_t rows = 0;
  for (const TypicalPods& group : typical) rows += group.count;
  return rows;
}

Result<Problem> make_problem(const std::vector<ListedNode>& nodes, const std::vector<Pod>& pods,
                             const ProblemOptions& options) {
  return ProblemMaker(pods, options).make(nodes);
}

bool is_profile_name(std::string_view name) { return !mig::gpus_with_profile(name).empty(); }

bool fits_one_gpu(const SliceRequest& request) {
  return std::ranges::any_of(mig::gpu_models(), [&](const GpuModel& model) {
    const MigProfile* profile = find_named_profile(model, request.profile);
    return profile != nullptr && request.count <= profile->instances_max;
  });
}

}  // namespace berth::placement
