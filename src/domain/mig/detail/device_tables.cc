#include "domain/mig/detail/device_tables.h"

namespace berth::mig::detail {
namespace {

// GPUs with seven compute slices and eight memory units.
constexpr int kStarts0To6[] = {0, 1, 2, 3, 4, 5, 6};
constexpr int kStarts0246[] = {0, 2, 4, 6};
constexpr int kStarts024[] = {0, 2, 4};
constexpr int kStarts04[] = {0, 4};
constexpr int kStarts0[] = {0};
constexpr Shape kEight1g = {1, kStarts0To6};
constexpr Shape kEight1gDouble = {2, kStarts0246};
constexpr Shape kEight2g = {2, kStarts024};
constexpr Shape kEight3g = {4, kStarts04};
constexpr Shape kEight4g = {4, kStarts0};
constexpr Shape kEight7g = {8, kStarts0};

// Four compute slices and four memory units: A30.
constexpr int kStarts0To3[] = {0, 1, 2, 3};
constexpr int kStarts02[] = {0, 2};
constexpr Shape kFour1g = {1, kStarts0To3};
constexpr Shape kFour2g = {2, kStarts02};
constexpr Shape kFour4g = {4, kStarts0};

// Four compute slices and twelve memory units: RTX PRO 6000.
constexpr int kStarts0369[] = {0, 3, 6, 9};
constexpr int kStarts06[] = {0, 6};
constexpr Shape kTwelve1g = {3, kStarts0369};
constexpr Shape kTwelve2g = {6, kStarts06};
constexpr Shape kTwelve4g = {12, kStarts0};

// name, enum of NVML, shape, id, compute slices, memory GiB x 100, SMs, most instances, unverified fields

// A100-40GB: guide, go-nvml.
constexpr ProfileRow kA100Gb40[] = {
    {"1g.5gb", "1_SLICE", &kEight1g, 19, 1, 475, 14, 7, 0},
    {"1g.5gb+me", "1_SLICE_REV1", &kEight1g, 20, 1, 475, 14, 1, 0},
    {"1g.10gb", "1_SLICE_REV2", &kEight1gDouble, 15, 1, 962, 14, 4, 0},
    {"2g.10gb", "2_SLICE", &kEight2g, 14, 2, 962, 28, 3, 0},
    {"3g.20gb", "3_SLICE", &kEight3g, 9, 3, 1950, 42, 2, 0},
    {"4g.20gb", "4_SLICE", &kEight4g, 5, 4, 1950, 56, 1, 0},
    {"7g.40gb", "7_SLICE", &kEight7g, 0, 7, 3925, 98, 1, 0},
};
constexpr std::uint16_t kA100Gb40PciIds[] = {0x20B0, 0x20B1, 0x20F1, 0x20F6};
constexpr const char* kA100Gb40Notes[] = {
    "placements: real -lgipp listing in the guide",
    "reported memory varies by driver and ECC (older listings show 9.75/19.62/39.50)",
    "minimum driver: 450.80.02",
    "MIG mode: needs a GPU reset and survives a reboot",
    "1g.5gb+me: needs R470 or newer",
    "1g.10gb: needs driver R525 or newer",
    "7g.40gb: exposes 98 of 108 SMs",
};

// A100-80GB: guide, go-nvml, three transcripts.
constexpr ProfileRow kA100Gb80[] = {
    {"1g.10gb", "1_SLICE", &kEight1g, 19, 1, 950, 14, 7, 0},
    {"1g.10gb+me", "1_SLICE_REV1", &kEight1g, 20, 1, 950, 14, 1, 0},
    {"1g.20gb", "1_SLICE_REV2", &kEight1gDouble, 15, 1, 1950, 14, 4, 0},
    {"2g.20gb", "2_SLICE", &kEight2g, 14, 2, 1950, 28, 3, 0},
    {"3g.40gb", "3_SLICE", &kEight3g, 9, 3, 3925, 42, 2, 0},
    {"4g.40gb", "4_SLICE", &kEight4g, 5, 4, 3925, 56, 1, 0},
    {"7g.80gb", "7_SLICE", &kEight7g, 0, 7, 7850, 98, 1, 0},
};
constexpr std::uint16_t kA100Gb80PciIds[] = {0x20B2, 0x20B5, 0x20F3, 0x20F5};
constexpr const char* kA100Gb80Notes[] = {
    "placements: same table as A100-40GB in the guide and go-nvml dgxa100 mock",
    "minimum driver: 450.80.02 (80GB boards: R460 or newer in practice, unverified)",
    "MIG mode: needs a GPU reset and survives a reboot",
    "1g.10gb: 9.50 to 9.75 GiB seen; go-nvml mock wrongly gives decoder count 1",
    "7g.80gb: 78.50 to 79.00 GiB seen by driver version",
};

// A30-24GB: guide, transcript.
constexpr ProfileRow kA30[] = {
    {"1g.6gb", "1_SLICE", &kFour1g, 14, 1, 581, 14, 4, kDecoders},
    {"1g.6gb+me", "1_SLICE_REV1", &kFour1g, 21, 1, 581, 14, 1, 0},
    {"2g.12gb", "2_SLICE", &kFour2g, 5, 2, 1169, 28, 2, 0},
    {"2g.12gb+me", "2_SLICE_REV1", &kFour2g, 6, 2, 1169, 28, 1, 0},
    {"4g.24gb", "4_SLICE", &kFour4g, 0, 4, 2344, 56, 1, 0},
};
constexpr std::uint16_t kA30PciIds[] = {0x20B7};
constexpr const char* kA30Notes[] = {
    "placements: real -lgipp transcript",
    "minimum driver: 460.73.01",
    "MIG mode: needs a GPU reset and survives a reboot",
    "1g.6gb: guide table says 0 decoders, transcript says 1",
    "2g.12gb+me: needs R525 or newer",
    "4g.24gb: 23.44 to 23.50 GiB seen",
};

// H100-80GB-SXM5: guide, two transcripts, initialization.
constexpr ProfileRow kH100Sxm5[] = {
    {"1g.10gb", "1_SLICE", &kEight1g, 19, 1, 975, 16, 7, 0},
    {"1g.10gb+me", "1_SLICE_REV1", &kEight1g, 20, 1, 975, 16, 1, 0},
    {"1g.20gb", "1_SLICE_REV2", &kEight1gDouble, 15, 1, 1962, 26, 4, 0},
    {"2g.20gb", "2_SLICE", &kEight2g, 14, 2, 1962, 32, 3, 0},
    {"3g.40gb", "3_SLICE", &kEight3g, 9, 3, 3950, 60, 2, 0},
    {"4g.40gb", "4_SLICE", &kEight4g, 5, 4, 3950, 64, 1, 0},
    {"7g.80gb", "7_SLICE", &kEight7g, 0, 7, 7925, 132, 1, 0},
};
constexpr std::uint16_t kH100Sxm5PciIds[] = {0x2330, 0x2324};
constexpr const char* kH100Sxm5Notes[] = {
    "placements: real -lgipp transcript",
    "which of the four PCI ids of the 80GB boards are SXM is unverified: mig-parted lists them together",
    "minimum driver: 525.85.12 (guide; 525.53 in older copies unverified)",
    "MIG mode: needs no GPU reset and is lost with a driver reload or reboot",
    "1g.20gb: 26 SM although 1 compute slice",
    "3g.40gb: 60 SM, more than 3x16",
};

// H100-80GB-PCIe: guide, transcript without its top rows, DRA driver.
constexpr ProfileRow kH100Pcie[] = {
    {"1g.10gb", "1_SLICE", &kEight1g, 19, 1, 975, 14, 7, kPlaces | kSms | kMemory},
    {"1g.10gb+me", "1_SLICE_REV1", &kEight1g, 20, 1, 975, 14, 1, kPlaces | kSms | kMemory},
    {"1g.20gb", "1_SLICE_REV2", &kEight1gDouble, 15, 1, 1962, 14, 4, 0},
    {"2g.20gb", "2_SLICE", &kEight2g, 14, 2, 1962, 30, 3, kPlaces},
    {"3g.40gb", "3_SLICE", &kEight3g, 9, 3, 3950, 46, 2, kPlaces | kCopyEngines},
    {"4g.40gb", "4_SLICE", &kEight4g, 5, 4, 3950, 62, 1, kPlaces | kCopyEngines},
    {"7g.80gb", "7_SLICE", &kEight7g, 0, 7, 7925, 114, 1, kPlaces},
};
constexpr std::uint16_t kH100PciePciIds[] = {0x2331, 0x2322};
constexpr const char* kH100PcieNotes[] = {
    "placements: DRA driver log for the 1g double-memory profile; rest taken from SXM (same architecture)",
    "minimum driver: 525.85.12",
    "MIG mode: needs no GPU reset and is lost with a driver reload or reboot",
    "1g.10gb: transcript cut off; 14 inferred from the 1g.20gb row (14), could be 16",
};

// H100-94GB-NVL: guide, three transcripts.
constexpr ProfileRow kH100Nvl[] = {
    {"1g.12gb", "1_SLICE", &kEight1g, 19, 1, 1062, 16, 7, 0},
    {"1g.12gb+me", "1_SLICE_REV1", &kEight1g, 20, 1, 1062, 16, 1, 0},
    {"1g.24gb", "1_SLICE_REV2", &kEight1gDouble, 15, 1, 2150, 26, 4, 0},
    {"2g.24gb", "2_SLICE", &kEight2g, 14, 2, 2150, 32, 3, 0},
    {"3g.47gb", "3_SLICE", &kEight3g, 9, 3, 4612, 60, 2, 0},
    {"4g.47gb", "4_SLICE", &kEight4g, 5, 4, 4612, 64, 1, 0},
    {"7g.94gb", "7_SLICE", &kEight7g, 0, 7, 9262, 132, 1, 0},
};
constexpr std::uint16_t kH100NvlPciIds[] = {0x2321, 0x233A};
constexpr const char* kH100NvlNotes[] = {
    "placements: real -lgipp transcripts",
    "minimum driver: 525.85.12 or newer (unverified)",
    "MIG mode: needs no GPU reset and is lost with a driver reload or reboot",
    "4g.47gb: 46.12 to 46.38 seen",
    "7g.94gb: 92.62 to 93.12 seen",
};

// GH200-96GB: guide, transcript.
constexpr ProfileRow kGh200Gb96[] = {
    {"1g.12gb", "1_SLICE", &kEight1g, 19, 1, kUnknown, 16, 7, kPlaces | kSms | kMemory},
    {"1g.12gb+me", "1_SLICE_REV1", &kEight1g, 20, 1, kUnknown, 16, 1, kPlaces | kSms | kMemory},
    {"1g.24gb", "1_SLICE_REV2", &kEight1gDouble, 15, 1, 2300, 26, 4, kPlaces},
    {"2g.24gb", "2_SLICE", &kEight2g, 14, 2, 2300, 32, 3, kPlaces},
    {"3g.48gb", "3_SLICE", &kEight3g, 9, 3, 4650, 60, 2, kPlaces},
    {"4g.48gb", "4_SLICE", &kEight4g, 5, 4, 4650, 64, 1, kPlaces},
    {"7g.96gb", "7_SLICE", &kEight7g, 0, 7, 9300, 132, 1, kPlaces},
};
constexpr std::uint16_t kGh200Gb96PciIds[] = {0x233D, 0x2342};
constexpr const char* kGh200Gb96Notes[] = {
    "placements: not seen; same architecture as H100",
    "minimum driver: not known",
    "MIG mode: needs no GPU reset and is lost with a driver reload or reboot",
};

// GH200-144GB: mig-parted pull 139, initialization.
constexpr ProfileRow kGh200Gb144[] = {
    {"1g.18gb", "1_SLICE", &kEight1g, 19, 1, 1750, 16, 7, kPlaces},
    {"1g.18gb+me", "1_SLICE_REV1", &kEight1g, 20, 1, 1750, 16, 1, kPlaces},
    {"1g.36gb", "1_SLICE_REV2", &kEight1gDouble, 15, 1, 3525, 26, 4, kPlaces},
    {"2g.36gb", "2_SLICE", &kEight2g, 14, 2, 3525, 32, 3, kPlaces},
    {"3g.72gb", "3_SLICE", &kEight3g, 9, 3, kUnknown, 60, 2, kPlaces | kSms | kMemory | kCopyEngines},
    {"4g.72gb", "4_SLICE", &kEight4g, 5, 4, kUnknown, 64, 1, kPlaces | kSms | kMemory | kCopyEngines},
    {"7g.144gb", "7_SLICE", &kEight7g, 0, 7, kUnknown, 132, 1, kPlaces | kSms | kMemory | kCopyEngines},
};
constexpr std::uint16_t kGh200Gb144PciIds[] = {0x2348};
constexpr const char* kGh200Gb144Notes[] = {
    "placements: not seen; same architecture as H100",
    "minimum driver: not known",
    "MIG mode: needs no GPU reset and is lost with a driver reload or reboot",
};

// H200-141GB: guide, mig-parted issue 120, transcript.
constexpr ProfileRow kH200[] = {
    {"1g.18gb", "1_SLICE", &kEight1g, 19, 1, 1600, 16, 7, kPlaces},
    {"1g.18gb+me", "1_SLICE_REV1", &kEight1g, 20, 1, 1600, 16, 1, kPlaces},
    {"1g.35gb", "1_SLICE_REV2", &kEight1gDouble, 15, 1, 3225, 26, 4, kPlaces},
    {"2g.35gb", "2_SLICE", &kEight2g, 14, 2, 3225, 32, 3, kPlaces},
    {"3g.71gb", "3_SLICE", &kEight3g, 9, 3, 6950, 60, 2, kPlaces},
    {"4g.71gb", "4_SLICE", &kEight4g, 5, 4, 6950, 64, 1, kPlaces},
    {"7g.141gb", "7_SLICE", &kEight7g, 0, 7, 14000, 132, 1, kPlaces},
};
constexpr std::uint16_t kH200PciIds[] = {0x2335, 0x233B};
constexpr const char* kH200Notes[] = {
    "placements: not seen as a transcript; same architecture and same profile ids as H100",
    "minimum driver: 550.90.07",
    "MIG mode: needs no GPU reset and is lost with a driver reload or reboot",
    "1g.18gb: mapping of names to 141 GB is nominal: usable is 16.00 GiB",
    "2g.35gb: 32.50 GiB in newer listings",
};

// B200-180GB: guide, mig-parted pulls 166 and 187, DRA driver.
constexpr ProfileRow kB200[] = {
    {"1g.23gb", "1_SLICE", &kEight1g, 19, 1, 2050, 18, 7, kPlaces},
    {"1g.23gb+me", "1_SLICE_REV1", &kEight1g, 20, 1, 2050, 18, 1, kPlaces},
    {"1g.45gb", "1_SLICE_REV2", &kEight1gDouble, 15, 1, 4425, 30, 4, kPlaces},
    {"2g.45gb", "2_SLICE", &kEight2g, 14, 2, 4425, 36, 3, kPlaces},
    {"3g.90gb", "3_SLICE", &kEight3g, 9, 3, kUnknown, kUnknown, 2, kSms | kMemory | kCopyEngines | kDecoders | kJpeg},
    {"4g.90gb", "4_SLICE", &kEight4g, 5, 4, kUnknown, kUnknown, 1,
     kPlaces | kSms | kMemory | kCopyEngines | kDecoders | kJpeg},
    {"7g.180gb", "7_SLICE", &kEight7g, 0, 7, kUnknown, kUnknown, 1,
     kPlaces | kSms | kMemory | kCopyEngines | kDecoders | kJpeg},
};
constexpr std::uint16_t kB200PciIds[] = {0x2901};
constexpr const char* kB200Notes[] = {
    "placements: DRA driver source comment for 3g; no -lgipp transcript found",
    "148 SMs on the whole GPU is unverified",
    "minimum driver: 570.133.20",
    "MIG mode: needs no GPU reset and is lost with a driver reload or reboot",
    "1g.23gb: 22.00 GiB on the Jan 2025 driver, 20.50 on the Mar 2025 driver; one field report shows 20992 MiB usable",
    "2g.45gb: guide table gives 3 copy engines and 1 decoder; hardware listing gives 4 and 2",
};

// GB200-186GB: mig-parted issue 227, gpu-operator pull 1303, DRA driver.
constexpr ProfileRow kGb200[] = {
    {"1g.23gb", "1_SLICE", &kEight1g, 19, 1, 2200, 18, 7, kPlaces},
    {"1g.23gb+me", "1_SLICE_REV1", &kEight1g, 20, 1, 2200, 18, 1, kPlaces},
    {"1g.47gb", "1_SLICE_REV2", &kEight1gDouble, 15, 1, 4550, 32, 4, kPlaces},
    {"2g.47gb", "2_SLICE", &kEight2g, 14, 2, 4550, 38, 3, kPlaces},
    {"3g.93gb", "3_SLICE", &kEight3g, 9, 3, kUnknown, kUnknown, 2,
     kPlaces | kSms | kMemory | kCopyEngines | kDecoders | kJpeg},
    {"4g.93gb", "4_SLICE", &kEight4g, 5, 4, kUnknown, kUnknown, 1,
     kPlaces | kSms | kMemory | kCopyEngines | kDecoders | kJpeg},
    {"7g.186gb", "7_SLICE", &kEight7g, 0, 7, kUnknown, kUnknown, 1,
     kPlaces | kSms | kMemory | kCopyEngines | kDecoders | kJpeg},
};
constexpr std::uint16_t kGb200PciIds[] = {0x2941};
constexpr const char* kGb200Notes[] = {
    "placements: not seen",
    "152 SMs on the whole GPU is unverified: no source at hand lists them; 2g has 38",
    "minimum driver: 570.133.20",
    "MIG mode: needs no GPU reset and is lost with a driver reload or reboot",
    "1g.23gb: also named 1g.24gb with 20.00 GiB on another driver: never key on the name",
    "3g.93gb: 3g.95gb on some",
    "4g.93gb: 4g.95gb on some",
    "7g.186gb: 7g.189gb on some",
};

// RTX-PRO-6000-Blackwell-96GB: guide, two transcripts.
constexpr ProfileRow kRtxPro6000[] = {
    {"1g.24gb", "1_SLICE", &kTwelve1g, 14, 1, 2362, 46, 4, 0},
    {"1g.24gb+me", "1_SLICE_REV1", &kTwelve1g, 21, 1, 2362, 46, 1, 0},
    {"1g.24gb+gfx", "1_SLICE_GFX", &kTwelve1g, 47, 1, 2362, 46, 4, 0},
    {"1g.24gb+me.all", "1_SLICE_ALL_ME", &kTwelve1g, 65, 1, 2362, 46, 1, 0},
    {"1g.24gb-me", "1_SLICE_NO_ME", &kTwelve1g, 67, 1, 2362, 46, 4, 0},
    {"2g.48gb", "2_SLICE", &kTwelve2g, 5, 2, 4738, 94, 2, 0},
    {"2g.48gb+gfx", "2_SLICE_GFX", &kTwelve2g, 35, 2, 4738, 94, 2, 0},
    {"2g.48gb+me.all", "2_SLICE_ALL_ME", &kTwelve2g, 64, 2, 4738, 94, 1, 0},
    {"2g.48gb-me", "2_SLICE_NO_ME", &kTwelve2g, 66, 2, 4738, 94, 2, 0},
    {"4g.96gb", "4_SLICE", &kTwelve4g, 0, 4, 9512, 188, 1, 0},
    {"4g.96gb+gfx", "4_SLICE_GFX", &kTwelve4g, 32, 4, 9512, 188, 1, 0},
};
constexpr std::uint16_t kRtxPro6000PciIds[] = {0x2BB5};
constexpr const char* kRtxPro6000Notes[] = {
    "placements: real -lgipp transcript",
    "another board reports 23.12 GiB for 1g, and 23.12/46.50/93.38 appear with ECC-like settings",
    "minimum driver: 575.51.03",
    "MIG mode: needs no GPU reset and is lost with a driver reload or reboot (unverified)",
};
// GPUs without MIG. SMs from NVIDIA's data sheets: CUDA cores / 64 (T4 2560, V100 5120) or / 128 (A10 9216, L4
// 7424, L40S 18176).
constexpr const char* kNoMigNotes[] = {"this GPU does not support MIG; it can be shared with MPS or time slicing"};

constexpr DeviceRow kDevices[] = {
    // name, units, compute slices, SMs, whether they are unverified, GB, profiles, PCI device ids, notes
    {"A100-40GB", 8, 7, 108, false, 40, kA100Gb40, kA100Gb40PciIds, kA100Gb40Notes},
    {"A100-80GB", 8, 7, 108, false, 80, kA100Gb80, kA100Gb80PciIds, kA100Gb80Notes},
    {"A30-24GB", 4, 4, 56, false, 24, kA30, kA30PciIds, kA30Notes},
    {"H100-80GB-SXM5", 8, 7, 132, false, 80, kH100Sxm5, kH100Sxm5PciIds, kH100Sxm5Notes},
    {"H100-80GB-PCIe", 8, 7, 114, false, 80, kH100Pcie, kH100PciePciIds, kH100PcieNotes},
    {"H100-94GB-NVL", 8, 7, 132, false, 94, kH100Nvl, kH100NvlPciIds, kH100NvlNotes},
    {"GH200-96GB", 8, 7, 132, false, 96, kGh200Gb96, kGh200Gb96PciIds, kGh200Gb96Notes},
    {"GH200-144GB", 8, 7, 132, false, 144, kGh200Gb144, kGh200Gb144PciIds, kGh200Gb144Notes},
    {"H200-141GB", 8, 7, 132, false, 141, kH200, kH200PciIds, kH200Notes},
    {"B200-180GB", 8, 7, 148, true, 180, kB200, kB200PciIds, kB200Notes},
    {"GB200-186GB", 8, 7, 152, true, 186, kGb200, kGb200PciIds, kGb200Notes},
    {"RTX-PRO-6000-Blackwell-96GB", 12, 4, 188, false, 96, kRtxPro6000, kRtxPro6000PciIds, kRtxPro6000Notes},
    {"T4-16GB", 0, 0, 40, false, 16, {}, {}, kNoMigNotes},
    {"V100-16GB", 0, 0, 80, false, 16, {}, {}, kNoMigNotes},
    {"V100-32GB", 0, 0, 80, false, 32, {}, {}, kNoMigNotes},
    {"A10-24GB", 0, 0, 72, false, 24, {}, {}, kNoMigNotes},
    {"L4-24GB", 0, 0, 58, false, 24, {}, {}, kNoMigNotes},
    {"L40S-48GB", 0, 0, 142, false, 48, {}, {}, kNoMigNotes},
};

// mig-parted and the guide name these without the places of their instances.
constexpr const char* kB300Names[] = {"1g.34gb",  "1g.34gb+me", "1g.67gb", "2g.67gb",
                                      "3g.135gb", "4g.135gb",   "7g.269gb"};
constexpr std::uint16_t kB300PciIds[] = {0x3182};
constexpr const char* kGb300Names[] = {"1g.35gb",  "1g.35gb+me", "1g.70gb", "2g.70gb",
                                       "3g.139gb", "4g.139gb",   "7g.278gb"};
constexpr std::uint16_t kGb300PciIds[] = {0x31C2};
constexpr std::uint16_t kH20PciIds[] = {0x2329};
constexpr const char* kRtxPro5000Names[] = {"1g.24gb", "2g.48gb"};
constexpr const char* kRtxPro4500Names[] = {"1g.16gb", "2g.32gb"};

constexpr NamedDeviceRow kNamedDevices[] = {
    {"B300", kB300Names, kB300PciIds},
    {"GB300", kGb300Names, kGb300PciIds},
    {"H20", {}, kH20PciIds},
    {"RTX-PRO-5000-Blackwell", kRtxPro5000Names, {}},
    {"RTX-PRO-4500-Blackwell", kRtxPro4500Names, {}},
};

// GB200: gpu-operator pull 1303 against mig-parted issue 227; mig-parted's default file has the names of the former.
constexpr OtherNameRow kOtherNames[] = {
    {"GB200-186GB", "1g.23gb", "1g.24gb"},   {"GB200-186GB", "1g.23gb+me", "1g.24gb+me"},
    {"GB200-186GB", "3g.93gb", "3g.95gb"},   {"GB200-186GB", "4g.93gb", "4g.95gb"},
    {"GB200-186GB", "7g.186gb", "7g.189gb"},
};

}  // namespace

std::span<const DeviceRow> device_rows() { return kDevices; }

std::span<const NamedDeviceRow> named_device_rows() { return kNamedDevices; }

std::span<const OtherNameRow> other_name_rows() { return kOtherNames; }

}  // namespace berth::mig::detail
