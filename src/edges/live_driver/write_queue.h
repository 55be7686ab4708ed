/// Carries out the writes of clients in groups: many share one commit of the journal. While a group is committed the
/// world pauses, but readers are not blocked.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
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

/// What follows the traces of writes. All functions are set, or none.
struct WriteTracing {
  std::function<std::int64_t()> now_us = {};  ///< SpanRecorder::now_us
  /// A traced write is recorded, and is carried out next. Called with the turn and the lock.
  std::function<void(const live::WriteTrace&)> recorded = {};
  /// The write that is carried out alone from now on; null: none. Called with the turn.
  std::function<void(std::shared_ptr<live::WriteTrace>)> lone = {};
};

/// Whether the answer is kept for repeats; otherwise the client may retry under the same key.
[[nodiscard]] bool is_kept(int status);

class WriteQueue {
 public:
  /// All arguments are borrowed. Threads that change the session hold `turn` and then `lock`; readers hold only `lock`,
  /// and refresh the session first. `wall_us`: the wall clock in microseconds since 1970. `has_events`: called after a
  /// group, without a lock.
  WriteQueue(live::Session& session, FairMutex& turn, FairMutex& lock, Recorder& recorder,
             std::function<std::int64_t()> wall_us, std::function<void()> has_events, WriteTracing tracing = {});
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;
  ~WriteQueue() { stop(); }

  void start();
  /// May be called by any thread. Ignored after `stop`.
  void submit(live::Write write);
  /// Carries out what was submitted before, and ends the thread. A second call does nothing.
  void stop();

 private:
  /// One of the writes of a group.
  struct Member {
    live::Write write;
    bool has_orders = false;                           ///< the use of its key is recorded with them
    bool is_removal = false;                           ///< its orders remove a service and may use the reserve
    bool keeps_nothing = false;                        ///< the answer is recorded already, or is a refusal of the key
    std::optional<KeyedOutcome> begun = std::nullopt;  ///< the outcome of its key, recorded with its orders
  };

  void run();
  /// Takes the waiting writes; empty: the queue has ended. Does not wait for writes while answers are unsent.
  [[nodiscard]] std::optional<std::deque<live::Write>> take();
  void put_back(std::deque<live::Write> later);
  void carry_out(std::deque<live::Write> writes);
  [[nodiscard]] bool has_outcomes();
  [[nodiscard]] bool is_full_of_outcomes();
  /// Answers the writes whose keys were used before. Returns the others; duplicates of a key within the group go to
  /// `later`.
  [[nodiscard]] std::deque<live::Write> answer_repeats(std::deque<live::Write> writes, std::vector<Member>& done,
                                                       std::deque<live::Write>& later);
  [[nodiscard]] StoreResult<std::map<Sha256, KeyedOutcome>> find_outcomes(const std::vector<Sha256>& keys);
  void answer_repeat(live::Write write, const StoreResult<KeyedOutcome>& before, std::vector<Member>& done);
  void run_alone(live::Write write, std::vector<Member>& done);
  void begin(std::optional<KeyedOutcome> outcome);
  /// Ends the write begun with `begin`. Returns whether it had orders; its outcome is then recorded with them.
  bool end();
  /// Records the batch or, if that fails, only its removals, to which `batch` is then reduced. Returns why the whole
  /// batch is not recorded; `why_removals_not` likewise for the removals.
  [[nodiscard]] std::optional<std::string> record(live::OrderBatch& batch, std::span<const Member> members,
                                                  std::optional<std::string>& why_removals_not);
  /// Carries out the writes as one group. Returns those that must wait.
  [[nodiscard]] std::deque<live::Write> run_together(std::deque<live::Write> writes, std::vector<Member>& done);
  /// Notes when the members' orders were recorded. Requires: the lock is held.
  void trace(std::span<const Member> members, const live::CommitTimes& times) const;
  /// Checks the writes one after the other, and adds them to the batch. Returns those that must wait.
  [[nodiscard]] std::deque<live::Write> join(std::deque<live::Write> writes, live::OrderBatch& batch,
                                             std::vector<Member>& done);
  /// Adds the answers to the outcomes of the orders if they are known in advance, so that one commit is enough.
  static void foretell(std::span<Member> members);
  /// The begun outcomes of the members, or only of those that remove services.
  [[nodiscard]] static std::vector<KeyedOutcome> begun_of(std::span<const Member> members, bool with_removals_alone);
  /// Makes the answers. Those of keyed writes are recorded with the next group, to save a commit, and sent after that.
  void answer(std::vector<Member> done);
  void send_unsent();
  /// Records the unsent answers without waiting for another group, and sends them.
  void flush();
  /// Called when unsent answers cannot be recorded. Writes that changed nothing are refused instead, so that their keys
  /// stay unused.
  void refuse_unsent(const std::string& failure);
  [[nodiscard]] KeyedOutcome outcome_of(const live::WriteKey& key, live::WriteAnswer answer) const;

  live::Session& session_;
  FairMutex& turn_;
  FairMutex& lock_;
  Recorder& recorder_;
  std::function<std::int64_t()> wall_us_;
  std::function<void()> has_events_;
  WriteTracing tracing_;
  std::thread thread_;
  std::mutex own_lock_;
  std::condition_variable changed_;
  std::optional<std::string> failure_;  ///< why the current group cannot be recorded
  std::vector<Member> unsent_;          ///< rendered answers of keyed writes
  std::deque<live::Write> waiting_;     ///< under own_lock_, like `is_stopping_`
  bool is_stopping_ = false;
};

}  // namespace berth::edges
