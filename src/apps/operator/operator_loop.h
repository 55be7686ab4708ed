/// The operator at work: followers bring changes, one thread decides and writes.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/ports/files.h"
#include "edges/kube/follower.h"
#include "edges/kube/write_crew.h"
#include "gpu/device/local_gpu.h"
#include "kube/placing/placing.h"

namespace berth::kube {
class StandbyBook;
}

namespace berth::apps {

class SharedCluster;
class SpecFollower;

struct OperatorLoopOptions {
  kube::PlacingOptions placing;
  bool is_dry_run = false;
  kube::ReflectorOptions reflector = {};
  std::int64_t requests_per_second = 500;
  std::size_t writer_count = 8;                           ///< writes under way at a time
  std::chrono::milliseconds moment{200};                  ///< for which a step waits for changes
  bool is_standby = false;                                ///< at first: until `lead`
  std::function<bool()> is_stopped = {};                  ///< asked by any thread; ends requests under way
  std::function<bool()> may_write = {};                   ///< asked before each write; empty: always
  std::function<void(const std::string& line)> log = {};  ///< called by one thread; may be empty
};

/// Works for as long as it is stepped. All of it runs on the calling thread but the followers.
class OperatorLoop {
 public:
  OperatorLoop(const std::shared_ptr<edges::KubeIdentity>& identity, OperatorLoopOptions options);
  OperatorLoop(const OperatorLoop&) = delete;
  OperatorLoop& operator=(const OperatorLoop&) = delete;
  ~OperatorLoop();

  /// From now on these hear of changes, too, and what `cluster` wants is written. Borrowed; `specs` may be null.
  void join(SharedCluster& cluster, SpecFollower* specs);
  /// The same for a book of what stands; null: for none any more. Borrowed; to be called before the first step.
  void show_to(kube::StandbyBook* book) { book_ = book; }
  /// A session with this fleet follows the one that `join` began with. To be called between steps.
  void begin_again(const std::vector<device::LocalGpu>& fleet);
  [[nodiscard]] const std::shared_ptr<edges::SharedPace>& pace() const { return pace_; }
  /// Waits a moment for changes, and carries out what follows from them.
  void step();
  /// Decides and writes from now on, as the leader of this epoch, as soon as everything has been listed once more.
  void lead(std::int64_t epoch);
  /// Follows the cluster, and writes nothing.
  void stand_by();
  /// Owns these pools from now on. To be called between steps.
  void own(const std::vector<kube::OwnedPools>& own);
  /// Whether this operator may write now: also other writers of its process ask. Any thread.
  [[nodiscard]] bool may_write() const { return !options_.may_write || options_.may_write(); }
  [[nodiscard]] bool is_leading() const { return is_leading_; }
  [[nodiscard]] bool is_synced() const { return placing_.is_synced(); }
  [[nodiscard]] const kube::Placing& placing() const { return placing_; }
  /// Grows with each change in the cluster.
  [[nodiscard]] std::int64_t news_count() const { return news_count_; }
  /// Whether everything has been listed, also custom resources, where the cluster has them.
  [[nodiscard]] bool has_listed_all() const;

 private:
  void take_news();
  void pass_on(std::string_view plural, const kube::Change& change);
  void note_trouble(std::string_view plural, const std::optional<Error>& trouble);
  void note_specs_listed(std::string_view plural);
  void report_excess_gpus();
  /// Whether any of them but events was carried out.
  bool carry_out(const std::vector<kube::Action>& actions);
  void say(const std::string& line) const;

  OperatorLoopOptions options_;
  std::shared_ptr<edges::SharedPace> pace_;
  edges::WriteCrew crew_;
  kube::Placing placing_;
  SharedCluster* cluster_ = nullptr;
  SpecFollower* specs_ = nullptr;
  kube::StandbyBook* book_ = nullptr;
  std::int64_t news_count_ = 0;
  /// Of services and their slices, until somebody joins who has to hear it.
  std::vector<std::pair<std::string, kube::Change>> unheard_;
  std::set<std::string> listed_specs_;  ///< kinds of custom resources that were listed
  bool has_no_specs_ = false;           ///< the cluster does not have these kinds
  edges::ChangeQueue queue_;
  bool is_leading_;
  std::int64_t list_order_ = 0;     ///< lists that count are of this order
  std::set<std::string> printed_;   ///< writes of a dry run
  std::set<std::string> troubled_;  ///< resources that cannot be followed
  std::vector<std::unique_ptr<edges::KubeFollower>> followers_;
};

}  // namespace berth::apps
