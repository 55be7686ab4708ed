#include "apps/operator/shared_cluster.h"

#include <utility>

#include "edges/kube/follower.h"

namespace berth::apps {

live::OutsideWorld SharedCluster::as_world() {
  // Each function of the world under the lock.
  const auto locked = [this](auto function) {
    return [this, function](auto&... arguments) {
      const std::scoped_lock hold(mutex_);
      return function(arguments...);
    };
  };
  const auto set_report = [this](std::function<void()> on_report) {
    const std::scoped_lock hold(mutex_);
    on_report_ = std::move(on_report);
  };
  return {.observed = locked([this] { return world_.observed(); }),
          .sights = locked([this] { return world_.sights(); }),
          .adopt = locked([this](sim::WorldLeft& left) { world_.adopt(left); }),
          .tell = locked([this](live::Session& session) { world_.tell(session); }),
          .tell_notes = [](live::Session& /*session*/) {},
          .meet_api =
              [this](const std::string& url, const std::string& key) {
                if (meet_) meet_(url, key);
              },
          .start = set_report,
          .stop = [set_report] { set_report({}); },
          .serve = locked([this](live::Session& session) { world_.serve(session, edges::steady_now()); }),
          .source = [this](bool has_load) { return source(has_load); }};
}

live::DeviceSource SharedCluster::source(bool has_load) {
  return {.library = [] { return live::DeviceLibraryView(); },
          .device = [this](GpuId gpu) { return view(gpu); },
          .slice = [this](const Slice& slice) { return view(slice); },
          .cluster_away =
              [this] {
                const std::scoped_lock hold(mutex_);
                return away_;
              },
          .world = "kubernetes",
          .has_load = has_load};
}

live::DeviceView SharedCluster::view(GpuId gpu) const {
  const std::scoped_lock hold(mutex_);
  const kube::ClusterWorld::GpuView seen = world_.view(gpu);
  return {.uuid = seen.key,
          .node = seen.node.empty() ? std::nullopt : std::optional(seen.node),
          .why_observed = seen.closed};
}

live::DeviceSliceView SharedCluster::view(const Slice& slice) const {
  const std::scoped_lock hold(mutex_);
  return {.uuid = world_.device_name(slice)};
}

void SharedCluster::take(std::string_view plural, const kube::Change& change) {
  const std::scoped_lock hold(mutex_);
  world_.take(plural, change);
}

void SharedCluster::own(std::vector<kube::OwnedPools> own) {
  const std::scoped_lock hold(mutex_);
  world_.own(std::move(own));
}

void SharedCluster::meet(kube::Placing& placing) {
  const std::scoped_lock hold(mutex_);
  world_.see(placing, edges::steady_now());
  placing.reserve(world_.reserved());
  if (on_report_) on_report_();
}

void SharedCluster::set_pods(std::map<kube::ObjectName, std::string> pods) {
  const std::scoped_lock hold(mutex_);
  world_.set_pods(std::move(pods));
}

kube::ClusterWorld::Held SharedCluster::held() const {
  const std::scoped_lock hold(mutex_);
  return world_.held();
}

std::vector<kube::Action> SharedCluster::decide(Instant now) {
  const std::scoped_lock hold(mutex_);
  return world_.decide(now);
}

void SharedCluster::take_outcome(const kube::Action& action, const Result<kube::WriteOutcome>& outcome, Instant now) {
  const std::scoped_lock hold(mutex_);
  world_.take_outcome(action, outcome, now);
}

void SharedCluster::note_away(std::optional<live::ClusterAway> away) {
  const std::scoped_lock hold(mutex_);
  away_ = std::move(away);
}

std::vector<std::string> SharedCluster::take_excess_gpus() {
  const std::scoped_lock hold(mutex_);
  std::vector<std::string> news;
  for (const std::string& key : world_.excess_gpus()) {
    if (reported_excess_.insert(key).second) news.push_back(key);
  }
  return news;
}

void SharedCluster::begin_again(const std::vector<device::LocalGpu>& fleet, kube::Placing& placing) {
  {
    const std::scoped_lock hold(mutex_);
    world_.begin_again(fleet);
  }
  meet(placing);
}

std::optional<std::vector<device::LocalGpu>> SharedCluster::wanted_fleet() const {
  const std::scoped_lock hold(mutex_);
  return world_.wanted_fleet();
}

}  // namespace berth::apps
