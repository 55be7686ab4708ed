#include "surface/cli/shared/config_keys.h"

#include <algorithm>
#include <array>

namespace berth::cli {
namespace {

using enum ConfigReload;

constexpr std::array kKeys = {
    ConfigKey{.name = "world",
              .value = "WORD",
              .fallback = "simulated",
              .meaning = "What it runs on: simulated, local (this machine's GPUs), or auto: local "
                         "where there is a GPU",
              .reload = kWorld,
              .option = &UpOptions::world},
    ConfigKey{.name = "nvml",
              .value = "FILE",
              .fallback = "libnvidia-ml.so.1",
              .meaning = "In a local world: the library of the NVIDIA driver",
              .option = &UpOptions::nvml},
    ConfigKey{.name = "hands",
              .value = "PATH",
              .fallback = "a process of its own, if started as root",
              .meaning = "In a local world with --manage-gpus: the socket of `berth hands`, which changes GPUs",
              .option = &UpOptions::hands},
    ConfigKey{.name = "load",
              .value = "WORD",
              .fallback = "none",
              .meaning = "In a local world: simulated, so that services get the requests of their arrivals",
              .option = &UpOptions::load},
    ConfigKey{.name = "scenario",
              .value = "FILE",
              .fallback = "a generated demo",
              .meaning = "The scenario file",
              .reload = kWorld,
              .option = &UpOptions::scenario},
    ConfigKey{.name = "seed",
              .value = "N",
              .fallback = "1",
              .meaning = "Seed of everything random",
              .reload = kWorld,
              .option = &UpOptions::seed},
    ConfigKey{.name = "speed",
              .value = "X|max",
              .fallback = "10",
              .meaning = "World seconds per second",
              .option = &UpOptions::speed},
    ConfigKey{.name = "until",
              .value = "SECONDS|end",
              .fallback = "",
              .meaning = "Stop at a second of the world, or at the end of the scenario",
              .option = &UpOptions::until},
    ConfigKey{.name = "policy",
              .value = "WORD",
              .fallback = "berth",
              .meaning = "berth or fixed",
              .reload = kWorld,
              .option = &UpOptions::policy},
    ConfigKey{.name = "approval",
              .value = "WORD",
              .fallback = "never",
              .meaning = "Which plans wait for approval: never, first (a GPU's first change) or always",
              .reload = kWorld,
              .option = &UpOptions::approval},
    ConfigKey{.name = "listen",
              .value = "HOST:PORT",
              .fallback = "127.0.0.1:8642",
              .meaning = "Where the API listens; port 0: any free one",
              .option = &UpOptions::listen},
    ConfigKey{.name = "device_metrics.listen",
              .value = "HOST:PORT",
              .fallback = "",
              .meaning = "In a local world: where the figures of its GPUs are served to Prometheus, without a key",
              .option = &UpOptions::device_metrics,
              .flag = "device-metrics"},
    ConfigKey{.name = "device_metrics.hostname_label",
              .value = "hostname|Hostname",
              .fallback = "hostname",
              .meaning = "The label with the machine's name; dcgm-exporter wrote Hostname until May 2026"},
    ConfigKey{.name = "data",
              .value = "DIR",
              .fallback = "~/.local/state/berth",
              .meaning = "Folder of the records, the key and the address",
              .option = &UpOptions::data},
    ConfigKey{.name = "journal",
              .value = "FILE",
              .fallback = "",
              .meaning = "Write the replay's journal",
              .option = &UpOptions::journal},
    ConfigKey{.name = "tier_sure",
              .value = "P",
              .fallback = "that of the scenario, else 0.9",
              .meaning = "With which probability a predicted row is at least as fast as plans assume; above 0, below 1",
              .reload = kWorld},
    ConfigKey{.name = "tier_model",
              .value = "FILE",
              .fallback = "that of the scenario, if any",
              .meaning = "What predicts rows in place of the GPUs' TFLOPS",
              .reload = kWorld},
    ConfigKey{.name = "retention.events_days",
              .value = "DAYS",
              .fallback = "30",
              .meaning = "How long events are kept",
              .reload = kAtOnce,
              .days = &live::Retention::events_days},
    ConfigKey{.name = "retention.series_days",
              .value = "DAYS",
              .fallback = "7",
              .meaning = "How long series of figures are kept",
              .reload = kAtOnce,
              .days = &live::Retention::series_days},
    ConfigKey{.name = "retention.usage_days",
              .value = "DAYS",
              .fallback = "400",
              .meaning = "How long records of usage are kept",
              .reload = kAtOnce,
              .days = &live::Retention::usage_days},
    ConfigKey{.name = "no_changes[].days",
              .value = "list of mon .. sun",
              .fallback = "required",
              .meaning = "The days on which the window begins; at least one",
              .reload = kAtOnce},
    ConfigKey{.name = "no_changes[].from",
              .value = "\"HH:MM\"",
              .fallback = "required",
              .meaning = "When it begins: 00:00 to 23:59",
              .reload = kAtOnce},
    ConfigKey{.name = "no_changes[].to",
              .value = "\"HH:MM\"",
              .fallback = "required",
              .meaning = "When it ends, itself outside: 00:00 to 24:00; before `from`: on the next day",
              .reload = kAtOnce},
    ConfigKey{.name = "manage[].uuid",
              .value = "UUID",
              .fallback = "required",
              .meaning = "A GPU of this machine that may be changed, as `nvidia-smi -L` names it"},
    ConfigKey{.name = "manage[].mig_mode",
              .value = "true|false",
              .fallback = "false",
              .meaning = "Whether its MIG mode may be turned on"},
};

}  // namespace

std::span<const ConfigKey> config_keys() { return kKeys; }

std::vector<std::string_view> keys_within(std::string_view path) {
  std::vector<std::string_view> keys;
  for (const ConfigKey& key : kKeys) {
    std::string_view rest = key.name;
    if (!path.empty() && !rest.starts_with(path)) continue;
    rest.remove_prefix(path.size());
    if (!path.empty() && !rest.starts_with('.')) continue;
    if (!path.empty()) rest.remove_prefix(1);
    rest = rest.substr(0, rest.find_first_of(".["));
    if (std::ranges::find(keys, rest) == keys.end()) keys.push_back(rest);
  }
  return keys;
}

}  // namespace berth::cli
