/// Programs on the slices of a local world, and the gateway that sends requests to them.
#pragma once

#include "base/core/result.h"
#include "live/local/device_source.h"
#include "surface/api/api_context.h"

namespace berth::up {

struct UpParts;

/// Refuses a new world whose scenario has a program that the GPU agent would not run. Where the agent cannot be asked,
/// the condition ProgramRefused reports it later.
[[nodiscard]] Result<void> check_programs(const UpParts& parts);
/// Makes `programs`, where the GPU agent runs programs. Error: the key of the gateway cannot be written.
[[nodiscard]] Result<void> make_programs(UpParts& parts);
/// What the API shows of them. Empty functions without programs.
[[nodiscard]] api::GatewaySource gateway_source(UpParts& parts);
[[nodiscard]] live::DeviceSource device_source(UpParts& parts);

}  // namespace berth::up
