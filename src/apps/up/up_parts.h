/// The parts of a running `berth up`: every part has one owner, this struct, and is made by `build_parts`,
/// `begin_world` or `start_service`.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "apps/up/device_metrics.h"
#include "apps/up/up_outside.h"
#include "apps/up/wall_clock.h"
#include "base/locks/fair_mutex.h"
#include "domain/ports/http_server.h"
#include "domain/tracing/recorder.h"
#include "edges/live_driver/recorder.h"
#include "edges/live_driver/solver_thread.h"
#include "edges/run_journal/run_journal_file.h"
#include "edges/state_folder/boot_id.h"
#include "gpu/hands/reach_hands.h"
#include "gpu/watch/machine_search.h"
#include "live/folder/folder_world.h"
#include "live/folder/up_request.h"

namespace berth::api {
class Api;
}

namespace berth::edges {
class BlobQueue;
class LiveDriver;
class RealTimeClock;
class SeriesQueue;
class StateFolder;
class Telemetry;
class WriteQueue;
}  // namespace berth::edges

namespace berth {
class ProcessHands;
}

namespace berth::live {
class LocalPrograms;
class LocalWorld;
class PlanTraces;
class Session;
}  // namespace berth::live

namespace berth::up {

class RequestLog;
class TimesReader;
class WorldRecords;
struct UpMetrics;

/// In the order in which they are made; they are destroyed in the reverse order.
struct UpParts {
  UpParts();
  UpParts(const UpParts&) = delete;
  UpParts& operator=(const UpParts&) = delete;
  ~UpParts();

  live::UpRequest request;  ///< settled once the kind of the world is known
  UpOutside outside;
  edges::Telemetry* telemetry = nullptr;     ///< borrowed; null: nothing is sent to a collector
  SpanRecorder spans = {};                   ///< of it; empty: nothing is traced
  std::unique_ptr<live::PlanTraces> traces;  ///< likewise; under turn
  std::unique_ptr<RequestLog> request_log;
  live::Retention retention;  ///< those in force; under lock
  std::unique_ptr<edges::StateFolder> folder;
  live::FolderWorld world;  ///< its history moves into the session
  const SteadyWallClock wall = {};
  std::unique_ptr<WorldRecords> records;
  std::optional<edges::Recorder::Draft> saving;  ///< a snapshot between begin_snapshot and end_snapshot
  edges::RunJournalFile run_journal;
  edges::FairMutex turn;  ///< of the threads that change the session
  edges::FairMutex lock;  ///< of the session
  edges::SolverThread solver;
  std::atomic<edges::LiveDriver*> waked = nullptr;          ///< woken by the GPU agent, which ends first; null at first
  std::optional<edges::HandsFound> hands_found;             ///< found before the first thread
  std::optional<edges::MachineSearch>* search = nullptr;    ///< borrowed: it may have to outlive all of this
  std::optional<edges::BootRecord> boot;                    ///< of a local world
  std::string boot_failure;                                 ///< as last reported
  std::unique_ptr<live::LocalWorld> local;                  ///< absent: the devices are simulated
  std::optional<live::OutsideWorld> devices;                ///< `local`, or a cluster; absent: they are simulated
  std::optional<std::vector<device::LocalGpu>> next_fleet;  ///< this session ends, and one with it follows; under lock
  bool has_successor = false;                               ///< that session is certain
  std::string cluster_key;                                  ///< ApiOptions::cluster_key
  ProcessHands* process_hands = nullptr;                    ///< of `local`; null: no programs run on slices
  std::unique_ptr<live::LocalPrograms> programs;            ///< likewise
  std::string gateway_key;                                  ///< likewise
  std::unique_ptr<edges::SeriesQueue> series;               ///< outlives the session
  std::unique_ptr<UpMetrics> metrics;                       ///< outlives the session
  std::unique_ptr<live::Session> session;
  std::unique_ptr<edges::BlobQueue> blobs;
  std::unique_ptr<edges::WriteQueue> writes;
  std::unique_ptr<api::Api> api;
  std::unique_ptr<edges::RealTimeClock> clock;  ///< of a world of real GPUs; absent: the world's is the driver's
  std::unique_ptr<edges::LiveDriver> driver;
  std::unique_ptr<HttpServer> server;
  DeviceMetrics device_metrics;
  std::unique_ptr<TimesReader> times_reader;  ///< of `programs`

  /// Requires: the records are open.
  [[nodiscard]] edges::Recorder& recorder() const;
};

}  // namespace berth::up
