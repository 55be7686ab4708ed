#include "surface/cli/cost/cost_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/core/month.h"
#include "base/core/text.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

Result<std::optional<Date>> day_option(std::string_view option, const std::optional<std::string>& text) {
  if (!text) return std::optional<Date>();
  const auto day = Date::parse(*text);
  if (!day) return invalid(fmt::format("{}: {}", option, day.error().message));
  return std::optional(*day);
}

Result<ledger::DayRange> days_of(const CostWords& words) {
  const auto since = day_option("--since", words.since);
  if (!since) return pass_on(since.error());
  const auto until = day_option("--until", words.until);
  if (!until) return pass_on(until.error());
  if (*since && *until && !(**since < **until)) {
    return invalid(fmt::format("--until: wanted a day after --since ({}), found {}", (*since)->to_string(),
                               (*until)->to_string()));
  }
  return ledger::DayRange{.since = *since, .until = *until};
}

Result<CostByQuestion> check_by(const CostWords& words) {
  const auto key = ledger::cost_key_named(*words.by);
  if (!key) return invalid("--by: wanted tenant, service, sku, role, gpu or day, found " + in_quotes(*words.by));
  const auto days = days_of(words);
  if (!days) return pass_on(days.error());
  return CostByQuestion{.key = *key, .days = *days};
}

/// "HH:MM:SS" in microseconds of the day.
std::optional<std::int64_t> time_of_day_us(std::string_view text) {
  if (text.size() != 8 || text[2] != ':' || text[5] != ':') return std::nullopt;
  constexpr std::array<int, 3> kBounds = {24, 60, 60};
  std::int64_t seconds = 0;
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    int part = 0;
    const char* const begin = text.data() + 3 * i;
    const auto [end, error] = std::from_chars(begin, begin + 2, part);
    if (error != std::errc() || end != begin + 2 || part < 0 || part >= kBounds.at(i)) return std::nullopt;
    seconds = seconds * 60 + part;
  }
  return seconds * 1'000'000;
}

/// The value of --as-of, in microseconds since 1970.
Result<std::int64_t> check_as_of(const CostWords& words) {
  constexpr std::size_t kDateSize = 10;
  const auto refuse = [&](std::string_view found) {
    return invalid("--as-of: wanted a time in UTC such as 2026-11-17T12:00:00Z, found " + std::string(found));
  };
  if (!words.as_of) return refuse("none");
  const std::string_view text = *words.as_of;
  if (text.size() != 20 || text[kDateSize] != 'T' || text.back() != 'Z') return refuse(in_quotes(text));
  const auto date = Date::parse(text.substr(0, kDateSize));
  const auto time_us = time_of_day_us(text.substr(kDateSize + 1, 8));
  if (!date || !time_us) return refuse(in_quotes(text));
  return date->days() * kMicrosPerDay + *time_us;
}

Result<BudgetQuestion> check_budgets(const CostWords& words) {
  const auto as_of_us = check_as_of(words);
  if (!as_of_us) return pass_on(as_of_us.error());
  return BudgetQuestion{.as_of_us = *as_of_us};
}

Result<std::optional<CostPage>> check_page(const CostWords& words) {
  if (!words.report) return std::optional<CostPage>();
  if (words.report->empty()) return invalid("--report: wanted a folder, found an empty path");
  const auto days = days_of(words);
  if (!days) return pass_on(days.error());
  CostPage page{.dir = *words.report, .range = {.days = *days}};
  if (words.as_of) {
    const auto as_of_us = check_as_of(words);
    if (!as_of_us) return pass_on(as_of_us.error());
    page.range.as_of_us = *as_of_us;
  }
  return std::optional(std::move(page));
}

/// The words of --why that were read so far.
struct WhyWords {
  WhyQuestion question;
  std::optional<std::string>* last = nullptr;  ///< the value that the next word may extend
  bool has_days = false;                       ///< by a word, or by --since and --until
};

/// Adds "key=value" to the question; false if the key is unknown.
Result<bool> take_word(WhyWords& words, std::string_view name, std::string_view value) {
  WhyQuestion& question = words.question;
  const std::array<std::pair<std::string_view, std::optional<std::string>*>, 6> keys = {{
      {"tenant", &question.tenant},
      {"service", &question.service},
      {"sku", &question.sku},
      {"role", &question.role},
      {"gpu", &question.gpu},
      {"slice", &question.slice},
  }};
  if (name == "day") {
    if (words.has_days) {
      return invalid("--why: wanted one day=, without --since and --until, found another one, or one of these");
    }
    const auto day = Date::parse(value);
    if (!day) return invalid("--why: day: " + day.error().message);
    question.days = {.since = *day, .until = Date(day->days() + 1)};
    words.has_days = true;
    words.last = nullptr;
    return true;
  }
  const auto* const key = std::ranges::find(keys, name, [](const auto& pair) { return pair.first; });
  if (key == keys.end()) return false;
  if (key->second->has_value()) return invalid(fmt::format("--why: wanted {}= once, found it again", name));
  words.last = key->second;
  *words.last = std::string(value);
  return true;
}

/// "tenant=T day=2026-11-17" as a question. A word without "=" extends the previous value: names may have spaces.
Result<WhyQuestion> check_why(const CostWords& words) {
  const auto days = days_of(words);
  if (!days) return pass_on(days.error());
  WhyWords read{.question = {.days = *days}, .has_days = words.since || words.until};
  std::string_view rest = *words.why;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos && read.last != nullptr) {
      **read.last += " " + std::string(word);
      continue;
    }
    const bool has_value = equals != std::string_view::npos;
    const auto taken =
        has_value ? take_word(read, word.substr(0, equals), word.substr(equals + 1)) : Result<bool>(false);
    if (!taken) return pass_on(taken.error());
    if (*taken) continue;
    return invalid(
        "--why: wanted words such as tenant=T, service=S, sku=K, role=R, gpu=G, slice=L or day=2026-11-17, found " +
        in_quotes(word));
  }
  return read.question;
}

}  // namespace

OptionTable cost_option_rows(CostWords& words) {
  return joined_rows({ledger_option_rows(words.ledger),
                      {
                          {"--by", "WORD", "Sums by tenant, service, sku, role, gpu or day", &words.by},
                          {"--since", "DATE", "Only from this day (UTC) on", &words.since},
                          {"--until", "DATE", "Only before this day (UTC)", &words.until},
                          {"--budgets", "", "The budgets in force at --as-of", &words.has_budgets},
                          {"--report", "DIR", "Write a page with charts, DIR/index.html", &words.report},
                          {"--as-of", "TIME", "An instant in UTC, such as 2026-11-17T12:00:00Z", &words.as_of},
                          {"--why", "WORDS", "The cells behind a figure: \"tenant=T day=2026-11-17\"", &words.why},
                          {"--format", "WORD", "table or json", &words.format},
                      }});
}

Result<CostRequest> check_cost_words(const CostWords& words) {
  auto ledger = check_ledger_words(words.ledger);
  if (!ledger) return pass_on(ledger.error());
  const auto format = parse_format(words.format);
  if (!format) return pass_on(format.error());
  const int questions = (words.by ? 1 : 0) + (words.has_budgets ? 1 : 0) + (words.why ? 1 : 0);
  if (questions > 1 || (questions == 0 && !words.report)) {
    return invalid(fmt::format("wanted one of --by, --budgets, --why and --report, found {}",
                               questions == 0 ? "none" : "several"));
  }
  if (words.as_of && !words.has_budgets && !words.report) {
    return invalid("--as-of: wanted only with --budgets or --report");
  }
  if (words.has_budgets && (words.since || words.until)) {
    return invalid("--since and --until: wanted with --by or --why, found --budgets");
  }
  auto page = check_page(words);
  if (!page) return pass_on(page.error());
  CostRequest request{.ledger = *std::move(ledger), .question = {}, .format = *format, .page = *std::move(page)};
  const auto take = [&](auto question) -> Result<CostRequest> {
    if (!question) return pass_on(question.error());
    request.question = *std::move(question);
    return std::move(request);
  };
  if (words.by) return take(check_by(words));
  if (words.has_budgets) return take(check_budgets(words));
  if (words.why) return take(check_why(words));
  request.question = CostByQuestion{.key = ledger::CostKey::kTenant, .days = request.page->range.days};
  return request;
}

}  // namespace berth::cli
