#include "gpu/nvml_abi/codes.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace berth::nvml_abi {
namespace {

constexpr std::string_view kErrorPrefix = "NVML_ERROR_";

struct CodeRow {
  Code code = Code::kSuccess;
  std::string_view name;
  const char* message = nullptr;
};

constexpr CodeRow kSuccessRow{Code::kSuccess, "NVML_SUCCESS", "Success"};
constexpr CodeRow kNoRow{Code::kUnknown, "(unknown NVML return code)", "Not a return code of NVML"};

constexpr std::array kErrorRows = {
    CodeRow{Code::kUninitialized, "NVML_ERROR_UNINITIALIZED", "NVML is not initialized"},
    CodeRow{Code::kInvalidArgument, "NVML_ERROR_INVALID_ARGUMENT", "An argument is invalid"},
    CodeRow{Code::kNotSupported, "NVML_ERROR_NOT_SUPPORTED", "Not supported here"},
    CodeRow{Code::kNoPermission, "NVML_ERROR_NO_PERMISSION", "The caller has no permission"},
    CodeRow{Code::kAlreadyInitialized, "NVML_ERROR_ALREADY_INITIALIZED", "NVML is initialized already"},
    CodeRow{Code::kNotFound, "NVML_ERROR_NOT_FOUND", "Nothing was found"},
    CodeRow{Code::kInsufficientSize, "NVML_ERROR_INSUFFICIENT_SIZE", "The caller's buffer is too small"},
    CodeRow{Code::kInsufficientPower, "NVML_ERROR_INSUFFICIENT_POWER", "An external power cable is missing or loose"},
    CodeRow{Code::kDriverNotLoaded, "NVML_ERROR_DRIVER_NOT_LOADED", "The driver is not loaded"},
    CodeRow{Code::kTimeout, "NVML_ERROR_TIMEOUT", "Timed out"},
    CodeRow{Code::kIrqIssue, "NVML_ERROR_IRQ_ISSUE", "The kernel has trouble with an interrupt of a GPU"},
    CodeRow{Code::kLibraryNotFound, "NVML_ERROR_LIBRARY_NOT_FOUND", "A shared library was not found"},
    CodeRow{Code::kFunctionNotFound, "NVML_ERROR_FUNCTION_NOT_FOUND", "This version has no such function"},
    CodeRow{Code::kCorruptedInforom, "NVML_ERROR_CORRUPTED_INFOROM", "The infoROM of the GPU is damaged"},
    CodeRow{Code::kGpuIsLost, "NVML_ERROR_GPU_IS_LOST", "The GPU is lost: it is off the bus or does not answer"},
    CodeRow{Code::kResetRequired, "NVML_ERROR_RESET_REQUIRED", "The GPU must be reset first"},
    CodeRow{Code::kOperatingSystem, "NVML_ERROR_OPERATING_SYSTEM", "The operating system or a control group refused"},
    CodeRow{Code::kLibRmVersionMismatch, "NVML_ERROR_LIB_RM_VERSION_MISMATCH", "Library and driver differ in version"},
    CodeRow{Code::kInUse, "NVML_ERROR_IN_USE", "In use"},
    CodeRow{Code::kMemory, "NVML_ERROR_MEMORY", "Out of memory"},
    CodeRow{Code::kNoData, "NVML_ERROR_NO_DATA", "No data"},
    CodeRow{Code::kVgpuEccNotSupported, "NVML_ERROR_VGPU_ECC_NOT_SUPPORTED", "Not possible for a vGPU while ECC is on"},
    CodeRow{Code::kInsufficientResources, "NVML_ERROR_INSUFFICIENT_RESOURCES", "Too little of a resource is left"},
    CodeRow{Code::kFreqNotSupported, "NVML_ERROR_FREQ_NOT_SUPPORTED", "This frequency is not supported"},
    CodeRow{Code::kArgumentVersionMismatch, "NVML_ERROR_ARGUMENT_VERSION_MISMATCH",
            "The version in an argument is not supported"},
    CodeRow{Code::kDeprecated, "NVML_ERROR_DEPRECATED", "No longer provided"},
    CodeRow{Code::kNotReady, "NVML_ERROR_NOT_READY", "Not ready yet"},
    CodeRow{Code::kGpuNotFound, "NVML_ERROR_GPU_NOT_FOUND", "No GPU was found"},
    CodeRow{Code::kInvalidState, "NVML_ERROR_INVALID_STATE", "Not possible in this state"},
    CodeRow{Code::kResetTypeNotSupported, "NVML_ERROR_RESET_TYPE_NOT_SUPPORTED", "This kind of reset is not supported"},
    CodeRow{Code::kUnknown, "NVML_ERROR_UNKNOWN", "Unknown internal error"},
};

constexpr auto kErrorNames = [] {
  std::array<std::string_view, 2 * kErrorRows.size()> names;
  for (std::size_t index = 0; index < kErrorRows.size(); ++index) {
    names[index] = kErrorRows[index].name.substr(kErrorPrefix.size());
    names[kErrorRows.size() + index] = kErrorRows[index].name;
  }
  return names;
}();

const CodeRow& row_of(Code code) {
  if (code == Code::kSuccess) return kSuccessRow;
  const auto row = std::ranges::find(kErrorRows, code, &CodeRow::code);
  return row == kErrorRows.end() ? kNoRow : *row;
}

}  // namespace

std::string_view name_of(Code code) { return row_of(code).name; }

std::optional<Code> find_code(std::string_view name) {
  const auto found = std::ranges::find(kErrorNames, name);
  if (found == kErrorNames.end()) return std::nullopt;
  return kErrorRows[static_cast<std::size_t>(found - kErrorNames.begin()) % kErrorRows.size()].code;
}

std::span<const std::string_view> error_names() { return kErrorNames; }

const char* message_of(Code code) { return row_of(code).message; }

}  // namespace berth::nvml_abi
