/// Lists and watches of one resource, as a state machine: it says what to ask, and turns answers into changes.
///
///   listing --last page--> watching --410, broken frame--> listing
///   After a failure a wait comes first; a watch that ended after it had brought something goes on at once.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "base/core/rng.h"
#include "base/yaml/document.h"
#include "domain/ports/kube_api.h"
#include "kube/client/back_off.h"
#include "kube/client/frame.h"
#include "kube/client/page.h"
#include "kube/client/resource.h"

namespace berth::kube {

/// An object came, changed or went.
struct Change {
  ChangeKind kind = ChangeKind::kAdded;
  Identity identity;
  yaml::Node object;  ///< of a removal that was missed: null
};

struct ReflectorOptions {
  int page_size = 500;
  std::int64_t watch_seconds = 240;  ///< after which the server ends a watch
  Micros silence_max = Micros::seconds(90);
  BackOff back_off = BackOff();
};

class Reflector {
 public:
  explicit Reflector(const Resource& resource, const ReflectorOptions& options = {});

  struct ListStep {
    std::string target;
  };
  struct WatchStep {
    std::string target;
    Micros silence_max;
  };
  struct WaitStep {
    Instant until;
  };
  using Step = std::variant<ListStep, WatchStep, WaitStep>;

  /// What to do now.
  [[nodiscard]] Step next(Instant now) const;

  /// The outcome of a ListStep.
  [[nodiscard]] std::vector<Change> take_page(const Result<KubeAnswer>& outcome, Instant now, Rng& rng);
  /// A line of a WatchStep; false if the watch is of no more use. Adds to `changes`.
  [[nodiscard]] bool take_line(std::string_view line, Instant now, Rng& rng, std::vector<Change>& changes);
  /// The end of a WatchStep.
  void take_end(const Result<KubeAnswer>& outcome, Instant now, Rng& rng);

  /// The next step is a list, at once: what the cache holds is compared with it as always.
  void restart();

  /// Whether a list has been read to its end.
  [[nodiscard]] bool is_synced() const { return list_count_ > 0; }
  /// Complete lists so far.
  [[nodiscard]] std::int64_t list_count() const { return list_count_; }
  /// What failed last, until something succeeds.
  [[nodiscard]] const std::optional<Error>& trouble() const { return trouble_; }
  [[nodiscard]] std::size_t object_count() const { return known_.size(); }

 private:
  struct Known {
    std::string uid;
    std::string version;
  };

  void take_object(Identity identity, yaml::Node object, std::vector<Change>& changes);
  void remove_missed(std::vector<Change>& changes);
  void list_anew();
  void note_success();
  void wait(Error error, Instant now, Rng& rng);
  [[nodiscard]] bool take_refusal(const Refusal& refusal, Instant now, Rng& rng);

  Resource resource_;
  ReflectorOptions options_;
  BackOff back_off_;
  BackOff expiry_back_off_;  ///< of versions that are too old although a list has just given them
  std::map<ObjectName, Known> known_;
  std::set<ObjectName> listed_;  ///< by the list under way
  std::string continuation_;
  std::string version_;  ///< where a watch goes on; empty: a list is needed
  std::optional<Instant> wait_until_;
  std::optional<Error> trouble_;
  std::int64_t list_count_ = 0;
  std::int64_t line_count_ = 0;  ///< of the watch under way
};

}  // namespace berth::kube
