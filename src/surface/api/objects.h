/// The objects of the API as JSON text: apiVersion, kind, metadata, spec, status. Formatted from views, without a lock.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/clock_text.h"
#include "base/json/writer.h"
#include "domain/ports/process_hands.h"
#include "domain/values/running.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "live/local/device_source.h"
#include "live/session/event_log.h"
#include "live/session/minute.h"
#include "surface/api/spec_texts.h"
#include "surface/api/views.h"

namespace berth::api {

/// What the JSON needs in addition to the views.
struct ObjectFormat {
  Scenario fleet;  ///< without services and layout
  WorldEpoch epoch;
  live::DeviceSource devices = {};
  std::shared_ptr<SpecTexts> spec_texts = std::make_shared<SpecTexts>();
};

/// The part of a scenario that never changes while an engine runs.
[[nodiscard]] Scenario fleet_of(Scenario scenario);

/// The program of a service as the GPU agent would be asked to start it, on any slice: to ask whether it would.
[[nodiscard]] ProcessOrder program_anywhere(const std::string& tenant, const ProgramChoice& program);

[[nodiscard]] std::string tenant_object(const ObjectFormat& format, const TenantView& tenant);
[[nodiscard]] std::string service_object(const ObjectFormat& format, const ServiceView& service);
[[nodiscard]] std::string node_object(const ObjectFormat& format, const NodeView& node);
[[nodiscard]] std::string gpu_object(const ObjectFormat& format, const GpuView& gpu);
[[nodiscard]] std::string slice_object(const ObjectFormat& format, const SliceView& slice);
/// {"paused","reason","since"}: whether planning is paused.
[[nodiscard]] std::string planning_object(const ObjectFormat& format, const std::optional<PlanningPause>& pause);
/// `data` of a server-sent event.
[[nodiscard]] std::string event_data(const ObjectFormat& format, const live::LoggedEvent& event);

/// What all kinds of objects have in common.
struct ObjectIdentity {
  std::string_view kind;
  std::string tenant = {};
  std::string name = {};
  Instant created = {};
  std::uint64_t number = 0;  ///< UidParts::number
};
/// Adds `apiVersion`, `kind` and `metadata` of an object that clients cannot set, whose version is always 1; `spec` and
/// `status` follow.
void put_head(json::Writer& json, const ObjectFormat& format, const ObjectIdentity& object);

/// "inference" or "retraining".
[[nodiscard]] std::string role_word(Role role);
[[nodiscard]] std::string scheduling_word(GpuScheduling scheduling);
/// `last_minute` of a service; null before its first second.
/// Why no service can run on a GPU of this model; nothing: some service has a profile for it.
[[nodiscard]] std::optional<std::string> why_unprofiled(const ObjectFormat& format, const GpuView& gpu);
void put_last_minute(json::Writer& json, const std::optional<live::MinuteFigures>& figures);

}  // namespace berth::api
