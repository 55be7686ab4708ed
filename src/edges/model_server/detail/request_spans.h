/// The spans of requests for inference.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/core/instant.h"
#include "domain/tracing/recorder.h"
#include "serving/server/work.h"
#include "serving/service/inference.h"
#include "serving/service/inference_service.h"

namespace berth::edges::detail {

/// Begins the span `infer` of a request, if it is to be recorded. Returns a `done` that ends it, and then calls the
/// given one.
[[nodiscard]] serving::InferenceService::AnswerDone trace(const SpanRecorder& spans, serving::InferRequest& request,
                                                          serving::InferenceService::AnswerDone done);

/// The span of a request that was refused before it had a `done`, if it is to be recorded.
void trace_refused(const SpanRecorder& spans, serving::RefusedRequest request);

/// The spans of a batch: in each traced request `queue` until it began, `load` where one was waited for, and `batch`
/// with links to the other traced requests in it.
class BatchSpans {
 public:
  /// Notes what is needed of the work before its requests are taken out. `began`: by the clock of the server.
  BatchSpans(const SpanRecorder& spans, const serving::RunWork& work, Instant began);

  [[nodiscard]] bool empty() const { return !is_traced_; }
  /// The batch has ended `now`. Requires: not empty.
  void end(std::span<const serving::AcceptedRequest> requests, const std::string& device, Instant now) const;

 private:
  const SpanRecorder& spans_;
  bool is_traced_ = false;
  Instant began_;
  std::string version_;
  std::optional<std::pair<Instant, Instant>> load_;
};

}  // namespace berth::edges::detail
