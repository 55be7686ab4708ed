/// What a model server has to do: decided by ServerCore, done by whoever drives it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "domain/ports/model_engine.h"
#include "serving/batching/model_trial.h"
#include "serving/dispatch/request.h"
#include "serving/server/check_request.h"
#include "serving/service/inference_service.h"

namespace berth::serving {

/// A request that was accepted and is not answered yet.
struct AcceptedRequest {
  Request terms;
  InferRequest request;  ///< the inputs in the order of the model
  RequestShape shape;
  InferenceService::AnswerDone done;
};

/// A batch to run on a lane that is free.
struct RunWork {
  LaneIndex lane;
  ModelIndex model;
  std::shared_ptr<LoadedModel> loaded;
  std::vector<AcceptedRequest> requests;
  std::string version;
  bool has_rows = false;  ///< the first dimension of its tensors counts rows
  /// When the latest load of the model began and ended.
  std::optional<std::pair<Instant, Instant>> load = std::nullopt;
  Instant held_until = {};  ///< a simulated device is busy at least until then
};

/// A model to load and to try. One load at a time.
struct LoadWork {
  ModelIndex model;
  ModelFile file;
  std::int64_t weight_bytes = 0;
  TrialTerms trial;
  Micros hold = {};  ///< a simulated device takes so long; 0: as long as it takes
};

/// A model to destroy, which gives its memory back.
struct FreeWork {
  ModelIndex model;
  std::shared_ptr<LoadedModel> loaded;
};

/// A model whose file's sum is not known.
struct SumWork {
  ModelIndex model;
  ModelFile file;
};

/// A client to be told: to be called without a lock.
using TellWork = std::function<void()>;

using Work = std::variant<RunWork, LoadWork, FreeWork, TellWork>;

/// How a batch went. The clients of the requests of a batch are told by whoever ran it.
struct RunReport {
  LaneIndex lane;
  std::vector<bool> is_answered;  ///< of its requests, in their order
  Micros input = {};              ///< to put the batch together
  Micros run = {};                ///< in the engine
  Micros output = {};             ///< to take the rows apart
};

/// What a load gave.
struct LoadedVersion {
  std::shared_ptr<LoadedModel> model;
  std::int64_t measured_bytes = 0;  ///< 0: unknown
  Micros load_time = {};
  Trial trial;
  std::string sha256 = {};  ///< of the content of its file; empty: not known
};

}  // namespace berth::serving
