#include "surface/cli/shared/option_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/core/text.h"

namespace berth::cli {
namespace {

/// Whether the text is a number, possibly with more digits than Decimal can hold.
bool is_unsigned_number(std::string_view text) {
  if (text.empty() || (text.front() != '.' && (text.front() < '0' || text.front() > '9'))) return false;
  double ignored = 0;
  const std::string terminated(text);
  const char* const end = terminated.c_str() + terminated.size();
  return std::from_chars(terminated.c_str(), end, ignored).ptr == end;
}

/// `what` is used in the message: "a whole number".
Result<std::int64_t> number_option(std::string_view option, std::string_view what, std::string_view text,
                                   std::int64_t min, std::int64_t max) {
  const auto value = parse_count(text, max);
  if (value && *value >= min) return *value;
  return invalid(fmt::format("{}: wanted {} from {} to {}, found {}", option, what, min, max, in_quotes(text)));
}

}  // namespace

Result<std::int64_t> whole_option(std::string_view option, std::string_view text, std::int64_t min, std::int64_t max) {
  return number_option(option, "a whole number", text, min, max);
}

Result<std::int64_t> seconds_option(std::string_view option, std::string_view text, std::int64_t min,
                                    std::int64_t max) {
  return number_option(option, "a whole number of seconds", text, min, max);
}

Result<std::vector<std::string>> parse_policies(std::string_view text, const std::vector<std::string>& known) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string name(text.substr(0, comma));
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return invalid(fmt::format("--policies: wanted some of {}, found {}", fmt::join(known, ","), in_quotes(name)));
    }
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return invalid(fmt::format("--policies: wanted each policy once, found {} twice", in_quotes(name)));
    }
    names.push_back(name);
    if (comma == text.size()) return names;
    text.remove_prefix(comma + 1);
  }
}

Result<std::vector<std::string>> split_words(std::string_view option, std::string_view text, std::string_view wanted) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t end = std::min(text.find(','), text.size());
    std::string word(text.substr(0, end));
    if (word.empty()) return invalid(fmt::format("{}: wanted {} joined by commas, found an empty one", option, wanted));
    if (std::ranges::find(words, word) != words.end()) {
      return invalid(fmt::format("{}: wanted each once, found {} twice", option, in_quotes(word)));
    }
    words.push_back(std::move(word));
    if (end == text.size()) return words;
    text.remove_prefix(end + 1);
  }
}

Result<OutputFormat> parse_format(std::string_view text) {
  if (text == "table") return OutputFormat::kTable;
  if (text == "json") return OutputFormat::kJson;
  return invalid("--format: wanted table or json, found " + in_quotes(text));
}

Result<Decimal> parse_attainment(std::string_view text) {
  Result<Decimal> attainment = Decimal::parse(text);
  if (attainment && attainment->sign() > 0 && *attainment <= Decimal(1)) return attainment;
  if (!attainment && is_unsigned_number(text)) {
    return invalid(
        "--attainment: wanted a share with fewer digits: at most 40 characters, no exponent below -30; found " +
        in_quotes(text));
  }
  return invalid("--attainment: wanted a share above 0, at most 1, found " + in_quotes(text));
}

}  // namespace berth::cli
