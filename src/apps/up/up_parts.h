/// What a running `berth up` is made of: every part has one owner, this struct, and is made by `build_parts`,
/// `begin_world` or `start_service`.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/up/wall_clock.h"
#include "apps/up/world_records.h"
#include "base/core/result.h"
#include "base/locks/fair_mutex.h"
#include "domain/ports/files.h"
#include "domain/ports/http_server.h"
#include "edges/live_driver/blob_queue.h"
#include "edges/live_driver/live_driver.h"
#include "edges/live_driver/recorder.h"
#include "edges/live_driver/series_queue.h"
#include "edges/live_driver/solver_thread.h"
#include "edges/live_driver/write_queue.h"
#include "edges/run_journal/run_journal_file.h"
#include "edges/state_folder/boot_id.h"
#include "edges/state_folder/state_folder.h"
#include "gpu/hands/reach_hands.h"
#include "gpu/watch/machine_search.h"
#include "live/folder/folder_world.h"
#include "live/folder/up_request.h"
#include "live/local/local_world.h"
#include "live/session/session.h"
#include "surface/api/api.h"

namespace berth::up {

/// Starts an HTTP server on a host and port (0: any free one); the handler must outlive it.
using ServerStarter = std::function<Result<std::unique_ptr<HttpServer>>(const std::string& host, std::uint16_t port,
                                                                        HttpHandler& handler)>;

/// What whoever runs it hands in. The streams and files are borrowed; all of it is required, but for the last function.
struct UpOutside {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;
  ServerStarter start_server = {};
  /// Prints why it failed; returns the exit status.
  std::function<int(const Error&)> report_failure = {};
  /// Needed with a configuration file only.
  std::function<Result<live::RereadConfig>()> read_config_again = {};
};

/// In the order in which they are made; they end in the reverse order.
struct UpParts {
  live::UpRequest request;  ///< settled once the kind of the world is known
  UpOutside outside;
  live::Retention retention;  ///< in force; under lock
  std::unique_ptr<edges::StateFolder> folder;
  live::FolderWorld world;  ///< its history goes into the session
  const SteadyWallClock wall = {};
  std::unique_ptr<WorldRecords> records;
  std::optional<edges::Recorder::Draft> saving;  ///< a snapshot between begin_snapshot and end_snapshot
  edges::RunJournalFile run_journal;
  edges::FairMutex turn;  ///< of those who change the session
  edges::FairMutex lock;  ///< of the session
  edges::SolverThread solver;
  std::atomic<edges::LiveDriver*> waked = nullptr;        ///< by the hands, once it is there; they end before it
  std::optional<edges::HandsFound> hands_found;           ///< before there was a thread
  std::optional<edges::MachineSearch>* search = nullptr;  ///< borrowed: it may have to outlive all of this
  std::optional<edges::BootRecord> boot;                  ///< of a local world
  std::string boot_failure;                               ///< as it was told last
  std::unique_ptr<live::LocalWorld> local;                ///< absent: the devices are simulated
  std::unique_ptr<edges::SeriesQueue> series;             ///< outlives the session
  std::unique_ptr<live::Session> session;
  std::unique_ptr<edges::BlobQueue> blobs;
  std::unique_ptr<edges::WriteQueue> writes;
  std::unique_ptr<api::Api> api;
  std::unique_ptr<edges::LiveDriver> driver;
  std::unique_ptr<HttpServer> server;

  /// Requires: the records are open.
  [[nodiscard]] edges::Recorder& recorder() const { return records->recorder(); }
};

}  // namespace berth::up
