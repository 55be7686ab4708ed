#include "edges/model_server/detail/request_spans.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

namespace berth::edges::detail {
namespace {

using serving::AcceptedRequest;
using serving::InferAnswer;
using serving::InferTrace;
using serving::ServeFault;
using serving::ServeResult;

/// OpenTelemetry's `error.type`: low in number, and the same in each protocol.
std::string_view error_type(ServeFault fault) {
  switch (fault) {
    case ServeFault::kMalformed:
      return "malformed";
    case ServeFault::kNoKey:
      return "no_key";
    case ServeFault::kUnknown:
      return "unknown";
    case ServeFault::kTooLarge:
      return "too_large";
    case ServeFault::kRejected:
      return "rejected";
    case ServeFault::kEngineFailed:
      return "engine_failed";
    case ServeFault::kNotOffered:
      return "not_offered";
    case ServeFault::kUnavailable:
      return "unavailable";
    case ServeFault::kExpired:
      return "expired";
    case ServeFault::kCancelled:
      return "cancelled";
  }
  return "";
}

void put_error(Span& span, ServeFault fault) {
  span.attributes.emplace_back("error.type", std::string(error_type(fault)));
  const bool is_ours = fault == ServeFault::kEngineFailed || fault == ServeFault::kUnavailable;
  if (is_ours) span.failure = "";
}

void end_child(const SpanRecorder& spans, const Span& parent, Span child) {
  Span made = child_of(context_of(parent), spans.next_id());
  made.name = std::move(child.name);
  made.begin_us = std::max(child.begin_us, parent.begin_us);
  made.end_us = std::max(child.end_us, made.begin_us);
  made.attributes = std::move(child.attributes);
  made.links = std::move(child.links);
  spans.end(std::move(made));
}

Span spanning(std::string name, std::int64_t begin_us, std::int64_t end_us) {
  Span span;
  span.name = std::move(name);
  span.begin_us = begin_us;
  span.end_us = end_us;
  return span;
}

void end_request(const SpanRecorder& spans, InferTrace& trace, const ServeResult<InferAnswer>& answer) {
  Span& span = trace.span;
  span.end_us = spans.now_us();
  if (!trace.has_run) end_child(spans, span, spanning("queue", span.begin_us, span.end_us));
  if (!answer) put_error(span, answer.error().fault);
  spans.end(std::move(span));
}

/// Links to the traced requests, but this one.
std::vector<SpanLink> links_of(std::span<const AcceptedRequest> requests, const InferTrace& but) {
  std::vector<SpanLink> links;
  for (const AcceptedRequest& each : requests) {
    const InferTrace* other = each.request.trace.get();
    if (other == nullptr || other == &but) continue;
    if (links.size() == kSpanLinksMax) break;
    links.push_back({.trace = other->span.trace, .span = other->span.id});
  }
  return links;
}

}  // namespace

serving::InferenceService::AnswerDone trace(const SpanRecorder& spans, serving::InferRequest& request,
                                            serving::InferenceService::AnswerDone done) {
  auto span = spans.begin(request.caller, true);
  if (!span) return done;
  span->name = "infer";
  span->kind = SpanKind::kServer;
  span->attributes = {{"berth.model", request.model}};
  request.trace = std::make_shared<InferTrace>(InferTrace{.span = std::move(*span)});
  return [&spans, trace = request.trace, done = std::move(done)](ServeResult<InferAnswer> answer) {
    end_request(spans, *trace, answer);
    done(std::move(answer));
  };
}

void trace_refused(const SpanRecorder& spans, serving::RefusedRequest request) {
  auto span = spans.begin(request.caller, true);
  if (!span) return;
  span->name = std::move(request.span);
  span->kind = SpanKind::kServer;
  if (!request.model.empty()) span->attributes = {{"berth.model", std::move(request.model)}};
  put_error(*span, request.fault);
  span->end_us = spans.now_us();
  spans.end(std::move(*span));
}

BatchSpans::BatchSpans(const SpanRecorder& spans, const serving::RunWork& work, Instant began)
    : spans_(spans), began_(began) {
  is_traced_ = std::ranges::any_of(work.requests, [](const auto& each) { return each.request.trace != nullptr; });
  if (!is_traced_) return;
  version_ = work.version;
  load_ = work.load;
}

void BatchSpans::end(std::span<const AcceptedRequest> requests, const std::string& device, Instant now) const {
  const std::int64_t now_us = spans_.now_us();
  const auto wall = [&](Instant at) { return now_us - (now - at).count(); };
  std::int64_t rows = 0;
  for (const AcceptedRequest& each : requests) rows += each.terms.rows;
  for (const AcceptedRequest& each : requests) {
    InferTrace* trace = each.request.trace.get();
    if (trace == nullptr) continue;
    trace->has_run = true;
    end_child(spans_, trace->span, spanning("queue", trace->span.begin_us, wall(began_)));
    if (load_ && load_->second > each.terms.arrival && load_->second <= began_) {
      end_child(spans_, trace->span, spanning("load", wall(load_->first), wall(load_->second)));
    }
    Span batch = spanning("batch", wall(began_), now_us);
    batch.attributes = {{"berth.model", each.request.model},
                        {"berth.version", version_},
                        {"berth.rows", rows},
                        {"berth.requests", static_cast<std::int64_t>(requests.size())},
                        {"berth.device", device}};
    batch.links = links_of(requests, *trace);
    end_child(spans_, trace->span, std::move(batch));
  }
}

}  // namespace berth::edges::detail
