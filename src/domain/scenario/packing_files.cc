#include "domain/scenario/packing_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/core/rows.h"
#include "base/core/text.h"
#include "domain/mig/catalogue.h"
#include "domain/profile/contradiction.h"
#include "domain/profile/readers.h"
#include "domain/scenario/catalogue_resolver.h"
#include "domain/values/arrivals.h"

namespace berth::scenario {
namespace {

constexpr std::int64_t kGpusOfferedMax = 1'000'000;
constexpr std::int64_t kUsdPerGpuHourMax = 100'000;
constexpr std::int64_t kMicrosPerUsd = 1'000'000;

// Demands

std::vector<std::string_view> demand_header(std::string_view text) {
  std::vector<std::string_view> header = {"model", "requests_per_second", "latency_ms"};
  LineReader lines(text);
  if (!lines.next()) return header;
  const auto fields = split_row(lines.line(), header.size() + 1);
  if (fields && fields->size() > header.size()) header.emplace_back("tenant");
  return header;
}

/// A number up to `max`; one that is too small is reported later.
Result<Decimal> number_up_to(const Rows& rows, std::size_t column, std::int64_t max, std::string_view wanted) {
  auto value = Decimal::parse(rows.field(column));
  if (!value || *value > Decimal(max)) return rows.refuse(column, fmt::format("{}, at most {}", wanted, max));
  return value;
}

Result<Demand> demand_row(const Rows& rows, bool has_tenant) {
  constexpr std::size_t kTenantLengthMax = 200;
  Demand demand;
  auto model = rows.word(0);
  if (!model) return pass_on(model.error());
  auto rate = number_up_to(rows, 1, kRequestsPerSecondMax, "a number from 0");
  if (!rate) return pass_on(rate.error());
  auto latency_ms = number_up_to(rows, 2, profile::kLatencyMsMax, "a number above 0");
  if (!latency_ms) return pass_on(latency_ms.error());
  demand.model = std::move(*model);
  demand.requests_per_second = std::move(*rate);
  demand.latency_ms = std::move(*latency_ms);
  demand.tenant = has_tenant && !rows.field(3).empty() ? std::string(rows.field(3)) : demand.model;
  if (demand.tenant.size() > kTenantLengthMax) return rows.refuse(3, "at most 200 bytes");
  return demand;
}

std::string demand_name(const Demand& demand) {
  if (demand.tenant == demand.model) return in_quotes(demand.model);
  return fmt::format("{} of tenant {}", in_quotes(demand.model), in_quotes(demand.tenant));
}

/// The faults of rows that can be read, by kind; all are reported at once.
class DemandFaults {
 public:
  void add(const Demand& demand, std::size_t line) {
    const std::string name = demand_name(demand);
    if (demand.requests_per_second.sign() < 0) {
      note(rates_, fmt::format("{} for {} (line {})", demand.requests_per_second.to_string(), name, line), line);
    }
    if (demand.latency_ms.sign() <= 0) {
      note(latencies_, fmt::format("{} for {} (line {})", demand.latency_ms.to_string(), name, line), line);
    }
    const auto [known, is_new] = lines_.emplace(std::pair(demand.tenant, demand.model), line);
    if (!is_new) note(repeated_, fmt::format("{} (lines {} and {})", name, known->second, line), line);
  }

  [[nodiscard]] std::optional<Error> reported(std::string_view file) const {
    if (first_line_ == 0) return std::nullopt;
    std::vector<std::string> kinds;
    const auto report = [&kinds](std::string_view wanted, const std::vector<std::string>& found) {
      if (!found.empty()) kinds.push_back(fmt::format("wanted {}, found {}", wanted, fmt::join(found, ", ")));
    };
    report("requests_per_second from 0", rates_);
    report("latency_ms above 0", latencies_);
    report("each model of a tenant once", repeated_);
    return error_at(file, {.line = first_line_, .column = 1}, fmt::format("{}", fmt::join(kinds, "; ")));
  }

 private:
  void note(std::vector<std::string>& kind, std::string text, std::size_t line) {
    kind.push_back(std::move(text));
    if (first_line_ == 0) first_line_ = line;
  }

  std::vector<std::string> rates_;
  std::vector<std::string> latencies_;
  std::vector<std::string> repeated_;
  std::map<std::pair<std::string, std::string>, std::size_t> lines_;  ///< of (tenant, model): its first row
  std::size_t first_line_ = 0;                                        ///< 0: no fault
};

// Offers

Result<std::optional<std::int64_t>> offered_count(const Rows& rows) {
  if (rows.field(1) == "unlimited") return std::nullopt;
  const auto count = parse_count(rows.field(1), kGpusOfferedMax);
  if (!count) return rows.refuse(1, fmt::format("a whole number from 0 to {}, or unlimited", kGpusOfferedMax));
  return *count;
}

Result<std::int64_t> offered_price(const Rows& rows) {
  const auto usd = rows.number(2, kUsdPerGpuHourMax);
  if (!usd) return pass_on(usd.error());
  const Decimal micro_usd = *usd * Decimal(kMicrosPerUsd);
  if (!micro_usd.is_integer()) return rows.refuse(2, "at most six digits after the point");
  return micro_usd.floor();
}

Result<GpuOffer> offer_row(const Rows& rows) {
  auto model = mig::find_gpu_model(rows.field(0));
  if (!model) return rows.fail_at(0, "gpu: " + model.error().message);
  const auto count = offered_count(rows);
  if (!count) return pass_on(count.error());
  const auto price = offered_price(rows);
  if (!price) return pass_on(price.error());
  return GpuOffer{.model = std::move(*model), .count_max = *count, .micro_usd_per_hour = *price};
}

// Profiles

/// The files at `path`: itself, or those of a folder.
Result<std::vector<std::string>> profile_paths(const std::string& path, const Files& files) {
  const auto names = files.list(path);
  if (!names) return pass_on(names.error());
  if (!*names) return std::vector<std::string>{path};
  std::vector<std::string> paths;
  for (const std::string& name : **names) {
    if (name.ends_with(".csv") && !name.starts_with('.'))
      paths.push_back((std::filesystem::path(path) / name).string());
  }
  if (paths.empty()) return invalid(fmt::format("{}: wanted a folder with *.csv files, found none in it", path));
  return paths;
}

/// A file of one model, which is named like the file.
Result<std::vector<PerformanceTable>> parvagpu_table(const std::string& text, const std::string& path,
                                                     const profile::RowObserver& observe) {
  auto table = profile::read_parvagpu(text, path, observe);
  if (!table) return pass_on(table.error());
  table->model = std::filesystem::path(path).stem().string();
  std::vector<PerformanceTable> tables;
  tables.push_back(std::move(*table));
  return tables;
}

/// The tables of one file; adds to the warnings.
Result<std::vector<PerformanceTable>> tables_of(const std::string& path, ProfileFormat format, const Files& files,
                                                std::vector<std::string>& warnings) {
  const auto text = files.read(path);
  if (!text) return pass_on(text.error());
  profile::Contradictions contradictions;
  const auto observe = [&](const profile::WrittenRow& row) { contradictions.add(row); };
  CatalogueResolver resolve;
  auto tables = format == ProfileFormat::kCsv
                    ? profile::read_profile_csv_models(*text, path, std::ref(resolve), observe)
                    : parvagpu_table(*text, path, observe);
  if (!tables) return tables;
  if (const auto& row = contradictions.excessive()) {
    return tl::unexpected(
        error_at(path, row->rate_place,
                 fmt::format("wanted {}, found {}; {}", row->wanted, row->found, contradictions.text("line "))));
  }
  if (!contradictions.empty()) warnings.push_back(fmt::format("{}: {}", path, contradictions.text("line ")));
  for (const std::string& remark : resolve.remarks()) warnings.push_back(fmt::format("{}: {}", path, remark));
  return tables;
}

}  // namespace

Result<std::vector<Demand>> read_demands(std::string_view text, std::string_view file) {
  const std::vector<std::string_view> header = demand_header(text);
  const bool has_tenant = header.size() == 4;
  Rows rows(text, file, header);
  if (const auto begun = rows.begin(); !begun) return pass_on(begun.error());
  std::vector<Demand> demands;
  DemandFaults faults;
  for (std::size_t line = 2;; ++line) {  // blank lines are at the end only
    const auto has_row = rows.next();
    if (!has_row) return pass_on(has_row.error());
    if (!*has_row) break;
    auto demand = demand_row(rows, has_tenant);
    if (!demand) return pass_on(demand.error());
    faults.add(*demand, line);
    demands.push_back(std::move(*demand));
  }
  if (const auto reported = faults.reported(file)) return pass_on(*reported);
  return demands;
}

Result<Warned<std::vector<GpuOffer>>> read_offers(std::string_view text, std::string_view file) {
  Rows rows(text, file, {"gpu", "count", "usd_per_gpu_hour"});
  if (const auto begun = rows.begin(); !begun) return pass_on(begun.error());
  Warned<std::vector<GpuOffer>> read;
  std::set<std::string> seen;
  while (true) {
    const auto has_row = rows.next();
    if (!has_row) return pass_on(has_row.error());
    if (!*has_row) break;
    auto offer = offer_row(rows);
    if (!offer) return pass_on(offer.error());
    if (!seen.insert(offer->model.name).second) return rows.fail_row("a second row of " + offer->model.name);
    if (const auto remark = mig::gpu_name_remark(rows.field(0))) {
      read.warnings.push_back(fmt::format("{}: {}", file, *remark));
    }
    read.value.push_back(std::move(*offer));
  }
  if (read.value.empty()) return rows.fail_file("wanted at least one GPU model, found none");
  return read;
}

Result<Warned<std::vector<PerformanceTable>>> load_tables(const std::string& path, ProfileFormat format,
                                                          const Files& files) {
  const auto paths = profile_paths(path, files);
  if (!paths) return pass_on(paths.error());
  std::map<std::string, std::string> homes;  // the file of each model
  Warned<std::vector<PerformanceTable>> loaded;
  for (const std::string& at : *paths) {
    auto found = tables_of(at, format, files, loaded.warnings);
    if (!found) return pass_on(found.error());
    for (PerformanceTable& table : *found) {
      const auto [home, is_new] = homes.emplace(table.model, at);
      if (!is_new) {
        return invalid(fmt::format("{}: wanted each model in one file only, found {}, which is in {} too", at,
                                   in_quotes(table.model), home->second));
      }
      loaded.value.push_back(std::move(table));
    }
  }
  std::ranges::sort(loaded.value, {}, &PerformanceTable::model);
  return loaded;
}

}  // namespace berth::scenario
