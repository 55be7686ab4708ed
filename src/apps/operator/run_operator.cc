#include "apps/operator/run_operator.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/operator/cluster_checks.h"
#include "apps/operator/cluster_session.h"
#include "apps/operator/leadership.h"
#include "apps/operator/operator_loop.h"
#include "apps/operator/owned_rules.h"
#include "apps/operator/pause_reader.h"
#include "apps/operator/standby_server.h"
#include "apps/up/build_parts.h"
#include "apps/up/held_signals.h"
#include "edges/kube/lease_keeper.h"
#include "kube/placing/owned_by_both.h"
#include "kube/standby/standby_book.h"

namespace berth::apps {
namespace {

constexpr std::chrono::seconds kFirstAnswer(5);
constexpr int kStatusInterrupted = 130;

OperatorRequest with_identity(OperatorRequest request) {
  if (request.lease.identity.empty()) request.lease.identity = edges::lease_identity();
  return request;
}

bool is_of_connection(ErrorCode code) {
  return code == ErrorCode::kNoServer || code == ErrorCode::kTimedOut || code == ErrorCode::kUnavailable;
}

class OperatorRun {
 public:
  OperatorRun(const OperatorRequest& request, const OperatorOutside& outside)
      : request_(with_identity(request)),
        outside_(outside),
        identity_(std::make_shared<edges::KubeIdentity>(request.access, *outside.files)),
        client_(identity_, std::make_shared<edges::SharedPace>(),
                {.patience = Micros::seconds(10),
                 .user_agent = "berth-operator",
                 .is_stopped = [this] { return is_stopped(); },
                 .may_write = [this] { return !keeper_ || keeper_->may_write(); }}) {}

  Result<int> run() {
    if (const auto checked = check(); !checked) return pass_on(checked.error());
    if (request_.is_dry_run) {
      if (const auto rules = write_rules(); !rules) return pass_on(rules.error());
    } else {
      keeper_ = std::make_unique<edges::LeaseKeeper>(identity_, request_.lease);
      keeper_->await_leader(kFirstAnswer);
    }
    const auto worked = is_stopped() ? Result<int>(end_status()) : work();
    if (keeper_) keeper_->release();
    return worked;
  }

 private:
  /// Any thread.
  bool is_stopped() {
    if (is_in_session_) return is_session_over_;
    if (signal_ != 0) return true;
    const std::lock_guard held(signal_lock_);
    if (signal_ == 0) signal_ = signals_.taken().value_or(0);
    return signal_ != 0;
  }
  void say(const std::string& line) const {
    std::fputs(fmt::format("berth operator: {}\n", line).c_str(), outside_.err);
    std::fflush(outside_.err);
  }

  /// Whether other pools are owned now.
  bool read_again(OperatorLoop& loop, std::optional<Leadership>& leadership) {
    auto own = outside_.read_own_again ? outside_.read_own_again() : Result<std::vector<kube::OwnedPools>>(own_);
    if (!own) say("the configuration is kept: " + own.error().message);
    if (!own) return false;
    if (*own == own_) say("the configuration was read again: the same pools");
    if (*own == own_) return false;
    const std::vector<kube::OwnedPools> before = std::exchange(own_, *std::move(own));
    if (!leadership) {
      if (const auto rules = write_rules(); !rules) say("rules: " + rules.error().message);
    }
    // Pools that are new take part once their rules have had their grace.
    const bool leads = leadership && leadership->renew(loop);
    loop.own(leads ? kube::owned_by_both(before, own_) : own_);
    say("the configuration was read again");
    return true;
  }
  /// Why the API server does not answer; nothing: it does.
  std::optional<Error> trouble() {
    if (!keeper_) return std::nullopt;
    auto trouble = keeper_->standing().trouble;
    return trouble && is_of_connection(trouble->code) ? trouble : std::nullopt;
  }

  Result<bool> write_rules() {
    return write_owned_rules(
        client_,
        {.own = own_, .is_dry_run = request_.is_dry_run, .log = [this](const std::string& line) { say(line); }});
  }

  /// Before anything is written: what the cluster has, and whether the folder, the options and the fleet go with it.
  Result<void> check() {
    const std::string& server = request_.access.server;
    if (const auto served = check_cluster_api(client_, server); !served) return served;
    auto uid = find_cluster_uid(client_, server);
    if (!uid) return pass_on(uid.error());
    cluster_uid_ = *std::move(uid);
    auto fleet = published_fleet(client_, own_);
    if (!fleet) return pass_on(fleet.error());
    return up::check_cluster_folder(
        request_.up, *outside_.files,
        {.uid = cluster_uid_, .fleet = *std::move(fleet), .make_world = {}, .gpus_max = request_.gpus_max});
  }

  [[nodiscard]] int end_status() const { return signal_ == SIGINT ? kStatusInterrupted : 0; }

  Result<int> work() {
    const auto log = [this](const std::string& line) { say(line); };
    OperatorLoop loop(identity_, {.placing = {.own = own_, .instance = request_.lease.identity},
                                  .is_dry_run = request_.is_dry_run,
                                  .requests_per_second = request_.requests_per_second,
                                  .is_standby = keeper_ != nullptr,
                                  .is_stopped = [this] { return is_stopped(); },
                                  .may_write = [this] { return !keeper_ || keeper_->may_write(); },
                                  .log = log});
    std::optional<Leadership> leadership;
    if (keeper_)
      leadership.emplace(*keeper_, LeadershipOptions{.write_rules = [this] { return write_rules(); },
                                                     .on_prepared = [this, &loop] { loop.own(own_); },
                                                     .log = log});
    if (const auto stood_by = stand_by(loop, leadership); !stood_by) return pass_on(stood_by.error());
    if (is_stopped()) return end_status();
    return lead(loop, leadership);
  }

  /// Follows the cluster until this operator leads and has listed everything, or is stopped.
  Result<void> stand_by(OperatorLoop& loop, std::optional<Leadership>& leadership) {
    kube::StandbyBook book(own_);
    loop.show_to(&book);
    const auto followed = stand_by(loop, leadership, book);
    loop.show_to(nullptr);
    return followed;
  }
  Result<void> stand_by(OperatorLoop& loop, std::optional<Leadership>& leadership, kube::StandbyBook& book) {
    std::unique_ptr<StandbyServer> standby;
    while (!is_stopped()) {
      if (leadership) {
        if (const auto followed = leadership->step(loop); !followed) return followed;
      }
      if (signals_.is_reload_asked() && read_again(loop, leadership)) book.own(own_);
      loop.step();
      if (loop.is_leading() && loop.is_synced()) return {};
      if (standby) {
        standby->note_trouble(trouble());
        standby->show(book, loop);
      }
      if (standby || !leadership || !leadership->is_settled() || loop.is_leading()) continue;
      const auto reader = std::make_shared<PauseReader>(identity_, loop.pace(), request_.lease.name);
      auto opened = StandbyServer::open(
          request_.up, outside_.start_server, [this] { return keeper_->standing().leader; },
          [reader] { return reader->read(); });
      if (!opened) return pass_on(opened.error());
      standby = *std::move(opened);
    }
    return {};
  }

  Result<int> lead(OperatorLoop& loop, std::optional<Leadership>& leadership) {
    const auto step = [&]() -> Result<void> {
      if (is_reload_asked_.exchange(false)) read_again(loop, leadership);
      if (!leadership) return {};
      if (auto followed = leadership->step(loop); !followed) return followed;
      const edges::LeaseStanding standing = keeper_->standing();
      // While the API server is away the session goes on, and nothing is written.
      const bool is_anothers =
          !standing.is_leader && !standing.leader.empty() && standing.leader != request_.lease.identity;
      if (!is_anothers) return {};
      return fail(ErrorCode::kUnavailable, fmt::format("the Lease is lost: {} leads now", standing.leader));
    };
    OperatorOutside outside = outside_;
    outside.read_config_again = [this] {
      is_reload_asked_ = true;
      return outside_.read_config_again();
    };
    if (!outside_.read_config_again) outside.read_config_again = {};
    // From here on the session takes the signals.
    is_in_session_ = true;
    ClusterSession session(loop, identity_, request_, outside,
                           {.cluster_uid = cluster_uid_,
                            .own = own_,
                            .step = step,
                            .trouble = [this] { return trouble(); },
                            .on_stop = [this] { is_session_over_ = true; },
                            .on_end =
                                [this] {
                                  if (keeper_) keeper_->release();
                                },
                            .log = [this](const std::string& line) { say(line); }});
    return session.run();
  }

  const OperatorRequest request_;
  std::vector<kube::OwnedPools> own_ = request_.own;
  const OperatorOutside& outside_;
  std::string cluster_uid_;
  up::HeldSignals signals_;  // before any thread
  std::mutex signal_lock_;
  std::atomic<int> signal_ = 0;
  std::atomic<bool> is_in_session_ = false;  ///< which takes the signals
  std::atomic<bool> is_session_over_ = false;
  std::atomic<bool> is_reload_asked_ = false;  ///< in a session
  std::shared_ptr<edges::KubeIdentity> identity_;
  edges::KubeClient client_;
  std::unique_ptr<edges::LeaseKeeper> keeper_;  ///< none in a dry run
};

}  // namespace

int run_operator(const OperatorRequest& request, const OperatorOutside& outside) {
  const auto status = OperatorRun(request, outside).run();
  return status ? *status : outside.report_failure(status.error());
}

}  // namespace berth::apps
