#include "surface/cli/up/up_run.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/locks/fair_mutex.h"
#include "edges/live_driver/blob_queue.h"
#include "edges/live_driver/live_driver.h"
#include "edges/live_driver/recorder.h"
#include "edges/live_driver/series_queue.h"
#include "edges/live_driver/solver_thread.h"
#include "edges/live_driver/write_queue.h"
#include "edges/run_journal/run_journal_file.h"
#include "edges/sqlite_store/sqlite_store.h"
#include "edges/state_folder/boot_id.h"
#include "edges/state_folder/state_folder.h"
#include "gpu/hands/reach_hands.h"
#include "gpu/watch/machine_search.h"
#include "live/chain/field_hash.h"
#include "live/folder/devices_left.h"
#include "live/folder/folder_world.h"
#include "live/folder/up_request.h"
#include "live/local/local_world.h"
#include "live/rows/usage_rows.h"
#include "live/session/session.h"
#include "surface/api/api.h"
#include "surface/api/page.h"
#include "surface/cli/up/held_signals.h"
#include "surface/cli/up/up_log.h"
#include "surface/cli/up/up_series.h"
#include "surface/cli/up/wall_clock.h"
#include "surface/cli/up/world_records.h"

namespace berth::cli {
namespace {

constexpr int kFailedStatus = 1;
constexpr int kStoppedStatus = 130;
constexpr std::chrono::milliseconds kSignalPoll{100};
constexpr std::int64_t kDaySeconds = std::int64_t{24} * 3600;

Result<void> close_journal(edges::RunJournalFile& journal) {
  if (!journal.writer) return {};
  if (auto written = journal.writer->finish(); !written) return written;
  return journal.file->commit();
}

/// Plans and long lists are large and live shortly. glibc would soon take them from the same memory as small values
/// that stay (it raises its threshold by itself), which then keep all of it, and separately for most threads: in 15
/// minutes of busy clients twice the memory.
void return_large_blocks_at_once() {
  constexpr int kLargeBytes = 128 * 1024;  // where glibc begins
  constexpr int kArenas = 4;               // of small values
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_TRIM_THRESHOLD, kLargeBytes);
  mallopt(M_ARENA_MAX, kArenas);
}

/// Ends the process without waiting for its threads: what must be kept is kept already.
[[noreturn]] void leave_at_once(int status) {
  std::fflush(nullptr);
  _exit(status);
}

/// Absent: the folder has none, or an empty one.
Result<std::unique_ptr<JournalReader>> open_journal(const std::string& path) {
  const auto is_new = edges::is_sqlite_store_new(path);
  if (!is_new) return live::failed(is_new.error());
  if (*is_new) return nullptr;
  auto reader = edges::open_sqlite_reader(path);
  if (!reader) return live::failed(reader.error());
  return std::move(*reader);
}

/// Everything that runs, in the order in which it is made.
class Up {
 public:
  /// `search` is borrowed: it is begun in a world that may be local.
  Up(const UpOptions& typed, const StatedRequest& stated, VerbContext& context, std::optional<edges::HandsFound> hands,
     std::optional<edges::MachineSearch>& search)
      : typed_(typed),
        stated_(stated),
        request_(stated.request),
        context_(context),
        retention_(stated.request.retention),
        hands_found_(std::move(hands)),
        search_(search) {}

  Result<int> run(const HeldSignals& signals) {
    if (auto opened = open_folder(); !opened) return pass_on(opened.error());
    if (auto prepared = prepare(); !prepared) {
      folder_->discard_if_new();
      return pass_on(prepared.error());
    }
    records_ = std::make_unique<WorldRecords>(folder_->path(), request_.speed > 0, wall_, context_.err);
    if (auto opened = records_->open(world_); !opened) return pass_on(opened.error());
    open_series();
    const auto stopped = begin(signals);
    if (!stopped) return pass_on(stopped.error());
    if (*stopped) return stop(**stopped);
    if (auto served = serve(); !served) return pass_on(served.error());
    return stop(wait(signals));
  }

  /// Whether a plan is still searched for, which may take as long as it likes.
  [[nodiscard]] bool is_solving() const { return solver_.is_solving(); }

 private:
  [[nodiscard]] edges::Recorder& recorder() { return records_->recorder(); }
  [[nodiscard]] const edges::Recorder& recorder() const { return records_->recorder(); }

  Result<void> open_folder() {
    std::string path = request_.data_dir.value_or("");
    if (path.empty()) {
      auto usual = edges::default_state_folder();
      if (!usual) return pass_on(usual.error());
      path = std::move(*usual);
    }
    auto folder = edges::StateFolder::open(path);
    if (!folder) return pass_on(folder.error());
    folder_ = std::move(*folder);
    if (!folder_->warning().empty()) log_warning(context_.err, folder_->warning());
    return {};
  }

  /// All that can be refused before anything is recorded.
  Result<void> prepare() {
    if (auto found = find_devices_and_world(); !found) return found;
    return make_session();
  }

  /// Which world it is, and for a local one the GPUs of this machine.
  Result<void> find_devices_and_world() {
    edges::LocalMachine machine;
    if (request_.world != live::WorldKind::kSimulated) {
      auto found = search_.emplace(request_.nvml_path).take();
      if (!found) return pass_on(found.error());
      machine = std::move(*found);
      log_machine(machine);
    }
    auto journal = open_journal(live::journal_path_in(folder_->path()));
    if (!journal) return pass_on(journal.error());
    auto world = live::find_world(
        request_, *context_.files,
        {.folder = folder_->path(), .journal = journal->get(), .now_us = wall_us_now(), .machine = machine.gpus});
    journal->reset();
    if (!world) return pass_on(world.error());
    world_ = std::move(*world);
    const bool was_stated = request_.world.has_value();
    auto settled = live::settle_world(request_, world_.fleet ? live::WorldKind::kLocal : live::WorldKind::kSimulated);
    if (!settled) return pass_on(settled.error());
    request_ = std::move(*settled);
    if (!was_stated) log_line(context_.err, "world", {{"world", world_.fleet ? "local" : "simulated"}});
    if (!world_.fleet) return {};
    auto checked = live::check_manage(request_.manage, request_.manage_places, machine, *world_.fleet);
    if (!checked) return checked;
    local_ = std::make_unique<live::LocalWorld>(std::move(machine), *world_.fleet, management());
    for (const std::string& warning : local_->warnings()) log_warning(context_.err, warning);
    return {};
  }

  /// Who may change GPUs, as it was found before the first thread.
  live::LocalManagement management() {
    live::LocalManagement management{.is_wanted = request_.manage_gpus, .is_dry_run = request_.is_dry_run};
    management.gpus = request_.manage;
    if (hands_found_) {
      management.hands =
          edges::use_hands(std::move(*hands_found_), {.world = folder_->path(), .on_news = [this] {
                                                        if (edges::LiveDriver* const driver = waked_.load())
                                                          driver->wake();
                                                      }});
    }
    boot_.emplace(folder_->path());
    management.is_same_boot = boot_->is_current();
    management.boot_id = edges::boot_id_now;
    return management;
  }

  /// The id of the machine's boot, once it is recorded.
  std::optional<std::string> follow_boot() {
    auto boot = boot_->follow();
    if (!boot && std::exchange(boot_failure_, boot.error().message) != boot.error().message) {
      log_error(context_.err, "no order to a GPU is given: " + boot.error().message);
    }
    if (!boot) return std::nullopt;
    boot_failure_.clear();
    return *std::move(boot);
  }

  void log_machine(const edges::LocalMachine& machine) const {
    nlohmann::ordered_json found{{"gpus", machine.gpus.size()}};
    if (!machine.facts.path.empty()) found["library"] = machine.facts.path;
    if (!machine.facts.driver_version.empty()) found["driver"] = machine.facts.driver_version;
    if (machine.reason) found["reason"] = *machine.reason;
    log_line(context_.err, "devices", found);
  }

  Result<void> make_session() {
    live::SessionOptions options;
    options.has_load = request_.has_load;
    if (local_) {
      options.observed = local_->observed();
      options.devices = sim::Devices::kOutside;
      options.first_layout_takes_time = true;
      options.next_intent = [this] { return records_->next_intent(); };
      options.boot = [this] { return follow_boot(); };
      options.device_speed = request_.speed;
    }
    options.seed = world_.beginning.seed;
    options.policy = world_.beginning.policy;
    options.approval = world_.beginning.approval;
    options.has_end = world_.beginning.until_end;
    if (request_.no_changes) options.no_changes = no_changes_of(*request_.no_changes, world_.beginning.epoch_us);
    options.wall_clock = [this] { return wall_.now_us(); };
    if (request_.journal_path) {
      options.journal = [this](const sim::JournalRecord& record) {
        journal_.writer->write(world_.beginning.policy, record);
      };
      options.service_set = [this](ServiceId service) { journal_.writer->read_name(service); };
    }
    options.entries = [this](const live::Entry& entry) { recorder().note(entry); };
    options.record = [this](const std::vector<live::Entry>& entries) { return recorder().record(entries); };
    options.usage = [this](const live::UsageInterval& interval) { note_usage(interval); };
    options.past_usage = [this](const live::UsageInterval& interval) {
      if (records_->has_no_past_usage()) note_usage(interval);
    };
    options.series = [this](SeriesSpan second) { series_->add(std::move(second)); };
    options.world_changed = [this](const live::WorldChanges& changes) { records_->remember(changes); };
    options.solve_elsewhere = [this](SolveRequest question) { solver_.ask(std::move(question)); };
    options.waits_for_solver = request_.speed == 0;
    auto session = live::Session::make(world_.scenario, std::move(options));
    if (!session) return pass_on(session.error());
    session_ = std::move(*session);
    auto journal = edges::open_run_journal(request_.journal_path, session_->scenario());
    if (!journal) return pass_on(journal.error());
    journal_ = std::move(*journal);
    return {};
  }

  void open_series() {
    series_ = std::make_unique<edges::SeriesQueue>(series_options(
        folder_->path(), world_.beginning.epoch_us, [this](const std::string& event, const std::string& message) {
          log_line(context_.err, event, {{"message", message}});
        }));
    series_->keep(retention_.series_days * kDaySeconds);
  }

  [[nodiscard]] api::BlobStore blob_store() {
    return {.run_slowly = [this](std::function<void()> work) { blobs_->run_slowly(std::move(work)); },
            .store = [this](const Sha256& blob, std::string_view bytes) { return blobs_->store(blob, bytes); },
            .finish = [this](const Sha256& blob, std::uint64_t bytes) { return blobs_->finish(blob, bytes); },
            .has = [this](const Sha256& blob) { return blobs_->has(blob); },
            .find = [this](const Sha256& blob) { return blobs_->find_whole(blob); },
            .read_part = [this](const Sha256& blob, std::uint32_t index) { return blobs_->read_part(blob, index); },
            .read = [this](const Sha256& blob) { return blobs_->read(blob); }};
  }

  /// Those to which services refer.
  [[nodiscard]] std::set<Sha256> used_blobs() const {
    std::set<Sha256> used;
    for (const auto& [name, service] : session_->catalog().services) {
      for (const auto& [path, blob] : service.blobs) {
        if (const auto digest = chain::sha256_of_hex(blob)) used.insert(*digest);
      }
    }
    return used;
  }

  void note_usage(const live::UsageInterval& interval) {
    recorder().note_usage(journal::row_of(interval, session_->scenario()));
  }

  /// Nobody must be told what a kill takes back: what can be recorded is.
  [[nodiscard]] api::UsageStore usage_store() {
    return {.unrecorded =
                [this] {
                  // Empty while writes are being recorded without the session's lock (edges::WriteQueue).
                  if (recorder().pending_usage().empty()) return std::vector<UsageRow>();
                  if (!recorder().flush()) session_->note_recorded();
                  return recorder().pending_usage();
                },
            .read = [this](const UsageSpan& span, const std::optional<UsageKey>& after,
                           std::size_t count_max) { return records_->read_usage(span, after, count_max); }};
  }

  /// What was told is recorded soon.
  void record() {
    session_->tell_clock();
    if (!recorder().flush()) session_->note_recorded();
    records_->prune_if_due(retention_, session_->now(), [this] { return used_blobs(); });
  }

  /// The next start repeats what comes after it.
  void save() {
    if (begin_save()) end_save(recorder().append(*saving_));
  }

  /// Returns whether there is a snapshot to be appended; until the session changes readers have nothing to record.
  [[nodiscard]] bool begin_save() {
    if (!session_->is_at_rest() || recorder().failure()) return false;
    session_->refresh();
    if (recorder().failure()) return false;
    std::string bytes = live::snapshot_bytes(world_.beginning, world_.files, session_->save());
    const bool has_usage = !recorder().pending_usage().empty();
    saving_ = recorder().draft_snapshot(live::snapshot_format(world_.files), std::move(bytes));
    if (has_usage) end_save(recorder().append(*saving_));  // readers would miss it meanwhile
    return saving_.has_value();
  }

  void end_save(const StoreResult<std::uint64_t>& appended) {
    const auto failure = recorder().settle(*std::exchange(saving_, std::nullopt), appended);
    if (!failure) return session_->note_recorded();
    log_error(context_.err, "no snapshot: " + *failure);
  }

  /// A world that goes on, or a new one. The first layout is in place at second 0: its question is answered before the
  /// clock starts. Returns the exit status if a signal came meanwhile.
  Result<std::optional<int>> begin(const HeldSignals& signals) {
    if (auto begun = world_.history ? go_on() : begin_anew(); !begun) return pass_on(begun.error());
    series_->start();
    while (session_->is_solving() && session_->snapshot().is_before_first_layout()) {
      if (const auto signal = signals.taken()) return std::optional(status_of(*signal));
      auto first = solver_.wait_for_answer(kSignalPoll);
      if (!first) continue;
      if (!session_->answer(std::move(*first))) return fail(ErrorCode::kUnavailable, session_->why_not_recorded());
      static_cast<void>(session_->advance(Instant()));
      break;
    }
    if (session_->infeasible()) return invalid(*session_->infeasible());
    record();
    if (local_) {
      if (auto followed = boot_->follow(); !followed) return pass_on(followed.error());
    }
    if (const auto failure = recorder().failure()) return fail(ErrorCode::kUnavailable, *failure);
    records_->guard();
    log_start_of_config();
    return std::optional<int>();
  }

  Result<void> begin_anew() {
    static_cast<void>(series_->begin(0));
    session_->begin(local_ ? local_->sights() : std::map<GpuId, sim::Sight>());
    if (local_) local_->tell(*session_);
    return {};
  }

  /// Goes on where the process before ended.
  Result<void> go_on() {
    const live::History history = std::move(*std::exchange(world_.history, std::nullopt));
    if (!history.session && history.entries.empty()) return begin_anew();
    if (history.session) {
      const auto begun_anew = session_->restore(*history.session);
      if (!begun_anew) {
        return fail(ErrorCode::kUnavailable,
                    fmt::format("{}: snapshot of row {}: {}", live::journal_path_in(folder_->path()),
                                history.saved_sequence, begun_anew.error().message));
      }
      for (const std::string& stage : *begun_anew) {
        log_warning(context_.err, stage + ": cannot read what it remembered, begins anew");
      }
    }
    sim::WorldLeft left = std::move(*records_->take_left());
    if (local_) local_->adopt(left);
    session_->repeat(history.entries, left.world.orders);
    const auto seconds = series_->begin(std::max(session_->now(), left.world.now).second());
    if (request_.has_load) session_->restore_figures(seconds);  // without load nothing follows them
    session_->resume(std::move(left));
    if (local_) local_->tell_notes(*session_);
    return {};
  }

  Result<void> serve() {
    edges::LiveDriverOptions options{.speed = request_.speed};
    if (request_.until_second) options.until = Instant::at_second(*request_.until_second);
    options.has_events = [this] { server_->wake_streams(); };
    if (local_) options.serve_outside = [this] { local_->serve(*session_); };
    options.record = [this] { record(); };
    options.may_go_on = [this] { return recorder().has_room_for_world(); };
    options.stepped = [this] { return recorder().is_snapshot_due() && begin_save(); };
    options.without_lock = [this] {
      const auto appended = recorder().append(*saving_);
      const std::scoped_lock hold(lock_);
      end_save(appended);
    };
    driver_ = std::make_unique<edges::LiveDriver>(*session_, turn_, lock_, solver_, std::move(options));
    api_ = std::make_unique<api::Api>(
        *session_, lock_,
        api::ApiOptions{.key = folder_->key(),
                        .epoch = {.unix_micros = world_.beginning.epoch_us},
                        .page = api::page_html(),
                        .driver_status = [this] { return driver_status(); },
                        .submit = [this](live::Write write) { writes_->submit(std::move(write)); },
                        .usage = usage_store(),
                        .blobs = blob_store(),
                        .series = {.read = [this](const auto& reading) { return series_->read(reading); }},
                        .devices = local_ ? local_->source(request_.has_load) : live::DeviceSource()});
    blobs_ = std::make_unique<edges::BlobQueue>(*session_, turn_, lock_, recorder(), records_->take_blob_readers(),
                                                wall_us_now);
    writes_ = std::make_unique<edges::WriteQueue>(*session_, turn_, lock_, recorder(), wall_us_now,
                                                  [this] { server_->wake_streams(); });
    auto server = context_.start_server(request_.listen.host, request_.listen.port, *api_);
    if (!server) return pass_on(server.error());
    server_ = std::move(*server);
    const bool is_v6 = request_.listen.host.find(':') != std::string::npos;
    const std::string url =
        fmt::format("http://{}{}{}:{}/", is_v6 ? "[" : "", request_.listen.host, is_v6 ? "]" : "", server_->port());
    if (auto written = folder_->write_address(url); !written) return pass_on(written.error());
    writes_->start();
    blobs_->start();
    waked_ = driver_.get();
    driver_->start();
    if (local_) local_->start([this] { driver_->wake(); });
    fmt::print(context_.out, "ready {} key: cat {}\n", url, folder_->key_path());
    std::fflush(context_.out);
    nlohmann::ordered_json ready{{"url", url}, {"scenario", world_.scenario.name}, {"memory_only", false}};
    ready["speed"] = request_.speed > 0 ? nlohmann::ordered_json(request_.speed) : nlohmann::ordered_json("max");
    log_line(context_.err, "ready", ready);
    return {};
  }

  [[nodiscard]] api::DriverStatus driver_status() const {
    const edges::StepTimes steps = driver_->step_times();
    return {.speed = request_.speed,
            .step_count = steps.count,
            .step_ms_p50 = steps.p50_ms,
            .step_ms_p99 = steps.p99_ms,
            .step_ms_max = steps.max_ms,
            .is_solving = solver_.is_solving(),
            .last_solve_ms = solver_.last_solve_ms(),
            .store_failure = recorder().failure()};
  }

  int wait(const HeldSignals& signals) {
    while (true) {
      if (const auto end = driver_->wait_for_end(kSignalPoll)) {
        const char* reached = request_.until_second ? "--until" : "the end of the scenario";
        log_line(context_.err, "ended",
                 {{"reason", *end == edges::WorldEnd::kReached ? reached : "no plan can exist"}});
        return *end == edges::WorldEnd::kReached ? 0 : 2;
      }
      if (const auto signal = signals.taken()) return status_of(*signal);
      if (signals.is_reload_asked()) reload();
      if (has_journal_failed()) return kFailedStatus;  // closing it tells why
    }
  }

  /// Reads the configuration file again. An invalid one changes nothing; of a valid one, lines say what it does not
  /// change.
  void reload() {
    if (!request_.config_path) {
      return log_line(context_.err, "config_not_read",
                      {{"message", "SIGHUP reads the file of --config again, and there is none"}});
    }
    const auto read = read_config_again(typed_, stated_, *context_.files);
    if (!read) {
      return log_line(context_.err, "config_not_read",
                      {{"message", read.error().message}, {"in_force", "what was read before"}});
    }
    for (const live::UnappliedKey& key : read->unapplied) {
      log_line(
          context_.err, "config_key_not_applied",
          {{"key", key.name},
           {"in_force", key.in_force},
           {"found", key.found},
           {"message", key.is_of_world ? "needs another folder: the world of this one keeps it" : "needs a restart"}});
    }
    apply(*read);
  }

  /// Puts into force what can change while it runs.
  void apply(const live::RereadConfig& read) {
    const std::scoped_lock turn(turn_);
    const std::scoped_lock hold(lock_);
    retention_ = read.retention;
    series_->keep(retention_.series_days * kDaySeconds);
    if (!session_->set_no_changes(no_changes_of(read.no_changes, world_.beginning.epoch_us))) {
      return log_error(context_.err, "no_changes cannot be recorded, the windows before stay in force: " +
                                         session_->why_not_recorded());
    }
    log_config(*request_.config_path);
  }

  void log_start_of_config() const {
    if (request_.config_path) return log_config(*request_.config_path);
    const auto& spans = session_->scenario().no_changes.spans;
    if (spans.empty()) return;
    log_warning(context_.err, "windows without changes stay in force, as recorded in the folder (" + words_of(spans) +
                                  "); a file of --config without no_changes ends them");
  }

  /// What is in force of the keys that SIGHUP applies. Requires: the lock is held, or nothing runs yet.
  void log_config(const std::string& path) const {
    log_line(context_.err, "config",
             {{"file", path},
              {"retention",
               {{"events_days", retention_.events_days},
                {"series_days", retention_.series_days},
                {"usage_days", retention_.usage_days}}},
              {"no_changes", words_of(session_->scenario().no_changes.spans)}});
  }

  [[nodiscard]] int status_of(int signal) const {
    log_line(context_.err, "stopping", {{"signal", signal == SIGINT ? "SIGINT" : "SIGTERM"}});
    return signal == SIGINT ? kStoppedStatus : 0;
  }

  [[nodiscard]] bool has_journal_failed() {
    const std::scoped_lock hold(lock_);
    return journal_.writer && journal_.writer->has_failed();
  }

  /// Without an open question it can be saved. One that is soon answered is waited for.
  void take_last_answer() {
    constexpr std::chrono::seconds kPatience{1};
    const bool is_awaited = driver_ && request_.speed > 0 && session_->is_solving() && !session_->is_over();
    if (!is_awaited || recorder().failure()) return;
    auto answer = solver_.wait_for_answer(kPatience);
    if (answer && session_->answer(*std::move(answer))) static_cast<void>(session_->advance(session_->now()));
  }

  /// Ends all but the solver, and keeps the journal.
  Result<int> stop(int status) {
    if (blobs_) blobs_->stop();
    if (writes_) writes_->stop();  // what was sent is carried out and answered
    if (server_) server_->stop();
    if (driver_) driver_->stop();
    if (local_) local_->stop();  // its threads wake the driver
    take_last_answer();
    if (recorder().rows_since_snapshot() > 0) save();
    session_->tell_all();
    session_->finish();
    series_->stop();
    if (const auto failure = recorder().flush()) log_error(context_.err, *failure);
    const auto closed = close_journal(journal_);
    journal_ = edges::RunJournalFile();  // one that could not be kept leaves no file
    if (!closed) return fail(ErrorCode::kUnavailable, closed.error().message);
    return status;
  }

  const UpOptions& typed_;
  const StatedRequest& stated_;
  live::UpRequest request_;
  VerbContext& context_;
  live::Retention retention_;  ///< in force; under lock_
  std::unique_ptr<edges::StateFolder> folder_;
  live::FolderWorld world_;  ///< its history goes into the session
  const SteadyWallClock wall_;
  std::unique_ptr<WorldRecords> records_;
  std::optional<edges::Recorder::Draft> saving_;  ///< a snapshot between begin_save and end_save
  edges::RunJournalFile journal_;
  edges::FairMutex turn_;  ///< of those who change the session
  edges::FairMutex lock_;  ///< of the session
  edges::SolverThread solver_;
  std::atomic<edges::LiveDriver*> waked_ = nullptr;  ///< by the hands, once it is there; they end before it
  std::optional<edges::HandsFound> hands_found_;     ///< before there was a thread
  std::optional<edges::MachineSearch>& search_;
  std::optional<edges::BootRecord> boot_;       ///< of a local world
  std::string boot_failure_;                    ///< as it was told last
  std::unique_ptr<live::LocalWorld> local_;     ///< absent: the devices are simulated
  std::unique_ptr<edges::SeriesQueue> series_;  ///< outlives the session
  std::unique_ptr<live::Session> session_;
  std::unique_ptr<edges::BlobQueue> blobs_;
  std::unique_ptr<edges::WriteQueue> writes_;
  std::unique_ptr<api::Api> api_;
  std::unique_ptr<edges::LiveDriver> driver_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace

namespace {

/// Those who change GPUs, if any may be changed. Afterwards this process may change none. Nothing: none may be.
Result<std::optional<edges::HandsFound>> find_hands(const live::UpRequest& request) {
  const bool is_needed = request.manage_gpus && !request.is_dry_run && request.world != live::WorldKind::kSimulated;
  if (!is_needed) return std::nullopt;
  auto found = edges::reach_hands({.socket_path = request.hands_path,
                                   .config_path = request.config_path.value_or(""),
                                   .nvml_path = request.nvml_path});
  if (!found) return pass_on(found.error());
  return std::optional(std::move(*found));
}

}  // namespace

int run_up(const UpOptions& typed, const StatedRequest& stated, VerbContext& context) {
  return_large_blocks_at_once();
  const HeldSignals signals;  // before the threads of `up`
  auto hands = find_hands(stated.request);
  if (!hands) {
    finish(context, tl::unexpected(hands.error()));
    return context.status;
  }
  std::optional<edges::MachineSearch> search;
  int status = 0;
  {
    Up up(typed, stated, context, std::move(*hands), search);
    const auto run = up.run(signals);
    if (!run) finish(context, tl::unexpected(run.error()));
    status = run ? *run : context.status;
    if (up.is_solving()) leave_at_once(status);
  }
  if (search && search->is_running()) leave_at_once(status);  // the driver hangs
  return status;
}

}  // namespace berth::cli
