#include "serving/figures/usage_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/core/text.h"
#include "base/json/writer.h"
#include "base/json_lines/flat_object.h"

namespace berth::serving {
namespace {

constexpr std::int64_t kCapacity = 1'000'000;
constexpr std::int64_t kMinuteMicros = 60 * kMicrosPerSecond;
// What a ledger takes.
constexpr std::size_t kTextBytesMax = 128;
constexpr std::int64_t kYear2000Micros = 946'684'800 * kMicrosPerSecond;
constexpr std::int64_t kYear2101Micros = 4'133'980'800 * kMicrosPerSecond;

json::Writer begin_event(std::string_view type, const std::string& id, const std::string& gpu) {
  json::Writer json;
  json.open_object().member("type", type).member("id", id).member("gpu", gpu);
  return json;
}

std::string end_event(json::Writer json, std::int64_t from_us, std::int64_t to_us) {
  return json.member("from_us", from_us).member("to_us", to_us).close_object().take_line();
}

}  // namespace

UsageLines::UsageLines(UsageDevice device, std::string id_prefix, std::int64_t written_until_us)
    : device_(std::move(device)), id_prefix_(std::move(id_prefix)), written_until_us_(written_until_us) {}

Result<UsageLines> UsageLines::make(UsageDevice device, std::string id_prefix, std::int64_t written_until_us) {
  for (const std::string* name : {&device.gpu, &device.sku}) {
    if (!name->empty() && name->size() <= kTextBytesMax) continue;
    return invalid(fmt::format("--usage: wanted a device with a name of 1 to {} bytes, found {} bytes: {}",
                               kTextBytesMax, name->size(), in_quotes(*name)));
  }
  return UsageLines(std::move(device), std::move(id_prefix), written_until_us);
}

std::string UsageLines::next_id() { return fmt::format("{}/{}", id_prefix_, next_number_++); }

std::string UsageLines::take(std::span<const UsageSpan> spans) {
  std::string lines;
  for (const UsageSpan& span : spans) {
    // A clock that was never set gives times that no ledger takes.
    if (span.from_us < std::max(written_until_us_, kYear2000Micros) || span.to_us >= kYear2101Micros) continue;
    add_span(span, lines);
  }
  return lines;
}

void UsageLines::add_span(const UsageSpan& span, std::string& lines) {
  if (span.from_us != minute_to_us_) {
    end_minute(lines);
    minute_from_us_ = span.from_us;
  }
  minute_to_us_ = written_until_us_ = span.to_us;
  for (const auto& [user, time] : span.used) {
    const std::int64_t weight = std::min(time.count() / device_.lanes, kCapacity);
    if (weight <= 0) continue;
    const auto& [tenant, model] = user;
    json::Writer json = begin_event("use", next_id(), device_.gpu);
    json.member("slice", fmt::format("{}/{}", tenant, model)).member("weight", weight).member("tenant", tenant);
    json.member("service", model).member("role", "inference");
    lines += end_event(std::move(json), span.from_us, span.to_us);
  }
  if (span.to_us % kMinuteMicros == 0) end_minute(lines);
}

void UsageLines::end_minute(std::string& lines) {
  if (minute_from_us_ < minute_to_us_) {
    json::Writer json = begin_event("gpu", next_id(), device_.gpu);
    json.member("sku", device_.sku).member("capacity", kCapacity);
    lines += end_event(std::move(json), minute_from_us_, minute_to_us_);
  }
  minute_from_us_ = minute_to_us_;
}

std::string UsageLines::end() {
  std::string lines;
  end_minute(lines);
  return lines;
}

std::int64_t usage_written_until(std::string_view lines, std::string_view gpu) {
  std::int64_t until_us = 0;
  json::FlatObjectReader reader;
  LineReader each(lines);
  while (each.next()) {
    const auto members = reader.read(each.line());
    if (!members) continue;
    bool is_same = false;
    std::int64_t to_us = 0;
    for (const json::FlatMember& member : *members) {
      if (member.key == "gpu" && member.kind == json::FlatKind::kText) is_same = member.text == gpu;
      if (member.key == "to_us" && member.kind == json::FlatKind::kInteger) to_us = member.number;
    }
    if (is_same) until_us = std::max(until_us, to_us);
  }
  return until_us;
}

}  // namespace berth::serving
