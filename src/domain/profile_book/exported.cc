#include "domain/profile_book/exported.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/core/text.h"
#include "domain/profile_book/point_text.h"

namespace berth::profile_book {
namespace {

constexpr const char* kHeader = "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n";

/// GPU, profile, processes, batch.
using RowKey = std::tuple<std::string, std::string, int, int>;
struct ExportRow {
  const PointInForce* point = nullptr;
  bool is_elsewhere = false;
};
using ExportRows = std::map<RowKey, ExportRow>;

/// A field of a csv: in quotes where the readers need them. They accept no quote in quotes, and no name that begins
/// with one: a name from outside that is like that gets hyphens.
std::string csv_field(std::string text) {
  constexpr std::string_view kSpaces = " \t";
  const bool has_outer_space = !text.empty() && (kSpaces.find(text.front()) != std::string_view::npos ||
                                                 kSpaces.find(text.back()) != std::string_view::npos);
  const bool is_quoted = has_outer_space || text.find(',') != std::string::npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_bad_quote = text[i] == '"' && (is_quoted || i == 0);
    if (is_bad_quote || text[i] == '\n') text[i] = '-';
  }
  return is_quoted ? '"' + text + '"' : text;
}

/// Whether a place is not the kind of GPU that its rows name: nothing says that it was one.
bool is_elsewhere(const PlaceInForce& place) {
  const ProfilingMachine& machine = place.machine;
  return machine.driver.empty() && machine.device != place.label && !machine.device.starts_with("cuda:");
}

/// The machine that counts as the slice of `as`: the one with the newest run; nullptr if there is none.
const PlaceInForce* newest_machine(const ModelInForce& model) {
  const PlaceInForce* newest = nullptr;
  for (const PlaceInForce& place : model.places) {
    if (!place.label.empty() || !std::ranges::any_of(place.points, has_figures)) continue;
    if (newest == nullptr || place.run > newest->run) newest = &place;
  }
  return newest;
}

void add_rows(ExportRows& rows, const PlaceInForce& place, const SliceName& name) {
  for (const PointInForce& point : place.points) {
    if (!has_figures(point)) continue;
    ExportRow& row = rows[{name.gpu, name.profile, point.measured.processes, point.measured.batch}];
    if (row.point == nullptr || row.point->run < point.run) {
      row = {.point = &point, .is_elsewhere = is_elsewhere(place)};
    }
  }
}

/// The rows of a model; adds to `notes` what is left out.
ExportRows rows_of(const ModelInForce& model, const ExportTerms& terms, std::vector<std::string>& notes) {
  ExportRows rows;
  const PlaceInForce* const newest = newest_machine(model);
  for (const PlaceInForce& place : model.places) {
    const auto name = place.label.empty() ? terms.as : slice_name_of(place.label);
    if (!std::ranges::any_of(place.points, has_figures)) continue;
    if (!name) {
      notes.push_back(fmt::format("{} on {}: left out, as it has no GPU and profile: say what it counts as with --as",
                                  in_quotes(model.name), in_quotes(place.machine.device)));
    } else if (place.label.empty() && &place != newest) {
      notes.push_back(fmt::format("{} on {}: left out, as run {} of another machine is newer", in_quotes(model.name),
                                  in_quotes(place.machine.device), newest->run));
    } else {
      add_rows(rows, place, *name);
    }
  }
  return rows;
}

}  // namespace

std::optional<SliceName> slice_name_of(std::string_view label) {
  const std::size_t colon = label.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == label.size()) return std::nullopt;
  return SliceName{.gpu = std::string(label.substr(0, colon)), .profile = std::string(label.substr(colon + 1))};
}

Result<ExportedProfiles> export_profiles(std::span<const ModelInForce> models, const ExportTerms& terms) {
  ExportedProfiles exported{.csv = kHeader};
  bool is_known = !terms.model;
  for (const ModelInForce& model : models) {
    if (terms.model && *terms.model != model.name) continue;
    is_known = true;
    for (const auto& [key, row] : rows_of(model, terms, exported.notes)) {
      const auto& [gpu, profile, processes, batch] = key;
      const PointFigures figures = figures_of(*row.point);
      exported.csv += fmt::format("{},{},{},{},{},{},{}\n", csv_field(model.name), gpu, profile, batch, processes,
                                  figures.rate, figures.latency_ms);
      exported.is_elsewhere = exported.is_elsewhere || row.is_elsewhere;
      ++exported.row_count;
    }
  }
  if (!is_known) {
    return fail(ErrorCode::kNotFound,
                fmt::format("wanted a model that was profiled, found {}", in_quotes(*terms.model)));
  }
  if (exported.row_count > 0) return exported;
  const std::string why = exported.notes.empty() ? "found none" : exported.notes.front();
  return fail(ErrorCode::kNotFound, fmt::format("wanted points to export: {}", why));
}

}  // namespace berth::profile_book
