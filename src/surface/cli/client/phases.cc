#include "surface/cli/client/phases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/core/text.h"
#include "surface/cli/client/node.h"
#include "surface/cli/client/tables.h"

namespace berth::cli {
namespace {

using Words = std::vector<std::string_view>;

Words phases_of(Kind kind) {
  switch (kind) {
    case Kind::kService:
      return {"waiting", "starting", "running", "draining", "cold"};
    case Kind::kPlan:
      return {"awaiting_approval", "acting", "done", "expired", "refused", "superseded"};
    case Kind::kSlice:
      return {"creating", "starting", "serving", "retraining", "draining", "idle", "lost", "foreign"};
    case Kind::kGpu:
    case Kind::kNode:
      return {"ok", "lost", "open", "cordoned", "draining", "drained"};
    case Kind::kTenant:
    case Kind::kFault:
    case Kind::kEvent:
    case Kind::kCalibration:
      return {};
    case Kind::kWarm:
      return {"cold", "warm", "serving"};
  }
  return {};
}

std::string in_lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

std::vector<std::string> phases_at(Kind kind, const yaml::Node& object) {
  if (kind == Kind::kGpu || kind == Kind::kNode) return {text_cell(object, "status.health"), scheduling_cell(object)};
  return {in_lower_case(text_cell(object, kind == Kind::kSlice ? "status.state" : "status.phase"))};
}

}  // namespace

ClientResult<std::vector<std::string>> check_phases(Kind kind, const std::vector<std::string>& phases) {
  const Words known = phases_of(kind);
  std::vector<std::string> words;
  for (const std::string& phase : phases) {
    std::string word = in_lower_case(phase);
    if (known.empty()) {
      return client_fail(
          ClientStatus::kBadInput,
          fmt::format("--phase: wanted services, plans, slices, gpus, nodes or warm, found {}", plural_of(kind)));
    }
    if (std::ranges::find(known, word) == known.end()) {
      return client_fail(ClientStatus::kBadInput,
                         fmt::format("--phase: wanted one of {}, found {}", fmt::join(known, ", "), in_quotes(phase)));
    }
    words.push_back(std::move(word));
  }
  return words;
}

void keep_phases(Kind kind, const std::vector<std::string>& phases, std::vector<yaml::Node>& objects) {
  if (phases.empty()) return;
  std::erase_if(objects, [&](const yaml::Node& object) {
    const std::vector<std::string> found = phases_at(kind, object);
    return std::ranges::none_of(
        phases, [&](const std::string& phase) { return std::ranges::find(found, phase) != found.end(); });
  });
}

}  // namespace berth::cli
