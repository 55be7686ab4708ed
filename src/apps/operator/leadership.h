/// Takes an operator from standby to leading and back, as its Lease is acquired and lost.
///
///   standby --Lease held--> preparing (rules, then a grace if one is new) --> leading
///   leading --other rules are wanted--> leading, and preparing beside it --> leading, from new lists
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
  /// Called each time that the rules stand and have had their grace, before the loop leads. May be empty.
  std::function<void()> on_prepared = {};
  std::function<void(const std::string& line)> log = {};  ///< may be empty
};

class Leadership {
 public:
  /// The keeper is borrowed.
  Leadership(const edges::LeaseKeeper& keeper, LeadershipOptions options);

  /// To be called before each step of the loop. Errors: rules, or a Lease, that the server refuses for good at the
  /// first attempt; later refusals are reported and retried.
  [[nodiscard]] Result<void> step(OperatorLoop& loop);
  /// Other rules are wanted now. Whether the loop leads meanwhile: then what it owns must be owned by both; else all
  /// rules are written when it is to lead.
  [[nodiscard]] bool renew(const OperatorLoop& loop);
  /// Whether it is known who leads, and this operator leads if it is the one.
  [[nodiscard]] bool is_settled() const { return is_settled_; }

 private:
  [[nodiscard]] Result<void> prepare(OperatorLoop& loop, const edges::LeaseStanding& standing);
  [[nodiscard]] Result<void> wait(const edges::LeaseStanding& standing, OperatorLoop& loop);
  void say(const std::string& line);

  const edges::LeaseKeeper& keeper_;
  LeadershipOptions options_;
  std::optional<std::int64_t> prepared_epoch_;  ///< whose rules are written
  std::optional<std::int64_t> led_epoch_;       ///< in which the loop was last made to lead
  bool is_renewing_ = false;                    ///< leads, with rules that are not all in effect
  Instant lead_at_;
  Instant retry_at_ = Instant(INT64_MIN);
  bool is_settled_ = false;
  bool has_led_ = false;
  std::string said_;  ///< last, of waiting
};

}  // namespace berth::apps
