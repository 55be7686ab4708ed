#include "planner/packing/plan_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/core/text.h"
#include "base/json/document.h"
#include "domain/mig/catalogue.h"
#include "domain/values/gpu_name.h"

namespace berth::packing {
namespace {

constexpr std::int64_t kBatchWrittenMax = 1'000'000;
constexpr std::int64_t kStartWrittenMax = 1000;
/// Enough for a plan of a hundred thousand GPUs with seven slices each.
constexpr json::Limits kLimits{.text_bytes_max = 512U << 20U, .value_count_max = 8'000'000};

/// A description of a value for error messages.
std::string found_in(const yaml::Node& value) {
  if (std::holds_alternative<yaml::Map>(value.value)) return "an object";
  if (std::holds_alternative<yaml::List>(value.value)) return "a list";
  const auto& scalar = std::get<yaml::Scalar>(value.value);
  return scalar.kind == yaml::ScalarKind::kText ? in_quotes(scalar.text) : scalar.text;
}

const yaml::Scalar* scalar_of(const yaml::Node* value, yaml::ScalarKind kind) {
  const auto* scalar = value == nullptr ? nullptr : std::get_if<yaml::Scalar>(&value->value);
  return scalar != nullptr && scalar->kind == kind ? scalar : nullptr;
}

std::optional<Decimal> number_of(const yaml::Node* value) {
  const yaml::Scalar* scalar = scalar_of(value, yaml::ScalarKind::kNumber);
  if (scalar == nullptr) return std::nullopt;
  const auto number = Decimal::parse(scalar->text);
  return number ? std::optional(*number) : std::nullopt;
}

/// Reads the members of one object of the file, with the place for errors. After the first failure every result is
/// empty.
class PlanObject {
 public:
  PlanObject(const yaml::Map& object, std::string place, std::optional<Error>& failure)
      : object_(object), place_(std::move(place)), failure_(failure) {}

  [[nodiscard]] const yaml::Node* find(std::string_view key) const {
    const auto found = std::ranges::find(object_, key, &yaml::Entry::key);
    return found == object_.end() ? nullptr : &found->value;
  }

  std::int64_t whole(std::string_view key, std::int64_t min, std::int64_t max) {
    const auto number = number_of(find(key));
    if (!number || !number->is_integer() || *number < Decimal(min) || *number > Decimal(max)) {
      refuse(key, fmt::format("a whole number from {} to {}", min, max));
      return min;
    }
    return number->floor();
  }

  Decimal rate(std::string_view key) {
    const auto number = number_of(find(key));
    if (number && number->sign() >= 0) return *number;
    refuse(key, "a number from 0");
    return {};
  }

  std::string text(std::string_view key) {
    if (const yaml::Scalar* text = scalar_of(find(key), yaml::ScalarKind::kText)) return text->text;
    refuse(key, "a string");
    return {};
  }

 private:
  void refuse(std::string_view key, std::string_view wanted) {
    if (failure_) return;
    const yaml::Node* value = find(key);
    failure_ = invalid(fmt::format("{}{}: wanted {}, found {}", place_, key, wanted,
                                   value == nullptr ? "nothing" : found_in(*value)))
                   .value();
  }

  const yaml::Map& object_;
  std::string place_;
  std::optional<Error>& failure_;
};

PlanFileSlice slice_of(PlanObject object) {
  PlanFileSlice slice;
  slice.gpu = static_cast<std::uint32_t>(object.whole("gpu", 0, kPlanGpusMax - 1));
  if (object.find("gpu_model") != nullptr) slice.gpu_model = object.text("gpu_model");
  slice.profile = object.text("profile");
  slice.start = static_cast<int>(object.whole("start", 0, kStartWrittenMax));
  slice.model = object.text("model");
  slice.tenant = object.find("tenant") != nullptr ? object.text("tenant") : slice.model;
  slice.batch = static_cast<int>(object.whole("batch", 1, kBatchWrittenMax));
  slice.processes = static_cast<int>(object.whole("processes", 1, kBatchWrittenMax));
  slice.requests_per_second = object.rate("requests_per_second");
  return slice;
}

/// Binds slices one after the other; the first slice of a GPU determines its offer.
class PlanBinder {
 public:
  PlanBinder(const std::string& file, const std::vector<GpuOffer>& offers, const std::vector<Demand>& demands)
      : file_(file), offers_(offers) {
    for (std::uint32_t i = 0; i < demands.size(); ++i)
      demands_.emplace(std::pair(demands[i].tenant, demands[i].model), i);
  }

  Result<PackedSlice> bind(const PlanFileSlice& slice, std::size_t index) {
    index_ = index;
    const auto offer = offer_of(slice);
    if (!offer) return pass_on(offer.error());
    const GpuModel& model = offers_[*offer].model;
    const auto profile = mig::find_profile(model, slice.profile);
    if (!profile) return refuse("profile", "a profile of " + model.name, slice.profile);
    const auto demand = demands_.find(std::pair(slice.tenant, slice.model));
    if (demand == demands_.end()) {
      return refuse("model", fmt::format("a model of tenant {} in the demand", in_quotes(slice.tenant)), slice.model);
    }
    return PackedSlice{.slice = {.gpu = GpuId{slice.gpu}, .start = slice.start, .profile = *profile},
                       .demand = demand->second,
                       .batch = slice.batch,
                       .processes = slice.processes,
                       .requests_per_second = slice.requests_per_second};
  }

  [[nodiscard]] const std::map<std::uint32_t, std::uint32_t>& gpu_offers() const { return gpu_offers_; }

 private:
  Result<std::uint32_t> offer_of(const PlanFileSlice& slice) {
    const auto written = written_offer(slice);
    if (!written) return pass_on(written.error());
    const auto [known, is_new] = gpu_offers_.emplace(slice.gpu, *written);
    if (is_new || known->second == *written) return *written;
    return refuse("gpu_model",
                  fmt::format("{} as elsewhere on {}", offers_[known->second].model.name, gpu_name({slice.gpu})),
                  slice.gpu_model.value_or(""));
  }

  Result<std::uint32_t> written_offer(const PlanFileSlice& slice) const {
    if (!slice.gpu_model && offers_.size() == 1) return 0U;
    for (std::uint32_t i = 0; i < offers_.size(); ++i) {
      if (slice.gpu_model == offers_[i].model.name) return i;
    }
    std::vector<std::string> names;
    names.reserve(offers_.size());
    for (const GpuOffer& offer : offers_) names.push_back(offer.model.name);
    const std::string wanted = fmt::format("{}{}", names.size() > 1 ? "one of " : "", fmt::join(names, ", "));
    return refuse("gpu_model", wanted, slice.gpu_model.value_or(""));
  }

  [[nodiscard]] tl::unexpected<Error> refuse(std::string_view key, std::string_view wanted,
                                             std::string_view found) const {
    return invalid(fmt::format("{}: slices[{}].{}: wanted {}, found {}", file_, index_, key, wanted,
                               found.empty() ? "nothing" : in_quotes(found)));
  }

  const std::string& file_;
  const std::vector<GpuOffer>& offers_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> demands_;
  std::map<std::uint32_t, std::uint32_t> gpu_offers_;
  std::size_t index_ = 0;
};

}  // namespace

Result<PlanFile> read_plan_file(std::string_view text, const std::string& file) {
  const auto root = json::parse_document(text, file, kLimits);
  if (!root) return invalid(root.error().message);
  const auto* members = std::get_if<yaml::Map>(&root->value);
  if (members == nullptr) return invalid(fmt::format("{}: wanted an object, found {}", file, found_in(*root)));
  std::optional<Error> failure;
  PlanObject top(*members, file + ": ", failure);
  const yaml::Node* slices = top.find("slices");
  const auto* list = slices == nullptr ? nullptr : std::get_if<yaml::List>(&slices->value);
  if (list == nullptr) {
    return invalid(
        fmt::format("{}: slices: wanted a list, found {}", file, slices == nullptr ? "nothing" : found_in(*slices)));
  }
  PlanFile plan;
  plan.slices.reserve(list->size());
  for (const yaml::Node& slice : *list) {
    const std::string place = fmt::format("{}: slices[{}]", file, plan.slices.size());
    const auto* object = std::get_if<yaml::Map>(&slice.value);
    if (object == nullptr) return invalid(fmt::format("{}: wanted an object, found {}", place, found_in(slice)));
    plan.slices.push_back(slice_of(PlanObject(*object, place + ".", failure)));
    if (failure) return pass_on(*failure);
    plan.gpu_count = std::max(plan.gpu_count, plan.slices.back().gpu + 1);
  }
  if (top.find("gpus") != nullptr) {
    plan.gpu_count = static_cast<std::uint32_t>(top.whole("gpus", plan.gpu_count, kPlanGpusMax));
  }
  if (failure) return pass_on(*failure);
  return plan;
}

Result<Packing> bind_plan(const PlanFile& plan, const std::string& file, const std::vector<GpuOffer>& offers,
                          const std::vector<Demand>& demands) {
  PlanBinder binder(file, offers, demands);
  Packing packing;
  packing.slices.reserve(plan.slices.size());
  for (std::size_t i = 0; i < plan.slices.size(); ++i) {
    auto slice = binder.bind(plan.slices[i], i);
    if (!slice) return pass_on(slice.error());
    packing.slices.push_back(std::move(*slice));
  }
  std::ranges::sort(packing.slices, {}, &PackedSlice::slice);
  packing.gpu_offers.reserve(plan.gpu_count);
  for (std::uint32_t gpu = 0; gpu < plan.gpu_count; ++gpu) {
    const auto known = binder.gpu_offers().find(gpu);
    if (known == binder.gpu_offers().end() && offers.size() != 1) {
      return invalid(fmt::format("{}: wanted a slice on each of {} GPUs, found none on {}", file, plan.gpu_count,
                                 gpu_name({gpu})));
    }
    packing.gpu_offers.push_back(known == binder.gpu_offers().end() ? 0 : known->second);
  }
  return packing;
}

Result<Packing> parse_plan(std::string_view text, const std::string& file, const PackingProblem& problem) {
  const auto plan = read_plan_file(text, file);
  if (!plan) return pass_on(plan.error());
  return bind_plan(*plan, file, problem.offers, problem.demands);
}

}  // namespace berth::packing
