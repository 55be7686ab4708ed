// Any values of the variables give options that can be used, with warnings that are text, or an error.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "domain/tracing/otel_options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  const auto reading = read_otel_options(
      [&](std::string_view name) -> std::optional<std::string> {
        if (name == "OTEL_SDK_DISABLED" || name == "OTEL_EXPORTER_OTLP_PROTOCOL") return std::nullopt;
        return name == "OTEL_EXPORTER_OTLP_ENDPOINT" && size % 2 == 0 ? "http://localhost" : text;
      },
      "berth");
  if (!reading) {
    ENSURE(find_bad_utf8(reading.error().message) == std::string_view::npos);
    return 0;
  }
  for (const std::string& warning : reading->warnings) ENSURE(find_bad_utf8(warning) == std::string_view::npos);
  for (const HttpField& header : reading->options.headers) {
    ENSURE(!header.name.empty() && header.value.find_first_of("\r\n") == std::string::npos);
  }
  const Sampler& sampler = reading->options.sampler;
  ENSURE(sampler.share >= 0 && sampler.share <= 1);
  return 0;
}
