"""Prints, for scenarios of four services of which only the T4's rows are known, cost and goodput against the same with
all rows known: `python3 tests/tier/enforce_bar.py BERTH [SCENARIOS] [HOURS]`."""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import enforced_fleet as fleet


def replay(berth, folder, name):
    journal = folder / f"{name}.jsonl"
    answer = subprocess.run(
        [berth, "replay", str(folder / f"{name}.yaml"), "--policies", "berth", "--format", "json", "--journal",
         str(journal)], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise SystemExit(answer.stderr)
    return json.loads(answer.stdout), fleet.read_journal(journal)


def main():
    berth, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    hours = float(sys.argv[3]) if len(sys.argv) > 3 else 6
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as path:
            folder = pathlib.Path(path)
            fleet.write_scenario(folder, seed, hours)
            usd, goodput, moves, text = {}, {}, {}, {}
            for name in ("known", "unknown"):
                answer, journal = replay(berth, folder, name)
                usd[name] = fleet.cost_usd(journal, round(hours * 3600))
                goodput[name] = answer["policies"][0]["goodput"]
                chosen = [record["service"] for record in fleet.choices_of(journal)]
                moves[name] = max(chosen.count(service) for service in set(chosen)) - 1
                text[name] = " ".join(f"{r['service']}@{r['t_us'] // 1000000}:{r['model'].split('-')[0]}"
                                      for r in fleet.choices_of(journal))
            print(f"seed {seed}: cost {usd['unknown']:.3f} / {usd['known']:.3f} = {usd['unknown'] / usd['known']:.3f}, "
                  f"goodput {goodput['unknown']:.4f} / {goodput['known']:.4f} = "
                  f"{goodput['unknown'] / goodput['known']:.4f}, moves {moves['unknown']} / {moves['known']}", flush=True)
            for name in ("known", "unknown"):
                print(f"  {name}: {text[name]}", flush=True)


if __name__ == "__main__":
    main()
