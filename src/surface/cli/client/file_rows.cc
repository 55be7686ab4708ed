#include "surface/cli/client/file_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/profile/readers.h"
#include "domain/scenario/service_json.h"
#include "domain/trace/readers.h"
#include "surface/cli/client/node.h"

namespace berth::cli {
namespace {

using yaml::Map;
using yaml::Node;
using yaml::Value;

constexpr std::size_t kPathBytesMax = 4096;

struct NamedFile {
  std::string path;
  std::string text;
};

/// Keeps names in rows unchanged: the reader of the spec checks them.
tl::expected<profile::ResolvedProfile, profile::UnresolvedProfile> as_typed(std::string_view gpu,
                                                                            std::string_view profile) {
  return profile::ResolvedProfile{std::string(gpu), std::string(profile)};
}

class RowsInPlace {
 public:
  RowsInPlace(const Node& root, yaml::Report& report, std::string folder, std::string service, const Files& files)
      : spec_(Value(root, report).at("spec")),
        folder_(std::move(folder)),
        service_(std::move(service)),
        files_(files) {}

  /// The rows of the file that a profile names; nothing if it names none, or after a failure.
  std::optional<Node> profile_of(const Value& value) const {
    if (value.has_failed() || !value.at("path").is_written()) return std::nullopt;
    value.check_keys({"format", "path", "model"});
    const bool is_csv = value.at("format").choice({"parvagpu", "csv"}) == 1;
    const std::string model = is_csv ? value.at("model").name() : service_;
    const auto file = read(value.at("path"));
    if (!file) return std::nullopt;
    auto table = is_csv ? profile::read_profile_csv(file->text, file->path, model, as_typed)
                        : profile::read_parvagpu(file->text, file->path);
    if (!table) {
      keep(value, table.error());
      return std::nullopt;
    }
    Node rows{{}, yaml::List()};
    for (const PerformancePoint& point : table->points)
      std::get<yaml::List>(rows.value).push_back(row_of(model, point));
    Node result{{}, Map()};
    put(result, "format", text_node("csv"));
    put(result, "model", text_node(model));
    put(result, "rows", std::move(rows));
    return result;
  }

  /// The same for arrivals, with their other keys.
  std::optional<Node> arrivals_of(const Value& value, const Map& written) const {
    if (value.has_failed() || !value.at("path").is_written()) return std::nullopt;
    value.check_keys({"format", "path", "from_second", "seconds", "scale", "smooth_seconds", "repeat"});
    const std::size_t format = value.at("format").choice({"csv", "rps-text", "azure-llm"});
    const auto file = read(value.at("path"));
    if (!file) return std::nullopt;
    const auto counts = counts_of(*file, format);
    if (!counts) {
      keep(value, counts.error());
      return std::nullopt;
    }
    Node result{{}, Map()};
    put(result, "format", text_node("csv"));
    put(result, "rows", rows_of(*counts));
    for (const yaml::Entry& entry : written) {
      if (entry.key != "format" && entry.key != "path") std::get<Map>(result.value).push_back(entry);
    }
    return result;
  }

  [[nodiscard]] const Value& spec() const { return spec_; }

 private:
  std::optional<NamedFile> read(const Value& path) const {
    const std::string name = path.name(kPathBytesMax);
    if (path.has_failed()) return std::nullopt;
    const std::string resolved = (std::filesystem::path(folder_) / name).string();
    auto text = files_.read(resolved);
    if (text) return NamedFile{resolved, std::move(*text)};
    path.fail_with(text.error());
    return std::nullopt;
  }

  /// Records the error of a file. It names its own line, unless it is about the whole file.
  static void keep(const Value& value, const Error& error) {
    if (error.code == ErrorCode::kNotFound) return value.at("model").fail_with(error);
    value.pass_on({error.code, fmt::format("{}: {}", value.path(), error.message)});
  }

  static Node row_of(const std::string& model, const PerformancePoint& point) {
    Node row{{}, Map()};
    put(row, "model", text_node(model));
    put(row, "gpu", text_node(point.gpu));
    put(row, "profile", text_node(point.profile));
    put(row, "batch", number_node(fmt::format("{}", point.batch)));
    put(row, "processes", number_node(fmt::format("{}", point.processes)));
    put(row, "requests_per_second", number_node(scenario::readable_number(point.requests_per_second)));
    put(row, "latency_ms", number_node(scenario::readable_number(point.latency_ms)));
    return row;
  }

  static Result<CountTrace> counts_of(const NamedFile& file, std::size_t format) {
    if (format == 0) return read_count_csv(file.text, file.path);
    if (format == 1) return read_rps_text(file.text, file.path);
    const auto timed = read_azure_llm(file.text, file.path);
    if (!timed) return pass_on(timed.error());
    CountTrace trace;
    trace.counts.resize(static_cast<std::size_t>(timed->seconds));
    for (const auto& request : timed->requests)
      ++trace.counts[static_cast<std::size_t>(request.at_us / kMicrosPerSecond)];
    return trace;
  }

  /// A row for each second with requests, and for the last second, so that the length is kept.
  static Node rows_of(const CountTrace& trace) {
    yaml::List rows;
    for (std::size_t second = 0; second < trace.counts.size(); ++second) {
      if (trace.counts[second] == 0 && second + 1 < trace.counts.size()) continue;
      Node row{{}, Map()};
      put(row, "second", number_node(fmt::format("{}", second)));
      put(row, "requests", number_node(fmt::format("{}", trace.counts[second])));
      rows.push_back(std::move(row));
    }
    return {{}, std::move(rows)};
  }

  Value spec_;
  std::string folder_;
  std::string service_;
  const Files& files_;
};

yaml::Entry* find_entry(Node& node, std::string_view key) {
  auto* map = std::get_if<Map>(&node.value);
  if (map == nullptr) return nullptr;
  const auto found = std::ranges::find(*map, key, &yaml::Entry::key);
  return found == map->end() ? nullptr : &*found;
}

/// Gives every value of a tree one source location.
void set_places(Node& node, TextPlace place) {
  node.place = place;
  if (auto* list = std::get_if<yaml::List>(&node.value)) {
    for (Node& item : *list) set_places(item, place);
  }
  if (auto* map = std::get_if<Map>(&node.value)) {
    for (yaml::Entry& entry : *map) {
      entry.place = place;
      set_places(entry.value, place);
    }
  }
}

void replace(Node& node, std::optional<Node> by) {
  if (!by) return;
  set_places(*by, node.place);
  node = std::move(*by);
}

}  // namespace

void put_rows_in_place(Node& root, yaml::Report& report, const std::string& folder, const std::string& service,
                       const Files& files) {
  const Node written = root;  // the values below refer to it
  const RowsInPlace rows(written, report, folder, service, files);
  yaml::Entry* spec = find_entry(root, "spec");
  if (yaml::Entry* profile = find_entry(spec->value, "profile")) {
    replace(profile->value, rows.profile_of(rows.spec().at("profile")));
  }
  yaml::Entry* arrivals = find_entry(spec->value, "arrivals");
  const auto* map = arrivals == nullptr ? nullptr : std::get_if<Map>(&arrivals->value.value);
  if (map != nullptr) replace(arrivals->value, rows.arrivals_of(rows.spec().at("arrivals"), Map(*map)));
  yaml::Entry* variants = find_entry(spec->value, "variants");
  auto* list = variants == nullptr ? nullptr : std::get_if<yaml::List>(&variants->value.value);
  if (list == nullptr) return;
  const std::vector<Value> items = rows.spec().at("variants").items("a list of variants");
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (yaml::Entry* profile = find_entry((*list)[i], "profile")) {
      replace(profile->value, rows.profile_of(items[i].at("profile")));
    }
  }
}

}  // namespace berth::cli
