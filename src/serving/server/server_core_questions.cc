// What clients ask about models and the server.
#include "serving/server/server_core.h"

namespace berth::serving {

IndexEntry ServerCore::entry_of(const NamedModel& named, ModelIndex index) const {
  const ServedVersion& version = at(index);
  IndexEntry entry{.name = version.model, .version = version.statistics.version};
  const Residency residency = dispatcher_.device().model(index).residency;
  if (!version.reason.empty()) {
    entry.state = ModelState::kUnavailable;
    entry.reason = version.reason;
  } else if (named.is_unloaded) {
    entry.state = residency == Residency::kCold ? ModelState::kUnavailable : ModelState::kUnloading;
    entry.reason = "unloaded";
  } else if (residency == Residency::kLoading) {
    entry.state = ModelState::kLoading;
  } else if (residency == Residency::kCold) {
    entry.reason = "loads on request";
  }
  return entry;
}

std::vector<IndexEntry> ServerCore::index() const {
  std::vector<IndexEntry> entries;
  for (const auto& [name, named] : models_) {
    for (const ModelIndex index : named.versions) entries.push_back(entry_of(named, index));
    for (const ModelIndex index : named.arriving) entries.push_back(entry_of(named, index));
    if (named.versions.empty() && named.arriving.empty()) {
      entries.push_back({.name = name, .version = "", .state = ModelState::kUnavailable, .reason = named.reason});
    }
  }
  return entries;
}

DeviceActivity ServerCore::activity() const {
  DeviceActivity activity{.loads = loads_, .evictions = evictions_};
  for (const ServedModel& model : dispatcher_.device().models()) activity.models.push_back(model.terms);
  return activity;
}

ServeResult<bool> ServerCore::is_model_ready(std::string_view model, std::string_view version) const {
  const auto index = find_version(model, version);
  if (!index) {
    if (index.error().fault == ServeFault::kUnavailable) return false;
    return tl::unexpected<ServeError>(index.error());
  }
  return entry_of(**find_named(model), *index).state != ModelState::kUnavailable;
}

std::vector<ModelIndex> ServerCore::serving_versions() const {
  std::vector<ModelIndex> serving;
  for (const auto& [name, named] : models_) serving.insert(serving.end(), named.versions.begin(), named.versions.end());
  return serving;
}

ServeResult<ModelMetadata> ServerCore::model_metadata(std::string_view model, std::string_view version) const {
  const auto index = find_version(model, version);
  if (!index) return tl::unexpected<ServeError>(index.error());
  const ServedVersion& served = at(*index);
  if (!served.source.terms) return refuse(ServeFault::kUnavailable, served.reason);
  ModelMetadata metadata{.name = served.model,
                         .versions = {},
                         .inputs = served.terms.inputs,
                         .outputs = served.terms.outputs,
                         .rows_max = served.is_batched ? served.terms.rows_max : 0};
  for (const ModelIndex each : (*find_named(model))->versions) {
    metadata.versions.push_back(at(each).statistics.version);
  }
  return metadata;
}

ServeResult<std::vector<ModelStatistics>> ServerCore::statistics(std::string_view model,
                                                                 std::string_view version) const {
  std::vector<ModelStatistics> all;
  if (!model.empty() && !version.empty()) {
    const auto index = find_version(model, version);
    if (!index) return tl::unexpected<ServeError>(index.error());
    all.push_back(at(*index).statistics);
    return all;
  }
  if (!model.empty()) {
    const auto named = find_named(model);
    if (!named) return tl::unexpected<ServeError>(named.error());
    for (const ModelIndex index : (*named)->versions) all.push_back(at(index).statistics);
    return all;
  }
  for (const auto& [name, named] : models_) {
    for (const ModelIndex index : named.versions) all.push_back(at(index).statistics);
  }
  return all;
}

}  // namespace berth::serving
