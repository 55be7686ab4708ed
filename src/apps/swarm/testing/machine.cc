#include "apps/swarm/testing/machine.h"

#include "base/core/ensure.h"
#include "edges/sqlite_store/sqlite_store.h"
#include "edges/sqlite_store/testing/disk_trouble.h"
#include "live/chain/testing/memory_store.h"
#include "live/rows/world_rows.h"

namespace berth::swarm::testing {

using edges::testing::SimulatedDisk;

Machine::Machine(std::uint64_t seed, bool has_disk) {
  if (has_disk) disk_ = std::make_unique<SimulatedDisk>(seed);
  if (!has_disk) store_ = std::make_unique<berth::testing::MemoryStore>();
}

StoreResult<Machine::OpenedStore> Machine::open() {
  if (!store_) {
    auto opened = edges::open_sqlite_store("/disk/journal.db", {.vfs = disk_->vfs(), .checkpoint_pages = 100});
    if (!opened) return tl::unexpected(opened.error());
    store_ = std::move(opened->store);
  }
  auto writer = store_->open_writer(++epoch_);
  if (!writer) return tl::unexpected(writer.error());
  auto reader = store_->open_reader();
  if (!reader) return tl::unexpected(reader.error());
  return OpenedStore{.writer = *std::move(writer), .reader = *std::move(reader)};
}

void Machine::write_devices(const live::WorldChanges& changes, std::size_t told) {
  DevicesWrite write{.gpus = {}, .world = {}, .now = changes.now, .told = told};
  for (const auto& [gpu, device] : changes.devices) write.gpus.emplace_back(gpu.index, journal::device_json(device));
  if (changes.world) write.world = journal::world_json(*changes.world);
  writes_.push_back(std::move(write));
}

void Machine::keep_writes(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    for (auto& [gpu, text] : writes_[i].gpus) gpus_[gpu] = std::move(text);
    if (!writes_[i].world.empty()) world_ = std::move(writes_[i].world);
    now_ = writes_[i].now;
    told_ = writes_[i].told;
  }
  writes_.erase(writes_.begin(), writes_.begin() + static_cast<std::ptrdiff_t>(count));
}

sim::WorldLeft Machine::devices(const Scenario& scenario) const {
  ENSURE(writes_.empty());
  sim::WorldLeft left;
  left.devices.resize(scenario.gpu_count());
  for (const auto& [gpu, text] : gpus_) left.devices.at(gpu) = journal::read_device(text).value();
  if (!world_.empty()) left.world = journal::read_world(world_).value();
  left.world.now = now_;
  return left;
}

void Machine::stop_after(std::uint64_t changes) {
  if (has_disk()) disk_->cut_power_after(disk_->change_count() + changes);
}

void Machine::fail_store(Rng& rng) {
  is_full_ = !has_disk();
  if (!has_disk()) return;
  fault_ = fault_of(static_cast<edges::testing::DiskTrouble>(rng.below(edges::testing::kDiskTroubleCount)));
  fault_->is_sticky = true;
  disk_->arm(*fault_);
}

void Machine::heal_store() {
  is_full_ = false;
  fault_.reset();
  if (disk_) disk_->heal();
}

std::size_t Machine::restart(bool loses_power, Rng& rng) {
  ENSURE(has_disk() || !loses_power);
  if (has_disk()) {
    ENSURE(disk_->is_cut());
    store_.reset();
    const auto how = static_cast<SimulatedDisk::PowerCut>(rng.below(SimulatedDisk::kPowerCutCount));
    if (loses_power) disk_->restart(how);
    if (!loses_power) disk_->restart_process();
    if (fault_) disk_->arm(*fault_);
  }
  keep_writes(loses_power ? rng.below(writes_.size() + 1) : writes_.size());
  writes_.clear();
  return told_;
}

}  // namespace berth::swarm::testing
