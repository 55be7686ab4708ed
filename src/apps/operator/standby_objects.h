/// The objects of the API as a standby can show them: made of a picture of the cluster, without a session.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "base/core/clock_text.h"
#include "domain/ports/http_server.h"
#include "kube/standby/standby_picture.h"
#include "live/local/device_source.h"
#include "surface/api/api_error.h"
#include "surface/api/objects.h"

namespace berth::apps {

/// Whether planning is paused, as the cluster keeps it.
struct StandbyPause {
  std::optional<std::string> reason;  ///< nothing: it is not paused
};

/// What the status has beside the picture.
struct StandbyFacts {
  std::string leader;                                    ///< empty: nobody is known to lead
  std::optional<live::ClusterAway> away = std::nullopt;  ///< why the picture may be old
  /// Asked where an answer has it; nothing: it is not known. May be empty.
  std::function<std::optional<StandbyPause>()> pause = {};
};

/// Immutable, so that any thread may ask it.
class StandbyObjects {
 public:
  /// `epoch`: of the times in the picture.
  StandbyObjects(kube::StandbyPicture picture, WorldEpoch epoch);
  StandbyObjects(const StandbyObjects&) = delete;
  StandbyObjects& operator=(const StandbyObjects&) = delete;
  ~StandbyObjects() = default;

  /// The answer to a GET of nodes, GPUs, slices, tenants, services, the status or a pause. Nothing: only the leader
  /// knows.
  [[nodiscard]] std::optional<api::ApiResult<HttpAnswer>> answer(const HttpRequest& request,
                                                                 const StandbyFacts& facts) const;

 private:
  using Found = std::optional<api::ApiResult<HttpAnswer>>;

  [[nodiscard]] Found answer_list(const HttpRequest& request) const;
  [[nodiscard]] Found answer_one(const HttpRequest& request) const;
  [[nodiscard]] Found answer_tenant(const HttpRequest& request) const;
  [[nodiscard]] api::ApiResult<HttpAnswer> services_of(const HttpRequest& request,
                                                       const std::optional<std::string>& tenant) const;
  [[nodiscard]] std::string gpu(std::size_t index) const;
  [[nodiscard]] std::string node(std::size_t index) const;
  [[nodiscard]] std::string slice(std::size_t index) const;
  [[nodiscard]] std::string tenant(const std::string& name, const yaml::Node* object) const;
  [[nodiscard]] std::string service(const kube::ObjectName& name, const yaml::Node& object) const;
  [[nodiscard]] std::string status(const StandbyFacts& facts) const;
  [[nodiscard]] api::GpuView view(std::size_t index) const;

  kube::StandbyPicture picture_;
  std::set<std::string> profiled_;  ///< models for which some service has rows
  api::ObjectFormat format_;
};

}  // namespace berth::apps
