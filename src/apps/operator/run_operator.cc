#include "apps/operator/run_operator.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/operator/operator_loop.h"
#include "apps/operator/shared_cluster.h"
#include "apps/operator/spec_follower.h"
#include "apps/up/held_signals.h"
#include "apps/up/run_up.h"
#include "base/json/document.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "kube/client/page.h"
#include "kube/fleet/planned_gpus.h"

namespace berth::apps {
namespace {

/// Allocators that have not seen a new rule yet may use what it taints for so long.
constexpr std::chrono::seconds kRuleGrace(10);
constexpr std::chrono::milliseconds kSignalTick(100);
constexpr int kNotServed = 404;
constexpr int kStatusInterrupted = 130;

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof(name) - 1) != 0) return "berth";
  return name;
}

/// What has to be written before anything is allocated.
struct RulesWritten {
  bool is_any_new = false;
};

class OperatorRun {
 public:
  OperatorRun(const OperatorRequest& request, const OperatorOutside& outside)
      : request_(request),
        outside_(outside),
        identity_(std::make_shared<edges::KubeIdentity>(request.access, *outside.files)),
        client_(identity_, std::make_shared<edges::SharedPace>(),
                {.patience = Micros::seconds(10), .user_agent = "berth-operator", .is_stopped = [this] {
                   return is_stopped();
                 }}) {}

  Result<int> run() {
    if (const auto served = check_api(); !served) return pass_on(served.error());
    const auto rules = write_rules();
    if (!rules) return pass_on(rules.error());
    if (rules->is_any_new && !request_.is_dry_run) {
      const auto end = std::chrono::steady_clock::now() + kRuleGrace;
      while (std::chrono::steady_clock::now() < end && !is_stopped()) std::this_thread::sleep_for(kSignalTick);
    }
    return is_stopped() ? Result<int>(end_status()) : work();
  }

 private:
  bool is_stopped() {
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

  Result<RulesWritten> write_rules() {
    const KubeCall call{.target =
                            kube::collection_path(kube::kDeviceTaintRules) + "?labelSelector=" +
                            kube::percent_encoded(fmt::format("{}={}", kube::kManagedByLabel, kube::kFieldManager))};
    const auto answer = client_.ask(call);
    if (!answer) return pass_on(answer.error());
    if (answer->status != 200) return pass_on(kube::error_of(call, *answer));
    const auto standing = kube::read_page(answer->body);
    if (!standing) return pass_on(standing.error());
    RulesWritten written;
    const auto wanted = kube::taint_rules(request_.own);
    for (const kube::Write& rule : wanted) {
      const bool stands = std::ranges::any_of(
          standing->items, [&](const kube::PageItem& item) { return item.identity.name == rule.name; });
      written.is_any_new = written.is_any_new || !stands;
      if (const auto done = carry_out(rule, "keeps other allocators away by rule " + rule.name.name); !done)
        return pass_on(done.error());
    }
    for (const kube::PageItem& item : standing->items) {
      const bool is_wanted =
          std::ranges::any_of(wanted, [&](const kube::Write& rule) { return rule.name == item.identity.name; });
      const std::string_view managed = json::text_at(item.object, {"metadata", "labels", kube::kManagedByLabel});
      if (is_wanted || managed != kube::kFieldManager) continue;
      const kube::Write removal{.kind = kube::WriteKind::kDelete,
                                .resource = kube::kDeviceTaintRules,
                                .name = item.identity.name,
                                .uid = item.identity.uid};
      if (const auto done = carry_out(removal, "removes rule " + removal.name.name); !done)
        return pass_on(done.error());
    }
    return written;
  }

  Result<void> carry_out(const kube::Write& write, const std::string& text) {
    if (request_.is_dry_run) {
      say("would: " + text);
      return {};
    }
    const auto outcome = kube::write_carefully(client_, write);
    if (!outcome) return pass_on(outcome.error());
    if (outcome->fate != kube::WriteFate::kDone && outcome->fate != kube::WriteFate::kUnknown)
      return invalid(outcome->message);
    say(text);
    return {};
  }

  /// The uid of the namespace kube-system, which names the cluster.
  Result<std::string> find_cluster() {
    const KubeCall call{.target = kube::object_path(kube::kNamespaces, {"", "kube-system"})};
    const auto answer = client_.ask(call);
    if (!answer) return pass_on(answer.error());
    if (answer->status != 200) return pass_on(kube::error_of(call, *answer));
    const auto object = json::parse_document(answer->body, request_.access.server);
    if (!object) return pass_on(object.error());
    return std::string(json::text_at(*object, {"metadata", "uid"}));
  }

  Result<int> work() {
    auto uid = find_cluster();
    if (!uid) return pass_on(uid.error());
    OperatorLoop loop(identity_, {.placing = {.own = request_.own, .instance = host_name()},
                                  .is_dry_run = request_.is_dry_run,
                                  .log = [this](const std::string& line) { say(line); }});
    while (!is_stopped() && !loop.is_synced()) loop.step();
    if (is_stopped()) return end_status();
    return run_session(loop, *std::move(uid));
  }

  [[nodiscard]] int end_status() const { return signal_ == SIGINT ? kStatusInterrupted : 0; }

  /// Runs `berth up` on what the loop knows; the loop goes on in a thread of its own.
  int run_session(OperatorLoop& loop, std::string uid) {
    std::unique_ptr<SharedCluster> cluster;
    std::unique_ptr<SpecFollower> specs;
    std::atomic<bool> is_over = false;
    std::thread follower;
    const auto make_world = [&](const std::vector<device::LocalGpu>& fleet, std::int64_t epoch_us) {
      cluster = std::make_unique<SharedCluster>(kube::ClusterWorldOptions{.own = request_.own,
                                                                          .fleet = fleet,
                                                                          .world = fmt::format("{:x}", epoch_us),
                                                                          .is_dry_run = request_.is_dry_run});
      specs =
          std::make_unique<SpecFollower>(*cluster, identity_, loop.pace(),
                                         SpecFollowerOptions{.is_dry_run = request_.is_dry_run,
                                                             .log = [this](const std::string& line) { say(line); }});
      cluster->on_api([&](const std::string& url, const std::string& key) { specs->meet_api(url, key); });
      loop.join(*cluster, specs.get());
      follower = std::thread([&] {
        while (!is_over) loop.step();
      });
      return cluster->as_world();
    };
    up::UpOutside outside{.version = outside_.version,
                          .out = outside_.out,
                          .err = outside_.err,
                          .files = outside_.files,
                          .start_server = outside_.start_server,
                          .report_failure = outside_.report_failure,
                          .cluster = up::ClusterOutside{.uid = std::move(uid),
                                                        .fleet = kube::fleet_of(owned_gpus(loop.placing())),
                                                        .make_world = make_world},
                          .read_config_again = outside_.read_config_again};
    const int status = up::run_up(request_.up, outside);
    is_over = true;
    if (specs) specs->stop();
    if (follower.joinable()) follower.join();
    return status;
  }

  [[nodiscard]] std::vector<kube::PlannedGpu> owned_gpus(const kube::Placing& placing) const {
    std::set<kube::PoolName> pools;
    for (const auto& [name, pool] : placing.inventory().pools()) {
      if (kube::is_owned(request_.own, name)) pools.insert(name);
    }
    return kube::planned_gpus(placing.inventory(), pools);
  }

  const OperatorRequest& request_;
  const OperatorOutside& outside_;
  up::HeldSignals signals_;  // before any thread
  int signal_ = 0;
  std::shared_ptr<edges::KubeIdentity> identity_;
  edges::KubeClient client_;
};

}  // namespace

int run_operator(const OperatorRequest& request, const OperatorOutside& outside) {
  const auto status = OperatorRun(request, outside).run();
  return status ? *status : outside.report_failure(status.error());
}

}  // namespace berth::apps
