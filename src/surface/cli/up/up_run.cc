#include "surface/cli/up/up_run.h"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>

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
#include "edges/state_folder/state_folder.h"
#include "live/demo.h"
#include "live/session.h"
#include "scenario/load.h"
#include "surface/api/api.h"
#include "surface/api/page.h"
#include "surface/cli/replay/journal_writer.h"

namespace berth::cli {
namespace {

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
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

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
  if (!file) return fail(ErrorCode::kUnavailable, file.error().message);
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

/// Everything that runs, in the order in which it is made.
class Up {
 public:
  Up(const UpRequest& request, VerbContext& context) : request_(request), context_(context) {}

  Result<int> run() {
    const SignalsHeld signals;
    if (auto opened = open_folder(); !opened) return pass_on(opened.error());
    auto scenario = scenario_of(request_, *context_.files);
    if (!scenario) return pass_on(scenario.error());
    if (auto checked = check_layout(request_, *scenario); !checked) return pass_on(checked.error());
    scenario_ = std::move(*scenario);
    if (auto made = make_session(); !made) return pass_on(made.error());
    if (auto served = serve(); !served) return pass_on(served.error());
    const int status = wait(signals);
    server_->stop();
    driver_->stop();
    session_->finish();
    if (auto closed = close_journal(journal_); !closed) return fail(ErrorCode::kUnavailable, closed.error().message);
    return status;
  }

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
    if (request_.speed > 0) {
      solver_ = std::make_unique<edges::SolverThread>();
      options.solve_elsewhere = [this](SolveRequest question) { ask(std::move(question)); };
    }
    auto session = live::Session::make(scenario_, std::move(options));
    if (!session) return pass_on(session.error());
    session_ = std::move(*session);
    auto journal = open_journal(request_, session_->scenario());
    if (!journal) return pass_on(journal.error());
    journal_ = std::move(*journal);
    session_->begin();
    has_begun_ = true;
    if (first_) {
      session_->answer(std::move(*first_));
      session_->advance(Instant());
    }
    if (session_->infeasible()) return invalid(*session_->infeasible());
    return {};
  }

  /// The first layout is in place at second 0: its question is solved at once.
  void ask(SolveRequest question) {
    if (has_begun_) {
      solver_->ask(std::move(question));
      return;
    }
    first_ =
        SolveFinished{.question = question.question, .solution = std::make_shared<const Solution>(question.solve())};
  }

  Result<void> serve() {
    edges::LiveDriverOptions options{.speed = request_.speed};
    if (request_.until_second) options.until = Instant::at_second(*request_.until_second);
    options.progressed = [this] { server_->wake_streams(); };
    driver_ = std::make_unique<edges::LiveDriver>(*session_, lock_, solver_.get(), std::move(options));
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
            .is_solving = solver_ && solver_->is_solving(),
            .last_solve_ms = solver_ ? solver_->last_solve_ms() : 0};
  }

  int wait(const SignalsHeld& signals) {
    while (true) {
      if (const auto end = driver_->wait_for_end(kSignalPoll)) {
        const char* reached = request_.until_second ? "--until" : "the end of the scenario";
        log_line(context_.err, "ended",
                 {{"reason", *end == edges::WorldEnd::kReached ? reached : "no plan can exist"}});
        return *end == edges::WorldEnd::kReached ? 0 : 2;
      }
      if (const auto signal = signals.taken()) {
        log_line(context_.err, "stopping", {{"signal", *signal == SIGINT ? "SIGINT" : "SIGTERM"}});
        return *signal == SIGINT ? kInterruptedStatus : 0;
      }
    }
  }

  const UpRequest& request_;
  VerbContext& context_;
  std::unique_ptr<edges::StateFolder> folder_;
  Scenario scenario_;
  Journal journal_;
  std::mutex lock_;  ///< of the session
  std::unique_ptr<edges::SolverThread> solver_;
  std::unique_ptr<live::Session> session_;
  bool has_begun_ = false;
  std::optional<SolveFinished> first_;
  std::unique_ptr<api::Api> api_;
  std::unique_ptr<edges::LiveDriver> driver_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace

int run_up(const UpRequest& request, VerbContext& context) {
  return_large_blocks_at_once();
  const auto status = Up(request, context).run();
  if (status) return *status;
  finish(context, tl::unexpected(status.error()));
  return context.status;
}

}  // namespace berth::cli
