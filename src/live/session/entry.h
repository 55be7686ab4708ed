/// A session's inputs, in order: repeating them makes the same session. This is what a journal holds.
#pragma once

#include <cstdint>
#include <map>
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

/// The engine was given an event, which its next step applies. Seconds of services, and services set or removed, have
/// entries of their own.
struct EventSeen {
  Event event;
  friend bool operator==(const EventSeen&, const EventSeen&) = default;
};

/// The answer to the engine's question of that number is known. It arrives when the loop delivers it (SolutionArrived).
struct SolutionKnown {
  SolveFinished finished;
  friend bool operator==(const SolutionKnown&, const SolutionKnown&) = default;
};

/// The engine was given the known answer.
struct SolutionArrived {
  std::uint64_t question = 0;
  friend bool operator==(const SolutionArrived&, const SolutionArrived&) = default;
};

/// What a service received in consecutive seconds. May come later than the steps that used them: a step has seen the
/// seconds that had ended by then, with the observation delay.
struct SecondsSeen {
  ServiceId service;
  std::int64_t from_second = 0;
  std::vector<std::int64_t> arrivals;
  std::vector<std::int64_t> queued;  ///< parallel: requests waiting at the end of the second
  friend bool operator==(const SecondsSeen&, const SecondsSeen&) = default;
};

/// The engine stepped. It also steps at whole seconds without any other entry.
struct Stepped {
  friend bool operator==(const Stepped&, const Stepped&) = default;
};

/// The engine stepped at each whole second until then, inclusive.
struct Advanced {
  friend bool operator==(const Advanced&, const Advanced&) = default;
};

/// The world reported a change of a slice.
struct SliceNoted {
  world::SliceRecord record;
  friend bool operator==(const SliceNoted&, const SliceNoted&) = default;
};

/// A client read phases and conditions between two seconds: the `since` of what had changed is fixed then.
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
  std::vector<std::uint64_t> cleared = {};  ///< those that no longer wait
  friend bool operator==(const FaultGiven&, const FaultGiven&) = default;
};

/// A plan waits for approval until then.
struct ProposalWaits {
  std::uint64_t plan = 0;
  std::int64_t expires_at_wall_us = 0;
  friend bool operator==(const ProposalWaits&, const ProposalWaits&) = default;
};

/// A device of the local world was about to be ordered to create or destroy a slice. The outcome is among the events.
struct DeviceIntended {
  std::uint64_t intent = 0;  ///< unique: it grows with each intent, and with each process
  ActionKind kind = ActionKind::kCreation;
  Slice slice;
  std::uint64_t generation = 0;  ///< StandingSlice::generation
  bool was_ordered = false;      ///< an earlier process was about to give the same order
  std::string boot = {};         ///< id of the machine's boot
  friend bool operator==(const DeviceIntended&, const DeviceIntended&) = default;
};

/// DeviceEnded::outcome of a change that was carried out.
inline constexpr const char* kDoneOutcome = "done";

/// The outcome of an order on the device.
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

/// Another process took over here. Nothing stepped between the previous entry and this instant. What later entries say
/// of seconds was unknown before it. Earlier versions wrote this entry only if the clock had advanced.
struct Resumed {
  friend bool operator==(const Resumed&, const Resumed&) = default;
};

/// What a device of a world of real GPUs reported about itself, for people: no state follows from it.
enum class DeviceNote : std::uint8_t {
  kSeen,            ///< present for the first time: its UUID and model
  kDiffers,         ///< how it differs from the tables of Berth
  kXid,             ///< an error that its driver reported, by the number
  kRecoveryAction,  ///< what its driver asks for from now on: "none", "gpu_reset" ...
  kMigMode,         ///< the outcome of an order to turn its MIG mode on
  kBusy,            ///< an order found the instance or the GPU in use, and is given again
  kHealth,          ///< what was decided about its errors, and why
  kBreaker,         ///< its drain was one too many within a time
  kAdded,           ///< it takes this number from now on: its identity, model and node
};
struct DeviceNoted {
  GpuId gpu;
  DeviceNote note = DeviceNote::kSeen;
  std::string text;
  friend bool operator==(const DeviceNoted&, const DeviceNoted&) = default;
};

/// A device of the local world was about to be ordered to turn its MIG mode on; a DeviceEnded has the outcome.
struct MigModeIntended {
  std::uint64_t intent = 0;  ///< as of DeviceIntended
  GpuId gpu;
  std::string boot = {};
  friend bool operator==(const MigModeIntended&, const MigModeIntended&) = default;
};

/// The clock of the world went on at once, from `from` to the entry's instant: no process observed the time between.
/// The engine does not step in it. What was held at `from` is usage until the entry's instant.
struct ClockJumped {
  Instant from;
  friend bool operator==(const ClockJumped&, const ClockJumped&) = default;
};

/// What a gateway counted in consecutive seconds of services, which the engine was given here. Arrivals of seconds
/// between two blocks are unknown, not zero.
struct SecondsMeasured {
  std::vector<SecondsSeen> services;
  /// Gateways of which all records up to that number are in the blocks by now; those that are new.
  std::map<std::string, std::uint64_t> counted;
  friend bool operator==(const SecondsMeasured&, const SecondsMeasured&) = default;
};

/// What happened to the program of a slice, for people; only kReady has an effect, on measured start times.
enum class ProgramNote : std::uint8_t {
  kReady,    ///< it answers
  kFailed,   ///< it ended by itself, or was never ready
  kLooping,  ///< it fails again and again
};
struct ProgramNoted {
  ServiceId service;
  Slice slice;
  std::uint64_t generation = 0;
  ProgramNote note = ProgramNote::kReady;
  std::string text = {};
  std::int64_t start_us = 0;  ///< kReady: from its start on; 0: not known
  friend bool operator==(const ProgramNoted&, const ProgramNoted&) = default;
};

/// Who holds foreign slices of a GPU, where that is known: all of them. They are usage of these tenants.
struct ForeignHolder {
  Slice slice;
  std::string tenant;
  friend bool operator==(const ForeignHolder&, const ForeignHolder&) = default;
};
struct ForeignHeld {
  GpuId gpu;
  std::vector<ForeignHolder> holders;  ///< by slice
  friend bool operator==(const ForeignHeld&, const ForeignHeld&) = default;
};

struct Entry {
  Instant at;  ///< in time of the world, when the session received it
  std::variant<Begun, EventSeen, SecondsSeen, Stepped, Advanced, SliceNoted, Refreshed, TenantStored, TenantDropped,
               ServiceStored, ServiceDropped, FaultGiven, ProposalWaits, SolutionKnown, SolutionArrived, Resumed,
               DeviceIntended, DeviceEnded, DeviceNoted, MigModeIntended, ClockJumped, SecondsMeasured, ProgramNoted,
               ForeignHeld>
      what;
  friend bool operator==(const Entry&, const Entry&);
};

/// What the world remembers that is new: its clock, the devices that changed, and the rest if it did.
struct WorldChanges {
  Instant now;  ///< the world's clock
  std::vector<std::pair<GpuId, world::DeviceMemory>> devices;
  std::optional<sim::WorldMemory> world = std::nullopt;
};

}  // namespace berth::live
