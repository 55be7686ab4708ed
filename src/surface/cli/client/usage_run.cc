#include "surface/cli/client/usage_run.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/core/text.h"
#include "surface/cli/client/client.h"
#include "surface/cli/client/node.h"
#include "surface/cli/client/tables.h"
#include "surface/cli/shared/printable.h"

namespace berth::cli {
namespace {

using yaml::Node;

constexpr std::array<std::string_view, 23> kColumns = {"resource",  "epoch",      "sequence",      "tenant",
                                                       "service",   "holders",    "node",          "gpu",
                                                       "gpu_model", "profile",    "start",         "units",
                                                       "sms",       "memory_mib", "role",          "from",
                                                       "to",        "state",      "price_version", "usd_per_gpu_hour",
                                                       "observed",  "weight",     "capacity"};

/// "vision/detector media/tagger".
std::string holders_text(const Node& interval) {
  std::string text;
  for (const Node& holder : items_at(interval, "holders")) {
    if (!text.empty()) text += ' ';
    text += text_at(holder, "tenant").value_or("");
    if (const auto service = text_at(holder, "service")) text += "/" + *service;
  }
  return text;
}

/// "28/56", of the whole GPU; empty for free units, which have no holder on the bill.
std::string weight_text(const Node& interval) {
  const auto weight = text_at(interval, "weight");
  return weight ? printable(*weight + "/" + text_at(interval, "capacity").value_or("")) : "";
}

std::string csv_cell(std::string text) {
  if (text.find_first_of("\",\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string table_of(const std::vector<Node>& intervals) {
  std::vector<std::vector<std::string>> rows;
  for (const Node& interval : intervals) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const char* path : {"gpu", "start", "units", "profile", "epoch", "state"}) {
      row.push_back(printable(text_at(interval, path).value_or("")));
    }
    if (text_at(interval, "observed") == "false") row.back() += ", unobserved";
    row.push_back(weight_text(interval));
    row.push_back(printable(holders_text(interval)));
    row.push_back(printable(text_cell(interval, "from")));
    const bool is_open = text_at(interval, "open") == "true";
    row.push_back(is_open ? "now" : printable(text_cell(interval, "to")));
  }
  return columns_text({"GPU", "START", "UNITS", "PROFILE", "GENERATION", "STATE", "WEIGHT", "HOLDER", "FROM", "TO"},
                      rows);
}

std::string json_of(std::vector<Node> intervals) {
  Node list{{}, yaml::Map()};
  put(list, "items", {{}, std::move(intervals)});
  return indented_json_of(list);
}

ClientResult<std::string> usage_text(const UsageWords& words, const VerbContext& context) {
  const bool is_known = words.format == "table" || words.format == "json" || words.format == "csv";
  if (!is_known) {
    return client_fail(ClientStatus::kBadInput,
                       "--format: wanted table, json or csv, found " + in_quotes(words.format));
  }
  const auto client = connect(words.server, context);
  if (!client) return client_fail(client.error());
  std::string path = "/v1/usage?limit=500";
  if (!words.from.empty()) path += "&from=" + path_part(words.from);
  if (!words.to.empty()) path += "&to=" + path_part(words.to);
  auto intervals = client->list(path);
  if (!intervals) return client_fail(intervals.error());
  if (words.format == "json") return json_of(std::move(*intervals));
  return words.format == "csv" ? usage_csv(*intervals) : table_of(*intervals);
}

}  // namespace

std::string usage_csv(const std::vector<Node>& intervals) {
  std::string text;
  for (const std::string_view column : kColumns) {
    if (!text.empty()) text += ',';
    text += column;
  }
  text += '\n';
  for (const Node& interval : intervals) {
    std::string line;
    for (const std::string_view column : kColumns) {
      if (column != kColumns.front()) line += ',';
      line += csv_cell(column == "holders" ? holders_text(interval) : text_at(interval, column).value_or(""));
    }
    text += line + '\n';
  }
  return text;
}

VerbOutcome run_usage(const UsageWords& words, const VerbContext& context) {
  return outcome_of(usage_text(words, context));
}

}  // namespace berth::cli
