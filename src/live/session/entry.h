/// What a session was given from outside, in order: repeated, it makes the same session. This is what a journal holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/event.h"
#include "live/session/catalog.h"
#include "sim/world/fault_book.h"
#include "sim/world/journal.h"
#include "sim/world/world_memory.h"
#include "world/slices/device_memory.h"
#include "world/slices/slice_records.h"

namespace berth::live {

/// The session began: the engine saw the history of its scenario.
struct Begun {
  friend bool operator==(const Begun&, const Begun&) = default;
};

/// The engine was given an event, which its next step applies. Not the seconds of services, nor that services were set
/// or removed: those have entries of their own.
struct EventSeen {
  Event event;
  friend bool operator==(const EventSeen&, const EventSeen&) = default;
};

/// The answer to the engine's question of that number is known. It arrives when the loop delivers it (SolutionArrived).
struct SolutionKnown {
  SolveFinished finished;
  friend bool operator==(const SolutionKnown&, const SolutionKnown&) = default;
};

/// The engine was given the answer that was known.
struct SolutionArrived {
  std::uint64_t question = 0;
  friend bool operator==(const SolutionArrived&, const SolutionArrived&) = default;
};

/// What a service got in seconds that follow each other. May come later than the steps that used them: a step has seen
/// the seconds that had ended by then, with the observation delay.
struct SecondsSeen {
  ServiceId service;
  std::int64_t from_second = 0;
  std::vector<std::int64_t> arrivals;
  std::vector<std::int64_t> queued;  ///< parallel: those that waited at the end of the second
  friend bool operator==(const SecondsSeen&, const SecondsSeen&) = default;
};

/// The engine stepped. At whole seconds without any other entry it does so, too.
struct Stepped {
  friend bool operator==(const Stepped&, const Stepped&) = default;
};

/// Until then, that whole second included, the engine stepped at each whole second.
struct Advanced {
  friend bool operator==(const Advanced&, const Advanced&) = default;
};

/// The world told of a slice.
struct SliceNoted {
  world::SliceRecord record;
  friend bool operator==(const SliceNoted&, const SliceNoted&) = default;
};

/// Since when what people see holds was read between two seconds.
struct Refreshed {
  friend bool operator==(const Refreshed&, const Refreshed&) = default;
};

struct TenantStored {
  std::string name;
  ObjectMeta meta;
  friend bool operator==(const TenantStored&, const TenantStored&) = default;
};

struct TenantDropped {
  std::string name;
  friend bool operator==(const TenantDropped&, const TenantDropped&) = default;
};

struct ServiceStored {
  ServiceName name;
  ServiceEntry entry;
  std::optional<ServiceSet> set;  ///< absent: only labels changed, or how its tables were stated
  friend bool operator==(const ServiceStored&, const ServiceStored&) = default;
};

struct ServiceDropped {
  ServiceName name;
  ServiceId id;
  friend bool operator==(const ServiceDropped&, const ServiceDropped&) = default;
};

/// A fault of the simulated world was injected, or `order` cleared some.
struct FaultGiven {
  std::uint64_t id = 0;
  sim::FaultOrder order;
  std::vector<std::uint64_t> cleared = {};  ///< those that wait no longer
  friend bool operator==(const FaultGiven&, const FaultGiven&) = default;
};

/// A plan waits for approval until then.
struct ProposalWaits {
  std::uint64_t plan = 0;
  std::int64_t expires_at_wall_us = 0;
  friend bool operator==(const ProposalWaits&, const ProposalWaits&) = default;
};

/// A device of the local world was about to be told to create or destroy a slice. What came of it is among the events.
struct DeviceIntended {
  std::uint64_t intent = 0;  ///< unique: it grows with each, and with each process
  ActionKind kind = ActionKind::kCreation;
  Slice slice;
  std::uint64_t generation = 0;  ///< StandingSlice::generation
  bool was_ordered = false;      ///< a process before this one was about to tell the same
  std::string boot = {};         ///< id of the machine's boot
  friend bool operator==(const DeviceIntended&, const DeviceIntended&) = default;
};

/// DeviceEnded::outcome of a change that was carried out.
inline constexpr const char* kDoneOutcome = "done";

/// What became of it on the device.
struct DeviceEnded {
  std::uint64_t intent = 0;
  std::string outcome = {};  ///< "done", "failed", "busy", "refused"
  std::string message = {};
  std::string call = {};  ///< the function of the driver's library that failed, and its code; empty: none
  std::string error = {};
  std::int64_t gpu_instance_us = 0;  ///< how long its calls took
  std::int64_t compute_instance_us = 0;
  friend bool operator==(const DeviceEnded&, const DeviceEnded&) = default;
};

/// Another process went on here. Between the entry before and this instant nothing stepped. What entries behind it say
/// of seconds was unknown before it. Earlier versions told it only where the clock had gone on.
struct Resumed {
  friend bool operator==(const Resumed&, const Resumed&) = default;
};

/// What a device of a world of real GPUs said of itself, for people: no state follows from it.
enum class DeviceNote : std::uint8_t {
  kSeen,            ///< it is there for the first time: its UUID and model
  kDiffers,         ///< how it differs from what berth knows of it
  kXid,             ///< an error that its driver reported, by the number
  kRecoveryAction,  ///< what its driver asks for from now on: "none", "gpu_reset" ...
  kMigMode,         ///< what became of an order to turn its MIG mode on
  kBusy,            ///< an order found somebody who keeps the instance, or the GPU, and is given again
};
struct DeviceNoted {
  GpuId gpu;
  DeviceNote note = DeviceNote::kSeen;
  std::string text;
  friend bool operator==(const DeviceNoted&, const DeviceNoted&) = default;
};

/// A device of the local world was about to be told to turn its MIG mode on; a DeviceEnded says what became of it.
struct MigModeIntended {
  std::uint64_t intent = 0;  ///< as of DeviceIntended
  GpuId gpu;
  std::string boot = {};
  friend bool operator==(const MigModeIntended&, const MigModeIntended&) = default;
};

struct Entry {
  Instant at;  ///< of the world, when the session got it
  std::variant<Begun, EventSeen, SecondsSeen, Stepped, Advanced, SliceNoted, Refreshed, TenantStored, TenantDropped,
               ServiceStored, ServiceDropped, FaultGiven, ProposalWaits, SolutionKnown, SolutionArrived, Resumed,
               DeviceIntended, DeviceEnded, DeviceNoted, MigModeIntended>
      what;
  friend bool operator==(const Entry&, const Entry&);
};

/// What the world remembers since the last time: its clock, the devices that changed, and the rest if it did.
struct WorldChanges {
  Instant now;  ///< the world's clock
  std::vector<std::pair<GpuId, world::DeviceMemory>> devices;
  std::optional<sim::WorldMemory> world = std::nullopt;
};

}  // namespace berth::live
