// The text form of a state: "3g.40gb@4,1g.10gb@0".

#include <algorithm>

#include "base/core/text.h"
#include "domain/mig/catalogue.h"
#include "domain/mig/geometry.h"
#include "domain/mig/other_names.h"
#include "domain/values/gpu.h"

namespace berth::mig {
namespace {

constexpr std::int64_t kStartMax = 99;
constexpr std::string_view kBlank = " \t";

std::string at_column(std::size_t column, std::string_view message) {
  return "state, column " + std::to_string(column) + ": " + std::string(message);
}

/// A part of the text without the blanks around it, and where it begins.
struct Item {
  std::string_view text;
  std::size_t column = 1;
};

Item trimmed(std::string_view text, std::size_t column) {
  const std::size_t first = std::min(text.find_first_not_of(kBlank), text.size());
  const std::size_t last = text.find_last_not_of(kBlank);
  if (last == std::string_view::npos) return {"", column + first};
  return {text.substr(first, last - first + 1), column + first};
}

std::string profile_list(const GpuModel& model) {
  std::string text = kFullProfileName;
  for (const MigProfile& profile : model.profiles) text += ", " + profile.name;
  return text;
}

Result<Placement> parse_placement(const GpuModel& model, const Item& item) {
  const std::size_t at = item.text.rfind('@');
  if (at == std::string_view::npos) {
    return invalid(at_column(item.column, "wanted PROFILE@START, found " + in_quotes(item.text)));
  }
  const std::string_view name = item.text.substr(0, at);
  const auto profile = find_profile_by_any_name(model, name);
  if (!profile) {
    return invalid(at_column(
        item.column, "wanted a profile of " + model.name + " (" + profile_list(model) + "), found " + in_quotes(name)));
  }
  const auto start = parse_count(item.text.substr(at + 1), kStartMax);
  if (!start) return invalid(at_column(item.column + at + 1, start.error().message));
  const Placement placement = {static_cast<int>(*start), *profile};
  if (const auto fault = find_clash(model, {placement})) return invalid(at_column(item.column + at + 1, *fault));
  return placement;
}

}  // namespace

Result<State> parse_state(const GpuModel& model, std::string_view text) {
  if (text.size() > kStateTextMax) {
    return invalid("state: wanted at most " + std::to_string(kStateTextMax) + " bytes, found " +
                   std::to_string(text.size()));
  }
  State state;
  if (is_blank(text)) return state;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto placement = parse_placement(model, trimmed(text.substr(begin, end - begin), begin + 1));
    if (!placement) return pass_on(placement.error());
    state.push_back(*placement);
    begin = end + 1;
  }
  std::ranges::sort(state);
  if (const auto clash = find_clash(model, state)) return invalid("state: " + *clash);
  return state;
}

std::string to_string(const GpuModel& model, const State& state) {
  std::string text;
  for (const Placement& placement : state) {
    if (!text.empty()) text += ",";
    text += profile_name(model, placement.profile) + "@" + std::to_string(placement.start);
  }
  return text;
}

}  // namespace berth::mig
