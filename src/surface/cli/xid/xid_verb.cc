#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/writer.h"
#include "domain/ports/files.h"
#include "gpu/health/xid_policy.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kXidHelp = "What Berth does about an error code (XID) that NVIDIA's driver reports for a GPU.";

constexpr const char* kXidExamples = R"(Examples:
  berth xid explain 79
  berth xid explain 31 --policy my_xid.yaml --format json
  berth xid policy

Exit status: 0 done, 2 bad input (nothing is written to stdout).)";

constexpr std::array<std::string_view, 2> kXidFormats = {"table", "json"};

struct XidWords {
  std::string code;
  std::optional<std::string> policy;
  std::string format;
};

OptionRow xid_policy_row(XidWords& words) {
  return {"--policy", "FILE", "A policy in the form of share/health/xid.yaml; default: the built-in one",
          &words.policy};
}

OptionTable xid_explain_option_rows(XidWords& words) {
  return {{"CODE", "", "The number of the error: 79", &words.code, kRequired},
          xid_policy_row(words),
          {"--format", "WORD", "table (default) or json", &words.format, {.choices = kXidFormats}}};
}

OptionTable xid_policy_option_rows(XidWords& words) { return {xid_policy_row(words)}; }

Result<health::XidPolicy> policy_of(const XidWords& words, const Files& files) {
  if (!words.policy) return health::built_in_xid_policy();
  const auto text = files.read(*words.policy);
  if (!text) return pass_on(text.error());
  return health::read_xid_policy(*text, *words.policy);
}

std::string_view sentence_of(health::XidAction action) {
  switch (action) {
    case health::XidAction::kIgnore:
      return "It is recorded, and nothing follows.";
    case health::XidAction::kWatch:
      return "The GPU is suspect for ten minutes, and nothing else follows.";
    case health::XidAction::kRestartApp:
      return "The program of the slice is started again, at most once in ten seconds; where no slice is named, the GPU "
             "is suspect for ten minutes.";
    case health::XidAction::kDrain:
      return "Work moves away from the GPU, which is then quarantined until an operator uncordons it.";
    case health::XidAction::kManual:
      return "The GPU is cordoned: its slices stay, nothing new begins, and somebody has to look.";
  }
  return {};
}

std::string explained_json(std::uint64_t code, const health::XidPolicy& policy) {
  const health::XidRule rule = policy.rule_for(code);
  json::Writer json;
  json.open_object().member("berth", 1).member("xid", code).member("action", word(rule.action));
  json.member("listed", rule.is_listed);
  json.member("meaning", rule.meaning.empty() ? std::nullopt : std::optional(rule.meaning));
  json.member("as_of", policy.as_of).member("source", policy.source).close_object();
  return json.take() + "\n";
}

std::string explained_text(std::uint64_t code, const health::XidPolicy& policy) {
  const health::XidRule rule = policy.rule_for(code);
  std::string text = fmt::format("XID {}", code);
  if (!rule.meaning.empty()) text += ": " + rule.meaning;
  text += fmt::format("\naction: {}{}\n{}\n", word(rule.action), rule.is_listed ? "" : " (in no group of the policy)",
                      sentence_of(rule.action));
  text +=
      fmt::format("An action that the driver asks for (recovery_action) takes precedence over this.\npolicy: {} ({})\n",
                  policy.as_of, policy.source);
  return text;
}

Result<std::string> explain(const XidWords& words, const Files& files) {
  std::uint64_t code = 0;
  const char* const end = words.code.data() + words.code.size();
  const auto [stop, error] = std::from_chars(words.code.data(), end, code);
  if (error != std::errc() || stop != end || code == 0 || code >= static_cast<std::uint64_t>(health::kXidEnd)) {
    return invalid(
        fmt::format("CODE: wanted the number of an error, 1 to {}, found \"{}\"", health::kXidEnd - 1, words.code));
  }
  const auto policy = policy_of(words, files);
  if (!policy) return pass_on(policy.error());
  return words.format == "json" ? explained_json(code, *policy) : explained_text(code, *policy);
}

Result<std::string> list_policy(const XidWords& words, const Files& files) {
  const auto policy = policy_of(words, files);
  if (!policy) return pass_on(policy.error());
  std::string text = fmt::format("{} ({})\n", policy->as_of, policy->source);
  for (std::size_t index = 0; index < health::kXidActionWords.size(); ++index) {
    std::string codes;
    for (const auto& [code, action] : policy->actions) {
      if (action == static_cast<health::XidAction>(index)) codes += fmt::format(" {}", code);
    }
    text += fmt::format("{:<12}{}\n", health::kXidActionWords[index], codes);
  }
  return text + "any other    watch\n";
}

}  // namespace

Verb xid_verb() {
  return {.name = "xid",
          .help = kXidHelp,
          .examples = kXidExamples,
          .subcommands = {with_words({.name = "explain", .help = "What an error code means, and what is done about it"},
                                     xid_explain_option_rows,
                                     [](const XidWords& words, VerbContext& context) {
                                       finish(context, explain(words, *context.files));
                                     }),
                          with_words({.name = "policy", .help = "Every error code by what is done about it"},
                                     xid_policy_option_rows, [](const XidWords& words, VerbContext& context) {
                                       finish(context, list_policy(words, *context.files));
                                     })}};
}

}  // namespace berth::cli
