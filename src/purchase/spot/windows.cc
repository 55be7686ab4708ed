#include "purchase/spot/windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/core/text.h"
#include "base/json/document.h"
#include "base/yaml/reader.h"

namespace berth::purchase {
namespace {

constexpr std::int64_t kTickSecondsMax = 1'000'000;

/// The ticks of a window; fails at the first character that is neither 0 nor 1.
std::vector<bool> read_ticks(const yaml::Value& value) {
  const std::string text = value.text("a text of 0 and 1");
  if (value.has_failed()) return {};
  if (text.size() > kTicksMax) {
    value.refuse(fmt::format("at most {} ticks", kTicksMax), fmt::format("{}", text.size()));
    return {};
  }
  const std::size_t bad = text.find_first_not_of("01");
  if (bad != std::string::npos) {
    value.refuse("0 and 1 only", fmt::format("{} as character {}", in_quotes(text.substr(bad, 1)), bad + 1));
    return {};
  }
  std::vector<bool> ticks;
  ticks.reserve(text.size());
  for (const char c : text) ticks.push_back(c == '0');
  return ticks;
}

Result<Market> read_window(std::string_view line, std::size_t number, std::string_view file) {
  const auto tree = json::parse_document(line, file, {.first_line = number});
  // A line that is not JSON is bad input like any other.
  if (!tree) return invalid(tree.error().message);
  yaml::Report report{std::string(file)};
  const yaml::Value root(*tree, report);
  root.check_keys({"series", "window", "gap_seconds", "unavailable"});
  Market market;
  market.series = {root.at("series").text("the name of a series")};
  market.window = root.at("window").text("the name of a window");
  market.tick_seconds = root.at("gap_seconds").whole({.min = 1, .max = kTickSecondsMax});
  market.is_available = {read_ticks(root.at("unavailable"))};
  if (report.has_failed()) return tl::unexpected(report.failure());
  return market;
}

}  // namespace

Result<std::vector<Market>> read_windows(std::string_view text, std::string_view file) {
  std::vector<Market> windows;
  std::set<std::pair<std::string, std::string>> names;
  LineReader lines(text);
  while (lines.next()) {
    if (is_blank(lines.line()) && lines.is_rest_blank()) break;
    auto window = read_window(lines.line(), lines.number(), file);
    if (!window) return pass_on(window.error());
    if (!names.emplace(window->series.front(), window->window).second) {
      return tl::unexpected(error_at(file, {lines.number(), 1},
                                     fmt::format("wanted each window of a series once, found {} of {} again",
                                                 in_quotes(window->window), in_quotes(window->series.front()))));
    }
    windows.push_back(std::move(*window));
  }
  if (windows.empty()) return tl::unexpected(error_at(file, {1, 1}, "wanted at least one window, found none"));
  return windows;
}

Result<std::vector<Market>> join_zones(const std::vector<Market>& windows, std::string_view file) {
  std::vector<Market> markets;
  std::map<std::string, std::size_t> index_of;
  for (const Market& window : windows) {
    const auto [known, is_new] = index_of.emplace(window.window, markets.size());
    if (is_new) {
      markets.push_back(window);
      markets.back().is_joined = true;
      continue;
    }
    Market& market = markets[known->second];
    const std::vector<bool>& ticks = window.is_available.front();
    const bool is_equal =
        market.tick_seconds == window.tick_seconds && market.is_available.front().size() == ticks.size();
    if (!is_equal) {
      return invalid(fmt::format(
          "{}: wanted zones of one window with equal gaps and lengths, found {} of {} with {} ticks of {} s and of {} "
          "with {} ticks of {} s",
          file, in_quotes(window.window), in_quotes(market.series.front()), market.is_available.front().size(),
          market.tick_seconds, in_quotes(window.series.front()), ticks.size(), window.tick_seconds));
    }
    market.series.push_back(window.series.front());
    market.is_available.push_back(ticks);
  }
  return markets;
}

}  // namespace berth::purchase
