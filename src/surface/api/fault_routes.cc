#include "surface/api/fault_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/duration.h"
#include "base/json/writer.h"
#include "domain/mig/catalogue.h"
#include "domain/values/node.h"
#include "live/session/fault_text.h"
#include "live/session/object_names.h"
#include "live/session/session.h"
#include "surface/api/api_context.h"
#include "surface/api/paging.h"
#include "surface/api/request_body.h"

namespace berth::api {
namespace {

using sim::FaultKind;
using sim::FaultOrder;

constexpr std::array<FaultKind, 9> kKinds = {FaultKind::kLose,         FaultKind::kReturn,  FaultKind::kFailCreate,
                                             FaultKind::kFailDestroy,  FaultKind::kSlow,    FaultKind::kReportsFailure,
                                             FaultKind::kForeignSlice, FaultKind::kServing, FaultKind::kClear};
constexpr std::int64_t kTimesMax = 1'000'000;
constexpr std::int64_t kSecondsMax = 86'400;
constexpr int kStartMax = 255;

bool has_times(FaultKind kind) {
  return kind == FaultKind::kFailCreate || kind == FaultKind::kFailDestroy || kind == FaultKind::kReportsFailure ||
         kind == FaultKind::kSlow;
}

/// 0 <= x < 1.
yaml::NumberRule jitter_rule() {
  yaml::NumberRule rule = yaml::number_from(Decimal(0), Decimal(1));
  rule.is_max_allowed = false;
  rule.wanted = "a number from 0, below 1";
  return rule;
}

class FaultReader {
 public:
  FaultReader(const yaml::Value& root, const Scenario& scenario) : root_(root), scenario_(scenario) {}

  FaultOrder read() {
    root_.check_keys(
        {"kind", "gpu", "gpus", "node", "all", "service", "times", "seconds", "profile", "start", "factor", "jitter"});
    order_.kind = read_kind();
    if (root_.has_failed()) return order_;
    refuse_foreign_keys();
    if (order_.kind == FaultKind::kServing) {
      read_serving();
    } else if (order_.kind == FaultKind::kClear && root_.at("service").is_present()) {
      read_cleared_service();
    } else {
      order_.gpus = read_gpus();
      if (order_.kind == FaultKind::kClear && root_.at("all").is_present()) order_.serving.emplace();
    }
    read_times();
    read_seconds();
    if (order_.kind == FaultKind::kForeignSlice && !root_.has_failed()) read_slice();
    return order_;
  }

 private:
  [[nodiscard]] FaultKind read_kind() const {
    std::array<std::string_view, kKinds.size()> words;
    std::ranges::transform(kKinds, words.begin(), live::fault_word);
    return kKinds[root_.at("kind").choice(words)];
  }

  /// Refuses keys of other kinds, except the numbers of read_times and read_seconds.
  void refuse_foreign_keys() const {
    const auto refuse_unless = [&](std::string_view key, bool is_its_own) {
      if (is_its_own || !root_.at(key).is_present()) return;
      root_.at(key).refuse(fmt::format("no {} for {}", key, live::fault_word(order_.kind)));
    };
    refuse_unless("all", order_.kind == FaultKind::kClear);
    refuse_unless("profile", order_.kind == FaultKind::kForeignSlice);
    refuse_unless("start", order_.kind == FaultKind::kForeignSlice);
    const bool is_serving = order_.kind == FaultKind::kServing;
    refuse_unless("service", is_serving || order_.kind == FaultKind::kClear);
    refuse_unless("factor", is_serving);
    refuse_unless("jitter", is_serving);
    for (const std::string_view key : {"gpu", "gpus", "node"}) refuse_unless(key, !is_serving);
  }

  /// A service by TENANT/NAME.
  [[nodiscard]] std::optional<ServiceId> read_service() const {
    const auto value = root_.at("service");
    const std::string name = value.text("TENANT/NAME of a service");
    if (value.has_failed()) return std::nullopt;
    for (std::uint32_t index = 0; index < scenario_.services.size(); ++index) {
      const ServiceSpec& spec = scenario_.services[index];
      if (!spec.is_absent && spec.tenant + "/" + spec.name == name) return ServiceId{index};
    }
    value.refuse("TENANT/NAME of a service");
    return std::nullopt;
  }

  void read_serving() {
    sim::ServingFault serving;
    serving.service = read_service();
    if (root_.at("factor").is_present())
      serving.factor = root_.at("factor").number(yaml::number_from(Decimal(1, 10), Decimal(10)));
    if (root_.at("jitter").is_present()) serving.jitter = root_.at("jitter").number(jitter_rule());
    order_.serving = std::move(serving);
  }

  void read_cleared_service() {
    for (const std::string_view key : {"gpu", "gpus", "node", "all"}) {
      if (root_.at(key).is_present()) root_.at(key).refuse("one of gpu, node, service and all", "both");
    }
    order_.serving.emplace();
    order_.serving->service = read_service();
  }

  [[nodiscard]] std::vector<GpuId> read_gpus() const {
    const bool may_be_all = order_.kind == FaultKind::kClear;
    const std::string wanted = may_be_all ? "one of gpu, node, service and all" : "either gpu or node";
    const auto gpu = root_.at("gpu");
    std::optional<yaml::Value> given;
    for (const std::string_view key : {"gpu", "node", "all"}) {
      const auto value = root_.at(key);
      if (!value.is_present()) continue;
      if (given) value.refuse(wanted, "both");
      given = value;
    }
    if (!given) gpu.refuse(wanted, "neither");
    if (root_.at("gpus").is_present() && !gpu.is_present()) root_.at("gpus").refuse("gpus only with gpu");
    if (root_.has_failed()) return {};
    if (gpu.is_present()) return read_gpu_range(gpu);
    return root_.at("node").is_present() ? read_node(root_.at("node")) : read_all(root_.at("all"));
  }

  [[nodiscard]] std::vector<GpuId> read_gpu_range(const yaml::Value& value) const {
    const std::string name = value.name();
    if (value.has_failed()) return {};
    const auto gpu = live::find_gpu(scenario_, name);
    if (!gpu) {
      value.refuse("a GPU of the fleet");
      return {};
    }
    const auto gpus = root_.at("gpus");
    const std::int64_t rest = std::int64_t{scenario_.gpu_count()} - gpu->index;
    const std::int64_t count = gpus.is_present() ? gpus.whole({.min = 1, .max = rest}) : 1;
    return root_.has_failed() ? std::vector<GpuId>()
                              : range({.first = *gpu, .count = static_cast<std::uint32_t>(count)});
  }

  [[nodiscard]] std::vector<GpuId> read_node(const yaml::Value& value) const {
    const std::string name = value.name();
    if (value.has_failed()) return {};
    for (std::uint32_t index = 0; index < node_count(scenario_); ++index) {
      if (node_name({index}) == name) return range(gpus_of(scenario_, {index}));
    }
    value.refuse("a node of the fleet");
    return {};
  }

  [[nodiscard]] std::vector<GpuId> read_all(const yaml::Value& value) const {
    if (!value.truth() && !value.has_failed()) value.refuse("true");
    if (scenario_.gpu_count() == 0 && !value.has_failed()) value.refuse("a fleet that has GPUs");
    return range({.first = {0}, .count = scenario_.gpu_count()});
  }

  static std::vector<GpuId> range(const GpuRange& range) {
    std::vector<GpuId> gpus;
    gpus.reserve(range.count);
    for (std::uint32_t i = 0; i < range.count; ++i) gpus.push_back({range.first.index + i});
    return gpus;
  }

  /// A number that the kind does not use is checked and ignored, so that one body may have both keys.
  void read_times() {
    const auto times = root_.at("times");
    std::optional<std::int64_t> count;
    if (times.is_present()) count = times.whole({.min = 1, .max = kTimesMax});
    if (!has_times(order_.kind)) return;
    order_.times = count || order_.kind == FaultKind::kSlow ? count : 1;
  }

  void read_seconds() {
    const auto seconds = root_.at("seconds");
    const bool is_slow = order_.kind == FaultKind::kSlow;
    if (!is_slow && !seconds.is_present()) return;
    const Decimal number = seconds.number(yaml::number_above_zero(Decimal(kSecondsMax)));
    if (is_slow) order_.duration = micros_from_seconds(number);
  }

  /// The profile and start must be a legal placement on each GPU's model.
  void read_slice() {
    const std::string profile = root_.at("profile").name();
    order_.start = static_cast<int>(root_.at("start").whole({.min = 0, .max = kStartMax}));
    for (const GpuId gpu : order_.gpus) {
      if (root_.has_failed()) return;
      const GpuModel& model = scenario_.model_of(gpu);
      const auto found = mig::find_profile(model, profile);
      if (!found) {
        root_.at("profile").refuse(fmt::format("a profile of {}", model.name));
      } else if (!is_place(model, *found)) {
        root_.at("start").refuse(fmt::format("a start of {} on {}", profile, model.name));
      } else if (gpu != order_.gpus.front() && *found != order_.profile) {
        root_.at("gpus").refuse("GPUs of one model");
      } else {
        order_.profile = *found;
      }
    }
  }

  [[nodiscard]] bool is_place(const GpuModel& model, ProfileId profile) const {
    if (profile.is_full()) return order_.start == 0;
    return std::ranges::find(model.profiles[profile.index].starts, order_.start) !=
           model.profiles[profile.index].starts.end();
  }

  const yaml::Value& root_;
  const Scenario& scenario_;
  FaultOrder order_;
};

// ---- pending faults

/// A fault without the list of its GPUs.
struct FaultView {
  std::uint64_t id = 0;
  Instant since;
  FaultOrder order;  ///< with only the first of its GPUs
  std::size_t gpu_count = 0;
  std::size_t gpus_left = 0;
  std::int64_t actions_left = 0;
  std::string service = {};  ///< TENANT/NAME, of a fault of serving
};

FaultView view_fault(const Scenario& scenario, const sim::WaitingFault& fault) {
  FaultView view{.id = fault.id, .since = fault.since, .order = {}, .gpu_count = fault.order.gpus.size()};
  view.order.kind = fault.order.kind;
  if (!fault.order.gpus.empty()) view.order.gpus = {fault.order.gpus.front()};
  view.order.serving = fault.order.serving;
  if (fault.order.kind == FaultKind::kServing) {
    const ServiceSpec& spec = scenario.services[fault.order.serving->service->index];
    view.service = spec.tenant + "/" + spec.name;
  }
  view.order.times = fault.order.times;
  view.order.duration = fault.order.duration;
  view.order.profile = fault.order.profile;
  view.order.start = fault.order.start;
  view.gpus_left = fault.left.size();
  for (const auto& [gpu, left] : fault.left) view.actions_left += fault.order.times ? left : 0;
  return view;
}

void put_serving(json::Writer& json, const FaultView& fault) {
  const sim::ServingFault& serving = *fault.order.serving;
  json.open_object("spec").member("kind", live::fault_word(FaultKind::kServing)).member("service", fault.service);
  json.member("factor", serving.factor.to_double()).member("jitter", serving.jitter.to_double()).close_object();
}

void put_spec(json::Writer& json, const Scenario& fleet, const FaultView& fault) {
  const FaultOrder& order = fault.order;
  const bool is_slow = order.kind == FaultKind::kSlow;
  const bool is_foreign = order.kind == FaultKind::kForeignSlice;
  if (order.kind == FaultKind::kServing) return put_serving(json, fault);
  const GpuModel& model = fleet.model_of(order.gpus.front());
  json.open_object("spec").member("kind", live::fault_word(order.kind));
  json.member("gpu", live::gpu_name(order.gpus.front())).member("gpus", fault.gpu_count).member("times", order.times);
  json.member("seconds", is_slow ? std::optional(order.duration.to_seconds()) : std::nullopt);
  json.member("profile", is_foreign ? std::optional(profile_name(model, order.profile)) : std::nullopt);
  json.member("start", is_foreign ? std::optional(order.start) : std::nullopt).close_object();
}

std::string fault_object(const ObjectFormat& format, const FaultView& fault) {
  json::Writer json;
  put_head(json.open_object(), format, {.kind = "Fault", .name = live::fault_name(fault.id), .created = fault.since});
  put_spec(json, format.fleet, fault);
  json.open_object("status").member("phase", "Waiting").member("gpus_left", fault.gpus_left);
  json.member("actions_left", fault.order.times ? std::optional(fault.actions_left) : std::nullopt).close_object();
  return json.close_object().take();
}

// ---- requests

HttpResponse fault_response(std::uint64_t id) {
  return json_response(201, json::Writer().open_object().member("id", live::fault_name(id)).close_object().take());
}

ApiResult<HttpAnswer> post_fault(const ApiContext& context, const Call& call) {
  if (context.format.devices.is_local()) {
    return tl::unexpected(ApiError{.status = 409,
                                   .code = "not_simulated",
                                   .message = "faults are for a simulated world; the devices of this one are real"});
  }
  const auto body = parse_body(call.request);
  if (!body) return tl::unexpected(body.error());
  const auto order =
      context.session.with([&](const live::Session& session) { return read_fault(*body, session.scenario()); });
  if (!order) return tl::unexpected(order.error());
  const auto id = context.session.with([&](live::Session& session) { return session.inject(*order); });
  if (!id && id.error().code == ErrorCode::kUnavailable) return tl::unexpected(read_only_error(id.error().message));
  if (!id && order->kind == FaultKind::kServing) {
    return tl::unexpected(ApiError{.status = 422, .code = "invalid", .message = id.error().message});
  }
  if (!id) return tl::unexpected(ApiError{.status = 409, .code = "conflict", .message = id.error().message});
  return fault_response(*id);
}

/// No object shows the number of a fault that is not pending, so the answer is kept with the order.
live::WriteAnswer foretell_fault(const ApiContext& context, const Call& /*call*/) {
  const auto last = context.session.with([](const live::Session& session) { return session.faults().last_id(); });
  const HttpResponse response = fault_response(last + 1);
  return {.status = response.status, .body = response.body};
}

ApiResult<HttpAnswer> list_faults(const ApiContext& context, const Call& call) {
  const auto page = context.session.with([&](const live::Session& session) {
    const auto& waiting = session.faults().waiting();
    const ListKeys keys{.count = waiting.size(), .key = [&](std::size_t i) { return number_key(waiting[i].id); }};
    return read_page(call.request, keys, [&](std::size_t i) { return view_fault(session.scenario(), waiting[i]); });
  });
  return page_response(page, [&](const FaultView& fault) { return fault_object(context.format, fault); });
}

}  // namespace

ApiResult<FaultOrder> read_fault(const yaml::Node& body, const Scenario& scenario) {
  yaml::Report report("body");
  const yaml::Value root(body, report);
  FaultOrder order = FaultReader(root, scenario).read();
  if (report.has_failed()) return tl::unexpected(error_of(report.parts()));
  return order;
}

std::vector<Route> fault_routes() {
  return {
      {.method = "GET", .path = "/v1/sim/faults", .answer = list_faults, .takes_query = true},
      {.method = "POST",
       .path = "/v1/sim/faults",
       .answer = post_fault,
       .success_status = 201,
       .foretell = foretell_fault},
  };
}

}  // namespace berth::api
