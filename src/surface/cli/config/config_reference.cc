#include "surface/cli/config/config_reference.h"

#include <fmt/format.h>

#include <string_view>

#include "surface/cli/shared/config_keys.h"

namespace berth::cli {
namespace {

constexpr const char* kBegin = R"(# The configuration file of `berth up`

<!-- Written by `berth config reference > docs/reference/config.md`: change
src/surface/cli/config/config_reference.cc and src/surface/cli/shared/config_keys.cc instead. -->

`berth up --config FILE` reads one YAML file. It may hold every flag of `berth up` and the keys below that have none.
A flag takes precedence over the file, and `BERTH_STATE` over its `data`; a key that is in neither has its default.
Paths are relative to the folder in which `berth up` is started.

```yaml
scenario: scenario.yaml
speed: 1
data: /var/lib/berth
retention: {events_days: 30, series_days: 7, usage_days: 400}
no_changes:
  - {days: [mon, tue, wed, thu, fri], from: "08:00", to: "18:00"}
  - {days: [sun], from: "22:00", to: "06:00"}    # until Monday 06:00
manage:
  - {uuid: GPU-88af9caf-d226-5142-8ecd-1887494bf67c, mig_mode: true}
```

A wrong file is refused with its name, line and column, what was wanted and what was found, for an unknown key with
the nearest known one: `berth.yaml:2:1: unknown key "polcy"; did you mean policy? (known: ..)`. `berth up` then ends
with status 2. That holds for values that a flag replaces, too, and for an empty file: one without keys
is `{}`.

## Keys

)";

constexpr const char* kEnd = R"(
A number of days is a whole number from 1 to 100000; `metrics.series_max` is one from 1000 to 1000000.

## GPUs that may be changed

In a local world GPUs are only observed, but for those that `manage` names, at most 64. `berth hands` reads only that
and what it may run on slices: `templates`, `repositories`, `uids`, `separate_users`, `programs_state` and
`simulated_devices` ([hands.md](hands.md)). `berth up` checks these keys and uses `simulated_devices` alone.

## Reading it again

SIGHUP (`kill -HUP PID`) makes a running `berth up` read the file again; the flags of its start still take precedence.
Lines of JSON on stderr say what came of it:

| `event` | What it means |
|---|---|
| `config` | the file is read, also at the start: what is in force of the keys that change *at once* |
| `config_key_not_applied` | `key` is not what is `in_force`, and needs a restart or another folder; a line for each |
| `config_not_read` | the file is missing or wrong, or there is no `--config`: everything stays as it was |

A key that is removed from the file has its default again.

## Windows without changes

In a window of `no_changes` no change begins, as in a `frozen` window of a scenario ([scenario.md](scenario.md),
[constraints.md](constraints.md)): no plan takes effect, no order that creates or destroys slices, and a plan that
waits for approval is superseded. What began before goes on, retrainings start and end on the slices that they have,
and the first layout of a new world may be made. Planning looks ahead: what a plan intends for later keeps to the
windows, too. A service that waits for a slice says so (`Placed`, reason `Frozen`, with the second at which the window
ends).

- Times are UTC *of the world*: its second 0 is the wall time at which it began (`epoch_us` of the row `Opened` of its
  journal), and it runs `speed` times as fast. Weeks have no exceptions: no holidays, no daylight saving time.
- A window holds on each of its `days` from `from`, inclusive, until `to`, exclusive. `to: "24:00"` is the end of the
  day. A `to` before `from` is on the next day: `{days: [sun], from: "22:00", to: "06:00"}` ends on Monday. The same
  time twice is refused; a whole day is `"00:00"` to `"24:00"`.
- Windows may overlap and touch. Together they must leave some of the week: `berth plan pause` stops all changes.
- Write times in quotes: 22:00 is a number in some versions of YAML.
- They belong to the world: a change is an order, recorded in the journal (`NoChangesSet`) before it holds, and an
  event of `/v1/events`. While that cannot be recorded (the disk is full), the windows before stay in force; send
  SIGHUP again.
- A start with a file has the windows of the file, from its first step on. A start without `--config` keeps those of
  the folder, with a warning on stderr: nobody ends them by leaving out a flag. To end them, start with a file that
  has no `no_changes`, or send SIGHUP.
)";

std::string_view words_of(ConfigReload reload) {
  switch (reload) {
    case ConfigReload::kAtOnce:
      return "at once";
    case ConfigReload::kRestart:
      return "at the next start";
    case ConfigReload::kWorld:
      return "in another folder";
  }
  return "";
}

/// Text for a cell of a table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::string config_reference() {
  std::string page = kBegin;
  page += "| Key | Value | Default | Meaning | After SIGHUP |\n|---|---|---|---|---|\n";
  for (const ConfigKey& key : config_keys()) {
    page += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.name, cell(key.value),
                        key.fallback.empty() ? "none" : cell(key.fallback), cell(key.meaning), words_of(key.reload));
  }
  return page + kEnd;
}

}  // namespace berth::cli
