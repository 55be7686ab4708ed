/// The operator at work: followers bring changes, one thread decides and writes.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/ports/files.h"
#include "edges/kube/follower.h"
#include "kube/placing/placing.h"

namespace berth::apps {

class SharedCluster;
class SpecFollower;

struct OperatorLoopOptions {
  kube::PlacingOptions placing;
  bool is_dry_run = false;
  kube::ReflectorOptions reflector = {};
  std::int64_t requests_per_second = 200;
  std::chrono::milliseconds moment{200};                  ///< for which a step waits for changes
  std::function<void(const std::string& line)> log = {};  ///< called by one thread; may be empty
};

/// Works until it is stopped. All of it runs on the calling thread but the followers.
class OperatorLoop {
 public:
  OperatorLoop(std::shared_ptr<edges::KubeIdentity> identity, OperatorLoopOptions options);
  OperatorLoop(const OperatorLoop&) = delete;
  OperatorLoop& operator=(const OperatorLoop&) = delete;
  ~OperatorLoop();

  /// From now on these hear of changes, too, and what `cluster` wants is written. Borrowed; `specs` may be null.
  void join(SharedCluster& cluster, SpecFollower* specs);
  [[nodiscard]] const std::shared_ptr<edges::SharedPace>& pace() const { return pace_; }
  /// Waits a moment for changes, and carries out what follows from them.
  void step();
  [[nodiscard]] bool is_synced() const { return placing_.is_synced(); }
  [[nodiscard]] const kube::Placing& placing() const { return placing_; }

 private:
  void take_news();
  void pass_on(std::string_view plural, const kube::Change& change);
  void note_trouble(std::string_view plural, const std::optional<Error>& trouble);
  void note_specs_listed(std::string_view plural);
  [[nodiscard]] bool carry_out(const kube::Action& action);
  void say(const std::string& line) const;

  OperatorLoopOptions options_;
  std::shared_ptr<edges::SharedPace> pace_;
  edges::KubeClient client_;
  kube::Placing placing_;
  SharedCluster* cluster_ = nullptr;
  SpecFollower* specs_ = nullptr;
  /// Of services and their slices, until somebody joins who has to hear it.
  std::vector<std::pair<std::string, kube::Change>> unheard_;
  std::set<std::string> listed_specs_;  ///< kinds of custom resources that were listed
  bool has_no_specs_ = false;           ///< the cluster does not have these kinds
  edges::ChangeQueue queue_;
  std::set<std::string> printed_;   ///< writes of a dry run
  std::set<std::string> troubled_;  ///< resources whose trouble was reported
  std::vector<std::unique_ptr<edges::KubeFollower>> followers_;
};

/// The wall clock in RFC 3339 with microseconds: "2026-01-01T00:00:00.000000Z".
[[nodiscard]] std::string wall_text();

}  // namespace berth::apps
