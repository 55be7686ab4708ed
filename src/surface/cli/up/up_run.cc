#include "surface/cli/up/up_run.h"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "edges/files/file_sink.h"
#include "edges/live_driver/blob_queue.h"
#include "edges/live_driver/live_driver.h"
#include "edges/live_driver/recorder.h"
#include "edges/live_driver/solver_thread.h"
#include "edges/live_driver/write_queue.h"
#include "edges/locks/fair_mutex.h"
#include "edges/sqlite_store/devices_file.h"
#include "edges/sqlite_store/sqlite_store.h"
#include "edges/state_folder/reserve_file.h"
#include "edges/state_folder/state_folder.h"
#include "journal/entry_rows.h"
#include "journal/usage_rows.h"
#include "journal_chain/age.h"
#include "journal_chain/field_hash.h"
#include "live/demo.h"
#include "live/session.h"
#include "scenario/load.h"
#include "surface/api/api.h"
#include "surface/api/page.h"
#include "surface/cli/replay/journal_writer.h"
#include "surface/cli/up/config_file.h"
#include "surface/cli/up/up_history.h"

namespace berth::cli {
namespace {

constexpr int kFailedStatus = 1;
constexpr int kInterruptedStatus = 130;
constexpr std::chrono::milliseconds kSignalPoll{100};
constexpr std::int64_t kDayUs = std::int64_t{24} * 3600 * 1'000'000;
constexpr std::int64_t kOutcomeDays = 7;
constexpr std::uint64_t kOutcomesMax = 10'000'000;
/// How often it is noted that a blob is used. A day after that is more than a day after its last use.
constexpr std::int64_t kBlobNoteUs = std::int64_t{600} * 1'000'000;

/// While it exists, SIGINT and SIGTERM are kept for `taken`, and SIGHUP for `is_reload_asked`. To be made before any
/// thread.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    sigemptyset(&reload_);
    sigaddset(&reload_, SIGHUP);
    // Under nohup it would be ignored, and never come.
    sigaction(SIGHUP, nullptr, &on_reload_before_);
    signal(SIGHUP, SIG_DFL);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    pthread_sigmask(SIG_BLOCK, &reload_, nullptr);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() {
    while (taken() || is_reload_asked()) continue;  // what came during the end changes nothing about it
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    sigaction(SIGHUP, &on_reload_before_, nullptr);
  }

  /// A signal to stop that came, if any; does not wait.
  [[nodiscard]] std::optional<int> taken() const { return taken(signals_); }
  /// Whether SIGHUP came since the last call; does not wait.
  [[nodiscard]] bool is_reload_asked() const { return taken(reload_).has_value(); }

 private:
  [[nodiscard]] static std::optional<int> taken(const sigset_t& signals) {
    const timespec now{};
    const int signal = sigtimedwait(&signals, nullptr, &now);
    return signal > 0 ? std::optional(signal) : std::nullopt;
  }

  sigset_t signals_{};
  sigset_t reload_{};
  sigset_t before_{};
  struct sigaction on_reload_before_{};
};

void log_line(std::FILE* err, const std::string& event, const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json line{{"event", event}};
  line.update(fields);
  const std::string text = line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), err);
  std::fflush(err);
}

tl::unexpected<Error> failed(const StoreError& error) { return fail(ErrorCode::kUnavailable, error.message); }

Result<Scenario> scenario_of(const UpRequest& request, const Files& files) {
  if (!request.scenario_path) return live::demo_scenario();
  return scenario::load_scenario(*request.scenario_path, files, {.allows_empty = true});
}

/// The policy `fixed` has nothing but the layout of the scenario. Without GPUs there is none to write.
Result<void> check_layout(const UpRequest& request, const Beginning& beginning, const Scenario& scenario) {
  if (beginning.policy != "fixed" || scenario.layout || scenario.gpu_count() == 0) return {};
  const std::string found = request.scenario_path ? in_quotes(*request.scenario_path) : "the demo";
  return invalid(fmt::format("--policy fixed: wanted a scenario with a layout, found {}, which has none", found));
}

/// The journal's file and its writer; both absent if none is wanted.
struct Journal {
  std::unique_ptr<edges::FileSink> file;
  std::unique_ptr<JournalWriter> writer;
};

Result<Journal> open_journal(const UpRequest& request, const Scenario& scenario) {
  Journal journal;
  if (!request.journal_path) return journal;
  auto file = edges::FileSink::open(*request.journal_path);
  if (!file) return pass_on(file.error());
  journal.file = std::make_unique<edges::FileSink>(std::move(*file));
  journal.writer = std::make_unique<JournalWriter>(
      scenario, [sink = journal.file.get()](std::string_view bytes) { return sink->append(bytes); });
  return journal;
}

Result<void> close_journal(Journal& journal) {
  if (!journal.writer) return {};
  if (auto written = journal.writer->finish(); !written) return written;
  return journal.file->commit();
}

api::WorldEpoch now_as_epoch() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.unix_micros = std::chrono::duration_cast<std::chrono::microseconds>(now).count()};
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

/// While it exists, files are made for their owner alone.
class OwnFilesOnly {
 public:
  OwnFilesOnly() : before_(::umask(S_IRWXG | S_IRWXO)) {}
  OwnFilesOnly(const OwnFilesOnly&) = delete;
  OwnFilesOnly& operator=(const OwnFilesOnly&) = delete;
  ~OwnFilesOnly() { ::umask(before_); }

 private:
  mode_t before_;
};

/// Everything that runs, in the order in which it is made.
class Up {
 public:
  Up(const UpRequest& request, VerbContext& context)
      : request_(request), context_(context), retention_(request.retention) {}

  Result<int> run(const SignalsHeld& signals) {
    if (auto opened = open_folder(); !opened) return pass_on(opened.error());
    const auto is_new = edges::is_sqlite_store_new(journal_path());
    if (!is_new) return failed(is_new.error());
    is_new_ = *is_new;
    if (auto read = is_new_ ? begin_world() : read_world(); !read) return pass_on(read.error());
    if (auto made = make_session(); !made) return pass_on(made.error());
    if (auto opened = open_records(); !opened) return pass_on(opened.error());
    const auto stopped = begin(signals);
    if (!stopped) return pass_on(stopped.error());
    if (*stopped) return stop(**stopped);
    if (auto served = serve(); !served) return pass_on(served.error());
    return stop(wait(signals));
  }

  /// Whether a plan is still searched for, which may take as long as it likes.
  [[nodiscard]] bool is_solving() const { return solver_.is_solving(); }

 private:
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
    if (!folder_->warning().empty()) log_line(context_.err, "warning", {{"message", folder_->warning()}});
    return {};
  }

  [[nodiscard]] std::string journal_path() const { return folder_->path() + "/journal.db"; }
  [[nodiscard]] std::string devices_path() const { return folder_->path() + "/devices"; }

  /// A world that does not exist yet: nothing is written before all of it is right.
  Result<void> begin_world() {
    auto scenario = scenario_of(request_, read_files_);
    if (!scenario) return pass_on(scenario.error());
    beginning_.scenario = request_.scenario_path;
    beginning_.seed = request_.seed.value_or(beginning_.seed);
    beginning_.policy = request_.policy.value_or(beginning_.policy);
    beginning_.approval = request_.approval.value_or(beginning_.approval);
    beginning_.until_end = request_.until_end;
    beginning_.epoch_us = now_as_epoch().unix_micros;
    if (auto checked = check_layout(request_, beginning_, *scenario); !checked) return checked;
    scenario_ = std::move(*scenario);
    files_ = RecordedFiles(read_files_.contents(), read_files_.folders());
    return {};
  }

  /// The world of the folder.
  Result<void> read_world() {
    auto reader = edges::open_sqlite_reader(journal_path());
    if (!reader) return failed(reader.error());
    auto history = read_history(**reader, journal_path());
    if (!history) return pass_on(history.error());
    if (!*history) return begin_world();  // the process ended before it began
    history_ = std::move(*history);
    beginning_ = history_->beginning;
    files_ = std::move(history_->files);
    if (auto same = check_same(); !same) return same;
    scenario_ = std::move(history_->scenario);
    return {};
  }

  /// What is asked for is what the folder has.
  [[nodiscard]] Result<void> check_same() {
    const auto refuse = [&](std::string_view option, const std::string& wanted, const std::string& found) {
      return invalid(
          fmt::format("{}: wanted {}, with which the world of {} began, found {}; for another world use another "
                      "folder: berth up --data OTHER",
                      option, wanted, in_quotes(folder_->path()), found));
    };
    const std::string began_with = beginning_.scenario ? in_quotes(*beginning_.scenario) : "the demo";
    if (request_.scenario_path) {
      const auto scenario = scenario_of(request_, read_files_);
      if (!scenario) return pass_on(scenario.error());
      const std::string found = in_quotes(*request_.scenario_path);
      const bool is_same = beginning_.scenario && contents_of(read_files_.contents()) == contents_of(files_.contents());
      if (!is_same)
        return refuse("--scenario", began_with,
                      beginning_.scenario == request_.scenario_path ? found + " with other content" : found);
    }
    if (request_.seed && *request_.seed != beginning_.seed) {
      return refuse("--seed", fmt::format("{}", beginning_.seed), fmt::format("{}", *request_.seed));
    }
    if (request_.policy && *request_.policy != beginning_.policy) {
      return refuse("--policy", beginning_.policy, *request_.policy);
    }
    if (request_.approval && *request_.approval != beginning_.approval) {
      return refuse("--approval", std::string(approval_word(beginning_.approval)),
                    std::string(approval_word(*request_.approval)));
    }
    if (request_.until_end && !beginning_.until_end) return refuse("--until end", "none", "it");
    return {};
  }

  [[nodiscard]] static std::multiset<std::string> contents_of(const std::map<std::string, std::string>& files) {
    std::multiset<std::string> contents;
    for (const auto& [path, content] : files) contents.insert(content);
    return contents;
  }

  Result<void> make_session() {
    live::SessionOptions options;
    options.seed = beginning_.seed;
    options.policy = beginning_.policy;
    options.approval = beginning_.approval;
    options.has_end = beginning_.until_end;
    if (request_.no_changes) options.no_changes = no_changes_of(*request_.no_changes, beginning_.epoch_us);
    options.wall_clock = [this] { return wall_us_without_jumps(); };
    if (request_.journal_path) {
      options.journal = [this](const sim::JournalRecord& record) { journal_.writer->write(beginning_.policy, record); };
      options.service_set = [this](ServiceId service) { journal_.writer->read_name(service); };
    }
    options.entries = [this](const live::Entry& entry) { recorder_->note(entry); };
    options.record = [this](const std::vector<live::Entry>& entries) { return recorder_->record(entries); };
    options.usage = [this](const live::UsageInterval& interval) { note_usage(interval); };
    options.past_usage = [this](const live::UsageInterval& interval) {
      if (has_no_past_usage_) note_usage(interval);
    };
    options.world_changed = [this](const live::WorldChanges& changes) { remember(changes); };
    options.solve_elsewhere = [this](SolveRequest question) { solver_.ask(std::move(question)); };
    options.waits_for_solver = request_.speed == 0;
    auto session = live::Session::make(scenario_, std::move(options));
    if (!session) return pass_on(session.error());
    session_ = std::move(*session);
    auto journal = open_journal(request_, session_->scenario());
    if (!journal) return pass_on(journal.error());
    journal_ = std::move(*journal);
    return {};
  }

  /// Opens what the world is recorded in, to be written. Both are whole before anything begins.
  Result<void> open_records() {
    const bool has_devices = std::filesystem::exists(devices_path());
    if (is_new_ && has_devices) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("{}: wanted a journal.db beside it, found none: put it back, or remove this file, too",
                              devices_path()));
    }
    const OwnFilesOnly own_files_only;
    auto opened = edges::open_sqlite_store(journal_path());
    if (!opened) return failed(opened.error());
    store_ = std::move(opened->store);
    has_no_past_usage_ = opened->has_no_past_usage;
    for (const std::string& note : opened->notes) log_line(context_.err, "warning", {{"message", note}});
    const auto epoch = store_->epoch();
    if (!epoch) return failed(epoch.error());
    auto writer = store_->open_writer(*epoch + 1);
    if (!writer) return failed(writer.error());
    auto devices = edges::DevicesFile::open(devices_path());
    if (!devices) return failed(devices.error());
    devices_ = std::move(*devices);
    edges::Recorder::Head head;
    if (history_) {
      head = {.last_sequence = history_->last_sequence,
              .snapshot_sequence = history_->saved_sequence,
              .snapshot_bytes = history_->saved_bytes};
      const auto memory = devices_->read();
      if (!memory) return failed(memory.error());
      auto left = world_of(*memory, scenario_, devices_path());
      if (!left) return pass_on(left.error());
      left_ = std::move(*left);
      if (!has_devices) {
        left_->is_forgotten = true;
        left_->world.orders = UINT64_MAX;
        log_line(context_.err, "warning",
                 {{"message", devices_path() + " is missing: the simulated devices are empty"}});
      }
    } else {
      const auto rows = first_rows(beginning_, read_files_, now_as_epoch().unix_micros);
      const auto appended = (*writer)->append({.entries = rows});
      if (!appended) return failed(appended.error());
      head.last_sequence = *appended;
    }
    auto reader = store_->open_reader();
    if (!reader) return failed(reader.error());
    old_rows_ = std::move(*reader);
    const auto encode = [this](const live::Entry& entry) {
      return journal::row_of(entry, scenario_, now_as_epoch().unix_micros);
    };
    recorder_ = std::make_unique<edges::Recorder>(std::move(*writer), head, encode, [this] { return sync_devices(); });
    auto usage_reader = store_->open_reader();
    if (!usage_reader) return failed(usage_reader.error());
    usage_reader_ = std::move(*usage_reader);
    for (auto* reader_of_blobs : {&blob_readers_.quick, &blob_readers_.slow}) {
      auto opened_reader = store_->open_reader();
      if (!opened_reader) return failed(opened_reader.error());
      *reader_of_blobs = std::move(*opened_reader);
    }
    return {};
  }

  /// From now on it goes on without space for more than the orders that must not fail.
  void guard() {
    const OwnFilesOnly own_files_only;
    reserve_ = std::make_unique<edges::ReserveFile>(folder_->path() + "/reserve");
    if (!reserve_->keep()) {
      log_line(
          context_.err, "warning",
          {{"message", fmt::format("{}/reserve: no space for {} bytes and a quarter more: nothing but DELETE, pause, "
                                   "cordon and drain is recorded until there is",
                                   folder_->path(), reserve_->bytes())}});
    }
    recorder_->guard(*reserve_);
  }

  [[nodiscard]] api::BlobStore blob_store() {
    return {.run_slowly = [this](std::function<void()> work) { blobs_->run_slowly(std::move(work)); },
            .store = [this](const Sha256& blob, std::string_view bytes) { return blobs_->store(blob, bytes); },
            .finish = [this](const Sha256& blob, std::uint64_t bytes) { return blobs_->finish(blob, bytes); },
            .has = [this](const Sha256& blob) { return blobs_->has(blob); },
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

  /// The wall clock at the start, and what has passed since: somebody may set the clock meanwhile.
  [[nodiscard]] std::int64_t wall_us_without_jumps() const {
    const auto passed = std::chrono::steady_clock::now() - began_;
    return wall_began_us_ + std::chrono::duration_cast<std::chrono::microseconds>(passed).count();
  }

  void note_usage(const live::UsageInterval& interval) {
    recorder_->note_usage(journal::row_of(interval, session_->scenario()));
  }

  /// Nobody must be told what a kill takes back: what can be recorded is.
  [[nodiscard]] api::UsageStore usage_store() {
    return {.unrecorded =
                [this] {
                  // Empty while writes are being recorded without the session's lock (edges::WriteQueue).
                  if (recorder_->pending_usage().empty()) return std::vector<UsageRow>();
                  if (!recorder_->flush()) session_->note_recorded();
                  return recorder_->pending_usage();
                },
            .read =
                [this](const UsageSpan& span, const std::optional<UsageKey>& after, std::size_t count_max) {
                  const std::scoped_lock hold(usage_lock_);
                  return usage_reader_->read_usage(span, after, count_max);
                }};
  }

  /// What cannot be written is with the next change.
  void remember(const live::WorldChanges& changes) {
    const bool has_news = changes.world || !changes.devices.empty() || !unwritten_.empty();
    if (!has_news && !is_clock_due()) return;
    has_unsynced_devices_ = true;
    edges::DevicesFile::Memory memory = memory_of(changes);
    for (auto& [gpu, body] : memory.gpus) unwritten_[gpu] = std::move(body);
    memory.gpus.assign(unwritten_.begin(), unwritten_.end());
    const auto written = devices_->write(memory);
    if (written) unwritten_.clear();
    if (!written) log_line(context_.err, "error", {{"message", written.error().message}});
  }

  /// A clock that was shown must not go back. A world that runs as fast as possible has no such clock.
  [[nodiscard]] bool is_clock_due() {
    constexpr std::chrono::milliseconds kPause{10};
    const auto now = std::chrono::steady_clock::now();
    if (request_.speed == 0 && now - clock_written_at_ < kPause) return false;
    clock_written_at_ = now;
    return true;
  }

  StoreResult<void> sync_devices() {
    if (!std::exchange(has_unsynced_devices_, false)) return {};
    auto synced = devices_->sync();
    if (!synced) has_unsynced_devices_ = true;
    return synced;
  }

  /// What was told is recorded soon.
  void record() {
    session_->tell_clock();
    if (!recorder_->flush()) session_->note_recorded();
    prune_if_due();
  }

  /// The next start repeats what comes after it.
  void save() {
    if (!session_->is_at_rest() || recorder_->failure()) return;
    const auto failure =
        recorder_->record_snapshot(kSnapshotFormat, snapshot_bytes(beginning_, files_, session_->save()));
    if (!failure) return session_->note_recorded();
    log_line(context_.err, "error", {{"message", "no snapshot: " + *failure}});
  }

  /// Removes what is older than it must be kept, a little at a time.
  void prune_if_due() {
    constexpr std::chrono::minutes kPause{1};
    const auto now = std::chrono::steady_clock::now();
    if (now < prune_at_ || recorder_->failure()) return;
    const std::int64_t wall_us = wall_us_without_jumps();  // what is forgotten cannot be brought back
    const std::int64_t events_since_us = wall_us - retention_.events_days * kDayUs;
    const auto first = chain::first_row_since(*old_rows_, events_since_us);
    const bool has_more = first && recorder_->prune({.rows_before = *first,
                                                     .outcomes_before_wall_us = wall_us - kOutcomeDays * kDayUs,
                                                     .keys_before_wall_us = events_since_us,
                                                     .outcomes_max = kOutcomesMax});
    const bool has_more_usage =
        recorder_->prune_usage(session_->now() - Micros(retention_.usage_days * kDayUs));  // of the world
    const bool has_more_blobs = recorder_->prune_blobs({.used = used_blobs(),
                                                        .now_wall_us = wall_us,
                                                        .note_before_wall_us = wall_us - kBlobNoteUs,
                                                        .unused_before_wall_us = wall_us - kDayUs - kBlobNoteUs});
    if (!has_more && !has_more_usage && !has_more_blobs) prune_at_ = now + kPause;
  }

  /// A world that goes on, or a new one. The first layout is in place at second 0: its question is answered before the
  /// clock starts. Returns the exit status if a signal came meanwhile.
  Result<std::optional<int>> begin(const SignalsHeld& signals) {
    if (auto begun = history_ ? go_on() : begin_anew(); !begun) return pass_on(begun.error());
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
    if (const auto failure = recorder_->failure()) return fail(ErrorCode::kUnavailable, *failure);
    guard();
    log_start_of_config();
    return std::optional<int>();
  }

  Result<void> begin_anew() {
    session_->begin();
    return {};
  }

  /// Goes on where the process before ended.
  Result<void> go_on() {
    const History history = std::move(*std::exchange(history_, std::nullopt));
    if (!history.session && history.entries.empty()) return begin_anew();
    if (history.session) {
      const auto begun_anew = session_->restore(*history.session);
      if (!begun_anew) {
        return fail(ErrorCode::kUnavailable, fmt::format("{}: snapshot of row {}: {}", journal_path(),
                                                         history.saved_sequence, begun_anew.error().message));
      }
      for (const std::string& stage : *begun_anew) {
        log_line(context_.err, "warning", {{"message", stage + ": cannot read what it remembered, begins anew"}});
      }
    }
    session_->repeat(history.entries, left_->world.orders);
    session_->resume(std::move(*std::exchange(left_, std::nullopt)));
    return {};
  }

  Result<void> serve() {
    edges::LiveDriverOptions options{.speed = request_.speed};
    if (request_.until_second) options.until = Instant::at_second(*request_.until_second);
    options.has_events = [this] { server_->wake_streams(); };
    options.record = [this] { record(); };
    options.may_go_on = [this] { return recorder_->has_room_for_world(); };
    options.stepped = [this] {
      if (recorder_->is_snapshot_due()) save();
    };
    driver_ = std::make_unique<edges::LiveDriver>(*session_, turn_, lock_, solver_, std::move(options));
    api_ = std::make_unique<api::Api>(
        *session_, lock_,
        api::ApiOptions{.key = folder_->key(),
                        .epoch = {.unix_micros = beginning_.epoch_us},
                        .page = api::page_html(),
                        .driver_status = [this] { return driver_status(); },
                        .submit = [this](live::Write write) { writes_->submit(std::move(write)); },
                        .usage = usage_store(),
                        .blobs = blob_store()});
    const auto wall_us = [] { return now_as_epoch().unix_micros; };
    blobs_ = std::make_unique<edges::BlobQueue>(*session_, turn_, lock_, *recorder_, std::move(blob_readers_), wall_us);
    writes_ = std::make_unique<edges::WriteQueue>(*session_, turn_, lock_, *recorder_, wall_us,
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
    driver_->start();
    fmt::print(context_.out, "ready {} key: cat {}\n", url, folder_->key_path());
    std::fflush(context_.out);
    nlohmann::ordered_json ready{{"url", url}, {"scenario", scenario_.name}, {"memory_only", false}};
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
            .store_failure = recorder_->failure()};
  }

  int wait(const SignalsHeld& signals) {
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
    if (!request_.typed.config) {
      return log_line(context_.err, "config_not_read",
                      {{"message", "SIGHUP reads the file of --config again, and there is none"}});
    }
    const auto read = read_up_request(request_.typed, *context_.files);
    if (!read) {
      return log_line(context_.err, "config_not_read",
                      {{"message", read.error().message}, {"in_force", "what was read before"}});
    }
    for (const UnappliedKey& unapplied : find_unapplied(request_.stated, read->stated)) {
      log_line(context_.err, "config_key_not_applied",
               {{"key", unapplied.key->name},
                {"in_force", unapplied.in_force},
                {"found", unapplied.found},
                {"message", unapplied.key->reload == ConfigReload::kWorld
                                ? "needs another folder: the world of this one keeps it"
                                : "needs a restart"}});
    }
    apply(*read);
  }

  /// Puts into force what can change while it runs.
  void apply(const UpRequest& read) {
    const std::scoped_lock turn(turn_);
    const std::scoped_lock hold(lock_);
    retention_ = read.retention;
    if (!session_->set_no_changes(no_changes_of(*read.no_changes, beginning_.epoch_us))) {
      return log_line(context_.err, "error",
                      {{"message", "no_changes cannot be recorded, the windows before stay in force: " +
                                       session_->why_not_recorded()}});
    }
    log_config(*request_.typed.config);
  }

  void log_start_of_config() const {
    if (request_.typed.config) return log_config(*request_.typed.config);
    const auto& spans = session_->scenario().no_changes.spans;
    if (spans.empty()) return;
    log_line(context_.err, "warning",
             {{"message", "windows without changes stay in force, as recorded in the folder (" + words_of(spans) +
                              "); a file of --config without no_changes ends them"}});
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
    return signal == SIGINT ? kInterruptedStatus : 0;
  }

  [[nodiscard]] bool has_journal_failed() {
    const std::scoped_lock hold(lock_);
    return journal_.writer && journal_.writer->has_failed();
  }

  /// Ends all but the solver, and keeps the journal.
  Result<int> stop(int status) {
    if (blobs_) blobs_->stop();
    if (writes_) writes_->stop();  // what was sent is carried out and answered
    if (server_) server_->stop();
    if (driver_) driver_->stop();
    if (recorder_->rows_since_snapshot() > 0) save();
    session_->tell_all();
    session_->finish();
    if (const auto failure = recorder_->flush()) log_line(context_.err, "error", {{"message", *failure}});
    const auto closed = close_journal(journal_);
    journal_ = Journal();  // one that could not be kept leaves no file
    if (!closed) return fail(ErrorCode::kUnavailable, closed.error().message);
    return status;
  }

  const UpRequest& request_;
  VerbContext& context_;
  Retention retention_;  ///< in force; under lock_
  RememberingFiles read_files_{*context_.files};
  std::unique_ptr<edges::StateFolder> folder_;
  Beginning beginning_;
  RecordedFiles files_;                  ///< of the scenario
  bool is_new_ = true;                   ///< the folder had no journal
  std::optional<History> history_;       ///< absent: the world is new
  std::optional<sim::WorldLeft> left_;   ///< what its devices remember
  std::unique_ptr<JournalStore> store_;  ///< outlives its writer
  std::mutex usage_lock_;
  std::unique_ptr<JournalReader> usage_reader_;  ///< under usage_lock_
  bool has_no_past_usage_ = false;               ///< an earlier version has recorded none: it is made again
  std::unique_ptr<edges::DevicesFile> devices_;
  std::map<std::uint32_t, std::string> unwritten_;  ///< GPUs whose memory could not be written yet
  const std::int64_t wall_began_us_ = now_as_epoch().unix_micros;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point clock_written_at_;
  bool has_unsynced_devices_ = false;
  std::unique_ptr<edges::ReserveFile> reserve_;  ///< of the recorder
  std::unique_ptr<edges::Recorder> recorder_;
  edges::BlobQueue::Readers blob_readers_;
  std::unique_ptr<JournalReader> old_rows_;  ///< that may be too old to keep
  std::chrono::steady_clock::time_point prune_at_;
  Scenario scenario_;
  Journal journal_;
  edges::FairMutex turn_;  ///< of those who change the session
  edges::FairMutex lock_;  ///< of the session
  edges::SolverThread solver_;
  std::unique_ptr<live::Session> session_;
  std::unique_ptr<edges::BlobQueue> blobs_;
  std::unique_ptr<edges::WriteQueue> writes_;
  std::unique_ptr<api::Api> api_;
  std::unique_ptr<edges::LiveDriver> driver_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace

int run_up(const UpRequest& request, VerbContext& context) {
  return_large_blocks_at_once();
  const SignalsHeld signals;  // before the threads of `up`
  Up up(request, context);
  const auto run = up.run(signals);
  if (!run) finish(context, tl::unexpected(run.error()));
  const int status = run ? *run : context.status;
  if (up.is_solving()) leave_at_once(status);
  return status;
}

}  // namespace berth::cli
