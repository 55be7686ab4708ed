#include "domain/mig/board.h"

#include <cstddef>
#include <span>
#include <string_view>

#include "base/core/ensure.h"
#include "domain/mig/catalogue.h"
#include "domain/mig/detail/board_tables.h"
#include "domain/mig/detail/field_names.h"

namespace berth::mig {
namespace {

constexpr detail::FieldName kBoardFields[] = {
    {detail::kBoardName, "name"},
    {detail::kPciDeviceId, "pci_device_id"},
    {detail::kBoardMemory, "memory_mib"},
    {detail::kNeedsReset, "needs_reset_for_mode"},
    {detail::kModeSurvives, "mode_survives_reboot"},
};

const detail::BoardRow& row_of(std::string_view model_name) {
  for (const detail::BoardRow& row : detail::board_rows()) {
    if (row.model == model_name) return row;
  }
  ENSURE(false && "a model of the catalogue");
}

Board board_from(const GpuModel& model) {
  const detail::BoardRow& row = row_of(model.name);
  const bool is_memory_known = row.memory_mib != detail::kUnknown;
  // Guide: Ampere needs a reset and keeps the mode over a reboot; Hopper and later need no reset and do not keep it.
  const bool is_early_mig = model.is_mig_capable() && row.architecture == Architecture::kAmpere;
  return {.name = row.name,
          .pci_device_id = row.pci_device_id,
          .architecture = row.architecture,
          .compute_capability_major = row.compute_capability_major,
          .compute_capability_minor = row.compute_capability_minor,
          .memory_mib = is_memory_known ? row.memory_mib : model.memory_mib,
          .power = detail::board_powers()[static_cast<std::size_t>(&row - detail::board_rows().data())],
          .needs_reset_for_mode = is_early_mig,
          .mode_survives_reboot = is_early_mig,
          .unverified = detail::names_of(row.unverified | (is_memory_known ? 0U : detail::kBoardMemory), kBoardFields)};
}

std::vector<Board> build_boards() {
  std::vector<Board> boards;
  for (const GpuModel& model : gpu_models()) boards.push_back(board_from(model));
  return boards;
}

std::optional<int> known(int count) { return count == detail::kUnknown ? std::nullopt : std::optional(count); }

}  // namespace

const Board& board_of(const GpuModel& model) {
  static const std::vector<Board> boards = build_boards();
  for (std::size_t i = 0; i < boards.size(); ++i) {
    if (gpu_models()[i].name == model.name) return boards[i];
  }
  ENSURE(false && "a model of the catalogue");
}

Engines profile_engines(const GpuModel& model, ProfileId profile) {
  const std::span<const detail::EnginesRow> rows = row_of(model.name).engines;
  ENSURE(profile.index < rows.size());
  const detail::EnginesRow& row = rows[profile.index];
  return {.copy = known(row.copy),
          .decoders = known(row.decoders),
          .encoders = known(row.encoders),
          .jpeg = known(row.jpeg),
          .optical_flow = known(row.optical_flow)};
}

}  // namespace berth::mig
