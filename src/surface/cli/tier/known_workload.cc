#include "surface/cli/tier/known_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/core/text.h"
#include "domain/profile_book/in_force.h"
#include "edges/sqlite_store/profile_file.h"
#include "tier/from_profiles/from_profiles.h"
#include "tier/readers/read_csv.h"

namespace berth::cli {
namespace {

using tier::TierTable;
using tier::TierWorkload;

constexpr std::size_t kNamesListedMax = 8;

std::string long_name(const TierWorkload& workload) { return fmt::format("{}/{}", workload.group, workload.name); }

std::string names_listed(const std::vector<const TierWorkload*>& workloads) {
  std::string names;
  for (std::size_t i = 0; i < workloads.size() && i < kNamesListedMax; ++i) {
    names += (i == 0 ? "" : ", ") + long_name(*workloads[i]);
  }
  return names + (workloads.size() > kNamesListedMax ? ", ..." : "");
}

std::vector<const TierWorkload*> workloads_named(const TierTable& table, const std::optional<std::string>& name) {
  std::vector<const TierWorkload*> found;
  for (const TierWorkload& workload : table.workloads) {
    if (!name || workload.name == *name || long_name(workload) == *name) found.push_back(&workload);
  }
  return found;
}

std::string_view kind_words(tier::TierKind kind) {
  return kind == tier::TierKind::kJobs ? "rows without a latency (the target is samples_per_second)"
                                       : "rows with a latency (the target is requests_per_second and latency_ms)";
}

Result<std::vector<profile_book::ModelInForce>> profiled_models(const std::string& db) {
  const auto store = edges::open_profile_store(db, edges::ProfileFileMode::kRead);
  if (!store) return pass_on(store.error());
  const auto runs = (*store)->runs();
  if (!runs) return pass_on(runs.error());
  const auto observed = (*store)->observed();
  if (!observed) return pass_on(observed.error());
  return profile_book::points_in_force(*runs, *observed);
}

/// A job has one row per tier: the fastest size, without a latency.
void keep_fastest(TierWorkload& workload) {
  for (std::vector<tier::TierPoint>& points : workload.points) {
    if (points.empty()) continue;
    tier::TierPoint fastest = *std::ranges::max_element(points, {}, &tier::TierPoint::samples_per_second);
    fastest.latency_ms = Decimal();
    points = {std::move(fastest)};
  }
}

}  // namespace

Result<TierWorkload> read_profiled_workload(const std::string& db, const std::string& name,
                                            const std::vector<tier::Tier>& tiers, tier::TierKind kind) {
  const auto models = profiled_models(db);
  if (!models) return pass_on(models.error());
  const auto model = std::ranges::find(*models, name, &profile_book::ModelInForce::name);
  if (model == models->end())
    return invalid(fmt::format("--name: wanted a model of {}, found {}", db, in_quotes(name)));
  auto workload = tier::workload_of(*model, tiers);
  if (!workload) return invalid(fmt::format("{}: {}", db, workload.error().message));
  if (std::ranges::all_of(workload->points, [](const auto& points) { return points.empty(); })) {
    return invalid(
        fmt::format("{}: wanted a run of {} on one of the tiers (by GPU and profile, or by name), found none", db,
                    in_quotes(name)));
  }
  if (kind == tier::TierKind::kJobs) keep_fastest(*workload);
  return workload;
}

Result<TierWorkload> read_known_workload(const std::string& path, const std::optional<std::string>& name,
                                         const std::vector<tier::Tier>& tiers, tier::TierKind kind,
                                         const Files& files) {
  const auto text = files.read(path);
  if (!text) return pass_on(text.error());
  const auto table = tier::read_csv(*text, path, tiers, tier::OtherTiers::kRefuse);
  if (!table) return pass_on(table.error());
  if (table->workloads.empty()) return invalid(fmt::format("{}: wanted rows of a workload, found none", path));
  if (table->kind != kind) {
    return invalid(fmt::format("{}: wanted {}, found rows {} one", path, kind_words(kind),
                               table->kind == tier::TierKind::kJobs ? "without" : "with"));
  }
  const auto found = workloads_named(*table, name);
  if (found.size() == 1) return *found.front();
  if (found.empty()) {
    return invalid(fmt::format("--name: wanted a workload of {}, found {}", path, in_quotes(name.value_or(""))));
  }
  return invalid(fmt::format("{}: wanted the rows of one workload{}, found {}: {}", path,
                             name ? "" : ", or its name (--name)", found.size(), names_listed(found)));
}

}  // namespace berth::cli
