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

#include "apps/operator/leadership.h"
#include "apps/operator/operator_loop.h"
#include "apps/operator/owned_rules.h"
#include "apps/up/held_signals.h"
#include "edges/kube/lease_keeper.h"
#include "kube/client/status.h"

namespace berth::apps {
namespace {

constexpr std::chrono::seconds kFirstAnswer(5);
constexpr int kNotServed = 404;
constexpr int kStatusInterrupted = 130;

OperatorRequest with_identity(OperatorRequest request) {
  if (request.lease.identity.empty()) request.lease.identity = edges::lease_identity();
  return request;
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
    if (const auto served = check_api(); !served) return pass_on(served.error());
    if (request_.is_dry_run) {
      if (const auto rules = write_rules(); !rules) return pass_on(rules.error());
    } else {
      keeper_ = std::make_unique<edges::LeaseKeeper>(identity_, request_.lease);
      keeper_->await_leader(kFirstAnswer);
    }
    const auto worked = is_stopped() ? Result<void>() : work();
    if (keeper_) keeper_->release();
    if (!worked) return pass_on(worked.error());
    return signal_ == SIGINT ? kStatusInterrupted : 0;
  }

 private:
  /// Any thread.
  bool is_stopped() {
    if (signal_ != 0) return true;
    const std::lock_guard held(signal_lock_);
    if (signal_ == 0) signal_ = signals_.taken().value_or(0);
    return signal_ != 0;
  }
  void say(const std::string& line) const {
    std::fputs(fmt::format("berth operator: {}\n", line).c_str(), outside_.err);
    std::fflush(outside_.err);
  }

  Result<void> check_api() {
    const KubeCall call{.target = "/apis/resource.k8s.io/v1"};
    const auto answer = client_.ask(call);
    if (!answer) return pass_on(answer.error());
    if (answer->status == kNotServed) {
      return invalid(
          fmt::format("{}: wanted a cluster that serves resource.k8s.io/v1 (Kubernetes 1.34 or later), found none",
                      request_.access.server));
    }
    if (answer->status != 200) return pass_on(kube::error_of(call, *answer));
    return {};
  }

  void read_again(OperatorLoop& loop, std::optional<Leadership>& leadership) {
    auto own = outside_.read_own_again ? outside_.read_own_again() : Result<std::vector<kube::OwnedPools>>(own_);
    if (!own) return say("the configuration is kept: " + own.error().message);
    if (*own == own_) return say("the configuration was read again: the same pools");
    own_ = *std::move(own);
    if (leadership) leadership->renew(loop);
    loop.own(own_);
    say("the configuration was read again");
  }

  Result<bool> write_rules() {
    return write_owned_rules(
        client_,
        {.own = own_, .is_dry_run = request_.is_dry_run, .log = [this](const std::string& line) { say(line); }});
  }

  Result<void> work() {
    const auto log = [this](const std::string& line) { say(line); };
    const auto may_write = [this] { return !keeper_ || keeper_->may_write(); };
    OperatorLoop loop(identity_, {.placing = {.own = own_, .instance = request_.lease.identity},
                                  .is_dry_run = request_.is_dry_run,
                                  .requests_per_second = request_.requests_per_second,
                                  .is_standby = keeper_ != nullptr,
                                  .is_stopped = [this] { return is_stopped(); },
                                  .may_write = may_write,
                                  .log = log});
    std::optional<Leadership> leadership;
    if (keeper_)
      leadership.emplace(*keeper_, LeadershipOptions{.write_rules = [this] { return write_rules(); }, .log = log});
    bool is_ready = false;
    while (!is_stopped()) {
      if (leadership) {
        if (const auto followed = leadership->step(loop); !followed) return pass_on(followed.error());
      }
      if (signals_.is_reload_asked()) read_again(loop, leadership);
      loop.step();
      const bool is_settled = loop.is_synced() && (!leadership || leadership->is_settled());
      if (is_ready || !is_settled) continue;
      is_ready = true;
      std::fputs("ready\n", outside_.out);
      std::fflush(outside_.out);
    }
    // Nothing is written any more: others need not wait until all threads have ended.
    if (keeper_) keeper_->release();
    return {};
  }

  const OperatorRequest request_;
  std::vector<kube::OwnedPools> own_ = request_.own;
  const OperatorOutside& outside_;
  up::HeldSignals signals_;  // before any thread
  std::mutex signal_lock_;
  std::atomic<int> signal_ = 0;
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
