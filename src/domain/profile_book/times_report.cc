#include "domain/profile_book/times_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/json/document.h"
#include "base/yaml/reader.h"
#include "domain/profile/readers.h"

namespace berth::profile_book {
namespace {

constexpr std::int64_t kBatchCountMax = 1'000'000'000'000;
constexpr std::int64_t kBatchSumUsMax = 1'000'000'000'000'000'000;
constexpr std::int64_t kMemoryBytesMax = std::int64_t{1} << 60U;
constexpr std::size_t kHexDigits = 64;

using Identity = std::tuple<std::string, std::string, std::string, int>;

bool is_hex(std::string_view text) {
  return text.size() == kHexDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string read_sha256(const yaml::Value& value) {
  if (!value.is_present()) return {};
  std::string text = value.text("64 hexadecimal digits");
  if (!value.has_failed() && !is_hex(text)) value.refuse("64 hexadecimal digits");
  return text;
}

double read_squares(const yaml::Value& value) {
  constexpr std::int64_t kSquaresMaxRoot = 1'000'000'000'000'000'000;
  const Decimal max = Decimal(kSquaresMaxRoot) * Decimal(kSquaresMaxRoot);
  return value.number(yaml::number_from(Decimal(0), max)).to_double();
}

ObservedTimes read_item(const yaml::Value& item, const std::string& device) {
  ObservedTimes times{.model = item.at("model").name(),
                      .version = item.at("version").text("a version"),
                      .sha256 = read_sha256(item.at("sha256")),
                      .device = device};
  times.batch = static_cast<int>(item.at("batch").whole({.min = 1, .max = profile::kBatchMax}));
  times.count = item.at("count").whole({.min = 0, .max = kBatchCountMax});
  times.sum_us = item.at("sum_us").whole({.min = 0, .max = kBatchSumUsMax});
  times.sum_squares = read_squares(item.at("sum_squares"));
  return times;
}

void read_times(const yaml::Value& root, TimesReport& report) {
  report.started_us = root.at("started_us").whole({.min = 0});
  const std::string device = root.at("device").name();
  std::set<Identity> seen;
  for (const yaml::Value& item : root.at("items").items("a list of batch times")) {
    ObservedTimes times = read_item(item, device);
    if (item.has_failed()) return;
    if (!seen.emplace(times.model, times.version, times.sha256, times.batch).second) {
      return item.fail("a second item of the same model, version, sha256 and batch");
    }
    if (times.count > 0) report.items.push_back(std::move(times));
  }
}

void read_memory(const yaml::Value& root, TimesReport& report) {
  std::map<std::pair<std::string, std::string>, std::int64_t>
      bytes;  // a version may be there twice while it is replaced
  for (const yaml::Value& item : root.at("models").items("a list of models")) {
    const std::string name = item.at("name").name();
    const std::string version = item.at("version").text("a version");
    const yaml::Value measured = item.at("measured_bytes");
    if (!measured.is_present()) continue;
    std::int64_t& most = bytes[{name, version}];
    most = std::max(most, measured.whole({.min = 0, .max = kMemoryBytesMax}));
  }
  for (const auto& [model, count] : bytes) {
    if (count > 0) report.memory.push_back({.model = model.first, .version = model.second, .bytes = count});
  }
}

/// Reads one answer with `read`.
Result<void> read_answer(std::string_view text, const std::string& source, TimesReport& report,
                         void (*read)(const yaml::Value&, TimesReport&)) {
  const auto tree = json::parse_document(text, source);
  if (!tree) return invalid(tree.error().message);
  yaml::Report failures(source);
  read(yaml::Value(*tree, failures), report);
  if (failures.has_failed()) return invalid(failures.failure().message);
  return {};
}

}  // namespace

Result<TimesReport> read_times_report(const ServerAnswers& answers) {
  TimesReport report{.url = answers.url};
  if (auto read = read_answer(answers.times, answers.url + "/berth/v1/times", report, read_times); !read) {
    return pass_on(read.error());
  }
  auto memory = read_memory_answer(answers.url, answers.memory);
  if (!memory) return pass_on(memory.error());
  report.memory = *std::move(memory);
  return report;
}

Result<std::vector<ObservedMemory>> read_memory_answer(const std::string& url, std::string_view text) {
  TimesReport report;
  if (auto read = read_answer(text, url + "/berth/v1/memory", report, read_memory); !read) return pass_on(read.error());
  return std::move(report.memory);
}

}  // namespace berth::profile_book
