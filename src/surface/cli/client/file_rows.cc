#include "surface/cli/client/file_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/mig/catalogue.h"
#include "domain/profile/contradiction.h"
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

/// Where the last written digits of a row's figures are (profile::last_digit).
struct FigureDigits {
  int rate = 0;
  int latency = 0;
};

/// What the rows of a file say beyond their numbers.
class WrittenFigures {
 public:
  void add(const profile::WrittenRow& row) {
    contradictions_.add(row);
    if (auto remark = mig::gpu_name_remark(row.point.gpu)) remarks_.insert(std::move(*remark));
    if (!profile::states_too_much(row)) return;
    digits_[key_of(row.point)] = {.rate = row.rate_digit, .latency = row.latency_digit};
  }
  void warn(const Value& value, const std::string& path) const {
    if (!contradictions_.empty()) value.warn(fmt::format("{}: {}", path, contradictions_.text("line ")));
    for (const std::string& remark : remarks_) value.warn(fmt::format("{}: {}", path, remark));
  }
  /// For a row that the server will refuse: it decides by the written digits, which numbers do not keep. No others are
  /// kept, so that the bytes of all other rows depend on their numbers alone.
  [[nodiscard]] FigureDigits digits_of(const PerformancePoint& point) const {
    const auto found = digits_.find(key_of(point));
    return found == digits_.end() ? FigureDigits() : found->second;
  }

 private:
  using Key = std::tuple<std::string, std::string, int, int>;
  static Key key_of(const PerformancePoint& point) { return {point.gpu, point.profile, point.batch, point.processes}; }

  profile::Contradictions contradictions_;
  std::set<std::string> remarks_;
  std::map<Key, FigureDigits> digits_;
};

/// The number, with zeros up to its last written digit: 106 with the digit -1 is "106.0".
std::string written_number(const Decimal& number, int digit) {
  std::string text = scenario::readable_number(number);
  constexpr std::size_t kLengthMax = 38;  // Decimal::parse reads 40 characters
  if (text.find_first_of("eE/") != std::string::npos) return text;
  for (int last = profile::last_digit(text); last > digit && text.size() <= kLengthMax; --last) {
    text += last == 0 ? ".0" : "0";
  }
  return text;
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
    WrittenFigures figures;
    const auto observe = [&](const profile::WrittenRow& row) { figures.add(row); };
    auto table = is_csv ? profile::read_profile_csv(file->text, file->path, model, as_typed, observe)
                        : profile::read_parvagpu(file->text, file->path, observe);
    if (!table) {
      keep(value, table.error());
      return std::nullopt;
    }
    figures.warn(value, file->path);
    Node rows{{}, yaml::List()};
    for (const PerformancePoint& point : table->points)
      std::get<yaml::List>(rows.value).push_back(row_of(model, point, figures.digits_of(point)));
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

  static Node row_of(const std::string& model, const PerformancePoint& point, const FigureDigits& digits) {
    Node row{{}, Map()};
    put(row, "model", text_node(model));
    put(row, "gpu", text_node(point.gpu));
    put(row, "profile", text_node(point.profile));
    put(row, "batch", number_node(fmt::format("{}", point.batch)));
    put(row, "processes", number_node(fmt::format("{}", point.processes)));
    put(row, "requests_per_second", number_node(written_number(point.requests_per_second, digits.rate)));
    put(row, "latency_ms", number_node(written_number(point.latency_ms, digits.latency)));
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

std::vector<std::string> put_rows_in_place(Node& root, yaml::Report& report, const std::string& folder,
                                           const std::string& service, const Files& files) {
  const Node written = root;  // the values below refer to it
  const RowsInPlace rows(written, report, folder, service, files);
  std::vector<std::string> tables;
  const auto put_table = [&](Node& spec, const Value& value) {
    yaml::Entry* profile = find_entry(spec, "profile");
    auto table = profile == nullptr ? std::nullopt : rows.profile_of(value.at("profile"));
    if (!table) return;
    tables.push_back(value.at("profile").path());
    replace(profile->value, std::move(table));
  };
  yaml::Entry* spec = find_entry(root, "spec");
  put_table(spec->value, rows.spec());
  yaml::Entry* arrivals = find_entry(spec->value, "arrivals");
  const auto* map = arrivals == nullptr ? nullptr : std::get_if<Map>(&arrivals->value.value);
  if (map != nullptr) replace(arrivals->value, rows.arrivals_of(rows.spec().at("arrivals"), Map(*map)));
  yaml::Entry* variants = find_entry(spec->value, "variants");
  auto* list = variants == nullptr ? nullptr : std::get_if<yaml::List>(&variants->value.value);
  if (list == nullptr) return tables;
  const std::vector<Value> items = rows.spec().at("variants").items("a list of variants");
  for (std::size_t i = 0; i < list->size(); ++i) put_table((*list)[i], items[i]);
  return tables;
}

}  // namespace berth::cli
