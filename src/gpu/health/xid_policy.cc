#include "gpu/health/xid_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/core/ensure.h"
#include "base/yaml/document.h"
#include "base/yaml/reader.h"

extern "C" {
extern const char xid_yaml_begin[];
extern const char xid_yaml_end[];
}

namespace berth::health {
namespace {

constexpr const char* kWantedCodes = "an error code, or a range such as 96-105";

struct CodeRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

std::optional<std::uint64_t> code_of(std::string_view text) {
  std::uint64_t code = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  const bool is_code = error == std::errc() && end == text.data() + text.size() && code > 0 && code < kXidEnd;
  return is_code ? std::optional(code) : std::nullopt;
}

std::optional<CodeRange> range_of(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = code_of(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : code_of(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return CodeRange{.first = *first, .last = *last};
}

void read_group(const yaml::Value& value, XidAction action, XidPolicy& policy) {
  if (!value.is_present()) return;
  for (const yaml::Value& item : value.items("a list of error codes")) {
    const auto range = range_of(item.text(kWantedCodes));
    if (item.has_failed()) return;
    if (!range) return item.refuse(kWantedCodes);
    for (std::uint64_t code = range->first; code <= range->last; ++code) {
      if (policy.actions.emplace(code, action).second) continue;
      return item.refuse("each error code once", fmt::format("{} again", code));
    }
  }
}

void read_meanings(const yaml::Value& value, XidPolicy& policy) {
  if (!value.is_present()) return;
  for (const std::string& key : value.keys()) {
    const yaml::Value meaning = value.at(key);
    const auto code = code_of(key);
    if (!code) return meaning.refuse("an error code as the key", fmt::format("\"{}\"", key));
    policy.meanings[*code] = meaning.name();
    if (value.has_failed()) return;
  }
}

XidPolicy read_policy(const yaml::Value& root) {
  XidPolicy policy;
  root.check_keys({"berth", "as_of", "source", "actions", "words"});
  static_cast<void>(root.at("berth").whole({1, 1}));
  policy.as_of = root.at("as_of").name();
  policy.source = root.at("source").name();
  const yaml::Value actions = root.at("actions");
  actions.check_keys(kXidActionWords);
  for (std::size_t index = 0; index < kXidActionWords.size(); ++index) {
    read_group(actions.at(kXidActionWords[index]), static_cast<XidAction>(index), policy);
  }
  read_meanings(root.at("words"), policy);
  return policy;
}

}  // namespace

XidRule XidPolicy::rule_for(std::uint64_t xid) const {
  XidRule rule;
  if (const auto found = actions.find(xid); found != actions.end()) {
    rule.action = found->second;
    rule.is_listed = true;
  }
  if (const auto found = meanings.find(xid); found != meanings.end()) rule.meaning = found->second;
  return rule;
}

const XidPolicy& built_in_xid_policy() {
  static const XidPolicy policy = [] {
    auto read = read_xid_policy({xid_yaml_begin, static_cast<std::size_t>(xid_yaml_end - xid_yaml_begin)}, "xid.yaml");
    ENSURE(read.has_value());
    return *std::move(read);
  }();
  return policy;
}

Result<XidPolicy> read_xid_policy(std::string_view text, std::string_view file) {
  auto document = yaml::parse_document(text, file);
  if (!document) return tl::unexpected(std::move(document.error()));
  yaml::Report report{std::string(file)};
  XidPolicy policy = read_policy(yaml::Value(*document, report));
  if (report.has_failed()) return tl::unexpected(report.failure());
  return policy;
}

XidAction action_of_recovery(std::string_view recovery_action) {
  constexpr std::array<std::string_view, 6> kDrains = {"gpu_reset",       "node_reboot", "drain_p2p",
                                                       "drain_and_reset", "bus_reset",   "system_reboot"};
  if (recovery_action == "none") return XidAction::kIgnore;
  return std::ranges::find(kDrains, recovery_action) == kDrains.end() ? XidAction::kManual : XidAction::kDrain;
}

}  // namespace berth::health
