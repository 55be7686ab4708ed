/// What a model server does for its protocols. HTTP and gRPC are written against this interface alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/tensor.h"
#include "serving/service/inference.h"

namespace berth::serving {

/// As in a Triton repository index.
enum class ModelState {
  kReady,        ///< answers, also if it must be loaded first
  kLoading,      ///< its first load, or one that was asked for
  kUnloading,    ///< takes nothing new, and ends when its accepted requests have ended
  kUnavailable,  ///< see the reason
};

struct IndexEntry {
  std::string name;
  std::string version;  ///< empty: a model without versions
  ModelState state = ModelState::kReady;
  std::string reason = {};  ///< why it is not ready, or that it loads on request
};

struct ModelMetadata {
  std::string name;
  std::vector<std::string> versions;    ///< that serve, ascending
  std::vector<TensorSignature> inputs;  ///< with the dimension of rows, if it is batched
  std::vector<TensorSignature> outputs;
  std::int64_t rows_max = 0;  ///< of a batch; 0: the model is not batched
};

/// How often, and how long together.
struct DurationSum {
  std::uint64_t count = 0;
  Micros sum = {};
};

/// Of all batches of one size.
struct BatchStatistics {
  int rows = 0;
  DurationSum run;
};

/// Since the server began.
struct ModelStatistics {
  std::string name;
  std::string version;
  std::int64_t last_answer_ms = 0;           ///< since 1970; 0: none yet
  std::uint64_t rows = 0;                    ///< answered
  std::uint64_t batches = 0;                 ///< run
  DurationSum answered;                      ///< from arrival to answer
  DurationSum failed;                        ///< likewise, whatever the reason
  DurationSum queued;                        ///< of those answered: until their batch began
  DurationSum input;                         ///< of those answered: their batch was put together
  DurationSum run;                           ///< of those answered: in the engine
  DurationSum output;                        ///< of those answered: their rows were taken out of it
  std::vector<BatchStatistics> batch_sizes;  ///< ascending
};

struct ServerMetadata {
  std::string name;     ///< "berth"
  std::string version;  ///< of the program
  std::string device;   ///< such as "cpu"; of a simulated one also that it is simulated
};

/// Functions may be called by any thread. Those that take a `done` return at once; `done` is called exactly once, by
/// any thread, perhaps before they return, and must return soon.
class InferenceService {
 public:
  using RequestNumber = std::int64_t;
  using AnswerDone = std::function<void(ServeResult<InferAnswer>)>;
  using ModelDone = std::function<void(ServeResult<bool>)>;  ///< the value is always true

  virtual ~InferenceService() = default;

  /// Whose a request is, by its field `authorization`: kNoKey if the server has tenants and it is not the key of one.
  [[nodiscard]] virtual ServeResult<TenantIndex> tenant_of(std::optional<std::string_view> authorization) const = 0;

  /// Checks a request and runs it. The number is for `cancel`.
  virtual RequestNumber infer(InferRequest request, AnswerDone done) = 0;
  /// The client has left: what has not started is discarded, and its `done` gets kCancelled. Does nothing otherwise.
  virtual void cancel(RequestNumber number) = 0;

  /// Whether it serves: it has not begun to end, and has a lane.
  [[nodiscard]] virtual bool is_ready() const = 0;
  [[nodiscard]] virtual ServerMetadata metadata() const = 0;
  /// An empty version: the one that serves. Errors: kUnknown; kUnavailable with the reason.
  [[nodiscard]] virtual ServeResult<ModelMetadata> model_metadata(std::string_view model,
                                                                  std::string_view version) const = 0;
  /// Whether it is not UNAVAILABLE in the index. Errors: kUnknown.
  [[nodiscard]] virtual ServeResult<bool> is_model_ready(std::string_view model, std::string_view version) const = 0;
  /// All models in the byte order of their names, versions ascending.
  [[nodiscard]] virtual std::vector<IndexEntry> index() const = 0;
  /// An empty name: of all models. Errors: kUnknown.
  [[nodiscard]] virtual ServeResult<std::vector<ModelStatistics>> statistics(std::string_view model,
                                                                             std::string_view version) const = 0;

  /// `done` when the model is resident. `lease`: how long it may then not be evicted, 0 to 3600 s. Errors of `done`:
  /// kUnknown, kUnavailable.
  virtual void load(std::string_view model, Micros lease, ModelDone done) = 0;
  /// `done` when its accepted requests have ended and its memory is free; it stays UNAVAILABLE until `load`.
  virtual void unload(std::string_view model, ModelDone done) = 0;

  /// Records in a trace that a request was refused before `infer`, where it is to be recorded. Returns at once.
  virtual void note_refused(RefusedRequest /*request*/) {}
};

}  // namespace berth::serving
