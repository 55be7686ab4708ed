#include "apps/operator/shared_cluster.h"

#include <utility>

#include "edges/kube/follower.h"

namespace berth::apps {

class SharedCluster::AsWorld : public live::OutsideWorld {
 public:
  explicit AsWorld(SharedCluster& shared) : shared_(shared) {}

  [[nodiscard]] std::map<GpuId, std::string> observed() const override {
    const std::scoped_lock hold(shared_.mutex_);
    return shared_.world_.observed();
  }
  [[nodiscard]] std::map<GpuId, world::ObservedLayout> sights() const override {
    const std::scoped_lock hold(shared_.mutex_);
    return shared_.world_.sights();
  }
  void adopt(sim::WorldLeft& left) override {
    const std::scoped_lock hold(shared_.mutex_);
    shared_.world_.adopt(left);
  }
  void tell(live::Session& session) override {
    const std::scoped_lock hold(shared_.mutex_);
    shared_.world_.tell(session);
  }
  void tell_notes(live::Session& /*session*/) override {}
  void meet_api(const std::string& url, const std::string& key) override {
    if (shared_.meet_) shared_.meet_(url, key);
  }
  [[nodiscard]] bool owns_specs() const override { return true; }
  void start(std::function<void()> on_report) override {
    const std::scoped_lock hold(shared_.mutex_);
    shared_.on_report_ = std::move(on_report);
  }
  void stop() override { start({}); }
  void serve(live::Session& session) override {
    const std::scoped_lock hold(shared_.mutex_);
    shared_.world_.serve(session, edges::steady_now());
  }
  [[nodiscard]] live::DeviceSource source(bool has_load) override {
    return {.library = [] { return live::DeviceLibraryView(); },
            .device = [this](GpuId gpu) { return view(gpu); },
            .slice = [this](const Slice& slice) { return view(slice); },
            .world = "kubernetes",
            .has_load = has_load};
  }

 private:
  [[nodiscard]] live::DeviceView view(GpuId gpu) const {
    const std::scoped_lock hold(shared_.mutex_);
    const kube::ClusterWorld::GpuView seen = shared_.world_.view(gpu);
    return {.uuid = seen.key,
            .node = seen.node.empty() ? std::nullopt : std::optional(seen.node),
            .why_observed = seen.closed};
  }
  [[nodiscard]] live::DeviceSliceView view(const Slice& slice) const {
    const std::scoped_lock hold(shared_.mutex_);
    return {.uuid = shared_.world_.device_name(slice)};
  }

  SharedCluster& shared_;
};

std::unique_ptr<live::OutsideWorld> SharedCluster::as_world() { return std::make_unique<AsWorld>(*this); }

void SharedCluster::take(std::string_view plural, const kube::Change& change) {
  const std::scoped_lock hold(mutex_);
  world_.take(plural, change);
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

std::vector<std::string> SharedCluster::take_unknown_gpus() {
  const std::scoped_lock hold(mutex_);
  std::vector<std::string> news;
  for (const std::string& key : world_.unknown_gpus()) {
    if (reported_unknown_.insert(key).second) news.push_back(key);
  }
  return news;
}

}  // namespace berth::apps
