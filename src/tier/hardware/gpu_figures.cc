#include "tier/hardware/gpu_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "domain/mig/board.h"
#include "domain/mig/catalogue.h"

namespace berth::tier {
namespace {

/// A row of the table. Numbers are texts, so that they stay exact.
struct FiguresRow {
  const char* gpu;
  const char* tflops;
  const char* gb_per_second;
  const char* tflops_source;
  const char* bytes_source;  ///< empty: the same document
  const char* remark = "";
  const char* offer = "";         ///< the name in offers
  std::int64_t offer_mib = 0;     ///< of the offers of this model; 0: any
  std::int64_t memory_mib = 0;    ///< of models that domain/mig does not know
  const char* product = nullptr;  ///< likewise
};

constexpr const char* kHalfOfSparse = "the sheet states twice as much, with sparsity";

// Titles of NVIDIA's documents. "sheet": data sheet of the product.
constexpr FiguresRow kRows[] = {
    {"A100-40GB", "312", "1555", "A100 sheet, 2020", "", "", "a100", 40'960},
    {"A100-80GB", "312", "2039", "A100 80GB sheet, 2021", "", "SXM4; the PCIe board has the same TFLOPS and 1,935 GB/s",
     "a100", 81'920},
    {"A30-24GB", "165", "933", "A30 sheet, 2021", ""},
    {"H100-80GB-SXM5", "989.5", "3350", "H100 sheet, 2023", "",
     "half of 1,979 with sparsity; the architecture paper states 989.4, and earlier sheets 3,000 GB/s", "h100", 81'920},
    {"H100-80GB-PCIe", "756.5", "2000", "H100 sheet, 2022", "",
     "half of 1,513 with sparsity; others state 2,039 GB/s of the same board"},
    {"H100-94GB-NVL", "835.5", "3938", "H100 NVL sheet, 2024", "H100 NVL product brief, 2024",
     "half of 1,671 with sparsity; earlier sheets state 1,979 for one board of a pair, and round to 3,900 GB/s",
     "h100-nvl"},
    {"GH200-96GB", "989.5", "4000", "GH200 sheet, 2023", "", "half of 1,979 with sparsity"},
    {"GH200-144GB", "989.5", "4900", "GH200 sheet, 2023", "", "half of 1,979 with sparsity"},
    {"H200-141GB", "989.5", "4800", "H200 sheet, 2024", "", "half of 1,979 with sparsity", "h200"},
    {"B200-180GB", "2250", "8000", "HGX B200 sheet, 2024", "DGX B200 sheet, 2025",
     "an eighth of the server's figures, of TFLOPS half of them with sparsity; some pages state 7,700 GB/s", "b200"},
    {"GB200-186GB", "2500", "8000", "GB200 NVL72 sheet, 2024", "", kHalfOfSparse, "gb200"},
    {"RTX-PRO-6000-Blackwell-96GB", "503.8", "1597", "RTX Blackwell PRO architecture paper, 2025",
     "RTX PRO 6000 Server sheet, 2025", "TFLOPS of the workstation's board, whose clock is higher",
     "rtx-pro-server-6000"},
    {"T4-16GB", "65", "320", "T4 sheet, 2019", "", "some pages state 300 GB/s", "t4"},
    {"V100-16GB", "125", "900", "V100 sheet, 2020", "", "SXM2; the PCIe board has 112 TFLOPS", "v100", 16'384},
    {"V100-32GB", "125", "900", "V100 sheet, 2020", "", "SXM2; the PCIe board has 112 TFLOPS", "v100", 32'768},
    {"A10-24GB", "125", "600", "A10 sheet, 2021", "", "", "a10"},
    {"L4-24GB", "121", "300", "L4 sheet, 2023", "", "half of 242 with sparsity", "l4"},
    {"L40S-48GB", "362.05", "864", "L40S sheet, 2023", "",
     "the sheet's figure with sparsity, 733, is not twice as much", "l40s"},
    // Models that domain/mig does not know.
    {"K80-12GB", "4.365", "240", "K80 board specification, 2015", "",
     "FP32 of one of the board's two GPUs, half of 8.73 with the highest clock; 2.8 at the base clock", "", 0, 12'288,
     "Tesla-K80"},
    {"M60-8GB", "4.825", "160", "M60 sheet, 2016", "", "FP32 of one of the board's two GPUs; 3.65 at the base clock",
     "", 0, 8'192, "Tesla-M60"},
    {"P4-8GB", "5.5", "192", "P4 sheet, 2016", "", "FP32: its FP16 is slower", "", 0, 8'192, "Tesla-P4"},
    {"P40-24GB", "12", "346", "P40 sheet, 2016", "", "FP32: its FP16 is slower; 11.76 in other documents", "", 0,
     24'576, "Tesla-P40"},
    {"P100-16GB", "18.7", "732", "P100 PCIe sheet, 2016", "",
     "PCIe; the SXM2 board has 21.2 TFLOPS; 720 GB/s in earlier documents", "", 0, 16'384, "Tesla-P100-PCIE-16GB"},
    {"RTX-2080-Ti-11GB", "107.6", "616", "Turing architecture paper, 2018", "",
     "accumulated in FP16; in FP32 53.8; the Founders Edition has 113.8 and 56.9", "", 0, 11'264,
     "NVIDIA-GeForce-RTX-2080-Ti"},
    {"RTX-3090-24GB", "142", "936", "GA102 architecture paper, 2020", "", "accumulated in FP16; in FP32 71", "", 0,
     24'576, "NVIDIA-GeForce-RTX-3090"},
    {"RTX-4090-24GB", "330.3", "1008", "Ada architecture paper, 2022", "", "accumulated in FP16; in FP32 165.2", "", 0,
     24'576, "NVIDIA-GeForce-RTX-4090"},
    {"Titan-RTX-24GB", "130.5", "672", "Titan RTX product page, 2018", "", "", "", 0, 24'576, "NVIDIA-TITAN-RTX"},
    {"Quadro-RTX-6000-24GB", "130.5", "672", "Quadro RTX 6000 sheet, 2018", "", "some pages state 624 GB/s", "", 0,
     24'576, "Quadro-RTX-6000"},
    {"RTX-A6000-48GB", "154.8", "768", "GA102 architecture paper, 2020", "RTX A6000 sheet, 2020", "", "", 0, 49'152,
     "NVIDIA-RTX-A6000"},
    {"A10G-24GB", "70", "600", "A10G product brief, 2021", "", "half of 140 with sparsity", "a10g", 0, 24'576,
     "NVIDIA-A10G"},
    {"A40-48GB", "149.7", "696", "A40 sheet, 2020", "", "", "", 0, 49'152, "NVIDIA-A40"},
    {"L40-48GB", "181.05", "864", "L40 sheet, 2023", "", "", "", 0, 49'152, "NVIDIA-L40"},
};

std::string as_label(std::string name) {
  std::ranges::replace(name, ' ', '-');
  return name;
}

GpuFigures figures_of(const FiguresRow& row) {
  GpuFigures figures{.gpu = row.gpu,
                     .tflops = *Decimal::parse(row.tflops),
                     .gb_per_second = *Decimal::parse(row.gb_per_second),
                     .memory_mib = Decimal(row.memory_mib),
                     .product = row.product == nullptr ? "" : row.product,
                     .tflops_source = row.tflops_source,
                     .bytes_source = *row.bytes_source == '\0' ? row.tflops_source : row.bytes_source,
                     .remark = row.remark,
                     .offered_as = {.gpu_model = row.offer, .memory_mib = row.offer_mib}};
  if (row.product != nullptr) return figures;
  const auto model = mig::find_gpu_model(row.gpu);
  ENSURE(model.has_value());
  figures.memory_mib = Decimal(mig::board_of(*model).memory_mib);
  figures.product = as_label(mig::board_of(*model).name);
  return figures;
}

std::vector<GpuFigures> build_figures() {
  std::vector<GpuFigures> all;
  all.reserve(std::size(kRows));
  for (const FiguresRow& row : kRows) all.push_back(figures_of(row));
  return all;
}

bool is_named(const GpuFigures& figures, std::string_view name) {
  return figures.gpu == name || (!name.empty() && figures.gpu.starts_with(name) && figures.gpu[name.size()] == '-');
}

/// Models that domain/mig knows too are found by its rules alone.
bool is_only_here(const GpuFigures& figures) {
  return std::ranges::find(mig::gpu_models(), figures.gpu, &GpuModel::name) == mig::gpu_models().end();
}

std::string names_only_here() {
  std::string names;
  for (const GpuFigures& figures : gpu_figures()) {
    if (is_only_here(figures)) names += ", " + figures.gpu;
  }
  return names;
}

}  // namespace

const std::vector<GpuFigures>& gpu_figures() {
  static const std::vector<GpuFigures> figures = build_figures();
  return figures;
}

Result<GpuFigures> find_gpu_figures(std::string_view name) {
  const auto is_meant = [&](const GpuFigures& each) { return is_only_here(each) && is_named(each, name); };
  const auto only_here = std::ranges::find_if(gpu_figures(), is_meant);
  if (only_here != gpu_figures().end()) return *only_here;
  const auto model = mig::find_gpu_model(name);
  if (!model) {
    const std::string& message = model.error().message;
    return invalid(message.starts_with("wanted a GPU") ? message + names_only_here() : message);
  }
  const auto found = std::ranges::find(gpu_figures(), model->name, &GpuFigures::gpu);
  if (found == gpu_figures().end()) return invalid("GPU " + model->name + " has no figures");
  return *found;
}

}  // namespace berth::tier
