/// A model server without its threads, its clock and its files: requests, ends of runs and loads, and what is in the
/// repository come in with a time; batches, loads and answers come out as work.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "serving/dispatch/dispatcher.h"
#include "serving/figures/figure_book.h"
#include "serving/repository/model_repository.h"
#include "serving/server/served_version.h"
#include "serving/server/work.h"
#include "serving/service/inference_service.h"

namespace berth::serving {

struct ServerTerms {
  DispatchTerms dispatch;
  std::vector<TenantTerms> tenants;
  /// What a simulated device says of a model; nothing if it does not know it. Empty: the device is real.
  std::function<std::optional<ModelTerms>(const std::string& model)> simulated = {};
};

/// What a server has done with its memory, and what it knows of its models.
struct DeviceActivity {
  std::int64_t loads = 0;  ///< begun
  std::int64_t evictions = 0;
  std::vector<ModelTerms> models = {};  ///< of all versions, also of those that are gone
};

/// After each call the caller does the work of `take_work`, and calls `tick` at `wake_at` if nothing happens before.
/// Time never goes back.
class ServerCore {
 public:
  using RequestNumber = InferenceService::RequestNumber;

  explicit ServerCore(ServerTerms terms);

  /// What is in the repository now. A version that is new or has changed is loaded beside the old one, which
  /// serves until then, and stays if the load fails.
  void take_repository(const RepositoryModels& models, Instant now);

  RequestNumber infer(InferRequest request, InferenceService::AnswerDone done, Instant now);
  void cancel(RequestNumber number, Instant now);
  void load(std::string_view model, Micros lease, InferenceService::ModelDone done, Instant now);
  void unload(std::string_view model, InferenceService::ModelDone done, Instant now);

  void end_run(const RunReport& report, Instant now);
  /// The lane never comes back, and its model cannot serve for the reason given. Its requests are told.
  void lose_lane(LaneIndex lane, const std::string& reason, Instant now);
  /// Errors of `loaded`: kUnavailable if there was not enough memory, which is tried again; else the model cannot
  /// serve.
  void end_load(ModelIndex model, Result<LoadedVersion> loaded, Instant now);
  void end_free(ModelIndex model, Instant now);
  /// A version that was loaded, and whose file's sum is not known; nothing if there is none.
  [[nodiscard]] std::optional<SumWork> next_sum() const;
  /// `sha256`: of the file's content; nothing if it is not what it was.
  void end_sum(ModelIndex model, const std::optional<std::string>& sha256);
  void tick(Instant now);
  [[nodiscard]] Instant wake_at() const { return dispatcher_.wake_at(); }

  /// Accepts no requests from now on.
  void begin_end() {
    is_ending_ = true;
    dispatcher_.stop_preloads();
  }
  /// Refuses all that still wait.
  void refuse_waiting(Instant now);
  /// Whether no request is accepted and unanswered.
  [[nodiscard]] bool is_idle() const { return waiting_.empty() && running_ == 0; }

  [[nodiscard]] std::vector<Work> take_work() { return std::exchange(work_, {}); }

  [[nodiscard]] DeviceActivity activity() const;
  [[nodiscard]] bool is_ready() const { return !is_ending_ && lanes_left_ > 0; }
  [[nodiscard]] ServeResult<ModelMetadata> model_metadata(std::string_view model, std::string_view version) const;
  [[nodiscard]] ServeResult<bool> is_model_ready(std::string_view model, std::string_view version) const;
  [[nodiscard]] std::vector<IndexEntry> index() const;
  [[nodiscard]] ServeResult<std::vector<ModelStatistics>> statistics(std::string_view model,
                                                                     std::string_view version) const;

  /// What it counts.
  [[nodiscard]] FigureBook& figures() { return figures_; }
  [[nodiscard]] const FigureBook& figures() const { return figures_; }
  [[nodiscard]] const Dispatcher& dispatcher() const { return dispatcher_; }
  /// Whether models are loaded before they are asked for.
  [[nodiscard]] bool has_preloads() const { return dispatcher_.has_preloads(); }
  /// All there ever were, by index.
  [[nodiscard]] std::span<const ServedVersion> versions() const { return versions_; }
  /// Those that serve, by name, then ascending.
  [[nodiscard]] std::vector<ModelIndex> serving_versions() const;
  [[nodiscard]] int lanes_left() const { return lanes_left_; }

 private:
  /// The versions of a name.
  struct NamedModel {
    std::vector<ModelIndex> versions = {};  ///< that serve, ascending
    std::vector<ModelIndex> arriving = {};  ///< that are loaded before they replace others
    std::string reason = {};                ///< why it has no versions
    bool is_unloaded = false;               ///< by a client, until it is loaded again
  };
  using NamedModels = std::map<std::string, NamedModel, std::less<>>;

  [[nodiscard]] ServedVersion& at(ModelIndex index) { return versions_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const ServedVersion& at(ModelIndex index) const { return versions_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] ServeResult<const NamedModel*> find_named(std::string_view model) const;
  /// The version that a request means.
  [[nodiscard]] ServeResult<ModelIndex> find_version(std::string_view model, std::string_view version) const;
  [[nodiscard]] IndexEntry entry_of(const NamedModel& named, ModelIndex index) const;

  [[nodiscard]] ModelIndex add_version(const std::string& model, const RepositoryVersion& source);
  void take_model(const RepositoryModel& model, Instant now);
  [[nodiscard]] std::string why_it_cannot_fit(const ServedVersion& version,
                                              const std::optional<ModelTerms>& simulated) const;
  void add_if_new(NamedModel& named, const std::string& model, const RepositoryVersion& source, bool is_replacing,
                  Instant now);
  void remove_obsolete(NamedModel& named);
  void replace(NamedModel& named, ModelIndex arrived, Instant now);
  void let_go(ModelIndex index);
  void remove(ModelIndex index);
  void remove_missing(const RepositoryModels& models);
  void fail_version(ModelIndex index, const std::string& reason);

  struct Accepted {
    Request terms;
    RequestShape shape;
  };

  /// Puts the inputs into the order of the model.
  [[nodiscard]] ServeResult<Accepted> accept(InferRequest& request, Instant now) const;
  void count_refused(const InferRequest& request, const ServeError& error, Instant now);
  /// From now on requests of the model share batches, those that wait included.
  void begin_batching(ModelIndex model, ModelTerms terms, Instant now);
  void decide(Instant now);
  void carry_out(StartBatch& order);
  void carry_out(const StartLoad& order);
  void carry_out(const Evict& order);
  void carry_out(const Reject& order);
  void carry_out(const Drop& order);
  void refuse_all(const std::vector<Request>& requests, const ServeError& error);
  void tell(AcceptedRequest request, ServeError error);
  [[nodiscard]] AcceptedRequest take_waiting(std::int64_t number);
  void learn_latency(const RunningBatch& batch, Micros taken);
  void fail_load(ModelIndex model, const Error& error, Instant now);
  void learn_trial(ModelIndex model, const Trial& trial, Micros load_time, Instant now);
  /// A version was loaded: if others wait to be replaced by it, it takes over.
  void arrive(ModelIndex model, Instant now);
  /// Whatever becomes idle: a client that asks for a load is not kept waiting for it.
  [[nodiscard]] std::optional<ServeError> why_it_cannot_load(ModelIndex index, Instant now) const;
  void tell_loaded(ModelIndex index, const ServeResult<bool>& result);
  void tell_if_gone(ModelIndex index);

  ServerTerms terms_;
  Dispatcher dispatcher_;
  FigureBook figures_;
  std::vector<ServedVersion> versions_;  ///< by model index
  NamedModels models_;
  std::unordered_map<std::int64_t, AcceptedRequest> waiting_;
  std::vector<Work> work_;
  std::int64_t next_number_ = 0;
  std::int64_t running_ = 0;  ///< requests in batches
  int lanes_left_ = 0;
  std::int64_t loads_ = 0;
  std::int64_t evictions_ = 0;
  int gone_waiter_count_ = 0;  ///< of all versions
  Instant now_;                ///< of the last call
  bool is_ending_ = false;
};

}  // namespace berth::serving
