#include "surface/openai_api/detail/call_fields.h"

#include <array>
#include <cstdint>

#include "base/json/document.h"
#include "base/json/members.h"
#include "base/json/tree.h"

namespace berth::openai::detail {
namespace {

constexpr std::array<std::string_view, 2> kCallKeys = {"model", "stream"};
constexpr std::array<std::string_view, 1> kAnswerKeys = {"usage"};

std::optional<std::int64_t> token_count(const yaml::Node& usage, std::string_view key) {
  const yaml::Node* member = json::find_member(usage, key);
  const auto count = member == nullptr ? std::nullopt : json::integer_in<std::int64_t>(*member);
  return count && *count >= 0 ? count : std::nullopt;
}

}  // namespace

Result<CallFields> read_call(std::string_view body) {
  const auto found = json::find_members(body, kCallKeys);
  if (!found) return pass_on(found.error());
  const std::string_view model_text = (*found)[0];
  const std::string_view stream_text = (*found)[1];
  if (model_text.empty()) return invalid("wanted the key model, found none");
  const auto model = json::parse_document(model_text, "model");
  const std::string* name = model ? json::text_in(*model) : nullptr;
  if (name == nullptr) return invalid("model: wanted a text");
  const bool is_false = stream_text.empty() || stream_text == "false" || stream_text == "null";
  if (!is_false && stream_text != "true") return invalid("stream: wanted true or false");
  return CallFields{.model = *name, .is_stream = !is_false};
}

std::optional<TokenUsage> usage_in(std::string_view answer) {
  const auto found = json::find_members(answer, kAnswerKeys);
  if (!found || (*found)[0].empty()) return std::nullopt;
  const auto usage = json::parse_document((*found)[0], "usage");
  if (!usage) return std::nullopt;
  const TokenUsage counts{.prompt_tokens = token_count(*usage, "prompt_tokens"),
                          .completion_tokens = token_count(*usage, "completion_tokens")};
  return counts == TokenUsage() ? std::nullopt : std::optional(counts);
}

}  // namespace berth::openai::detail
