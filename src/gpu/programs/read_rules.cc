#include "gpu/programs/read_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/core/text.h"
#include "gpu/programs/placeholders.h"

namespace berth::programs {
namespace {

constexpr std::size_t kTemplatesMax = 64;
constexpr std::size_t kWordsMax = 128;
constexpr std::size_t kWordBytesMax = 4096;
constexpr std::size_t kParametersMax = 16;
constexpr std::size_t kTenantsMax = 256;
constexpr std::size_t kOfferBytesMax = 8192;  // so that an offer fits into a packet of the agent
constexpr std::int64_t kSecondsMax = 86'400;
constexpr std::int64_t kInFlightMax = 1'000'000;
constexpr std::int64_t kMemoryMibMax = std::int64_t{1} << 30U;
constexpr std::int64_t kFilesMax = 1'000'000;
constexpr std::int64_t kUidFirst = 1'000;  // below are the users of the system
constexpr std::int64_t kUidLast = 4'294'967'293;

constexpr std::array<std::string_view, 10> kTemplateKeys = {
    "command", "parameters",    "ready",      "ready_seconds", "drain_seconds",
    "tenants", "in_flight_max", "memory_mib", "file_mib",      "files_max"};
constexpr std::array<std::string_view, 9> kRepositoryKeys = {"path",          "tenants",       "engine",
                                                             "ready_seconds", "drain_seconds", "in_flight_max",
                                                             "memory_mib",    "file_mib",      "files_max"};

/// Names of templates, repositories and parameters.
bool is_rule_name(std::string_view text) {
  constexpr std::size_t kBytesMax = 63;
  const auto is_part = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  return !text.empty() && text.size() <= kBytesMax && text[0] >= 'a' && text[0] <= 'z' &&
         std::ranges::all_of(text, is_part);
}

/// The keys of a map of named things.
std::vector<std::string> read_names(const yaml::Value& map, std::string_view wanted, std::size_t count_max) {
  if (!map.is_written()) return {};
  if (!map.is_map()) {
    map.refuse(wanted);
    return {};
  }
  std::vector<std::string> names = map.keys();
  if (names.size() > count_max) map.refuse(fmt::format("at most {} names", count_max), std::to_string(names.size()));
  for (const std::string& name : names) {
    if (!is_rule_name(name)) {
      map.refuse("names of a to z, 0 to 9, - and _ that begin with a letter (at most 63 bytes)", in_quotes(name));
    }
  }
  return names;
}

std::string read_absolute(const yaml::Value& value, std::string_view wanted) {
  std::string path = value.text(wanted);
  if (!value.has_failed() && !path.starts_with('/')) value.refuse(wanted);
  return path;
}

std::vector<std::string> read_tenants(const yaml::Value& value) {
  std::vector<std::string> tenants;
  const auto items = value.items("a list of at least one tenant", false);
  if (items.size() > kTenantsMax)
    value.refuse(fmt::format("at most {} tenants", kTenantsMax), std::to_string(items.size()));
  for (const yaml::Value& item : items) tenants.push_back(item.name());
  return tenants;
}

ProgramLimits read_limits(const yaml::Value& value, ProgramLimits limits) {
  const auto read = [&](std::string_view key, std::int64_t& figure, yaml::WholeRange range) {
    if (const yaml::Value written = value.at(key); written.is_written()) figure = written.whole(range);
  };
  read("ready_seconds", limits.ready_seconds, {1, kSecondsMax});
  read("drain_seconds", limits.drain_seconds, {0, kSecondsMax});
  read("in_flight_max", limits.in_flight_max, {1, kInFlightMax});
  read("file_mib", limits.file_mib, {1, kMemoryMibMax});
  read("files_max", limits.files_max, {16, kFilesMax});
  if (const yaml::Value memory = value.at("memory_mib"); memory.is_written()) {
    limits.memory_mib = memory.whole({1, kMemoryMibMax});
  }
  return limits;
}

std::vector<std::string> read_command(const yaml::Value& value) {
  std::vector<std::string> words;
  const auto items = value.items("a list: the absolute path of a program, then its arguments", false);
  if (items.size() > kWordsMax) value.refuse(fmt::format("at most {} words", kWordsMax), std::to_string(items.size()));
  for (const yaml::Value& item : items) {
    words.push_back(item.text("a text"));
    if (words.back().size() > kWordBytesMax || words.back().find('\0') != std::string::npos) {
      item.refuse(fmt::format("at most {} bytes without NUL", kWordBytesMax));
    }
  }
  if (value.has_failed()) return words;
  if (!words.front().starts_with('/') || words.front().find_first_of("{}") != std::string::npos) {
    items.front().refuse("the absolute path of a program, without { and }");
  }
  return words;
}

std::map<std::string, Expression> read_parameters(const yaml::Value& map) {
  std::map<std::string, Expression> parameters;
  for (const std::string& name : read_names(map, "a map of parameters and their expressions", kParametersMax)) {
    const yaml::Value value = map.at(name);
    if (name == kPortPlaceholder) value.fail("wanted another name than port, which stands for the port");
    const std::string text = value.text("an expression");
    if (value.has_failed()) return {};
    auto compiled = Expression::compile(text);
    if (compiled) {
      parameters.emplace(name, std::move(*compiled));
    } else {
      value.fail(compiled.error().message);
    }
  }
  return parameters;
}

/// Each placeholder is a parameter or the port, and each parameter is used.
void check_placeholders(const yaml::Value& value, const ProgramTemplate& made) {
  std::set<std::string> used;
  const auto items = value.at("command").items("a list");
  for (std::size_t i = 0; i < items.size() && !value.has_failed(); ++i) {
    const auto names = placeholders_of(made.command[i]);
    if (!names) {
      items[i].fail(names.error().message);
      return;
    }
    for (const std::string& name : *names) {
      if (name != kPortPlaceholder && !made.parameters.contains(name)) {
        items[i].refuse("{port} or a parameter of this template in { }", "{" + name + "}");
      }
      used.insert(name);
    }
  }
  for (const auto& [name, expression] : made.parameters) {
    if (!used.contains(name))
      value.at("parameters").at(name).fail(fmt::format("wanted an argument with {{{}}}, found none", name));
  }
}

ProgramTemplate read_template(const yaml::Value& value) {
  value.check_keys(kTemplateKeys);
  ProgramTemplate made;
  made.command = read_command(value.at("command"));
  made.parameters = read_parameters(value.at("parameters"));
  made.ready = read_absolute(value.at("ready"), "a path such as /health");
  const auto is_plain = [](char c) { return c > ' ' && c < '\x7f'; };
  if (!std::ranges::all_of(made.ready, is_plain)) value.at("ready").refuse("a path of printable bytes without spaces");
  made.tenants = read_tenants(value.at("tenants"));
  made.limits = read_limits(value, {});
  if (!value.has_failed()) check_placeholders(value, made);
  std::size_t bytes = 0;
  for (const std::string& tenant : made.tenants) bytes += tenant.size();
  for (const auto& [name, expression] : made.parameters) bytes += name.size() + expression.text().size();
  if (bytes > kOfferBytesMax) {
    value.refuse(fmt::format("at most {} bytes of names and expressions", kOfferBytesMax), std::to_string(bytes));
  }
  return made;
}

ModelFolder read_repository(const yaml::Value& value) {
  value.check_keys(kRepositoryKeys);
  ModelFolder folder;
  folder.path = read_absolute(value.at("path"), "the absolute path of a folder");
  folder.tenants = read_tenants(value.at("tenants"));
  std::size_t bytes = 0;
  for (const std::string& tenant : folder.tenants) bytes += tenant.size();
  if (bytes > kOfferBytesMax)
    value.refuse(fmt::format("at most {} bytes of names", kOfferBytesMax), std::to_string(bytes));
  if (const yaml::Value engine = value.at("engine"); engine.is_written()) {
    folder.engine = read_absolute(engine, "the absolute path of the library of ONNX Runtime");
  }
  folder.limits = read_limits(value, folder.limits);
  return folder;
}

std::optional<UidRange> read_uids(const yaml::Value& value) {
  constexpr std::string_view kWanted = "a range FIRST-LAST of numbers from 1000 to 4294967293, such as 600000-600999";
  if (!value.is_written()) return std::nullopt;
  const std::string text = value.text(kWanted);
  if (value.has_failed()) return std::nullopt;
  const std::size_t minus = text.find('-');
  const auto first = parse_count(std::string_view(text).substr(0, minus), kUidLast);
  const auto last =
      minus == std::string::npos ? first : parse_count(std::string_view(text).substr(minus + 1), kUidLast);
  if (minus == std::string::npos || !first || !last || *first < kUidFirst || *last < *first) {
    value.refuse(kWanted);
    return std::nullopt;
  }
  return UidRange{.first = *first, .last = *last};
}

}  // namespace

ProgramRules read_rules(const yaml::Value& root) {
  ProgramRules rules;
  const yaml::Value templates = root.at("templates");
  for (const std::string& name : read_names(templates, "a map of templates", kTemplatesMax)) {
    if (name == kServeTemplate) templates.at(name).fail("wanted another name than serve, which is built in");
    rules.templates.emplace(name, read_template(templates.at(name)));
  }
  const yaml::Value repositories = root.at("repositories");
  for (const std::string& name : read_names(repositories, "a map of repositories", kTemplatesMax)) {
    rules.repositories.emplace(name, read_repository(repositories.at(name)));
  }
  rules.uids = read_uids(root.at("uids"));
  if (const yaml::Value separate = root.at("separate_users"); separate.is_written())
    rules.separates_users = separate.truth();
  if (const yaml::Value state = root.at("programs_state"); state.is_written()) {
    rules.state = read_absolute(state, "the absolute path of a folder");
  }
  if (const yaml::Value devices = root.at("simulated_devices"); devices.is_written()) {
    rules.simulated_devices = read_absolute(devices, "the absolute path of a folder");
  }
  if (!root.has_failed() && rules.has_any() && rules.separates_users && !rules.uids) {
    root.at("uids").fail(
        "wanted a range of users for tenants, such as 600000-600999, or separate_users: false, found neither");
  }
  return rules;
}

}  // namespace berth::programs
