#include "edges/live_driver/write_queue.h"

#include <iterator>
#include <set>
#include <utility>

namespace berth::edges {

bool is_kept(int status) { return (status >= 200 && status < 300) || status == 404 || status == 409 || status == 422; }

WriteQueue::WriteQueue(live::Session& session, FairMutex& turn, FairMutex& lock, Recorder& recorder,
                       std::function<std::int64_t()> wall_us, std::function<void()> has_events)
    : session_(session),
      turn_(turn),
      lock_(lock),
      recorder_(recorder),
      wall_us_(std::move(wall_us)),
      has_events_(std::move(has_events)) {}

void WriteQueue::start() {
  thread_ = std::thread([this] { run(); });
}

void WriteQueue::submit(live::Write write) {
  const std::scoped_lock hold(own_lock_);
  if (is_stopping_) return;
  waiting_.push_back(std::move(write));
  changed_.notify_one();
}

void WriteQueue::stop() {
  {
    const std::scoped_lock hold(own_lock_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void WriteQueue::run() {
  while (true) {
    std::deque<live::Write> writes = take();
    if (writes.empty()) return;
    carry_out(std::move(writes));
  }
}

std::deque<live::Write> WriteQueue::take() {
  std::unique_lock hold(own_lock_);
  changed_.wait(hold, [this] { return is_stopping_ || !waiting_.empty(); });
  return std::exchange(waiting_, {});
}

void WriteQueue::put_back(std::deque<live::Write> later) {
  const std::scoped_lock hold(own_lock_);
  waiting_.insert(waiting_.begin(), std::make_move_iterator(later.begin()), std::make_move_iterator(later.end()));
}

// ---- a group

void WriteQueue::carry_out(std::deque<live::Write> writes) {
  std::vector<Member> done;
  std::deque<live::Write> later;
  {
    const std::scoped_lock turn(turn_);
    std::deque<live::Write> fresh;
    std::set<Sha256> keys;
    for (live::Write& write : writes) {
      if (write.key && !keys.insert(write.key->key).second) {
        later.push_back(std::move(write));  // the same key twice at once: the second gets the outcome of the first
      } else if (!answer_repeat(write, done)) {
        fresh.push_back(std::move(write));
      }
    }
    if (!fresh.empty() && std::holds_alternative<live::LoneWrite>(fresh.front().what)) {
      run_alone(std::move(fresh.front()), done);
      fresh.pop_front();
    } else {
      fresh = run_together(std::move(fresh), done);
    }
    later.insert(later.begin(), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
  }
  if (!later.empty()) put_back(std::move(later));
  answer(done);
  if (has_events_) has_events_();
}

bool WriteQueue::answer_repeat(live::Write& write, std::vector<Member>& done) {
  if (!write.key) return false;
  const auto found = recorder_.find_outcome(write.key->key);
  if (found && !*found) return false;
  const StoreResult<KeyedOutcome> before = found ? StoreResult<KeyedOutcome>(**found) : tl::unexpected(found.error());
  // The process ended before it could answer: it does so now.
  const bool is_begun =
      before && !before->is_finished() && !before->is_expired() && before->request == write.key->request;
  write.key->repeat(before);
  done.push_back({.write = std::move(write), .is_repeat = !is_begun});
  return true;
}

void WriteQueue::run_alone(live::Write write, std::vector<Member>& done) {
  const auto& lone = std::get<live::LoneWrite>(write.what);
  if (write.key) recorder_.begin(begun(*write.key, lone.status));
  lone.run();
  recorder_.begin(std::nullopt);
  done.push_back({.write = std::move(write)});
}

std::deque<live::Write> WriteQueue::run_together(std::deque<live::Write> writes, std::vector<Member>& done) {
  const std::size_t first = done.size();
  live::OrderBatch batch;
  std::vector<KeyedOutcome> begun_outcomes;
  std::optional<std::string> failure;
  std::deque<live::Write> later = join(std::move(writes), batch, begun_outcomes, done, failure);
  if (!batch.empty() && !failure) failure = recorder_.record(batch.entries(), begun_outcomes);
  const std::scoped_lock hold(lock_);
  if (!batch.empty() && !failure) session_.carry_out(batch);
  for (std::size_t i = first; i < done.size(); ++i) {
    const auto& service = std::get<live::ServiceWrite>(done[i].write.what);
    service.settle(session_, done[i].has_orders ? failure : std::nullopt);
  }
  return later;
}

std::deque<live::Write> WriteQueue::join(std::deque<live::Write> writes, live::OrderBatch& batch,
                                         std::vector<KeyedOutcome>& begun_outcomes, std::vector<Member>& done,
                                         std::optional<std::string>& failure) {
  std::deque<live::Write> later;
  bool is_open = true;  // until a write that needs a turn of its own
  const std::scoped_lock hold(lock_);
  session_.refresh();
  // Readers show usage that waits to be recorded; the rest is recorded without the lock.
  if (!recorder_.pending_usage().empty()) failure = recorder_.flush();
  for (live::Write& write : writes) {
    const auto* service = std::get_if<live::ServiceWrite>(&write.what);
    is_open = is_open && service != nullptr;
    const std::size_t count = batch.entries().size();
    const auto status = is_open ? service->join(session_, batch) : std::nullopt;
    if (!status) {
      later.push_back(std::move(write));
      continue;
    }
    const bool has_orders = batch.entries().size() > count;
    if (has_orders && write.key) begun_outcomes.push_back(begun(*write.key, *status));
    done.push_back({.write = std::move(write), .has_orders = has_orders});
  }
  if (!batch.empty()) session_.announce(batch);
  return later;
}

KeyedOutcome WriteQueue::begun(const live::WriteKey& key, int status) const {
  return {.key = key.key, .request = key.request, .wall_us = wall_us_(), .status = status, .body = ""};
}

void WriteQueue::answer(std::vector<Member>& done) {
  std::vector<KeyedOutcome> outcomes;
  for (const Member& member : done) {
    const live::WriteAnswer& answer = member.write.render();
    if (!member.write.key || member.is_repeat || !is_kept(answer.status)) continue;
    outcomes.push_back(begun(*member.write.key, answer.status));
    outcomes.back().body = answer.body;
  }
  if (!outcomes.empty()) {
    const std::scoped_lock turn(turn_);
    std::optional<std::string> failure;
    {
      // After this readers have nothing to record, so that they leave the recorder alone.
      const std::scoped_lock hold(lock_);
      session_.refresh();
      if (!recorder_.pending_usage().empty()) failure = recorder_.flush();
      if (failure) recorder_.finish(std::move(outcomes));
    }
    if (!failure) recorder_.finish(std::move(outcomes));
  }
  for (const Member& member : done) member.write.send();
}

}  // namespace berth::edges
