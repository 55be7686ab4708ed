#include "apps/swarm/testing/process.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"
#include "live/rows/entry_rows.h"
#include "live/rows/usage_rows.h"
#include "live/session/session_options.h"
#include "live/session/testing/random_orders.h"

namespace berth::swarm::testing {
namespace {

constexpr int kSnapshotFormat = 1;
constexpr int kPlanningSeconds = 60;

}  // namespace

/// A writer whose process may be dead, and whose disk may be full.
class Process::MortalWriter : public JournalWriter {
 public:
  MortalWriter(Process& process, std::unique_ptr<JournalWriter> writer)
      : process_(process), writer_(std::move(writer)) {}

  [[nodiscard]] StoreResult<std::uint64_t> append(const JournalBatch& batch) override {
    if (auto refused = refusal()) return tl::unexpected(*refused);
    return writer_->append(batch);
  }
  [[nodiscard]] StoreResult<std::map<Sha256, KeyedOutcome>> find_outcomes(const std::vector<Sha256>& keys) override {
    return writer_->find_outcomes(keys);
  }
  [[nodiscard]] StoreResult<bool> prune(const PruneLimits& limits) override {
    if (auto refused = refusal()) return tl::unexpected(*refused);
    return writer_->prune(limits);
  }
  [[nodiscard]] StoreResult<bool> prune_usage(std::int64_t before_us) override {
    if (auto refused = refusal()) return tl::unexpected(*refused);
    return writer_->prune_usage(before_us);
  }
  [[nodiscard]] StoreResult<bool> prune_blobs(const BlobUse& use) override {
    if (auto refused = refusal()) return tl::unexpected(*refused);
    return writer_->prune_blobs(use);
  }

 private:
  [[nodiscard]] std::optional<StoreError> refusal() {
    if (!process_.may_write()) return StoreError{StoreFault::kFailed, "killed"};
    if (process_.around_.machine.is_full()) return StoreError{StoreFault::kFull, "the disk is full"};
    return std::nullopt;
  }

  Process& process_;
  std::unique_ptr<JournalWriter> writer_;
};

bool Process::may_write() {
  if (writes_left_ && !is_dead() && --*writes_left_ == 0) is_dead_ = true;
  return !is_dead();
}

std::optional<std::string> Process::start() {
  if (auto failure = open()) return failure;
  make_session();
  if (saved_ || !entries_.empty()) {
    if (auto failure = go_on()) return failure;
  } else {
    session_->begin();
  }
  if (auto failure = wait_for_first_layout()) return failure;
  record();
  if (is_dead()) return "killed";
  return recorder_->failure();
}

std::optional<std::string> Process::open() {
  constexpr std::size_t kRows = 1000;
  auto opened = around_.machine.open();
  if (!opened) return opened.error().message;
  auto snapshot = opened->reader->latest_snapshot();
  if (!snapshot) return snapshot.error().message;
  edges::Recorder::Head head;
  if (*snapshot) {
    saved_ = std::move((*snapshot)->body);
    head = {.last_sequence = 0, .snapshot_sequence = (*snapshot)->sequence, .snapshot_bytes = saved_->size()};
  }
  head.last_sequence = head.snapshot_sequence;
  while (true) {
    const auto rows = opened->reader->read(head.last_sequence + 1, kRows);
    if (!rows) return rows.error().message;
    if (rows->empty()) break;
    for (const JournalRow& row : *rows) {
      auto entry = journal::entry_of(row, around_.scenario);
      if (!entry) return entry.error().message;
      entries_.push_back(*std::move(entry));
    }
    head.last_sequence = rows->back().sequence;
  }
  const auto encode = [this](const live::Entry& entry) {
    return journal::row_of(entry, around_.scenario, around_.wall_us);
  };
  const auto sync = [this]() -> StoreResult<void> {
    if (!is_dead()) around_.machine.sync_devices();
    return {};
  };
  recorder_ = std::make_unique<edges::Recorder>(std::make_unique<MortalWriter>(*this, std::move(opened->writer)), head,
                                                encode, sync);
  return std::nullopt;
}

void Process::make_session() {
  live::SessionOptions options;
  options.seed = around_.seed;
  options.policy = around_.policy;
  options.approval = around_.approval;
  options.planning_seconds = kPlanningSeconds;
  options.proposals_expire = true;
  options.listener.wall_clock = [this] { return wall_us_without_jumps(); };
  options.listener.journal = [this](const sim::JournalRecord& record) {
    if (is_dead()) return;
    read_events();  // the events before the record
    around_.story.read(record);
  };
  options.listener.entry = [this](const live::Entry& entry) { recorder_->note(entry); };
  options.records_first = true;
  options.listener.record = [this](const std::vector<live::Entry>& entries) { return recorder_->record(entries); };
  options.listener.usage = [this](const live::UsageInterval& interval) {
    recorder_->note_usage(journal::row_of(interval, session_->scenario()));
    if (!is_dead()) around_.usage.read(interval, recorder_->last_sequence() + recorder_->pending_count());
  };
  options.listener.world_changed = [this](const live::WorldChanges& changes) {
    if (may_write()) around_.machine.write_devices(changes, around_.story.record_count());
  };
  options.solving = sim::Solving::kElsewhere;
  options.listener.question = [this](SolveRequest request) {
    ENSURE(!around_.solver.is_open());
    asked_at_ = session_->now();
    around_.solver.ask(std::move(request));
  };
  session_ = live::Session::make(around_.scenario, std::move(options)).value();
}

std::optional<std::string> Process::go_on() {
  if (saved_) {
    const auto begun_anew = session_->restore(*saved_);
    if (!begun_anew) return begun_anew.error().message;
    if (!begun_anew->empty()) return "a stage begins anew: " + begun_anew->front();
  }
  sim::WorldLeft left = around_.machine.devices(around_.scenario);
  session_->repeat(entries_, left.world.orders);
  around_.usage.lose(recorder_->last_sequence(), session_->now());
  if (repeated_) repeated_(*session_);
  session_->resume(std::move(left));
  return std::nullopt;
}

/// As in `berth up`: the first layout is in place at second 0.
std::optional<std::string> Process::wait_for_first_layout() {
  if (!session_->is_solving() || !session_->snapshot().is_before_first_layout()) return std::nullopt;
  around_.solver.hurry();
  auto first = around_.solver.take(session_->now());
  if (!first || !session_->answer(*std::move(first))) return session_->why_not_recorded();
  static_cast<void>(session_->advance(Instant()));
  return std::nullopt;
}

void Process::read_events() {
  if (!session_ || is_dead()) return;
  const live::EventLog& log = session_->events();
  for (const live::LoggedEvent& event : log.after(around_.story.last_event(), live::EventLog::kCapacity)) {
    if (event.kind == live::EventKind::kNoChangesSet) around_.story.obey(session_->scenario().no_changes);
    around_.story.read(event);
  }
}

void Process::run_to(Instant until, Rng& rng) {
  if (!is_dead()) around_.usage.look(*session_);  // after the orders of this instant
  while (!is_dead() && session_->now() < until) {
    if (auto finished = around_.solver.take(session_->now())) {
      if (!session_->answer(*finished)) around_.solver.put_back(*std::move(finished));
    }
    const Micros piece(1 + live::testing::drawn(rng, 1'500'000));
    static_cast<void>(session_->advance(std::min(until, session_->now() + piece)));
    read_events();
    if (!is_dead()) around_.usage.look(*session_);
  }
}

void Process::record() {
  session_->report_clock();
  if (!recorder_->flush()) session_->set_recorded();
}

bool Process::save() {
  if (!session_->is_at_rest() || recorder_->failure()) return false;
  if (recorder_->record_snapshot(kSnapshotFormat, session_->save())) return false;
  session_->set_recorded();
  return true;
}

}  // namespace berth::swarm::testing
