/// Custom resources of the cluster, as writes of tenants and services to the session's API, and their status.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "apps/operator/pause_keeper.h"
#include "domain/ports/http_client.h"
#include "edges/kube/kube_client.h"
#include "kube/services/service_objects.h"

namespace berth::apps {

class SharedCluster;

struct SpecFollowerOptions {
  bool is_dry_run = false;
  std::optional<kube::ObjectName> lease = std::nullopt;   ///< next to which a pause is kept; absent: nowhere
  std::function<bool()> may_write = {};                   ///< asked before each write of a status; empty: always
  std::function<void(const std::string& line)> log = {};  ///< called by this object's thread; may be empty
};

class SpecFollower {
 public:
  /// `cluster` is borrowed.
  SpecFollower(SharedCluster& cluster, std::shared_ptr<edges::KubeIdentity> identity,
               std::shared_ptr<edges::SharedPace> pace, SpecFollowerOptions options);
  ~SpecFollower();
  SpecFollower(const SpecFollower&) = delete;
  SpecFollower& operator=(const SpecFollower&) = delete;

  // Any thread may call these.
  void take(std::string_view plural, const kube::Change& change);
  void note_listed(std::string_view plural);
  /// The cluster does not have these kinds: there are no services in it.
  void note_absent();
  /// Where the session's API answers, and the key with which its tenants and services may be written. It may be called
  /// again after `stop`.
  void meet_api(const std::string& url, const std::string& key);
  void stop();

 private:
  void run();
  /// Writes what the objects state; returns whether there was something to write.
  bool write_specs();
  void write_statuses();
  void pass_on_pods();
  void keep_pause();
  [[nodiscard]] kube::SpecAnswer ask(const kube::SpecWrite& write);
  [[nodiscard]] std::optional<kube::ServiceView> view_of(const kube::ObjectName& service);
  [[nodiscard]] HttpCall call_of(std::string_view method, const std::string& path, std::string body) const;
  void say(const std::string& line) const {
    if (options_.log) options_.log(line);
  }

  SharedCluster& cluster_;
  SpecFollowerOptions options_;
  edges::KubeClient kube_;
  std::unique_ptr<HttpClient> http_;
  std::optional<PauseKeeper> pause_;  ///< of the thread
  std::mutex mutex_;                  ///< of all that follows
  std::condition_variable changed_;
  kube::ServiceObjects objects_;
  std::set<kube::ObjectName> names_;  ///< of services that have objects
  bool is_absent_ = false;
  bool is_stopping_ = false;
  std::string url_;
  std::string key_;
  std::thread thread_;
};

}  // namespace berth::apps
