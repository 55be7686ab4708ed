/// A session as bytes, and back.
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/archive.h"
#include "live/session/session.h"

namespace berth::live {
namespace {

/// To be raised whenever the bytes mean something else than before. Those of format 2 have no blobs of services, and no
/// promises; those of format 3 no samples of changes.
constexpr int kMemoryFormat = 4;
constexpr int kMemoryFormatMin = 2;  // still read
constexpr int kFormatOfSamples = 4;

}  // namespace

/// Those that are as they were at the beginning are not written again: their arrivals may be long tables.
template <class Archive>
void Session::archive_services(Archive& archive) {
  const SharedList<ServiceSpec>& now = scenario_.services;
  const SharedList<ServiceSpec>& first = first_services_;
  std::vector<std::optional<std::shared_ptr<const ServiceSpec>>> changed;
  if constexpr (!Archive::kReads) {
    for (std::size_t index = 0; index < now.size(); ++index) {
      const bool is_first = index < first.size() && (now.shares(first, index) || now[index] == first[index]);
      changed.push_back(is_first ? std::nullopt : std::optional(now.share(index)));
    }
  }
  archive(changed);
  if constexpr (Archive::kReads) {
    if (!archive.require(changed.size() >= first.size())) return;
    SharedList<ServiceSpec> services = first_services_;
    for (std::size_t index = 0; index < changed.size(); ++index) {
      if (!archive.require(changed[index] || index < first.size())) return;
      if (changed[index]) services.set_shared(index, std::move(*changed[index]));
    }
    scenario_.services = std::move(services);
  }
}

template <class Archive>
void Session::archive_blobs(Archive& archive) {
  std::map<ServiceName, RowsBlobs> blobs;
  if constexpr (!Archive::kReads) {
    for (const auto& [name, service] : catalog_.services) {
      if (!service.blobs.empty()) blobs.emplace(name, service.blobs);
    }
  }
  archive(blobs);
  if constexpr (Archive::kReads) {
    for (auto& [name, of_service] : blobs) {
      const auto service = catalog_.services.find(name);
      if (!archive.require(service != catalog_.services.end())) return;
      service->second.blobs = std::move(of_service);
    }
  }
}

template <class Archive>
void Session::archive_memory(Archive& archive, int& format) {
  archive(format);
  if (!archive.require(kMemoryFormatMin <= format && format <= kMemoryFormat)) return;
  archive_services(archive);
  archive(catalog_, last_revision_, events_, plans_, approval_reason_, asked_count_, asked_before_, step_count_,
          refreshed_step_, watch_, lost_slices_, usage_, read_second_, draining_);
  if (format > kMemoryFormatMin) archive_blobs(archive);
}

std::string Session::save() {
  tell_all();
  ArchiveWriter archive;
  int format = kMemoryFormat;
  archive_memory(archive, format);
  archive(loop_->memory(), promises_, samples_);
  return archive.take();
}

Result<std::vector<std::string>> Session::restore(std::string_view bytes) {
  ArchiveReader archive(bytes);
  int format = 0;
  archive_memory(archive, format);
  sim::LoopMemory loop;
  archive(loop);
  if (format > kMemoryFormatMin) archive(promises_);
  if (format >= kFormatOfSamples) archive(samples_);
  if (!archive.is_at_end()) return invalid("wanted the memory of a session, found other bytes or a later version's");
  auto begun_anew = loop_->restore(loop, scenario_);
  if (begun_anew) {
    scenario_.no_changes = loop_->engine().scenario().no_changes;
    scenario_.measured_times = loop_->engine().scenario().measured_times;
  }
  for (std::uint32_t index = 0; begun_anew && options_.service_set && index < scenario_.services.size(); ++index) {
    options_.service_set({index});
  }
  return begun_anew;
}

}  // namespace berth::live
