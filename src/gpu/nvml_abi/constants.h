/// Numbers of the NVML interface: flags, events, field ids, profiles, sizes. Only those that are simulated or read.
///
/// C enumerations are `std::uint32_t` here, the size that they have in every C compiler for Linux.
#pragma once

#include <cstddef>
#include <cstdint>

namespace berth::nvml_abi {

// Flags of nvmlInitWithFlags.
inline constexpr std::uint32_t kInitNoGpus = 1;
inline constexpr std::uint32_t kInitNoAttach = 2;
inline constexpr std::uint32_t kInitForce = 4;

// The value of an unknown figure.
inline constexpr std::uint64_t kValueNotAvailable = ~std::uint64_t{0};
/// GPU and compute instance id of a process that runs on no MIG instance.
inline constexpr std::uint32_t kNoInstanceId = 0xFFFFFFFF;

// Bytes of text buffers, each with its terminating zero.
inline constexpr std::size_t kUuidBytes = 80;
inline constexpr std::size_t kUuidV2Bytes = 96;
inline constexpr std::size_t kUuidAsciiBytes = 41;   ///< in Uuid, by nvmlDeviceGetHandleByUUIDV
inline constexpr std::size_t kUuidBinaryBytes = 16;  ///< the same
inline constexpr std::size_t kNameBytes = 64;
inline constexpr std::size_t kNameV2Bytes = 96;
inline constexpr std::size_t kSerialBytes = 30;
inline constexpr std::size_t kPartNumberBytes = 80;
inline constexpr std::size_t kVbiosVersionBytes = 32;
inline constexpr std::size_t kInforomVersionBytes = 16;
inline constexpr std::size_t kDriverVersionBytes = 80;
inline constexpr std::size_t kNvmlVersionBytes = 80;
inline constexpr std::size_t kBusIdBytes = 32;
inline constexpr std::size_t kBusIdLegacyBytes = 16;  ///< for domains of four digits
inline constexpr std::size_t kGspFirmwareVersionBytes = 64;

/// Metrics for which the oldest callers of nvmlGpmMetricsGet have space; newer ones have more.
inline constexpr std::size_t kGpmMetricsMin = 98;

// Kinds of text in Uuid.
inline constexpr std::uint32_t kUuidNone = 0;
inline constexpr std::uint32_t kUuidAscii = 1;
inline constexpr std::uint32_t kUuidBinary = 2;

// MIG mode.
inline constexpr std::uint32_t kMigDisabled = 0;
inline constexpr std::uint32_t kMigEnabled = 1;

// GPU instance profiles; names.h has all names.
inline constexpr std::uint32_t kGpuInstanceProfile1Slice = 0x00;
inline constexpr std::uint32_t kGpuInstanceProfile2Slice = 0x01;
inline constexpr std::uint32_t kGpuInstanceProfile3Slice = 0x02;
inline constexpr std::uint32_t kGpuInstanceProfile4Slice = 0x03;
inline constexpr std::uint32_t kGpuInstanceProfile7Slice = 0x04;
inline constexpr std::uint32_t kGpuInstanceProfile8Slice = 0x05;
inline constexpr std::uint32_t kGpuInstanceProfile6Slice = 0x06;
inline constexpr std::uint32_t kGpuInstanceProfile1SliceRev1 = 0x07;
inline constexpr std::uint32_t kGpuInstanceProfile2SliceRev1 = 0x08;
inline constexpr std::uint32_t kGpuInstanceProfile1SliceRev2 = 0x09;
inline constexpr std::uint32_t kGpuInstanceProfile1SliceGfx = 0x0A;
inline constexpr std::uint32_t kGpuInstanceProfile2SliceGfx = 0x0B;
inline constexpr std::uint32_t kGpuInstanceProfile4SliceGfx = 0x0C;
inline constexpr std::uint32_t kGpuInstanceProfile1SliceNoMe = 0x0D;
inline constexpr std::uint32_t kGpuInstanceProfile2SliceNoMe = 0x0E;
inline constexpr std::uint32_t kGpuInstanceProfile1SliceAllMe = 0x0F;
inline constexpr std::uint32_t kGpuInstanceProfile2SliceAllMe = 0x10;
inline constexpr std::uint32_t kGpuInstanceProfile3SliceGfx = 0x11;
inline constexpr std::uint32_t kGpuInstanceProfileCount = 0x12;

// What a GPU instance can do beyond its engines, in the profile's `capabilities`.
inline constexpr std::uint32_t kGpuInstanceP2p = 1;
inline constexpr std::uint32_t kGpuInstanceGfx = 2;
inline constexpr std::uint32_t kComputeInstanceGfx = 1;

// Compute instance profiles and the one engine profile.
inline constexpr std::uint32_t kComputeInstanceProfile1Slice = 0;
inline constexpr std::uint32_t kComputeInstanceProfile2Slice = 1;
inline constexpr std::uint32_t kComputeInstanceProfile3Slice = 2;
inline constexpr std::uint32_t kComputeInstanceProfile4Slice = 3;
inline constexpr std::uint32_t kComputeInstanceProfile7Slice = 4;
inline constexpr std::uint32_t kComputeInstanceProfile8Slice = 5;
inline constexpr std::uint32_t kComputeInstanceProfile6Slice = 6;
inline constexpr std::uint32_t kComputeInstanceProfile1SliceRev1 = 7;
inline constexpr std::uint32_t kComputeInstanceProfile7SliceNvl = 8;
inline constexpr std::uint32_t kComputeInstanceProfileCount = 9;
inline constexpr std::uint32_t kComputeInstanceEngineShared = 0;
inline constexpr std::uint32_t kComputeInstanceEngineCount = 1;

// Recovery actions, the values of kFieldRecoveryAction; names.h has their names.
inline constexpr std::uint32_t kRecoveryActionNone = 0;
inline constexpr std::uint32_t kRecoveryActionGpuReset = 1;
inline constexpr std::uint32_t kRecoveryActionNodeReboot = 2;
inline constexpr std::uint32_t kRecoveryActionDrainP2p = 3;
inline constexpr std::uint32_t kRecoveryActionDrainAndReset = 4;
inline constexpr std::uint32_t kRecoveryActionRecoverImexDomain = 5;
inline constexpr std::uint32_t kRecoveryActionBusReset = 6;
inline constexpr std::uint32_t kRecoveryActionSystemReboot = 7;
inline constexpr std::uint32_t kRecoveryActionCount = 8;  ///< not a constant of NVML

// Types of events, one bit each.
inline constexpr std::uint64_t kEventNone = 0;
inline constexpr std::uint64_t kEventSingleBitEcc = 0x1;
inline constexpr std::uint64_t kEventDoubleBitEcc = 0x2;
inline constexpr std::uint64_t kEventPerformanceState = 0x4;
inline constexpr std::uint64_t kEventXid = 0x8;
inline constexpr std::uint64_t kEventClock = 0x10;
inline constexpr std::uint64_t kEventPowerSource = 0x80;
inline constexpr std::uint64_t kEventMigConfig = 0x100;
inline constexpr std::uint64_t kEventSingleBitEccStorm = 0x200;
inline constexpr std::uint64_t kEventDramRetirement = 0x400;
inline constexpr std::uint64_t kEventDramRetirementFailure = 0x800;
inline constexpr std::uint64_t kEventNonFatalPoison = 0x1000;
inline constexpr std::uint64_t kEventFatalPoison = 0x2000;
inline constexpr std::uint64_t kEventGpuUnavailable = 0x4000;
inline constexpr std::uint64_t kEventRecoveryAction = 0x8000;
inline constexpr std::uint64_t kEventAll = 0xFF9F;

// Fields of nvmlDeviceGetFieldValues. ECC counts: single-bit errors were corrected, double-bit errors were not; since
// the driver was loaded, or over the life of the GPU.
inline constexpr std::uint32_t kFieldEccCurrent = 1;
inline constexpr std::uint32_t kFieldEccPending = 2;
inline constexpr std::uint32_t kFieldEccSingleBitVolatile = 3;
inline constexpr std::uint32_t kFieldEccDoubleBitVolatile = 4;
inline constexpr std::uint32_t kFieldEccSingleBitAggregate = 5;
inline constexpr std::uint32_t kFieldEccDoubleBitAggregate = 6;
inline constexpr std::uint32_t kFieldRetiredSingleBit = 29;
inline constexpr std::uint32_t kFieldRetiredDoubleBit = 30;
inline constexpr std::uint32_t kFieldRetiredPending = 31;
inline constexpr std::uint32_t kFieldMemoryTemperature = 82;  ///< degrees Celsius
inline constexpr std::uint32_t kFieldEnergy = 83;             ///< mJ since the driver was loaded
inline constexpr std::uint32_t kFieldRetiredPendingSingleBit = 92;
inline constexpr std::uint32_t kFieldRetiredPendingDoubleBit = 93;
inline constexpr std::uint32_t kFieldNvLinkSent = 138;      ///< KiB of data over a link, or over all of them
inline constexpr std::uint32_t kFieldNvLinkReceived = 139;  ///< likewise
inline constexpr std::uint32_t kFieldRemappedCorrectable = 142;
inline constexpr std::uint32_t kFieldRemappedUncorrectable = 143;
inline constexpr std::uint32_t kFieldRemappedPending = 144;
inline constexpr std::uint32_t kFieldRemappedFailure = 145;
inline constexpr std::uint32_t kFieldIsMigResetless = 184;  ///< 1: MIG mode changes without a reset of the GPU
inline constexpr std::uint32_t kFieldPowerAverage = 185;    ///< mW over the last second
inline constexpr std::uint32_t kFieldPowerInstant = 186;    ///< mW
inline constexpr std::uint32_t kFieldIsMigQueryModeIndependent =
    199;  ///< 1: profiles are also reported with MIG mode off
inline constexpr std::uint32_t kFieldRecoveryAction = 230;
inline constexpr std::uint32_t kScopeAllLinks = 0xFFFFFFFF;  ///< of a field about NVLink
inline constexpr std::uint32_t kFieldCount = 308;            ///< the first id that no header up to 13.4 names

// Types of a field's value.
inline constexpr std::uint32_t kValueDouble = 0;
inline constexpr std::uint32_t kValueUnsignedInt = 1;
inline constexpr std::uint32_t kValueUnsignedLong = 2;
inline constexpr std::uint32_t kValueUnsignedLongLong = 3;
inline constexpr std::uint32_t kValueSignedLongLong = 4;
inline constexpr std::uint32_t kValueSignedInt = 5;
inline constexpr std::uint32_t kValueUnsignedShort = 6;

// Directions of the PCIe bus, from the GPU.
inline constexpr std::uint32_t kPcieSent = 0;
inline constexpr std::uint32_t kPcieReceived = 1;
inline constexpr std::uint32_t kPcieDirectionCount = 2;

// Licences of virtual GPUs.
inline constexpr std::uint32_t kLicenceOfVgpu = 1;
inline constexpr std::uint32_t kLicenceTextBytes = 128;
inline constexpr std::uint32_t kLicencesMax = 3;

// GPU performance monitoring (GPM): versions of its structures, and metrics, in percent of the time between two
// samples, or in MiB/s.
inline constexpr std::uint32_t kGpmMetricsVersion = 1;
inline constexpr std::uint32_t kGpmSupportVersion = 1;
inline constexpr std::uint32_t kGpmGraphicsActive = 1;  ///< any engine for compute or graphics
inline constexpr std::uint32_t kGpmTensorActive = 5;    ///< tensor cores of any kind
inline constexpr std::uint32_t kGpmDramActive = 10;     ///< of the bandwidth of the memory
inline constexpr std::uint32_t kGpmPcieSent = 20;       ///< MiB/s from the GPU
inline constexpr std::uint32_t kGpmPcieReceived = 21;   ///< MiB/s to the GPU
inline constexpr std::uint32_t kGpmMetricCount = 477;   ///< the first id that no header up to 13.4 names

// Switches.
inline constexpr std::uint32_t kDisabled = 0;
inline constexpr std::uint32_t kEnabled = 1;

// Kinds of clocks; those of nvmlDeviceGetClock have an id, too.
inline constexpr std::uint32_t kClockGraphics = 0;
inline constexpr std::uint32_t kClockSm = 1;
inline constexpr std::uint32_t kClockMemory = 2;
inline constexpr std::uint32_t kClockVideo = 3;
inline constexpr std::uint32_t kClockCount = 4;
inline constexpr std::uint32_t kClockIdCurrent = 0;
inline constexpr std::uint32_t kClockIdCount = 4;

// Performance states.
inline constexpr std::uint32_t kPerformanceState0 = 0;
inline constexpr std::uint32_t kPerformanceStateUnknown = 32;

// Temperatures.
inline constexpr std::uint32_t kTemperatureGpu = 0;
inline constexpr std::uint32_t kTemperatureThresholdShutdown = 0;
inline constexpr std::uint32_t kTemperatureThresholdSlowdown = 1;
inline constexpr std::uint32_t kTemperatureThresholdMemoryMax = 2;
inline constexpr std::uint32_t kTemperatureThresholdGpuMax = 3;
inline constexpr std::uint32_t kTemperatureThresholdCount = 8;

// Memory errors.
inline constexpr std::uint32_t kMemoryErrorCorrected = 0;
inline constexpr std::uint32_t kMemoryErrorUncorrected = 1;
inline constexpr std::uint32_t kMemoryErrorCount = 2;
inline constexpr std::uint32_t kEccVolatile = 0;
inline constexpr std::uint32_t kEccAggregate = 1;
inline constexpr std::uint32_t kEccCounterCount = 2;
inline constexpr std::uint32_t kMemoryL1Cache = 0;
inline constexpr std::uint32_t kMemoryL2Cache = 1;
inline constexpr std::uint32_t kMemoryDram = 2;
inline constexpr std::uint32_t kMemoryRegisterFile = 3;
inline constexpr std::uint32_t kMemoryTexture = 4;
inline constexpr std::uint32_t kMemoryTextureShared = 5;
inline constexpr std::uint32_t kMemoryControlBlock = 6;
inline constexpr std::uint32_t kMemorySram = 7;
inline constexpr std::uint32_t kMemoryLocationCount = 8;
inline constexpr std::uint32_t kRetiredBySingleBit = 0;
inline constexpr std::uint32_t kRetiredByDoubleBit = 1;
inline constexpr std::uint32_t kRetiredCauseCount = 2;

// Identity of a GPU.
inline constexpr std::uint32_t kBrandTesla = 2;
inline constexpr std::uint32_t kBrandNvidiaRtx = 13;
inline constexpr std::uint32_t kBrandNvidia = 14;
inline constexpr std::uint32_t kArchitectureVolta = 5;
inline constexpr std::uint32_t kArchitectureTuring = 6;
inline constexpr std::uint32_t kArchitectureAmpere = 7;
inline constexpr std::uint32_t kArchitectureAda = 8;
inline constexpr std::uint32_t kArchitectureHopper = 9;
inline constexpr std::uint32_t kArchitectureBlackwell = 10;
inline constexpr std::uint32_t kArchitectureUnknown = 0xFFFFFFFF;
inline constexpr std::uint32_t kBusPcie = 2;

// Kinds of processes in a list of details.
inline constexpr std::uint32_t kProcessCompute = 0;
inline constexpr std::uint32_t kProcessGraphics = 1;
inline constexpr std::uint32_t kProcessMps = 2;
inline constexpr std::uint32_t kProcessAll = 3;
inline constexpr std::uint32_t kProcessModeCount = 4;

// Why clocks are lower than they could be, one bit each.
inline constexpr std::uint64_t kClockReasonNone = 0;
inline constexpr std::uint64_t kClockReasonIdle = 0x1;
inline constexpr std::uint64_t kClockReasonPowerCap = 0x4;
inline constexpr std::uint64_t kClockReasonHeat = 0x20;

// Modes of use of a GPU.
inline constexpr std::uint32_t kAddressingNone = 0;
inline constexpr std::uint32_t kAddressingHmm = 1;
inline constexpr std::uint32_t kAddressingAts = 2;
inline constexpr std::uint32_t kComputeDefault = 0;
inline constexpr std::uint32_t kComputeProhibited = 2;
inline constexpr std::uint32_t kComputeExclusiveProcess = 3;
inline constexpr std::uint32_t kVirtualizationNone = 0;
inline constexpr std::uint32_t kVirtualizationPassthrough = 1;
inline constexpr std::uint32_t kVirtualizationVgpu = 2;
inline constexpr std::uint32_t kVirtualizationHostVgpu = 3;
inline constexpr std::uint32_t kVirtualizationHostVsga = 4;

// The nearest component that two GPUs share.
inline constexpr std::uint32_t kTopologyInternal = 0;
inline constexpr std::uint32_t kTopologySingle = 10;
inline constexpr std::uint32_t kTopologyMultiple = 20;
inline constexpr std::uint32_t kTopologyHostBridge = 30;
inline constexpr std::uint32_t kTopologyNode = 40;
inline constexpr std::uint32_t kTopologySystem = 50;

}  // namespace berth::nvml_abi
