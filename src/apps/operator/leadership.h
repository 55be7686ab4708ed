/// Takes an operator from standby to leading and back, as its Lease is acquired and lost.
///
///   standby --Lease held--> preparing (rules, then a grace if one is new) --> leading
///   any of them --Lease lost--> standby
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "edges/kube/lease_keeper.h"

namespace berth::apps {

class OperatorLoop;

struct LeadershipOptions {
  /// Writes the rules of owned pools; whether one is new.
  std::function<Result<bool>()> write_rules;
  /// Other allocators may not have seen a new rule for so long.
  Micros rule_grace = Micros::seconds(10);
  std::function<void(const std::string& line)> log = {};  ///< may be empty
};

class Leadership {
 public:
  /// The keeper is borrowed.
  Leadership(const edges::LeaseKeeper& keeper, LeadershipOptions options);

  /// To be called before each step of the loop. Errors: rules, or a Lease, that the server refuses for good at the
  /// first attempt; later refusals are reported and retried.
  [[nodiscard]] Result<void> step(OperatorLoop& loop);
  /// Other rules are wanted now: nothing is decided until they are written, and a new one has had its grace.
  void renew(OperatorLoop& loop);
  /// Whether it is known who leads, and this operator leads if it is the one.
  [[nodiscard]] bool is_settled() const { return is_settled_; }

 private:
  [[nodiscard]] Result<void> prepare(OperatorLoop& loop, const edges::LeaseStanding& standing);
  [[nodiscard]] Result<void> wait(const edges::LeaseStanding& standing, OperatorLoop& loop);
  void say(const std::string& line);

  const edges::LeaseKeeper& keeper_;
  LeadershipOptions options_;
  std::optional<std::int64_t> prepared_epoch_;  ///< whose rules are written
  Instant lead_at_;
  Instant retry_at_ = Instant(INT64_MIN);
  bool is_settled_ = false;
  bool has_led_ = false;
  std::string said_;  ///< last, of waiting
};

}  // namespace berth::apps
