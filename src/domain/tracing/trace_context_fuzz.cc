// Any bytes are no context, or one whose header is read as the same context; what is passed on of a state is the whole
// state or nothing.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "domain/tracing/trace_context.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const auto context = parse_traceparent(text)) {
    ENSURE(context->trace != TraceId() && context->span != SpanId());
    const std::string written = traceparent_of(*context);
    ENSURE(written.size() == 55 && parse_traceparent(written) == context);
    // Only the version and the other flags may differ from what was read.
    ENSURE(written.substr(2, 51) == text.substr(2, 51));
  }
  const std::string state = passed_tracestate(text);
  ENSURE(state.empty() || (state == text && state.size() <= 512));
  const HttpField fields[] = {{"traceparent", std::string(text.substr(0, size / 2))},
                              {"tracestate", std::string(text.substr(size / 2))}};
  static_cast<void>(trace_context_of(fields));
  return 0;
}
