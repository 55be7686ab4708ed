#include "purchase/pricing/offer_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/core/decimal.h"
#include "base/core/first_error.h"
#include "base/core/rows.h"
#include "base/core/sort_stably.h"
#include "base/core/text.h"

namespace berth::pricing {
namespace {

constexpr std::int64_t kMicroUsdMax = 1'000'000'000'000;  // a million dollars per hour
constexpr std::int64_t kMibMax = 1'000'000'000;
constexpr std::int64_t kMilliMax = 1'000'000'000;
constexpr int kGpusMax = 1024;
constexpr int kMigInstancesMax = 7;
constexpr std::int64_t kMibPerGib = 1024;
constexpr std::int64_t kMilliPerCpu = 1000;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

/// A whole number from 0; an empty field is `if_empty`.
Result<std::int64_t> whole_number(const Rows& rows, std::size_t column, std::int64_t max,
                                  std::optional<std::int64_t> if_empty = std::nullopt) {
  if (rows.field(column).empty() && if_empty) return *if_empty;
  return rows.integer(column, 0, max);
}

/// A number of units times `factor`, such as GiB to MiB. Error: the result is not a whole number.
Result<std::int64_t> scaled(const Rows& rows, std::size_t column, std::int64_t factor, std::int64_t max) {
  const auto value = Decimal::parse(rows.field(column));
  const auto refused = [&] {
    return rows.refuse(column, fmt::format("a number from 0 to {}, a multiple of 1/{}", max / factor, factor));
  };
  if (!value || value->sign() < 0) return refused();
  const Decimal product = *value * Decimal(factor);
  if (!product.is_integer() || product > Decimal(max)) return refused();
  return product.floor();
}

/// A count of GPUs: a whole number, or 0 for a fraction below 1.
Result<int> gpu_count(const Rows& rows, std::size_t column) {
  const auto value = Decimal::parse(rows.field(column));
  const bool is_count =
      value && value->sign() >= 0 && *value <= Decimal(kGpusMax) && (value->is_integer() || *value < Decimal(1));
  if (!is_count)
    return rows.refuse(column, fmt::format("a whole number of GPUs up to {}, or a fraction below 1", kGpusMax));
  return static_cast<int>(value->floor());
}

Result<std::optional<std::int64_t>> price(const Rows& rows, std::size_t column) {
  if (rows.field(column).empty()) return std::nullopt;
  const auto micro_usd = parse_count(rows.field(column), kMicroUsdMax);
  if (!micro_usd)
    return rows.refuse(column, fmt::format("a whole number of micro-dollars up to {}, or nothing", kMicroUsdMax));
  return std::optional(*micro_usd);
}

std::string place_of(const Rows& rows, std::string_view file) { return fmt::format("{}:{}", file, rows.line_number()); }

// Berth's own format

enum OwnColumn : std::size_t {
  kOwnProvider,
  kOwnType,
  kOwnRegion,
  kOwnPurchase,
  kOwnGpuModel,
  kOwnGpuCount,
  kOwnGpuMemory,
  kOwnVcpuMilli,
  kOwnMemory,
  kOwnMigInstances,
  kOwnPrice,
  kOwnFrom,
  kOwnTo,
  kOwnSource,
};

const std::vector<std::string_view> own_header = {
    "provider",           "instance_type",  "region",     "purchase",   "gpu_model",
    "gpu_count",          "gpu_memory_mib", "vcpu_milli", "memory_mib", "mig_instances_max",
    "micro_usd_per_hour", "valid_from",     "valid_to",   "source"};

Result<Purchase> purchase_in(const Rows& rows, std::size_t column) {
  const auto purchase = purchase_named(rows.field(column));
  if (!purchase) return rows.refuse(column, "on-demand, spot or committed");
  return *purchase;
}

Result<Date> date_in(const Rows& rows, std::size_t column) {
  auto date = Date::parse(rows.field(column));
  if (!date) return rows.refuse(column, "a date such as 2026-07-20");
  return date;
}

Result<Validity> validity_in(const Rows& rows) {
  FirstError first;
  Validity validity{.from = first.take(date_in(rows, kOwnFrom)), .to = std::nullopt};
  if (!rows.field(kOwnTo).empty()) validity.to = first.take(date_in(rows, kOwnTo));
  if (!first.is_clear()) return first.passed_on();
  if (validity.to && *validity.to <= validity.from) return rows.refuse(kOwnTo, "a date after valid_from");
  return validity;
}

Result<Offer> own_row(const Rows& rows) {
  FirstError first;
  Offer offer;
  offer.key = {.provider = first.take(rows.word(kOwnProvider)),
               .instance_type = first.take(rows.word(kOwnType)),
               .region = first.take(rows.word(kOwnRegion)),
               .purchase = first.take(purchase_in(rows, kOwnPurchase))};
  offer.shape = {
      .gpu_model = lower_case(first.take(rows.word(kOwnGpuModel))),
      .gpu_count = static_cast<int>(first.take(rows.integer(kOwnGpuCount, 0, kGpusMax))),
      .gpu_memory_mib = first.take(whole_number(rows, kOwnGpuMemory, kMibMax, 0)),
      .vcpu_milli = first.take(rows.integer(kOwnVcpuMilli, 0, kMilliMax)),
      .memory_mib = first.take(rows.integer(kOwnMemory, 0, kMibMax)),
      .mig_instances_max = static_cast<int>(first.take(whole_number(rows, kOwnMigInstances, kMigInstancesMax, 0)))};
  offer.micro_usd_per_hour = first.take(price(rows, kOwnPrice));
  offer.validity = first.take(validity_in(rows));
  offer.source = rows.field(kOwnSource);
  if (!first.is_clear()) return first.passed_on();
  return offer;
}

Result<std::vector<OfferRow>> read_own(const OfferText& text) {
  Rows rows(text.text, text.file, NamedColumns{.required = own_header});
  if (Result<void> begun = rows.begin(); !begun) return pass_on(begun.error());
  std::vector<OfferRow> offers;
  for (Result<bool> more = rows.next();; more = rows.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) return offers;
    auto offer = own_row(rows);
    if (!offer) return pass_on(offer.error());
    offers.push_back({.offer = std::move(*offer), .place = place_of(rows, text.file)});
  }
}

// The public catalogues

enum CatalogueColumn : std::size_t {
  kProvider,
  kType,
  kRegion,
  kGpuModel,
  kGpuCount,
  kMigInstances,
  kVcpu,
  kOnDemandPrice,
  kGpuMib,
  kGpuGib,
  kRamMib,
  kRamGib,
  kSpotPrice,
  kNote,
};

const NamedColumns catalogue_columns = {
    .required = {"provider", "instance_type", "region", "gpu_model", "gpu_count", "mig_max_per_gpu", "vcpu",
                 "price_od_usd_micro_hr"},
    .optional = {"gpu_mem_mib_each", "gpu_mem_gib_each", "ram_mib", "ram_gib", "price_spot_usd_micro_hr", "note"}};

constexpr std::string_view kOnlySpotNote = "sold only as spot";

/// A size in MiB, which one of the catalogues gives in MiB, the others in GiB.
Result<std::int64_t> mib(const Rows& rows, std::size_t mib_column, std::size_t gib_column) {
  const bool has_mib = rows.has_column(mib_column);
  const std::size_t column = has_mib ? mib_column : gib_column;
  if (rows.field(column).empty()) return 0;  // unknown
  return scaled(rows, column, has_mib ? 1 : kMibPerGib, kMibMax);
}

Result<Offer> catalogue_row(const Rows& rows, Date stamp, std::string_view file) {
  FirstError first;
  Offer offer;
  offer.key = {.provider = first.take(rows.word(kProvider)),
               .instance_type = first.take(rows.word(kType)),
               .region = first.take(rows.word(kRegion)),
               .purchase = Purchase::kOnDemand};
  offer.shape = {
      .gpu_model = lower_case(first.take(rows.word(kGpuModel))),
      .gpu_count = first.take(gpu_count(rows, kGpuCount)),
      .gpu_memory_mib = first.take(mib(rows, kGpuMib, kGpuGib)),
      .vcpu_milli = first.take(scaled(rows, kVcpu, kMilliPerCpu, kMilliMax)),
      .memory_mib = first.take(mib(rows, kRamMib, kRamGib)),
      .mig_instances_max = static_cast<int>(first.take(whole_number(rows, kMigInstances, kMigInstancesMax, 0)))};
  offer.micro_usd_per_hour = first.take(price(rows, kOnDemandPrice));
  offer.validity = {.from = stamp, .to = std::nullopt};
  offer.source = file;
  if (!first.is_clear()) return first.passed_on();
  return offer;
}

/// Appends the offers of a row: on demand and spot.
Result<void> append_catalogue_row(const Rows& rows, const OfferText& text, std::vector<OfferRow>& offers) {
  auto on_demand = catalogue_row(rows, text.stamp, text.file);
  if (!on_demand) return pass_on(on_demand.error());
  const auto spot_price = price(rows, kSpotPrice);
  if (!spot_price) return pass_on(spot_price.error());
  Offer spot = *on_demand;
  spot.key.purchase = Purchase::kSpot;
  spot.micro_usd_per_hour = *spot_price;
  const std::string place = place_of(rows, text.file);
  const bool is_only_spot = rows.field(kNote).find(kOnlySpotNote) != std::string_view::npos;
  if (!is_only_spot) offers.push_back({.offer = std::move(*on_demand), .place = place});
  if (rows.has_column(kSpotPrice)) offers.push_back({.offer = std::move(spot), .place = place});
  return {};
}

Result<std::vector<OfferRow>> read_catalogue(const OfferText& text) {
  Rows rows(text.text, text.file, catalogue_columns);
  if (Result<void> begun = rows.begin(); !begun) return pass_on(begun.error());
  if (!rows.has_column(kGpuMib) && !rows.has_column(kGpuGib)) {
    return rows.fail_row("wanted a column gpu_mem_mib_each or gpu_mem_gib_each, found neither");
  }
  if (!rows.has_column(kRamMib) && !rows.has_column(kRamGib)) {
    return rows.fail_row("wanted a column ram_mib or ram_gib, found neither");
  }
  std::vector<OfferRow> offers;
  for (Result<bool> more = rows.next();; more = rows.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) return offers;
    if (Result<void> added = append_catalogue_row(rows, text, offers); !added) return pass_on(added.error());
  }
}

// All formats

bool is_catalogue(std::string_view text) {
  LineReader lines(text);
  if (!lines.next()) return false;
  const auto names = split_row(lines.line(), kColumnCountMax);
  return names && std::any_of(names->begin(), names->end(),
                              [](const Field& name) { return name.text == catalogue_columns.required.back(); });
}

/// Refuses two rows for one product whose dates overlap.
Result<void> check_once(const std::vector<OfferRow>& offers) {
  std::map<OfferKey, std::vector<const OfferRow*>> lines;
  for (const OfferRow& row : offers) lines[row.offer.key].push_back(&row);
  for (auto& [key, line] : lines) {
    sort_stably(line, [](const OfferRow* row) { return row->offer.validity.from; });
    for (std::size_t i = 1; i < line.size(); ++i) {
      const Validity& before = line[i - 1]->offer.validity;
      const Date date = line[i]->offer.validity.from;
      if (before.to && *before.to <= date) continue;
      return invalid(fmt::format("{}: wanted one row for {} {} {} ({}) on {}, found another at {}", line[i]->place,
                                 key.provider, key.instance_type, key.region, name_of(key.purchase), date.to_string(),
                                 line[i - 1]->place));
    }
  }
  return {};
}

/// A field of a CSV file; quoted if it contains a comma.
std::string csv_field(std::string_view text) {
  return text.find(',') == std::string_view::npos ? std::string(text) : fmt::format("\"{}\"", text);
}

std::string own_line(const Offer& offer) {
  const Shape& shape = offer.shape;
  const auto or_nothing = [](std::int64_t value) { return value == 0 ? std::string() : std::to_string(value); };
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(offer.key.provider), csv_field(offer.key.instance_type),
      csv_field(offer.key.region), name_of(offer.key.purchase), csv_field(shape.gpu_model), shape.gpu_count,
      or_nothing(shape.gpu_memory_mib), shape.vcpu_milli, shape.memory_mib, shape.mig_instances_max,
      offer.micro_usd_per_hour ? std::to_string(*offer.micro_usd_per_hour) : "", offer.validity.from.to_string(),
      offer.validity.to ? offer.validity.to->to_string() : "", csv_field(offer.source));
}

}  // namespace

Result<std::vector<OfferRow>> read_offers(const OfferText& text) {
  auto offers = is_catalogue(text.text) ? read_catalogue(text) : read_own(text);
  if (!offers) return offers;
  if (offers->empty()) return tl::unexpected(error_at(text.file, {1, 1}, "wanted at least one offer, found none"));
  if (Result<void> checked = check_once(*offers); !checked) return pass_on(checked.error());
  return offers;
}

std::string write_offers(std::span<const Offer> offers) {
  std::string text = fmt::format("{}\n", fmt::join(own_header, ","));
  for (const Offer& offer : offers) text += own_line(offer);
  return text;
}

}  // namespace berth::pricing
