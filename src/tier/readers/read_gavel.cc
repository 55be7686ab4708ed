#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/core/text.h"
#include "base/json/document.h"
#include "base/json/tree.h"
#include "tier/readers/limits.h"
#include "tier/readers/read_training.h"
#include "tier/readers/table_builder.h"

namespace berth::tier {
namespace {

/// The published file has 11,000 values in 1.2 MB.
constexpr json::Limits kGavelLimits = {.text_bytes_max = 64U << 20U, .value_count_max = 5'000'000};
constexpr std::int64_t kScaleFactorMax = 1'000'000;

struct GavelJob {
  std::string model;
  int batch = 1;
};

/// "ResNet-18 (batch size 16)" -> ResNet-18, 16; "A3C" -> A3C, 1. Nothing if there is no model or no batch in it.
std::optional<GavelJob> job_named(std::string_view name) {
  constexpr std::string_view kBatch = " (batch size ";
  const std::size_t at = name.find(kBatch.substr(0, kBatch.size() - 1));
  if (name.empty() || at == 0) return std::nullopt;
  if (at == std::string_view::npos) return GavelJob{.model = std::string(name)};
  std::string_view batch = name.substr(at);
  if (!batch.starts_with(kBatch) || !batch.ends_with(')')) return std::nullopt;
  batch = batch.substr(kBatch.size(), batch.size() - kBatch.size() - 1);
  const auto count = parse_count(batch, kBatchMax);
  if (!count || *count < 1) return std::nullopt;
  return GavelJob{.model = std::string(name.substr(0, at)), .batch = static_cast<int>(*count)};
}

struct GavelKey {
  std::string_view job;
  std::int64_t scale_factor = 1;
};

/// "('A3C', 1)", a pair as Python prints it, in either kind of quotes.
std::optional<GavelKey> key_of_gavel(std::string_view text) {
  if (text.size() < 7 || text.front() != '(' || text.back() != ')') return std::nullopt;
  const char quote = text[1];
  if (quote != '\'' && quote != '"') return std::nullopt;
  const std::size_t end = text.rfind(quote);
  if (end < 2 || text.substr(end + 1, 2) != ", ") return std::nullopt;
  const auto factor = parse_count(text.substr(end + 3, text.size() - end - 4), kScaleFactorMax);
  if (!factor) return std::nullopt;
  return GavelKey{.job = text.substr(2, end - 2), .scale_factor = *factor};
}

class GavelReading {
 public:
  GavelReading(std::string_view file, const std::vector<Tier>& tiers) : file_(file), builder_(TierKind::kJobs, tiers) {}

  Result<TierTable> read(const yaml::Node& root);

 private:
  Result<void> read_tier(const yaml::Entry& tier);
  Result<void> read_entry(const std::string& tier, const yaml::Entry& entry);
  Result<void> add(const std::string& tier, const GavelJob& job, const yaml::Node& rate, TextPlace place);
  [[nodiscard]] tl::unexpected<Error> fail_at(TextPlace place, std::string_view message) const {
    return tl::unexpected(error_at(file_, place, message));
  }

  std::string_view file_;
  TableBuilder builder_;
};

Result<TierTable> GavelReading::read(const yaml::Node& root) {
  const auto* tiers = std::get_if<yaml::Map>(&root.value);
  if (tiers == nullptr) return fail_at(root.place, "wanted an object of tiers, found another value");
  for (const yaml::Entry& tier : *tiers) {
    if (auto read = read_tier(tier); !read) return pass_on(read.error());
  }
  return builder_.take();
}

Result<void> GavelReading::read_tier(const yaml::Entry& tier) {
  const auto* entries = std::get_if<yaml::Map>(&tier.value.value);
  if (entries == nullptr) {
    return fail_at(tier.place, fmt::format("{}: wanted an object of jobs, found another value", in_quotes(tier.key)));
  }
  for (const yaml::Entry& entry : *entries) {
    if (auto read = read_entry(tier.key, entry); !read) return read;
  }
  return {};
}

Result<void> GavelReading::read_entry(const std::string& tier, const yaml::Entry& entry) {
  const auto key = key_of_gavel(entry.key);
  if (!key) {
    return fail_at(entry.place, fmt::format("wanted a key such as \"('ResNet-18 (batch size 16)', 1)\", found {}",
                                            in_quotes(entry.key)));
  }
  if (key->scale_factor != 1) return {};
  const auto job = job_named(key->job);
  if (!job) {
    return fail_at(entry.place, fmt::format("wanted a job such as \"ResNet-18 (batch size 16)\" or \"A3C\", found {}",
                                            in_quotes(key->job)));
  }
  const yaml::Node* rate = json::find_member(entry.value, "null");
  if (rate == nullptr) {
    return fail_at(entry.place, fmt::format("{}: wanted the key null with the steps per second alone, found none",
                                            in_quotes(entry.key)));
  }
  return add(tier, *job, *rate, entry.place);
}

Result<void> GavelReading::add(const std::string& tier, const GavelJob& job, const yaml::Node& rate, TextPlace place) {
  const std::string* text = json::number_in(rate);
  const auto steps = text == nullptr ? Result<Decimal>(invalid("")) : Decimal::parse(*text);
  if (!steps || steps->sign() < 0 || *steps > Decimal(kRateMax)) {
    return fail_at(rate.place, fmt::format("null: wanted steps per second, a number from 0 to {}, found {}", kRateMax,
                                           text == nullptr ? "another value" : in_quotes(*text)));
  }
  const RowFate fate = builder_.add({.group = job.model,
                                     .workload = batch_name(job.batch),
                                     .batch = job.batch,
                                     .tier = tier,
                                     .point = {.batch = job.batch, .samples_per_second = *steps * Decimal(job.batch)}});
  if (fate != RowFate::kRepeated) return {};
  return fail_at(place, fmt::format("wanted one entry per job and tier, found a second one of {}, batch {}, on {}",
                                    in_quotes(job.model), job.batch, in_quotes(tier)));
}

}  // namespace

Result<TierTable> read_gavel(std::string_view text, std::string_view file, const std::vector<Tier>& tiers) {
  const auto root = json::parse_document(text, file, kGavelLimits);
  if (!root) return pass_on(root.error());
  return GavelReading(file, tiers).read(*root);
}

}  // namespace berth::tier
