/// The threads of a model server and the state that they share.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "edges/model_server/detail/alarm.h"
#include "edges/model_server/model_server.h"
#include "serving/server/server_core.h"

namespace berth::edges::detail {

class ServerThreads {
 public:
  ServerThreads(ModelEngine* engine, const ModelServerOptions& options);

  /// `self`: this object, which the threads share.
  void start(const std::shared_ptr<ServerThreads>& self);
  ServerEnd stop(Micros at_most);

  /// Since this object was made.
  [[nodiscard]] Instant now() const;

  /// Changes the state, and hands out the work that follows from it.
  template <class Change>
  void change(const Change& change) {
    std::unique_lock lock(lock_);
    change(core_, now());
    hand_out(lock);
  }
  template <class Look>
  [[nodiscard]] auto look(const Look& look) const {
    const std::scoped_lock hold(lock_);
    return look(core_);
  }
  template <class Look>
  [[nodiscard]] auto look_now(const Look& look) const {
    const std::scoped_lock hold(lock_);
    return look(core_, now());
  }

 private:
  using Clock = std::chrono::steady_clock;
  using LoaderWork = std::variant<serving::LoadWork, serving::FreeWork>;

  /// A batch that runs. Whoever takes its requests out under the lock tells their clients: the lane, or the watch if
  /// the lane does not come back.
  struct Run {
    serving::RunWork work;
    std::unique_ptr<ModelRun> run;
    Instant began;
    bool is_stopped = false;
    bool is_lost = false;
    std::atomic<bool> is_ended = false;  ///< it was stopped because the server ends
  };

  struct Lane {
    std::condition_variable has_work;
    bool is_waiting = false;
    std::optional<serving::RunWork> next;
    std::shared_ptr<Run> run;
    std::thread thread;
    bool is_lost = false;
  };

  /// What a run gave: an answer, or an error, for each request.
  struct RunOutcome {
    serving::RunReport report;
    std::vector<serving::ServeResult<serving::InferAnswer>> answers;
  };

  [[nodiscard]] Clock::time_point time_of(Instant at) const;
  /// Gives the lanes, the loader and the watch what there is to do, unlocks, and tells clients.
  void hand_out(std::unique_lock<std::mutex>& lock);

  void run_lane(std::size_t index);
  [[nodiscard]] RunOutcome run_batch(Run& run);
  /// The outputs of each request of the batch; also how long it took.
  [[nodiscard]] Result<std::vector<std::vector<Tensor>>> parts_or_error(Run& run, serving::RunReport& report);
  /// What clients are told when their run failed.
  [[nodiscard]] serving::ServeError error_of(const Run& run, const Error& error) const;
  void run_loader();
  [[nodiscard]] Result<serving::LoadedVersion> load(const serving::LoadWork& work);
  void run_scanner();
  void run_watch();
  /// Lets the watch look then, if it would look later. Under the lock.
  void watch_by(Instant at);
  /// Ends runs that take too long, and gives up lanes that do not come back. Returns when to look again.
  [[nodiscard]] Instant watch_runs(std::vector<serving::TellWork>& tells);
  void lose_lane(std::size_t index, std::vector<serving::TellWork>& tells);
  /// Sleeps until then, or until the server stops.
  void hold_until(Instant end);

  ModelEngine* engine_;  ///< null: there are no models
  const ModelServerOptions options_;
  const Clock::time_point began_ = Clock::now();

  mutable std::mutex lock_;  ///< of all that follows
  serving::ServerCore core_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::deque<LoaderWork> loader_work_;
  std::condition_variable loader_has_work_;
  std::condition_variable stopping_;
  std::condition_variable run_ended_;
  Alarm watch_alarm_;
  Instant watch_until_ = Instant::never();  ///< when the watch looks next
  bool is_stopping_ = false;
  bool is_started_ = false;
  bool is_stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace berth::edges::detail
