#include "domain/mig/detail/board_tables.h"

#include <iterator>

namespace berth::mig::detail {
namespace {

// copy, decoders, encoders, JPEG, optical flow; one row per profile of device_tables.cc, in its order

// A100, 40 and 80 GB: guide, go-nvml.
constexpr EnginesRow kA100Engines[] = {
    {1, 0, 0, 0, 0},  // 1g
    {1, 1, 0, 1, 1},  // 1g+me
    {1, 1, 0, 0, 0},  // 1g with double memory
    {2, 1, 0, 0, 0},  // 2g
    {3, 2, 0, 0, 0},  // 3g
    {4, 2, 0, 0, 0},  // 4g
    {7, 5, 0, 1, 1},  // 7g
};

// A30: guide, transcript.
constexpr EnginesRow kA30Engines[] = {
    {1, 1, 0, 0, 0},  // 1g; the guide says 0 decoders
    {1, 1, 0, 1, 1},  // 1g+me
    {2, 2, 0, 0, 0},  // 2g
    {2, 2, 0, 1, 1},  // 2g+me
    {4, 4, 0, 1, 1},  // 4g
};

// H100, GH200, H200: guide, transcripts; measured on H100 SXM5 and H200 (docs/reference/nvml.md).
constexpr EnginesRow kHopperEngines[] = {
    {1, 1, 0, 1, 0},  // 1g
    {1, 1, 0, 1, 1},  // 1g+me
    {1, 1, 0, 1, 0},  // 1g with double memory
    {2, 2, 0, 2, 0},  // 2g
    {3, 3, 0, 3, 0},  // 3g
    {4, 4, 0, 4, 0},  // 4g
    {8, 7, 0, 7, 1},  // 7g
};

// B200: guide, mig-parted pulls 166 and 187; from 3g on the copy engines are the guide's, decoders and
// JPEG follow Hopper.
constexpr EnginesRow kB200Engines[] = {
    {2, 1, 0, 1, 0},   // 1g
    {2, 1, 0, 1, 1},   // 1g+me
    {2, 1, 0, 1, 0},   // 1g with double memory
    {4, 2, 0, 2, 0},   // 2g; the guide says 3 copy engines and 1 decoder
    {6, 3, 0, 3, 0},   // 3g
    {8, 4, 0, 4, 0},   // 4g
    {16, 7, 0, 7, 1},  // 7g
};

// GB200: mig-parted issue 227, gpu-operator pull 1303.
constexpr EnginesRow kGb200Engines[] = {
    {2, 1, 0, 1, 0},                       // 1g
    {2, 1, 0, 1, 1},                       // 1g+me
    {2, 1, 0, 1, 0},                       // 1g with double memory
    {4, 2, 0, 2, 0},                       // 2g
    {kUnknown, kUnknown, 0, kUnknown, 0},  // 3g
    {kUnknown, kUnknown, 0, kUnknown, 0},  // 4g
    {kUnknown, kUnknown, 0, kUnknown, 1},  // 7g
};

// RTX PRO 6000: guide, two transcripts.
constexpr EnginesRow kRtxPro6000Engines[] = {
    {1, 1, 1, 1, 0},  // 1g
    {1, 1, 1, 1, 1},  // 1g+me
    {1, 1, 1, 1, 0},  // 1g+gfx
    {1, 4, 4, 4, 1},  // 1g+me.all
    {1, 0, 0, 0, 0},  // 1g-me
    {2, 2, 2, 2, 0},  // 2g
    {2, 2, 2, 2, 0},  // 2g+gfx
    {2, 4, 4, 4, 1},  // 2g+me.all
    {2, 0, 0, 0, 0},  // 2g-me
    {4, 4, 4, 4, 1},  // 4g
    {4, 4, 4, 4, 1},  // 4g+gfx
};

using Architecture::kAda, Architecture::kAmpere, Architecture::kBlackwell, Architecture::kHopper;
using Architecture::kTuring, Architecture::kVolta;

// model, name, engines, architecture, compute capability, memory in MiB, unverified fields, PCI device id
constexpr BoardRow kBoards[] = {
    {"A100-40GB", "NVIDIA A100-SXM4-40GB", kA100Engines, kAmpere, 8, 0, kUnknown, 0, 0x20B0},
    {"A100-80GB", "NVIDIA A100-SXM4-80GB", kA100Engines, kAmpere, 8, 0, kUnknown, 0, 0x20B2},
    {"A30-24GB", "NVIDIA A30", kA30Engines, kAmpere, 8, 0, kUnknown, 0, 0x20B7},
    {"H100-80GB-SXM5", "NVIDIA H100 80GB HBM3", kHopperEngines, kHopper, 9, 0, 81559, 0, 0x2330},
    {"H100-80GB-PCIe", "NVIDIA H100 PCIe", kHopperEngines, kHopper, 9, 0, 81559, kBoardMemory, 0x2331},
    {"H100-94GB-NVL", "NVIDIA H100 NVL", kHopperEngines, kHopper, 9, 0, 95830, kBoardMemory, 0x2321},
    {"GH200-96GB", "NVIDIA GH200 480GB", kHopperEngines, kHopper, 9, 0, 97871, kBoardMemory, 0x2342},
    {"GH200-144GB", "NVIDIA GH200 144G HBM3e", kHopperEngines, kHopper, 9, 0, kUnknown, 0, 0x2348},
    {"H200-141GB", "NVIDIA H200", kHopperEngines, kHopper, 9, 0, 143771, 0, 0x2335},
    {"B200-180GB", "NVIDIA B200", kB200Engines, kBlackwell, 10, 0, 183359, kBoardMemory, 0x2901},
    {"GB200-186GB", "NVIDIA GB200", kGb200Engines, kBlackwell, 10, 0, 189471, kBoardMemory, 0x2941},
    {"RTX-PRO-6000-Blackwell-96GB", "NVIDIA RTX PRO 6000 Blackwell Server Edition", kRtxPro6000Engines, kBlackwell, 12,
     0, 97887, kBoardMemory | kNeedsReset | kModeSurvives, 0x2BB5},
    {"T4-16GB", "Tesla T4", {}, kTuring, 7, 5, 15360, kBoardMemory, 0x1EB8},
    {"V100-16GB", "Tesla V100-SXM2-16GB", {}, kVolta, 7, 0, kUnknown, kBoardName | kPciDeviceId, 0x1DB1},
    {"V100-32GB", "Tesla V100-SXM2-32GB", {}, kVolta, 7, 0, kUnknown, kBoardName | kPciDeviceId, 0x1DB5},
    {"A10-24GB", "NVIDIA A10", {}, kAmpere, 8, 6, 23028, kBoardMemory, 0x2236},
    {"L4-24GB", "NVIDIA L4", {}, kAda, 8, 9, 23034, kBoardMemory, 0x27B8},
    {"L40S-48GB", "NVIDIA L40S", {}, kAda, 8, 9, 46068, kBoardMemory, 0x26B9},
};

// In the order of kBoards. In W: the limit, the lowest one, the power when idle. In MHz: the maximum clocks of SMs and
// memory.
constexpr BoardPower kPowers[] = {
    {400, 100, 50, 1410, 1215},    // A100-40GB
    {400, 100, 60, 1410, 1593},    // A100-80GB
    {165, 100, 30, 1440, 1215},    // A30
    {700, 200, 70, 1980, 2619},    // H100 SXM5
    {350, 200, 50, 1755, 1593},    // H100 PCIe
    {400, 200, 60, 1785, 2619},    // H100 NVL
    {900, 100, 85, 1980, 2619},    // GH200 with 96 GB
    {900, 100, 90, 1980, 3201},    // GH200 with 144 GB
    {700, 200, 75, 1980, 3201},    // H200
    {1000, 200, 140, 1965, 3996},  // B200
    {1200, 200, 160, 2062, 3996},  // GB200
    {600, 300, 30, 2430, 12481},   // RTX PRO 6000
    {70, 60, 10, 1590, 5001},      // T4
    {300, 150, 40, 1530, 877},     // V100 with 16 GB
    {300, 150, 45, 1530, 877},     // V100 with 32 GB
    {150, 100, 20, 1695, 6251},    // A10
    {72, 40, 15, 2040, 6251},      // L4
    {350, 100, 25, 2520, 9001},    // L40S
};
static_assert(std::size(kPowers) == std::size(kBoards));

}  // namespace

std::span<const BoardRow> board_rows() { return kBoards; }

std::span<const BoardPower> board_powers() { return kPowers; }

}  // namespace berth::mig::detail
