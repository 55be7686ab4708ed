/// The packets between `berth up` and the GPU agent: one JSON object per packet, `verb` first. docs/reference/hands.md
/// shows each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/gpu_hands.h"
#include "domain/ports/process_hands.h"
#include "gpu/device/managed_gpu.h"
#include "gpu/programs/program_offer.h"

namespace berth::edges {

inline constexpr std::size_t kPacketBytesMax = std::size_t{64} << 10U;
/// Other versions are refused: both sides must be the same program.
inline constexpr std::int64_t kProtocolVersion = 2;
inline constexpr std::size_t kManagedGpuCountMax = 64;

/// The first packet of a client.
struct ClientHello {
  std::int64_t version = kProtocolVersion;
  std::string world = {};  ///< the name of the client's journal: outcomes of orders are kept for it
  std::int64_t pid = 0;
  friend bool operator==(const ClientHello&, const ClientHello&) = default;
};

/// Which calls are under way?
struct StatusQuestion {
  friend bool operator==(const StatusQuestion&, const StatusQuestion&) = default;
};

/// A program is to run. Answered with ProgramState, now and whenever it changes.
struct StartProgram {
  ProcessOrder order;
  friend bool operator==(const StartProgram&, const StartProgram&) = default;
};

/// It is to end. Answered with ProgramState, at last kStopped.
struct StopProgram {
  std::string slice;
  std::uint64_t generation = 0;
  friend bool operator==(const StopProgram&, const StopProgram&) = default;
};

/// Which programs are there? Answered with a ProgramState for each, then ProgramsListed.
struct ListPrograms {
  friend bool operator==(const ListPrograms&, const ListPrograms&) = default;
};

/// The end of a program's log, of at most `bytes_max` bytes. Answered with ProgramLog.
struct ReadProgramLog {
  std::string slice;
  std::uint64_t generation = 0;
  std::int64_t bytes_max = 0;
  friend bool operator==(const ReadProgramLog&, const ReadProgramLog&) = default;
};

using ClientPacket =
    std::variant<ClientHello, DeviceOrder, StatusQuestion, StartProgram, StopProgram, ListPrograms, ReadProgramLog>;

/// The answer to a hello.
struct HandsHello {
  std::int64_t version = kProtocolVersion;
  std::int64_t pid = 0;
  std::vector<device::ManagedGpu> gpus = {};  ///< those that may be changed
  bool separates_users = true;                ///< each tenant's programs have a user of their own
  friend bool operator==(const HandsHello&, const HandsHello&) = default;
};

/// The outcome of an order.
struct HandsEnd {
  DeviceEnd end;
  bool is_kept = false;  ///< the order came over an earlier connection of the same world
  friend bool operator==(const HandsEnd&, const HandsEnd&) = default;
};

/// The answer to a status question.
struct HandsStatus {
  struct UnderWay {
    std::string uuid;  ///< of the GPU
    std::uint64_t intent = 0;
    std::string call;  ///< "nvmlDeviceCreateGpuInstanceWithPlacement"; empty: between two calls
    friend bool operator==(const UnderWay&, const UnderWay&) = default;
  };
  std::vector<UnderWay> orders = {};
  friend bool operator==(const HandsStatus&, const HandsStatus&) = default;
};

/// The last packet of a refused connection.
struct HandsRefusal {
  std::string message;
  friend bool operator==(const HandsRefusal&, const HandsRefusal&) = default;
};

/// A program, as it is now.
struct ProgramState {
  ProcessReport report;
  friend bool operator==(const ProgramState&, const ProgramState&) = default;
};

/// Every program was reported since the question.
struct ProgramsListed {
  friend bool operator==(const ProgramsListed&, const ProgramsListed&) = default;
};

struct ProgramLog {
  std::string slice;
  std::uint64_t generation = 0;
  std::optional<std::string> text = std::nullopt;  ///< absent: no such program
  friend bool operator==(const ProgramLog&, const ProgramLog&) = default;
};

/// A template or repository that orders may name; one packet for each, after the hello.
struct ProgramOffered {
  programs::ProgramOffer offer;
  friend bool operator==(const ProgramOffered&, const ProgramOffered&) = default;
};

using HandsPacket = std::variant<HandsHello, HandsEnd, HandsStatus, HandsRefusal, ProgramState, ProgramsListed,
                                 ProgramLog, ProgramOffered>;

/// At most kPacketBytesMax bytes: texts of an outcome are shortened, and holders beyond the 16th are left out. A
/// reading that is too long loses the names of processes or, if that is not enough, is left out. Of a log as many of
/// the last bytes are sent as fit.
[[nodiscard]] std::string packet_of(const ClientPacket& packet);
[[nodiscard]] std::string packet_of(const HandsPacket& packet);

/// Errors: anything that `packet_of` does not write. Of another protocol version only the hello is read, so that it can
/// be answered.
[[nodiscard]] Result<ClientPacket> read_client_packet(std::string_view bytes);
[[nodiscard]] Result<HandsPacket> read_hands_packet(std::string_view bytes);

}  // namespace berth::edges
