/// Carries out the writes of clients in groups: many share one commit of the journal. While a group is committed the
/// world stands still, but everybody may read.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/locks/fair_mutex.h"
#include "domain/ports/journal_store.h"
#include "edges/live_driver/recorder.h"
#include "live/session/write.h"

namespace berth::live {
class Session;
}

namespace berth::edges {

/// Whether the answer is kept for repeats: others may try again under the same key.
[[nodiscard]] bool is_kept(int status);

class WriteQueue {
 public:
  /// All are borrowed. Whoever changes the session holds `turn` and then `lock`; readers hold `lock` alone, and refresh
  /// the session first. `wall_us`: the wall clock in microseconds since 1970. `has_events`: called after a group,
  /// without a lock.
  WriteQueue(live::Session& session, FairMutex& turn, FairMutex& lock, Recorder& recorder,
             std::function<std::int64_t()> wall_us, std::function<void()> has_events);
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;
  ~WriteQueue() { stop(); }

  void start();
  /// Any thread. After `stop` nothing comes of it.
  void submit(live::Write write);
  /// Carries out what was submitted before, and ends the thread. A second call does nothing.
  void stop();

 private:
  /// One of the writes of a group.
  struct Member {
    live::Write write;
    bool has_orders = false;                           ///< recorded with them: that its key was used
    bool is_removal = false;                           ///< they remove a service: they have a reserve
    bool keeps_nothing = false;                        ///< the answer is recorded already, or is a refusal of the key
    std::optional<KeyedOutcome> begun = std::nullopt;  ///< of its key, recorded with its orders
  };

  void run();
  /// Those that wait; empty: there will be no more. While answers are unsent it does not wait for any.
  [[nodiscard]] std::optional<std::deque<live::Write>> take();
  void put_back(std::deque<live::Write> later);
  void carry_out(std::deque<live::Write> writes);
  [[nodiscard]] bool has_outcomes();
  [[nodiscard]] bool is_full_of_outcomes();
  /// Answers those whose keys were used before. Returns the others; those whose key is there twice go to `later`.
  [[nodiscard]] std::deque<live::Write> answer_repeats(std::deque<live::Write> writes, std::vector<Member>& done,
                                                       std::deque<live::Write>& later);
  [[nodiscard]] StoreResult<std::map<Sha256, KeyedOutcome>> find_outcomes(const std::vector<Sha256>& keys);
  void answer_repeat(live::Write write, const StoreResult<KeyedOutcome>& before, std::vector<Member>& done);
  void run_alone(live::Write write, std::vector<Member>& done);
  void begin(std::optional<KeyedOutcome> outcome);
  /// The orders since `begin` were all of its write. Returns whether there were some: then its outcome is with them.
  bool end();
  /// Records the batch, or, if that cannot be, the removals in it alone: then that is the batch. Returns why it is not
  /// recorded; `why_removals_not` likewise.
  [[nodiscard]] std::optional<std::string> record(live::OrderBatch& batch, std::span<const Member> members,
                                                  std::optional<std::string>& why_removals_not);
  /// Returns those that have to wait.
  [[nodiscard]] std::deque<live::Write> run_together(std::deque<live::Write> writes, std::vector<Member>& done);
  /// Checks them one after the other, and adds them to the batch. Returns those that have to wait.
  [[nodiscard]] std::deque<live::Write> join(std::deque<live::Write> writes, live::OrderBatch& batch,
                                             std::vector<Member>& done);
  /// Adds to the outcomes of the orders what will be answered, where that is known before: then one commit is enough.
  static void foretell(std::span<Member> members);
  /// Of the orders of these, or of those that remove services.
  [[nodiscard]] static std::vector<KeyedOutcome> begun_of(std::span<const Member> members, bool with_removals_alone);
  /// Makes the answers. Those under keys are sent when the next group is recorded, with which they are kept: one commit
  /// for both.
  void answer(std::vector<Member> done);
  void send_unsent();
  /// Keeps the answers that are unsent without waiting for another group, and sends them.
  void flush();
  /// The answers that are unsent cannot be kept now. Those of writes that changed nothing are not given, so that their
  /// keys stay unused.
  void refuse_unsent(const std::string& failure);
  [[nodiscard]] KeyedOutcome outcome_of(const live::WriteKey& key, live::WriteAnswer answer) const;

  live::Session& session_;
  FairMutex& turn_;
  FairMutex& lock_;
  Recorder& recorder_;
  std::function<std::int64_t()> wall_us_;
  std::function<void()> has_events_;
  std::thread thread_;
  std::mutex own_lock_;
  std::condition_variable changed_;
  std::optional<std::string> failure_;  ///< why the present group cannot be recorded
  std::vector<Member> unsent_;          ///< rendered, under keys
  std::deque<live::Write> waiting_;     ///< under own_lock_, like `is_stopping_`
  bool is_stopping_ = false;
};

}  // namespace berth::edges
