/// What clients ordered and how they were answered, kept outside the installation and compared with it.
///
/// Each order has a key that is recorded with it, so after a kill it is known for each order whether it was recorded:
/// then it must have been carried out, once. An order that was answered must have been recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/swarm/testing/process.h"
#include "domain/ports/journal_store.h"
#include "domain/values/no_changes.h"
#include "domain/values/service.h"
#include "live/session/catalog.h"
#include "live/session/session.h"

namespace berth::swarm::testing {

/// The state that follows from orders alone.
struct Ordered {
  struct Service {
    ServiceSpec spec;
    std::optional<std::uint64_t> version;  ///< absent: no client knows it
  };
  std::map<live::ServiceName, Service> services;
  std::set<std::string> tenants;
  std::set<std::uint32_t> closed_gpus;  ///< cordoned, draining or drained
  std::optional<std::string> pause;
  NoChanges windows;
  std::set<std::uint64_t> approved_plans;
};

struct ClientOrder {
  /// Sends it to the session. Returns whether it was accepted.
  std::function<bool(live::Session&)> send;
  /// Its effect if it was accepted.
  std::function<void(Ordered&)> apply;
};

class Ledger {
 public:
  explicit Ledger(const live::Session& session);

  /// Sends it under a new key. Returns whether it was recorded, as far as the client knows: false after a kill.
  bool send(Process& process, const ClientOrder& order);
  /// Something was recorded since: orders refused before are not in the journal and never will be.
  void forget_refused() { unanswered_.clear(); }
  /// To be called after a restart: checks that answered orders are there, and unanswered ones once or not at all.
  /// Returns what is wrong.
  [[nodiscard]] std::vector<std::string> settle(Process& process);
  /// What is wrong with a running session.
  [[nodiscard]] std::vector<std::string> compare(const live::Session& session);

  struct Counts {
    std::int64_t acknowledged = 0;  ///< orders
    std::int64_t refused = 0;
    std::int64_t unanswered = 0;       ///< the process was killed first
    std::int64_t unanswered_done = 0;  ///< of these, carried out
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Unanswered {
    Sha256 key{};
    ClientOrder order;
  };

  Ordered ordered_;
  std::uint64_t key_count_ = 0;
  std::map<Sha256, std::string> answers_;  ///< answers that clients got, by key
  /// The process was killed first, or a failing disk refused them, which may still have kept them. In order.
  std::vector<Unanswered> unanswered_;
  Counts counts_;
};

}  // namespace berth::swarm::testing
