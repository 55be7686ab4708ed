/// A model server in this process: threads and a clock around serving/server.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ports/model_engine.h"
#include "domain/tracing/recorder.h"
#include "serving/server/server_core.h"
#include "serving/service/figure_service.h"
#include "serving/service/inference_service.h"

namespace berth::edges {

namespace detail {
class ServerThreads;
}

struct ModelServerOptions {
  serving::ServerTerms terms;
  serving::ServerMetadata metadata;
  Micros run_max = Micros::seconds(30);  ///< a run that takes longer is ended
  /// The models of the repository now. Called by one thread at a time, first by `start`.
  std::function<serving::RepositoryModels()> scan;
  Micros scan_every = Micros::seconds(1);
  /// Whose a request is. Empty: all belong to the first tenant.
  std::function<serving::ServeResult<serving::TenantIndex>(std::optional<std::string_view> authorization)> tenant_of;
  /// Told what an operator should know: a model that cannot serve, a lane that is lost. Any thread.
  std::function<void(const std::string& message)> report = [](const std::string&) {};
  /// Of the device, in bytes; empty, or nothing: it does not say. Any thread.
  std::function<std::optional<std::int64_t>()> device_free_bytes;
  std::function<Micros()> wall_clock;  ///< since 1970; empty: the system's
  SpanRecorder spans = {};             ///< empty: no request is traced
};

/// What became of the requests that were accepted when the server began to end.
struct ServerEnd {
  bool is_complete = true;  ///< all were answered
  int lanes_lost = 0;
};

class ModelServer final : public serving::InferenceService, public serving::FigureService {
 public:
  /// `engine` is borrowed; null if the repository never has models. It and what the options refer to must outlive the
  /// process if a lane is lost.
  ModelServer(ModelEngine* engine, ModelServerOptions options);
  ModelServer(const ModelServer&) = delete;
  ModelServer& operator=(const ModelServer&) = delete;
  ~ModelServer() override;

  /// Reads the repository and starts the threads.
  void start();
  /// Accepts no more requests, waits for those accepted for at most `at_most`, refuses the rest and ends the threads. A
  /// second call does nothing.
  ServerEnd stop(Micros at_most);
  [[nodiscard]] serving::DeviceActivity activity() const;

  [[nodiscard]] serving::ServeResult<serving::TenantIndex> tenant_of(
      std::optional<std::string_view> authorization) const override;
  RequestNumber infer(serving::InferRequest request, AnswerDone done) override;
  void note_refused(serving::RefusedRequest request) override;
  void cancel(RequestNumber number) override;
  [[nodiscard]] bool is_ready() const override;
  [[nodiscard]] serving::ServerMetadata metadata() const override { return options_.metadata; }
  [[nodiscard]] serving::ServeResult<serving::ModelMetadata> model_metadata(std::string_view model,
                                                                            std::string_view version) const override;
  [[nodiscard]] serving::ServeResult<bool> is_model_ready(std::string_view model,
                                                          std::string_view version) const override;
  [[nodiscard]] std::vector<serving::IndexEntry> index() const override;
  [[nodiscard]] serving::ServeResult<std::vector<serving::ModelStatistics>> statistics(
      std::string_view model, std::string_view version) const override;
  void load(std::string_view model, Micros lease, ModelDone done) override;
  void unload(std::string_view model, ModelDone done) override;

  [[nodiscard]] serving::ServeResult<std::vector<serving::FigurePoint>> series(
      const serving::AskedFigures& asked) const override;
  [[nodiscard]] serving::MemoryFigures memory() const override;
  [[nodiscard]] std::vector<serving::UsageItem> usage() const override;
  [[nodiscard]] serving::TimeFigures times() const override;
  [[nodiscard]] serving::CounterFigures counters() const override;

  /// A model that is served elsewhere, and a request to it that has ended.
  void add_backend_model(std::string_view model);
  void end_at_backend(std::string_view model, serving::TenantIndex tenant, const serving::BackendEnd& how);

  /// From now on, what has ended is kept for `take_ended`. Before `start`.
  void keep_ended();
  /// Looks at the wall clock, too: to be called each second or so. `is_last`: after `stop`.
  [[nodiscard]] serving::EndedFigures take_ended(bool is_last);

 private:
  [[nodiscard]] Micros wall_now() const;
  void learn_wall_time();

  [[nodiscard]] std::optional<std::int64_t> device_free_bytes() const;

  ModelServerOptions options_;
  /// Shared with the threads: that of a lost lane outlives the server.
  std::shared_ptr<detail::ServerThreads> threads_;
  std::optional<std::int64_t> base_bytes_;  ///< of the process before its first model
  std::int64_t started_us_ = 0;             ///< since 1970
};

}  // namespace berth::edges
