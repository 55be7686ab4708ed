#include "domain/scenario/detail/arrivals.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "base/core/overloaded.h"
#include "domain/scenario/detail/rules.h"
#include "domain/scenario/service_keys.h"
#include "domain/trace/arrival_stream.h"
#include "domain/trace/readers.h"

namespace berth::scenario::detail {
namespace {

/// Traces of all services together, in memory.
constexpr std::size_t kArrivalBytesMax = std::size_t{2} << 30U;

constexpr std::array<std::string_view, 8> kFormats = {"azure-llm", "azure-functions", "rps-text", "csv",
                                                      "constant",  "poisson",         "bursty",   "diurnal"};
enum class Format { kAzureLlm, kAzureFunctions, kRpsText, kCsv, kConstant, kPoisson, kBursty, kDiurnal };

bool is_generator(Format format) { return format >= Format::kConstant; }

/// The longest trace of an object: a single row of a small text may state any second up to this.
constexpr std::int64_t kObjectSecondsMax = 2'592'000;

Format read_format(const yaml::Value& value, bool has_files) {
  if (has_files) return static_cast<Format>(value.choice(kFormats));
  return static_cast<Format>(value.choice(kArrivalWords) + static_cast<std::size_t>(Format::kCsv));
}

std::vector<std::string_view> keys_of(Format format, bool has_files) {
  std::vector<std::string_view> keys = {"format", "from_second", "seconds", "scale", "smooth_seconds", "repeat"};
  if (is_generator(format)) {
    keys.push_back("requests_per_second");
  } else {
    keys.push_back(has_files ? "path" : "rows");
  }
  if (format == Format::kAzureFunctions) keys.insert(keys.end(), {"app", "function"});
  return keys;
}

Generator generator(const yaml::Value& value, Format format) {
  const Decimal rate =
      value.at("requests_per_second").number(yaml::number_from(Decimal(0), Decimal(kRequestsPerSecondMax)));
  switch (format) {
    case Format::kPoisson:
      return {Generator::Kind::kPoisson, rate};
    case Format::kBursty:
      return {Generator::Kind::kBursty, rate};
    case Format::kDiurnal:
      return {Generator::Kind::kDiurnal, rate};
    case Format::kConstant:
    case Format::kAzureLlm:
    case Format::kAzureFunctions:
    case Format::kRpsText:
    case Format::kCsv:
      break;
  }
  return {Generator::Kind::kConstant, rate};
}

/// `app:` or `function:`, exactly one of them.
FunctionSelector selector(const yaml::Value& value) {
  constexpr std::size_t kHashLengthMax = 200;
  const bool is_app = value.at("app").is_written();
  if (is_app == value.at("function").is_written()) {
    value.fail(fmt::format("wanted either app or function, found {}", is_app ? "both" : "neither"));
    return {};
  }
  return {is_app, value.at(is_app ? "app" : "function").name(kHashLengthMax)};
}

template <class T>
Result<ArrivalSource> as_source(Result<T> trace) {
  if (!trace) return pass_on(trace.error());
  return ArrivalSource(std::move(*trace));
}

Result<ArrivalSource> parse(const SourceFile& file, Format format, const FunctionSelector& wanted) {
  switch (format) {
    case Format::kAzureLlm:
      return as_source(read_azure_llm(*file.text, file.path));
    case Format::kAzureFunctions:
      return as_source(read_azure_functions(*file.text, file.path, wanted));
    case Format::kRpsText:
      return as_source(read_rps_text(*file.text, file.path));
    case Format::kCsv:
      return as_source(read_count_csv(*file.text, file.path));
    case Format::kConstant:
    case Format::kPoisson:
    case Format::kBursty:
    case Format::kDiurnal:
      break;
  }
  ENSURE(false && "a generator has no file");
  return ArrivalSource();
}

std::size_t bytes_of(const ArrivalSource& source) {
  return std::visit(
      Overloaded{[](const CountTrace& trace) { return trace.counts.size() * sizeof(trace.counts[0]); },
                 [](const MinuteTrace& trace) { return trace.counts.size() * sizeof(trace.counts[0]); },
                 [](const TimedTrace& trace) { return trace.requests.size() * sizeof(trace.requests[0]); },
                 [](const Generator&) { return std::size_t{0}; }},
      source);
}

ArrivalSource recorded(const yaml::Value& value, Format format, Sources& sources) {
  const FunctionSelector wanted = format == Format::kAzureFunctions ? selector(value) : FunctionSelector{};
  const std::string path = sources.resolve(value.at("path"));
  if (value.has_failed()) return {};
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}", kFormats[static_cast<std::size_t>(format)], wanted.is_app, wanted.hash, path);
  if (const ArrivalSource* known = sources.arrivals.find(key)) return *known;
  const auto file = sources.read(value.at("path"));
  if (!file) return {};
  auto source = parse(*file, format, wanted);
  if (!source) {
    value.pass_on(source.error());
    return {};
  }
  sources.arrivals.keep(key, *source, bytes_of(*source));
  return std::move(*source);
}

/// `[{second, requests}]`, as in a file of the format csv.
CountTrace counts_of_rows(const yaml::Value& rows) {
  CountTrace trace;
  for (const yaml::Value& row : rows.items("a list of at least one row", false)) {
    static const std::vector<std::string_view> kKeys = key_names("arrivals.rows");  // there may be many rows
    row.check_keys(kKeys);
    const std::int64_t second = row.at("second").whole({std::ssize(trace.counts), kObjectSecondsMax - 1});
    const std::int64_t count = row.at("requests").whole({0, kRequestsPerSecondMax});
    if (row.has_failed()) return trace;
    trace.counts.resize(static_cast<std::size_t>(second));
    trace.counts.push_back(static_cast<std::uint32_t>(count));
  }
  return trace;
}

/// Likewise, from a blob.
CountTrace counts_of_blob(const yaml::Value& value, const BlobRows& rows) {
  const yaml::Value blob = value.at("rows").at("blob");
  if (rows.list) {
    yaml::Report report("blob");
    CountTrace trace = counts_of_rows(yaml::Value(*rows.list, report));
    if (report.has_failed()) Sources::keep_failure(value, report.parts());
    return trace;
  }
  auto trace = read_count_csv(rows.csv, "blob");
  if (!trace) {
    blob.fail_with(trace.error());
    return {};
  }
  if (std::ssize(trace->counts) > kObjectSecondsMax) {
    blob.fail(fmt::format("wanted seconds below {}, found {}", kObjectSecondsMax, trace->counts.size() - 1));
  }
  return std::move(*trace);
}

ArrivalSource read_source(const yaml::Value& value, Format format, Sources& sources) {
  if (is_generator(format)) return generator(value, format);
  if (sources.has_files()) return recorded(value, format, sources);
  const auto rows = sources.find_rows(value);
  if (value.has_failed()) return {};
  return rows ? counts_of_blob(value, *rows) : counts_of_rows(value.at("rows"));
}

/// The window: from_second within the trace, seconds up to its end by default. Requires: the source is read.
void read_window(const yaml::Value& value, Arrivals& arrivals) {
  const bool is_made_up = std::holds_alternative<Generator>(arrivals.source);
  const std::int64_t length = is_made_up ? kTraceSecondsMax : trace_seconds(arrivals);
  const yaml::Value from = value.at("from_second");
  if (from.is_written()) arrivals.from_second = from.whole({0, kTraceSecondsMax - 1});
  if (arrivals.from_second >= length) {
    return from.fail(fmt::format("wanted a second of the trace, below {}, found {}", length, arrivals.from_second));
  }
  const yaml::Value seconds = value.at("seconds");
  if (is_made_up || seconds.is_written()) {
    arrivals.seconds = seconds.whole({1, kTraceSecondsMax - arrivals.from_second});
  } else {
    arrivals.seconds = length - arrivals.from_second;
  }
}

/// Discards the part of a long trace so far after the window that no second of the window depends on it.
void cut_behind_window(Arrivals& arrivals) {
  constexpr std::int64_t kMinuteSeconds = 60;
  const std::int64_t end = arrivals.from_second + arrivals.seconds + arrivals.smooth_seconds;
  const auto cut = [](std::vector<std::uint32_t>& counts, std::int64_t count) {
    if (std::ssize(counts) <= count) return;
    counts.resize(static_cast<std::size_t>(count));
    counts.shrink_to_fit();
  };
  const auto cut_timed = [&](TimedTrace& trace) {
    if (trace.seconds <= end) return;
    trace.seconds = end;
    std::erase_if(trace.requests, [&](const auto& request) { return request.at_us >= end * kMicrosPerSecond; });
    trace.requests.shrink_to_fit();
  };
  std::visit(Overloaded{[&](CountTrace& trace) { cut(trace.counts, end); },
                        [&](MinuteTrace& trace) { cut(trace.counts, end / kMinuteSeconds + 1); }, cut_timed,
                        [](Generator&) {}},
             arrivals.source);
}

void check_size(const yaml::Value& value, const Arrivals& arrivals, Sources& sources) {
  sources.arrival_bytes += bytes_of(arrivals.source);
  if (sources.arrival_bytes > kArrivalBytesMax) {
    value.fail(
        fmt::format("wanted traces of at most {} bytes in memory for all services, found more", kArrivalBytesMax));
  }
  if (value.has_failed()) return;
  if (const auto overload = find_overload(arrivals)) value.fail(*overload);
}

}  // namespace

Arrivals read_arrivals(const yaml::Value& value, Sources& sources) {
  Arrivals arrivals;
  if (!value.is_map()) {
    value.refuse("a map");
    return arrivals;
  }
  if (!sources.has_files()) Sources::refuse_path(value);
  const Format format = read_format(value.at("format"), sources.has_files());
  if (value.has_failed()) return arrivals;
  value.check_keys(keys_of(format, sources.has_files()));
  const yaml::Value scale = value.at("scale");
  if (scale.is_written()) arrivals.scale = scale.number(yaml::number_above_zero(Decimal(kPlainNumberMax)));
  const yaml::Value smooth = value.at("smooth_seconds");
  if (smooth.is_written()) arrivals.smooth_seconds = smooth.whole({1, kTraceSecondsMax});
  if (value.at("repeat").is_written()) arrivals.repeat = value.at("repeat").truth();
  arrivals.source = read_source(value, format, sources);
  if (value.has_failed()) return arrivals;
  read_window(value, arrivals);
  if (value.has_failed()) return arrivals;
  cut_behind_window(arrivals);
  check_size(value, arrivals, sources);
  return arrivals;
}

}  // namespace berth::scenario::detail
