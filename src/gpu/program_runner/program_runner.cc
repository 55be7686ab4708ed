#include "gpu/program_runner/program_runner.h"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "gpu/hands/wake_up.h"
#include "gpu/program_runner/become_program.h"
#include "gpu/program_runner/disk_records.h"
#include "gpu/program_runner/keeper.h"
#include "gpu/program_runner/known_users.h"
#include "gpu/program_runner/left_processes.h"
#include "gpu/program_runner/prepare_start.h"
#include "gpu/program_runner/programs_state.h"
#include "gpu/program_runner/running_process.h"
#include "gpu/program_runner/simulated_process.h"
#include "gpu/program_runner/trusted_file.h"
#include "gpu/program_runner/watched_program.h"
#include "gpu/programs/program_offer.h"
#include "gpu/programs/program_plan.h"
#include "gpu/programs/tenant_uids.h"

namespace berth::edges {
namespace {

using Kept = WatchedProgram::Kept;

constexpr std::size_t kProgramsMax = 512;
constexpr Micros kTick = Micros(20'000);               // while a program starts
constexpr Micros kProbePause = Micros(50'000);         // between two questions
constexpr Micros kProbePatience = Micros::seconds(5);  // for the answer of a GET
constexpr int kRestMillisMax = 60'000;

Instant steady_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Instant(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

}  // namespace

class ProgramRunner::Watch {
 public:
  Watch(ProgramRunnerOptions options, Descriptor lock, programs::TenantUids uids)
      : options_(std::move(options)), lock_(std::move(lock)), uids_(std::move(uids)) {
    adopt_all();
    thread_ = std::thread([this] { run(); });
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    {
      const std::scoped_lock hold(mutex_);
      is_stopping_ = true;
    }
    wake_up_.ring();
    thread_.join();
  }

  void start(const ProcessOrder& order) {
    const std::scoped_lock hold(mutex_);
    if (auto accepted = accept(order); !accepted) {
      ProcessReport report{.order = order, .phase = ProcessPhase::kFailed};
      report.message = accepted.error().message;
      changed_.insert_or_assign(programs::program_name(order.slice, order.generation), std::move(report));
      tell();
    }
    wake_up_.ring();
  }

  void stop(const std::string& slice, std::uint64_t generation) {
    const std::scoped_lock hold(mutex_);
    const std::string name = programs::program_name(slice, generation);
    const auto found = programs_.find(name);
    if (found == programs_.end()) {
      ProcessReport report{.phase = ProcessPhase::kStopped};
      report.order.slice = slice;
      report.order.generation = generation;
      changed_.insert_or_assign(name, std::move(report));
    } else if (WatchedProgram& program = found->second; program.record.is_wanted) {
      program.record.is_wanted = false;
      program.phase = ProcessPhase::kDraining;
      save(program);
      change(program);
    }
    tell();
    wake_up_.ring();
  }

  [[nodiscard]] std::vector<programs::ProgramOffer> offers() const { return programs::offers_of(options_.rules); }

  [[nodiscard]] bool separates_users() const { return options_.rules.separates_users; }

  [[nodiscard]] std::vector<ProcessReport> list() const {
    const std::scoped_lock hold(mutex_);
    std::vector<ProcessReport> reports;
    for (const auto& [name, program] : programs_) reports.push_back(report_of(program, steady_now()));
    return reports;
  }

  [[nodiscard]] std::vector<ProcessReport> take_reports() {
    const std::scoped_lock hold(mutex_);
    std::vector<ProcessReport> reports;
    for (auto& [name, report] : changed_) reports.push_back(std::move(report));
    changed_.clear();
    return reports;
  }

  [[nodiscard]] std::optional<std::string> read_log(const std::string& slice, std::uint64_t generation,
                                                    std::size_t bytes_max) const {
    const std::scoped_lock hold(mutex_);
    const auto found = programs_.find(programs::program_name(slice, generation));
    if (found == programs_.end()) return std::nullopt;
    return programs::last_lines(read_end(found->second.folder + program_files::kLog, bytes_max), bytes_max);
  }

  void set_on_news(std::function<void()> on_news) {
    const std::scoped_lock hold(mutex_);
    on_news_ = std::move(on_news);
    tell();
  }

 private:
  // ---- orders

  Result<void> accept(const ProcessOrder& order) {
    if (auto checked = programs::check_order(order, options_.rules); !checked) return checked;
    const std::string name = programs::program_name(order.slice, order.generation);
    if (const auto found = programs_.find(name); found != programs_.end()) {
      if (found->second.record.order == order && found->second.record.is_wanted) {
        change(found->second);
        return {};
      }
      return invalid(
          fmt::format("slice: wanted one without a program, found generation {} of {} with another one, or one that "
                      "is being stopped",
                      order.generation, order.slice));
    }
    if (programs_.size() >= kProgramsMax) {
      return fail(ErrorCode::kUnavailable, fmt::format("wanted at most {} programs, found one more", kProgramsMax));
    }
    WatchedProgram program{.record = {.order = order}, .folder = programs_folder(options_.rules) + "/" + name};
    program.record.drain_seconds = programs::limits_of(order, options_.rules).drain_seconds;
    if (auto given = give_user(program); !given) return given;
    if (auto made = make_program_folder(program.folder); !made) return made;
    if (auto saved = write_record(program.folder + program_files::kRecord, text_of(program.record)); !saved)
      return saved;
    program.start_at = steady_now();
    change(programs_.emplace(name, std::move(program)).first->second);
    return {};
  }

  /// The tenant's uid is on the disk before anything runs with it.
  Result<void> give_user(WatchedProgram& program) {
    program.record.start.uid.reset();
    if (!options_.rules.separates_users) return {};
    programs::TenantUids changed = uids_;
    const auto uid = changed.uid_of(program.record.order.tenant, *options_.rules.uids);
    if (!uid) return pass_on(uid.error());
    program.record.start.uid = *uid;
    if (changed == uids_) return {};
    if (auto written = write_record(uids_path(options_.rules), changed.text()); !written) return written;
    uids_ = std::move(changed);
    return {};
  }

  void save(const WatchedProgram& program) {
    const auto saved = write_record(program.folder + program_files::kRecord, text_of(program.record));
    if (!saved) options_.log(saved.error().message);
  }

  void change(const WatchedProgram& program) {
    const ProcessOrder& order = program.record.order;
    changed_.insert_or_assign(programs::program_name(order.slice, order.generation), report_of(program, steady_now()));
    tell();
  }

  void tell() const {
    if (on_news_ && !changed_.empty()) on_news_();
  }

  // ---- programs of an earlier agent

  void adopt_all() {
    const std::string boot_path = options_.rules.state + "/boot";
    const std::string boot = boot_id();
    const bool is_same_boot = read_record_file(boot_path).value_or("") == boot;
    std::error_code trouble;
    for (const auto& entry : std::filesystem::directory_iterator(programs_folder(options_.rules), trouble)) {
      if (!is_same_boot) {
        std::filesystem::remove_all(entry.path(), trouble);  // nothing of them runs, and their slices are gone
      } else {
        adopt(entry.path().string(), entry.path().filename().string());
      }
    }
    if (is_same_boot) return;
    if (auto written = write_record(boot_path, boot); !written) options_.log(written.error().message);
  }

  void adopt(const std::string& folder, const std::string& name) {
    const std::string path = folder + program_files::kRecord;
    const auto text = read_record_file(path);
    auto record = text ? programs::read_program_record(*text, path) : pass_on(text.error());
    if (!record || programs::program_name(record->order.slice, record->order.generation) != name) {
      // The agent ended while it accepted the order; nothing was started.
      options_.log(record ? folder + ": its record is another program's" : record.error().message);
      if (!text && text.error().code == ErrorCode::kNotFound) {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
      }
      return;
    }
    WatchedProgram program{.record = std::move(*record), .folder = folder};
    const Instant now = steady_now();
    program.start_at = now;
    program.started = now;
    program.ready_until = now + Micros::seconds(program.record.ready_seconds);
    if (!program.record.is_wanted) program.phase = ProcessPhase::kDraining;
    WatchedProgram& kept = programs_.emplace(name, std::move(program)).first->second;
    restore_failures(kept, now);
    if (kept.record.starts == 0) return;
    kept.kept = Kept::kUnknown;
    find_keeper(kept, now);
  }

  /// A program that has failed goes on to wait.
  static void restore_failures(WatchedProgram& program, Instant now) {
    if (program.record.failures_us.empty()) return;
    std::vector<Instant> failures;
    for (const std::int64_t micros : program.record.failures_us) failures.emplace_back(micros);
    program.restarts.restore(failures, Micros(program.record.pause_us), now);
    program.start_at = std::clamp(failures.back() + program.restarts.pause(), now, now + program.restarts.pause());
    program.message = "failed before the agent was started again";
    const std::string lines = lines_of_start(program.folder);
    if (!lines.empty()) program.message += ": " + lines;
  }

  /// Which process holds the lock, if one does.
  void find_keeper(WatchedProgram& program, Instant now) {
    const auto text = read_record_file(program.folder + program_files::kRun);
    const auto run = text ? programs::read_run_record(*text, program.folder) : pass_on(text.error());
    if (run && run->start_number == program.record.starts) {
      program.keeper = open_process(run->keeper);
      if (program.keeper.is_open()) {
        program.kept = Kept::kYes;
        program.pid = run->program.pid;
        program.is_asked_to_end = false;
        if (program.record.is_wanted && program.record.start_time) {
          program.phase = ProcessPhase::kReady;
          program.restarts.became_ready(now);
        }
        return change(program);
      }
    }
    const auto lock = lock_file(program.folder + program_files::kLock, LockWait::kNone);
    if (lock && !lock->is_open()) return;  // it has not written its number yet
    if (program.record.is_wanted && program.record.failed_start == program.record.starts) {
      program.kept = Kept::kNo;  // it was counted by the earlier agent
      program.phase = ProcessPhase::kFailed;
      return change(program);
    }
    end(program, now);
  }

  // ---- the thread

  void run() {
    while (true) {
      wait();
      const std::scoped_lock hold(mutex_);
      if (is_stopping_) return;
      const Instant now = steady_now();
      for (auto next = programs_.begin(); next != programs_.end();) {
        const auto each = next++;
        if (!work(each->second, now)) programs_.erase(each);
      }
    }
  }

  void wait() {
    std::vector<pollfd> places;
    int millis = kRestMillisMax;
    {
      const std::scoped_lock hold(mutex_);
      places.push_back({.fd = wake_up_.number(), .events = POLLIN, .revents = 0});
      for (const auto& [name, program] : programs_) {
        if (program.keeper.is_open()) places.push_back({.fd = program.keeper.number(), .events = POLLIN, .revents = 0});
        const Micros left = time_left(program, steady_now());
        if (left < Micros(0)) continue;
        millis = std::min(millis, static_cast<int>(std::min<std::int64_t>(left.count() / 1'000 + 1, kRestMillisMax)));
      }
    }
    ::poll(places.data(), places.size(), millis);
    wake_up_.hear();
  }

  /// Until something is to be done without a signal from outside; below 0: nothing is.
  static Micros time_left(const WatchedProgram& program, Instant now) {
    constexpr Micros kNothing = Micros(-1);
    switch (program.kept) {
      case Kept::kNo:
        return program.record.is_wanted ? std::max(program.start_at - now, Micros(0)) : Micros(0);
      case Kept::kUnknown:
        return kTick;
      case Kept::kYes:
        return program.phase == ProcessPhase::kStarting || program.pid == 0 ? kTick : kNothing;
    }
    return kNothing;
  }

  /// Whether the program is still there.
  bool work(WatchedProgram& program, Instant now) {
    switch (program.kept) {
      case Kept::kNo:
        if (!program.record.is_wanted) return remove(program);
        if (now >= program.start_at) begin(program, now);
        return true;
      case Kept::kUnknown:
        find_keeper(program, now);
        return true;
      case Kept::kYes:
        if (has_ended(program.keeper)) {
          end(program, now);
        } else if (!program.is_cleaning) {
          watch(program, now);
        }
        return true;
    }
    return true;
  }

  void begin(WatchedProgram& program, Instant now) {
    // Whoever holds the lock may start the program, so that a keeper of a killed agent does not start it, too.
    const auto lock = lock_file(program.folder + program_files::kLock, LockWait::kNone);
    if (!lock) return fail_start(program, lock.error().message, now);
    if (!lock->is_open()) {
      program.kept = Kept::kUnknown;
      return;
    }
    if (auto given = give_user(program); !given) return fail_start(program, given.error().message, now);
    if (program.record.starts > 0 && end_left(program) > 0) {
      return fail_start(program, "processes of an earlier start cannot be ended", now);
    }
    const bool is_simulated = options_.simulated_state.has_value();
    auto prepared = prepare_start(program.record,
                                  {.rules = options_.rules, .is_simulated = is_simulated, .folder = program.folder});
    if (!prepared) return fail_start(program, prepared.error().message, now);
    if (auto saved = write_record(program.folder + program_files::kRecord, text_of(*prepared)); !saved) {
      return fail_start(program, saved.error().message, now);
    }
    program.record = std::move(*prepared);
    const auto keeper = spawn(program, program.record.starts);
    if (!keeper) return fail_start(program, keeper.error().message, now);
    program.phase = ProcessPhase::kStarting;
    program.started = steady_now();  // what was done before is not the program's
    program.ready_until = program.started + Micros::seconds(program.record.ready_seconds);
    program.is_late = false;
    program.probe.forget();
    program.probe_message = "was not asked";
    change(program);
  }

  Result<void> spawn(WatchedProgram& program, std::int64_t start_number) {
    const auto pid = spawn_keeper(options_.keeper_program, program.folder, start_number, options_.simulated_state);
    if (!pid) return pass_on(pid.error());
    const auto identity = identity_of(*pid);  // a child keeps its number until it is waited for
    program.keeper = identity ? open_process(*identity) : Descriptor();
    program.keeper_pid = *pid;
    program.kept = Kept::kYes;
    program.pid = 0;
    program.is_asked_to_end = false;
    return {};
  }

  void fail_start(WatchedProgram& program, const std::string& message, Instant now) {
    program.kept = Kept::kNo;
    program.phase = ProcessPhase::kFailed;
    program.message = message;
    program.start_at = program.restarts.failed(now);
    program.record.failures_us.clear();
    for (const Instant at : program.restarts.failure_times()) program.record.failures_us.push_back(at.micros());
    program.record.pause_us = program.restarts.pause().count();
    program.record.failed_start = program.record.starts;
    save(program);
    const std::string_view first_line = std::string_view(message).substr(0, message.find('\n'));
    options_.log(fmt::format("{}: failed: {}", std::filesystem::path(program.folder).filename().string(), first_line));
    change(program);
  }

  void watch(WatchedProgram& program, Instant now) {
    if (program.pid == 0) learn_pid(program);
    if (!program.record.is_wanted) return ask_to_end(program);
    if (program.phase != ProcessPhase::kStarting) return;
    if (now >= program.ready_until) {
      program.is_late = true;
      return ask_to_end(program);
    }
    if (program.pid != 0) ask_if_ready(program, now);
  }

  void learn_pid(WatchedProgram& program) {
    const auto text = read_record_file(program.folder + program_files::kRun);
    const auto run = text ? programs::read_run_record(*text, program.folder) : pass_on(text.error());
    if (!run || run->start_number != program.record.starts) return;
    program.pid = run->program.pid;
    change(program);
  }

  static void ask_to_end(WatchedProgram& program) {
    if (std::exchange(program.is_asked_to_end, true)) return;
    send_signal(program.keeper, SIGTERM);
  }

  void ask_if_ready(WatchedProgram& program, Instant now) {
    const programs::ProgramRecord& record = program.record;
    const bool is_serve = record.start.is_serve;
    if (!program.probe.is_open()) {
      if (now - program.probe_since < kProbePause) return;
      program.probe_since = now;
      if (record.start.uid && is_taken_by_another(record.port, *record.start.uid)) {
        program.probe_message = fmt::format("port {} is another user's", record.port);
        return;
      }
    }
    const auto answer = program.probe.step({.port = record.port,
                                            .is_post = is_serve,
                                            .path = record.ready,
                                            .key = record.key,
                                            .slice = record.order.slice,
                                            .generation = record.order.generation});
    if (!answer) {
      if (!is_serve && now - program.probe_since > kProbePatience) {
        program.probe.forget();
        program.probe_since = now;
        program.probe_message = "does not answer";
      }
      return;
    }
    program.probe_since = now;
    program.probe_message = answer->message;
    if (answer->status != 200) return;
    program.record.start_time = now - program.started;
    program.phase = ProcessPhase::kReady;
    program.restarts.became_ready(now);
    save(program);
    change(program);
  }

  /// No process of it is left.
  void end(WatchedProgram& program, Instant now) {
    if (program.keeper_pid != 0) ::waitpid(program.keeper_pid, nullptr, WNOHANG);
    program.keeper_pid = 0;
    program.keeper.close();
    program.kept = Kept::kNo;
    program.probe.forget();
    if (program.is_cleaning) return;
    const std::string how = how_it_was(program);
    program.pid = 0;
    program.record.start_time.reset();
    if (!program.record.is_wanted) return;
    const std::string lines = lines_of_start(program.folder);
    fail_start(program, lines.empty() ? how : how + ": " + lines, now);
  }

  std::string how_it_was(const WatchedProgram& program) {
    const auto text = read_record_file(program.folder + program_files::kEnd);
    const auto ended = text ? programs::read_end_record(*text, program.folder) : pass_on(text.error());
    if (ended && ended->start_number == program.record.starts) {
      if (!program.is_late) return ended->how;
      return fmt::format("not ready within {} s ({})", program.record.ready_seconds, program.probe_message);
    }
    clean_after_keeper(program);
    return "its keeper was killed";
  }

  /// What killed keepers have left of the tenants' programs, or of this one. Returns how many processes are left.
  std::size_t end_left(const WatchedProgram& program) const {
    ProcessesOf whose{.home = program.folder + program_files::kHome};
    if (options_.rules.separates_users) whose.uids = *options_.rules.uids;
    return end_left_processes(whose);
  }

  /// The kernel has killed the program itself, but not its descendants.
  void clean_after_keeper(const WatchedProgram& program) {
    const auto text = read_record_file(program.folder + program_files::kRun);
    const auto run = text ? programs::read_run_record(*text, program.folder) : pass_on(text.error());
    if (!run || run->start_number != program.record.starts) return;
    const Descriptor left = open_process(run->program);
    if (left.is_open()) send_signal(left, SIGKILL);
    if (end_left(program) > 0) options_.log(program.folder + ": processes of the program cannot be ended");
    if (options_.simulated_state) {
      unlist_simulated_process(*options_.simulated_state, static_cast<pid_t>(run->program.pid));
    }
  }

  /// Whether something of a stopped program is left. Its files are removed by a process of their own, as there may be
  /// many, and others of its user can add some meanwhile.
  bool remove(WatchedProgram& program) {
    if (!std::exchange(program.is_cleaning, true)) {
      if (end_left(program) > 0) options_.log(program.folder + ": processes of the program cannot be ended");
      if (spawn(program, 0)) return true;
    }
    std::error_code ignored;
    if (std::filesystem::exists(program.folder, ignored)) put_aside(program.folder);
    program.phase = ProcessPhase::kStopped;
    change(program);
    return false;
  }

  /// For the next start of the agent to remove.
  void put_aside(const std::string& folder) {
    const std::string to = fmt::format("{}/{}", removed_folder(options_.rules), steady_now().micros());
    std::error_code trouble;
    std::filesystem::rename(folder, to, trouble);
    options_.log(
        fmt::format("{}: cannot be removed as a whole{}", folder, trouble ? "" : ": what is left is in " + to));
  }

  const ProgramRunnerOptions options_;
  const Descriptor lock_;  ///< of the state folder
  WakeUp wake_up_;
  mutable std::mutex mutex_;  ///< guards everything below
  programs::TenantUids uids_;
  std::map<std::string, WatchedProgram> programs_;  ///< by name
  std::map<std::string, ProcessReport> changed_;    ///< likewise
  std::function<void()> on_news_;
  bool is_stopping_ = false;
  std::thread thread_;
};

Result<void> check_rules(const programs::ProgramRules& rules) {
  for (const auto& [name, made] : rules.templates) {
    if (auto checked = check_trusted_program(made.command.front()); !checked) {
      return invalid(fmt::format("templates.{}.command: {}", name, checked.error().message));
    }
  }
  for (const auto& [name, folder] : rules.repositories) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder.path, ignored)) {
      return invalid(fmt::format("repositories.{}.path: wanted a folder, found {}", name, in_quotes(folder.path)));
    }
    if (!folder.engine) continue;
    if (auto checked = check_trusted(*folder.engine); !checked) {
      return invalid(fmt::format("repositories.{}.engine: {}", name, checked.error().message));
    }
  }
  if (rules.has_any() && rules.separates_users) return check_no_known_user(*rules.uids);
  return {};
}

Result<void> check_privileges(const programs::ProgramRules& rules) {
  if (!rules.has_any() || !rules.separates_users) return {};
  return check_user_changes(*rules.uids);
}

Result<std::unique_ptr<ProgramRunner>> ProgramRunner::open(ProgramRunnerOptions options) {
  if (auto prepared = prepare_state(options.rules); !prepared) return pass_on(prepared.error());
  auto lock = lock_state(options.rules);
  if (!lock) return pass_on(lock.error());
  auto uids = read_uids_file(options.rules);
  if (!uids) return pass_on(uids.error());
  auto watch = std::make_unique<Watch>(std::move(options), std::move(*lock), std::move(*uids));
  return std::make_unique<ProgramRunner>(OnlyByOpen{}, std::move(watch));
}

ProgramRunner::ProgramRunner(OnlyByOpen /*by*/, std::unique_ptr<Watch> watch) : watch_(std::move(watch)) {}
ProgramRunner::~ProgramRunner() = default;

ProgramVerbs ProgramRunner::verbs() {
  Watch* const watch = watch_.get();
  return {.start = [watch](const ProcessOrder& order) { watch->start(order); },
          .stop = [watch](const std::string& slice, std::uint64_t generation) { watch->stop(slice, generation); },
          .list = [watch] { return watch->list(); },
          .take_reports = [watch] { return watch->take_reports(); },
          .read_log = [watch](const std::string& slice, std::uint64_t generation,
                              std::size_t bytes_max) { return watch->read_log(slice, generation, bytes_max); },
          .offers = watch->offers(),
          .separates_users = watch->separates_users(),
          .on_news = [watch](std::function<void()> on_news) { watch->set_on_news(std::move(on_news)); }};
}

}  // namespace berth::edges
