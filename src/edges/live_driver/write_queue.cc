#include "edges/live_driver/write_queue.h"

#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "edges/live_driver/quiesce.h"

namespace berth::edges {
namespace {

constexpr const char* kFullOfOutcomes =
    "too many outcomes of keys wait to be recorded: send it without a key, or later";

}  // namespace

bool is_kept(int status) { return (status >= 200 && status < 300) || status == 404 || status == 409 || status == 422; }

WriteQueue::WriteQueue(live::Session& session, FairMutex& turn, FairMutex& lock, Recorder& recorder,
                       std::function<std::int64_t()> wall_us, std::function<void()> has_events, WriteTracing tracing)
    : session_(session),
      turn_(turn),
      lock_(lock),
      recorder_(recorder),
      wall_us_(std::move(wall_us)),
      has_events_(std::move(has_events)),
      tracing_(std::move(tracing)) {}

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
    auto writes = take();
    if (!writes) return flush();
    if (writes->empty()) {
      flush();
    } else {
      carry_out(std::move(*writes));
    }
  }
}

std::optional<std::deque<live::Write>> WriteQueue::take() {
  std::unique_lock hold(own_lock_);
  const bool may_wait = unsent_.empty();
  changed_.wait(hold, [&] { return !may_wait || is_stopping_ || !waiting_.empty(); });
  if (is_stopping_ && waiting_.empty()) return std::nullopt;
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
    failure_ = quiesce(session_, lock_, recorder_);
    std::deque<live::Write> fresh = answer_repeats(std::move(writes), done, later);
    if (!fresh.empty() && std::holds_alternative<live::LoneWrite>(fresh.front().what)) {
      run_alone(std::move(fresh.front()), done);
      fresh.pop_front();
    } else {
      fresh = run_together(std::move(fresh), done);
    }
    later.insert(later.begin(), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
  }
  if (!has_outcomes()) send_unsent();
  answer(std::move(done));
  if (!later.empty()) put_back(std::move(later));
  if (has_events_) has_events_();
}

bool WriteQueue::has_outcomes() {
  const std::scoped_lock hold(lock_);
  return recorder_.has_outcomes();
}

bool WriteQueue::is_full_of_outcomes() {
  const std::scoped_lock hold(lock_);
  return recorder_.is_full_of_outcomes();
}

std::deque<live::Write> WriteQueue::answer_repeats(std::deque<live::Write> writes, std::vector<Member>& done,
                                                   std::deque<live::Write>& later) {
  std::vector<Sha256> keys;
  for (const live::Write& write : writes) {
    if (write.key) keys.push_back(write.key->key);
  }
  const StoreResult<std::map<Sha256, KeyedOutcome>> used = find_outcomes(keys);
  const bool takes_keys = keys.empty() || !is_full_of_outcomes();
  std::deque<live::Write> fresh;
  std::set<Sha256> seen;
  for (live::Write& write : writes) {
    if (write.key && !seen.insert(write.key->key).second) {
      later.push_back(std::move(write));  // the same key twice at once: the second gets the outcome of the first
    } else if (write.key && !takes_keys && used && !used->contains(write.key->key)) {
      answer_repeat(std::move(write), tl::unexpected(StoreError{StoreFault::kFull, kFullOfOutcomes}), done);
    } else if (!write.key || (used && !used->contains(write.key->key))) {
      fresh.push_back(std::move(write));
    } else if (used) {
      const KeyedOutcome& before = used->find(write.key->key)->second;
      answer_repeat(std::move(write), before, done);
    } else {
      answer_repeat(std::move(write), tl::unexpected(used.error()), done);
    }
  }
  return fresh;
}

StoreResult<std::map<Sha256, KeyedOutcome>> WriteQueue::find_outcomes(const std::vector<Sha256>& keys) {
  if (keys.empty()) return std::map<Sha256, KeyedOutcome>();
  std::unique_lock hold(lock_, std::defer_lock);
  if (failure_) hold.lock();  // readers of usage try to record it, and with it outcomes that wait
  return recorder_.find_outcomes(keys);
}

void WriteQueue::answer_repeat(live::Write write, const StoreResult<KeyedOutcome>& before, std::vector<Member>& done) {
  // An earlier process ended before it could answer: this one does.
  const bool is_begun =
      before && !before->is_finished() && !before->is_expired() && before->request == write.key->request;
  write.key->repeat(before);
  done.push_back({.write = std::move(write), .has_orders = is_begun, .keeps_nothing = !is_begun});
}

void WriteQueue::run_alone(live::Write write, std::vector<Member>& done) {
  const auto& lone = std::get<live::LoneWrite>(write.what);
  if (write.key) {
    begin(
        outcome_of(*write.key, lone.foretell ? lone.foretell() : live::WriteAnswer{.status = lone.status, .body = ""}));
  }
  if (write.trace) tracing_.lone(write.trace);
  lone.run();
  if (write.trace) tracing_.lone(nullptr);
  const bool has_orders = end();
  const bool is_finished = has_orders && lone.foretell;
  done.push_back({.write = std::move(write), .has_orders = has_orders, .keeps_nothing = is_finished});
}

void WriteQueue::begin(std::optional<KeyedOutcome> outcome) {
  const std::scoped_lock hold(lock_);
  recorder_.begin(std::move(outcome));
}

bool WriteQueue::end() {
  const std::scoped_lock hold(lock_);
  const bool has_orders = !recorder_.has_begun();
  recorder_.begin(std::nullopt);
  return has_orders;
}

std::deque<live::Write> WriteQueue::run_together(std::deque<live::Write> writes, std::vector<Member>& done) {
  const std::size_t first = done.size();
  live::OrderBatch batch;
  std::deque<live::Write> later = join(std::move(writes), batch, done);
  const std::span members = std::span(done).subspan(first);
  foretell(members);
  std::optional<std::string> why_removals_not;
  live::CommitTimes commit{.begin_us = tracing_.now_us ? tracing_.now_us() : 0};
  const std::optional<std::string> failure = record(batch, members, why_removals_not);
  commit.end_us = tracing_.now_us ? tracing_.now_us() : 0;
  const std::scoped_lock hold(lock_);
  if (!failure) trace(members, commit);
  if (!batch.empty()) session_.carry_out(batch);
  for (const Member& member : members) {
    const std::optional<std::string>& why_not = member.is_removal ? why_removals_not : failure;
    std::get<live::ServiceWrite>(member.write.what).settle(session_, member.has_orders ? why_not : std::nullopt);
  }
  return later;
}

std::optional<std::string> WriteQueue::record(live::OrderBatch& batch, std::span<const Member> members,
                                              std::optional<std::string>& why_removals_not) {
  std::unique_lock hold(lock_, std::defer_lock);
  if (failure_) hold.lock();  // readers of usage try to record it
  std::optional<std::string> failure = failure_;
  if (!batch.empty() && !failure) failure = recorder_.record(batch.entries(), begun_of(members, false));
  if (!failure) return failure;
  batch = batch.removals();
  why_removals_not = batch.empty() ? failure : recorder_.record(batch.entries(), begun_of(members, true));
  if (why_removals_not) batch = {};
  return failure;
}

void WriteQueue::trace(std::span<const Member> members, const live::CommitTimes& times) const {
  for (const Member& member : members) {
    if (!member.write.trace || !member.has_orders) continue;
    member.write.trace->commit = times;
    tracing_.recorded(*member.write.trace);
  }
}

void WriteQueue::foretell(std::span<Member> members) {
  for (Member& member : members) {
    const auto& service = std::get<live::ServiceWrite>(member.write.what);
    auto body = member.begun && service.foretell ? service.foretell() : std::nullopt;
    if (!body) continue;
    member.begun->body = std::move(*body);
    member.keeps_nothing = true;
  }
}

std::vector<KeyedOutcome> WriteQueue::begun_of(std::span<const Member> members, bool with_removals_alone) {
  std::vector<KeyedOutcome> outcomes;
  for (const Member& member : members) {
    if (member.begun && (member.is_removal || !with_removals_alone)) outcomes.push_back(*member.begun);
  }
  return outcomes;
}

std::deque<live::Write> WriteQueue::join(std::deque<live::Write> writes, live::OrderBatch& batch,
                                         std::vector<Member>& done) {
  std::deque<live::Write> later;
  bool is_open = true;  // until a write that needs its own turn
  const std::scoped_lock hold(lock_);
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
    const bool is_removal = has_orders && std::holds_alternative<live::ServiceDropped>(batch.entries().back().what);
    auto outcome =
        has_orders && write.key ? std::optional(outcome_of(*write.key, {.status = *status, .body = ""})) : std::nullopt;
    done.push_back(
        {.write = std::move(write), .has_orders = has_orders, .is_removal = is_removal, .begun = std::move(outcome)});
  }
  if (!batch.empty()) session_.announce(batch);
  return later;
}

KeyedOutcome WriteQueue::outcome_of(const live::WriteKey& key, live::WriteAnswer answer) const {
  return {.key = key.key,
          .request = key.request,
          .wall_us = wall_us_(),
          .status = answer.status,
          .body = std::move(answer.body)};
}

void WriteQueue::answer(std::vector<Member> done) {
  if (has_outcomes()) flush();  // the group had nothing to record, or recording failed
  std::vector<KeyedOutcome> outcomes;
  for (Member& member : done) {
    const live::WriteAnswer& answer = member.write.render();
    if (!member.write.key || member.keeps_nothing || !is_kept(answer.status)) {
      member.write.send();
      continue;
    }
    outcomes.push_back(outcome_of(*member.write.key, answer));
    unsent_.push_back(std::move(member));
  }
  const std::scoped_lock hold(lock_);
  recorder_.keep(std::move(outcomes));
}

void WriteQueue::send_unsent() {
  for (const Member& member : unsent_) member.write.send();
  unsent_.clear();
}

void WriteQueue::flush() {
  if (has_outcomes()) {
    const std::scoped_lock turn(turn_);
    const std::scoped_lock hold(lock_);
    if (const auto failure = recorder_.flush()) {
      refuse_unsent(*failure);
    } else {
      session_.set_recorded();
    }
  }
  send_unsent();
}

void WriteQueue::refuse_unsent(const std::string& failure) {
  for (const Member& member : unsent_) {
    if (member.has_orders) continue;  // it is carried out, and its answer is kept with the next rows
    recorder_.forget(member.write.key->key);
    member.write.refuse(failure);
  }
}

}  // namespace berth::edges
