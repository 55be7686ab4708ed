/// Which of several operators leads: it holds a Lease, and renews it.
///
///   standby --free, expired or released: written--> leader
///   leader --not renewed for `renew_deadline`, taken by another, released--> standby
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "base/yaml/document.h"
#include "domain/ports/kube_api.h"
#include "kube/client/resource.h"
#include "kube/client/write.h"

namespace berth::kube {

struct LeaseOptions {
  ObjectName name = {"berth-system", "berth"};
  std::string identity;                   ///< of this operator: unique, not empty
  Micros duration = Micros::seconds(15);  ///< others wait for so long before they take a Lease that is not renewed
  Micros renew_deadline = Micros::seconds(10);  ///< the leader stops if no renewal has succeeded for so long
  Micros retry = Micros::seconds(2);            ///< between renewals, and between two looks of a standby at most
};

/// Error: kInvalidInput unless retry < renew_deadline < duration, with whole seconds of `duration`.
[[nodiscard]] Result<void> check_lease_options(const LeaseOptions& options);

/// What a Lease says.
struct LeaseRecord {
  std::string version;
  std::string uid;
  std::string holder;  ///< empty: released
  Micros duration;
  std::int64_t transitions = 0;
};
[[nodiscard]] LeaseRecord read_lease(const yaml::Node& object);

class LeaseHolder {
 public:
  /// Requires: valid options.
  explicit LeaseHolder(LeaseOptions options);

  struct ReadStep {
    KubeCall call;
  };
  struct WriteStep {
    Write write;
  };
  struct WaitStep {
    Instant until;
  };
  using Step = std::variant<ReadStep, WriteStep, WaitStep>;

  /// What to do now. `wall` is the time in RFC 3339 with microseconds, for readers of the Lease only.
  [[nodiscard]] Step next(Instant now, const std::string& wall) const;
  /// The outcome of a ReadStep.
  void take_read(const Result<KubeAnswer>& answer, Instant now);
  /// The outcome of a WriteStep; `sent_at` is a time before it was sent.
  void take_write(const Result<WriteOutcome>& outcome, Instant sent_at, Instant now);

  /// The write that ends this leadership at once; nothing for a standby. It is not to be called while the operator may
  /// still write anything else.
  [[nodiscard]] std::optional<Write> release(Instant now, const std::string& wall);

  /// Whether this operator may write now.
  [[nodiscard]] bool may_write(Instant now) const { return now < may_write_until_; }
  /// Until when; in the past for a standby.
  [[nodiscard]] Instant may_write_until() const { return may_write_until_; }
  /// leaseTransitions of the Lease that this operator holds, or held last.
  [[nodiscard]] std::int64_t epoch() const { return epoch_; }
  /// Whether it is known who leads.
  [[nodiscard]] bool is_known() const { return is_known_; }
  /// Who holds the Lease, as far as is known; empty: nobody.
  [[nodiscard]] const std::string& leader() const { return leader_; }
  /// What failed last, until something succeeds.
  [[nodiscard]] const std::optional<Error>& trouble() const { return trouble_; }

 private:
  void observe(LeaseRecord record, Instant now);
  [[nodiscard]] bool is_free(Instant now) const;
  [[nodiscard]] Write write_of(std::string holder, std::int64_t transitions, const std::string& wall) const;
  void look_again(Instant at);
  void fail_with(Error error, Instant now);

  LeaseOptions options_;
  std::optional<LeaseRecord> record_;
  Instant observed_at_;    ///< when the record was first seen
  bool is_known_ = false;  ///< who leads
  bool must_read_ = true;  ///< before the next write
  bool is_released_ = false;
  Instant next_at_ = Instant(INT64_MIN);
  Instant may_write_until_ = Instant(INT64_MIN);
  std::int64_t epoch_ = 0;
  std::string leader_;
  std::optional<Error> trouble_;
};

}  // namespace berth::kube
