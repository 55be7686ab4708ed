#include "surface/cli/up/up_run.h"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "edges/files/file_sink.h"
#include "edges/live_driver/live_driver.h"
#include "edges/live_driver/solver_thread.h"
#include "edges/locks/fair_mutex.h"
#include "edges/state_folder/state_folder.h"
#include "live/demo.h"
#include "live/session.h"
#include "scenario/load.h"
#include "surface/api/api.h"
#include "surface/api/page.h"
#include "surface/cli/replay/journal_writer.h"

namespace berth::cli {
namespace {

constexpr int kFailedStatus = 1;
constexpr int kInterruptedStatus = 130;
constexpr std::chrono::milliseconds kSignalPoll{100};

/// While it exists, SIGINT and SIGTERM are kept for `taken`. To be made before any thread.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() {
    while (taken()) continue;  // what came during the end changes nothing about it
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  /// A signal that came, if any; does not wait.
  [[nodiscard]] std::optional<int> taken() const {
    const timespec now{};
    const int signal = sigtimedwait(&signals_, nullptr, &now);
    return signal > 0 ? std::optional(signal) : std::nullopt;
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

void log_line(std::FILE* err, const std::string& event, const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json line{{"event", event}};
  line.update(fields);
  const std::string text = line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), err);
  std::fflush(err);
}

Result<Scenario> scenario_of(const UpRequest& request, const Files& files) {
  if (!request.scenario_path) return live::demo_scenario();
  return scenario::load_scenario(*request.scenario_path, files, {.allows_empty = true});
}

/// The policy `fixed` has nothing but the layout of the scenario. Without GPUs there is none to write.
Result<void> check_layout(const UpRequest& request, const Scenario& scenario) {
  if (request.policy != "fixed" || scenario.layout || scenario.gpu_count() == 0) return {};
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
  constexpr int kArenas = 2;               // of small values
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_TRIM_THRESHOLD, kLargeBytes);
  mallopt(M_ARENA_MAX, kArenas);
}

/// Ends the process without waiting for its threads: what must be kept is kept already.
[[noreturn]] void leave_at_once(int status) {
  std::fflush(nullptr);
  _exit(status);
}

/// Everything that runs, in the order in which it is made.
class Up {
 public:
  Up(const UpRequest& request, VerbContext& context) : request_(request), context_(context) {}

  Result<int> run(const SignalsHeld& signals) {
    if (auto opened = open_folder(); !opened) return pass_on(opened.error());
    auto scenario = scenario_of(request_, *context_.files);
    if (!scenario) return pass_on(scenario.error());
    if (auto checked = check_layout(request_, *scenario); !checked) return pass_on(checked.error());
    scenario_ = std::move(*scenario);
    if (auto made = make_session(); !made) return pass_on(made.error());
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

  Result<void> make_session() {
    live::SessionOptions options;
    options.seed = request_.seed;
    options.policy = request_.policy;
    options.approval = request_.approval;
    options.has_end = request_.until_end;
    options.wall_clock = [] { return now_as_epoch().unix_micros; };
    if (request_.journal_path) {
      options.journal = [this](const sim::JournalRecord& record) { journal_.writer->write(request_.policy, record); };
      options.service_set = [this](ServiceId service) { journal_.writer->read_name(service); };
    }
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

  /// The first layout is in place at second 0: its question is answered before the clock starts. Returns the exit
  /// status if a signal came meanwhile.
  Result<std::optional<int>> begin(const SignalsHeld& signals) {
    session_->begin();
    while (session_->is_solving()) {
      if (const auto signal = signals.taken()) return std::optional(status_of(*signal));
      auto first = solver_.wait_for_answer(kSignalPoll);
      if (!first) continue;
      session_->answer(std::move(*first));
      static_cast<void>(session_->advance(Instant()));
      break;
    }
    if (session_->infeasible()) return invalid(*session_->infeasible());
    return std::optional<int>();
  }

  Result<void> serve() {
    edges::LiveDriverOptions options{.speed = request_.speed};
    if (request_.until_second) options.until = Instant::at_second(*request_.until_second);
    options.has_events = [this] { server_->wake_streams(); };
    driver_ = std::make_unique<edges::LiveDriver>(*session_, lock_, solver_, std::move(options));
    api_ = std::make_unique<api::Api>(*session_, lock_,
                                      api::ApiOptions{.key = folder_->key(),
                                                      .epoch = now_as_epoch(),
                                                      .page = api::page_html(),
                                                      .driver_status = [this] { return driver_status(); }});
    auto server = context_.start_server(request_.listen.host, request_.listen.port, *api_);
    if (!server) return pass_on(server.error());
    server_ = std::move(*server);
    const bool is_v6 = request_.listen.host.find(':') != std::string::npos;
    const std::string url =
        fmt::format("http://{}{}{}:{}/", is_v6 ? "[" : "", request_.listen.host, is_v6 ? "]" : "", server_->port());
    if (auto written = folder_->write_address(url); !written) return pass_on(written.error());
    driver_->start();
    fmt::print(context_.out, "ready {} key: cat {}\n", url, folder_->key_path());
    std::fflush(context_.out);
    nlohmann::ordered_json ready{{"url", url}, {"scenario", scenario_.name}, {"memory_only", true}};
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
            .last_solve_ms = solver_.last_solve_ms()};
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
      if (has_journal_failed()) return kFailedStatus;  // closing it tells why
    }
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
    if (server_) server_->stop();
    if (driver_) driver_->stop();
    session_->finish();
    const auto closed = close_journal(journal_);
    journal_ = Journal();  // one that could not be kept leaves no file
    if (!closed) return fail(ErrorCode::kUnavailable, closed.error().message);
    return status;
  }

  const UpRequest& request_;
  VerbContext& context_;
  std::unique_ptr<edges::StateFolder> folder_;
  Scenario scenario_;
  Journal journal_;
  edges::FairMutex lock_;  ///< of the session
  edges::SolverThread solver_;
  std::unique_ptr<live::Session> session_;
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
