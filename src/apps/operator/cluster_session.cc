#include "apps/operator/cluster_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <utility>

#include "apps/up/run_up.h"
#include "kube/fleet/planned_gpus.h"

namespace berth::apps {
namespace {

std::vector<kube::PlannedGpu> owned_gpus(const kube::Placing& placing, const std::vector<kube::OwnedPools>& own) {
  std::set<kube::PoolName> pools;
  for (const auto& [name, pool] : placing.inventory().pools()) {
    if (kube::is_owned(own, name)) pools.insert(name);
  }
  return kube::planned_gpus(placing.inventory(), pools);
}

}  // namespace

ClusterSession::ClusterSession(OperatorLoop& loop, std::shared_ptr<edges::KubeIdentity> identity,
                               const OperatorRequest& request, const OperatorOutside& outside,
                               ClusterSessionOptions options)
    : loop_(loop), identity_(std::move(identity)), request_(request), outside_(outside), options_(std::move(options)) {}

Result<int> ClusterSession::run() {
  std::vector<device::LocalGpu> fleet = kube::fleet_of(owned_gpus(loop_.placing(), options_.own));
  const up::UpOutside outside{
      .version = outside_.version,
      .out = outside_.out,
      .err = outside_.err,
      .files = outside_.files,
      .start_server = outside_.start_server,
      .report_failure = outside_.report_failure,
      .cluster = up::ClusterOutside{.uid = options_.cluster_uid,
                                    .fleet = std::move(fleet),
                                    .make_world = [this](const std::vector<device::LocalGpu>& known,
                                                         std::int64_t epoch_us) { return make_world(known, epoch_us); },
                                    .gpus_max = request_.gpus_max,
                                    .wanted_fleet = [this] { return cluster_->wanted_fleet(); },
                                    .on_next_fleet = [this] { specs_->stop(); },
                                    .on_end = [this] { end(); }},
      .read_config_again = outside_.read_config_again};
  const int status = up::run_up(request_.up, outside);
  end();
  if (!followed_) return pass_on(followed_.error());
  return status;
}

live::OutsideWorld ClusterSession::make_world(const std::vector<device::LocalGpu>& fleet, std::int64_t epoch_us) {
  if (cluster_) return make_next_world(fleet);
  cluster_ = std::make_unique<SharedCluster>(
      kube::ClusterWorldOptions{.own = options_.own,
                                .fleet = fleet,
                                .world = fmt::format("{:x}", epoch_us),
                                .is_dry_run = request_.is_dry_run,
                                .gpus_max = static_cast<std::size_t>(request_.gpus_max)});
  specs_ = std::make_unique<SpecFollower>(*cluster_, identity_, loop_.pace(),
                                          SpecFollowerOptions{.is_dry_run = request_.is_dry_run,
                                                              .lease = request_.lease.name,
                                                              .may_write = [this] { return loop_.may_write(); },
                                                              .log = options_.log});
  cluster_->on_api([this](const std::string& url, const std::string& key) { specs_->meet_api(url, key); });
  loop_.join(*cluster_, specs_.get());
  follower_ = std::thread([this] { follow(); });
  return cluster_->as_world();
}

live::OutsideWorld ClusterSession::make_next_world(const std::vector<device::LocalGpu>& fleet) {
  pause_following();
  loop_.begin_again(fleet);
  follower_ = std::thread([this] { follow(); });
  return cluster_->as_world();
}

void ClusterSession::pause_following() {
  is_pausing_ = true;
  if (follower_.joinable()) follower_.join();
  is_pausing_ = false;
}

void ClusterSession::note_away() {
  const std::optional<Error> trouble = options_.trouble ? options_.trouble() : std::nullopt;
  if (trouble && !away_) away_ = live::ClusterAway{.since_wall = edges::wall_text(), .message = trouble->message};
  if (!trouble) away_.reset();
  cluster_->note_away(away_);
}

void ClusterSession::follow() {
  while (!is_over_ && !is_pausing_) {
    followed_ = options_.step ? options_.step() : Result<void>();
    if (!followed_) break;
    note_away();
    loop_.step();
  }
  // The session ends as if it had been asked to: it must not decide what it may not write.
  if (!followed_ && !is_over_) ::kill(::getpid(), SIGTERM);
}

void ClusterSession::end() {
  is_over_ = true;
  if (options_.on_stop) options_.on_stop();
  if (specs_) specs_->stop();
  if (follower_.joinable()) follower_.join();
  if (options_.on_end) std::exchange(options_.on_end, nullptr)();
}

}  // namespace berth::apps
