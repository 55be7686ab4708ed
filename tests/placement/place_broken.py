"""Each kind of error of lists of `berth place` (docs/reference/scheduling.md), put into well-formed ones, with its place."""

import random
from dataclasses import dataclass
from typing import Callable

from place_table import Table, counted


@dataclass
class Broken:
    where: dict
    is_sure: bool = True


Breaker = Callable[[Table, Table, list[str], random.Random], Broken]
KINDS: dict[str, Breaker] = {}


def kind(name: str) -> Callable[[Breaker], Breaker]:
    def add(breaker: Breaker) -> Breaker:
        KINDS[name] = breaker
        return breaker
    return add


def break_lists(name: str, nodes: Table, pods: Table, options: list[str], rng: random.Random) -> Broken:
    return KINDS[name](nodes, pods, options, rng)


def where(file: str | None, lines: list[int], columns: list[int]) -> dict:
    return {"file": file, "lines": lines, "columns": columns}


def put(table: Table, file: str, index: int, changes: dict[str, str], at: list[str]) -> dict:
    """Changes fields of a row; the error lies at one of the columns `at`."""
    table.rows[index].update(changes)
    return where(file, [index + 2], [column for name in at for column in table.places(index, name)])


def add_value_kinds() -> None:
    """A value out of range, or no number, in a row drawn at random."""
    bad = {"text": "many", "decimal": "1.5", "negative": "-1", "large": "1000000001", "huge": "9" * 30, "empty": "",
           "exponent": "1e3"}
    for file, columns in (("nodes", ("cpu_milli", "memory_mib", "gpu")), ("pods", ("cpu_milli", "memory_mib",
                                                                                   "num_gpu"))):
        for column in columns:
            for what, value in bad.items():
                add_value_kind(file, column, what, value)
    add_value_kind("nodes", "gpu", "17", "17")


def add_value_kind(file: str, column: str, what: str, value: str) -> None:
    def breaker(nodes: Table, pods: Table, _options: list[str], rng: random.Random) -> Broken:
        table = nodes if file == "nodes" else pods
        return Broken(put(table, f"{file}.csv", rng.randrange(len(table.rows)), {column: value}, [column]))
    kind(f"{file}_{column}_{what}")(breaker)


def add_milli_kinds() -> None:
    """gpu_milli out of its range, or not allowed with num_gpu."""
    cases = {"zero": ("1", "0"), "1001": ("1", "1001"), "shared_of_two": ("2", "500"), "without_gpu": ("0", "5"),
             "empty": ("1", ""), "empty_without_gpu": ("0", ""), "text": ("1", "half"), "negative": ("1", "-3")}
    for what, (gpus, milli) in cases.items():
        add_milli_kind(what, gpus, milli)


def add_milli_kind(what: str, gpus: str, milli: str) -> None:
    def breaker(_nodes: Table, pods: Table, _options: list[str], rng: random.Random) -> Broken:
        index = rng.randrange(len(pods.rows))
        changes = {"num_gpu": gpus, "gpu_milli": milli, "profile": ""}
        return Broken(put(pods, "pods.csv", index, changes, ["gpu_milli", "num_gpu"]))
    kind(f"pods_gpu_milli_{what}")(breaker)


def add_shape_kinds() -> None:
    """Columns, rows and names, of either file."""
    for file in ("nodes", "pods"):
        for what, breaker in {"column_missing": column_missing, "column_repeated": column_repeated,
                              "no_rows": no_rows, "empty": empty, "name_twice": name_twice, "row_short": row_short,
                              "row_long": row_long, "blank_line": blank_line}.items():
            add_shape_kind(file, what, breaker)


def add_shape_kind(file: str, what: str, change: Callable[[Table, str, random.Random], dict]) -> None:
    def breaker(nodes: Table, pods: Table, _options: list[str], rng: random.Random) -> Broken:
        return Broken(change(nodes if file == "nodes" else pods, f"{file}.csv", rng))
    kind(f"{file}_{what}")(breaker)


def needed_columns(file: str) -> list[str]:
    if file == "nodes.csv":
        return ["sn", "cpu_milli", "memory_mib", "gpu", "model"]
    return ["name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"]


def column_missing(table: Table, file: str, rng: random.Random) -> dict:
    table.columns.remove(rng.choice(needed_columns(file)))
    return where(file, [1], [])


def column_repeated(table: Table, file: str, rng: random.Random) -> dict:
    name = rng.choice([column for column in table.columns if column != "qos"])
    table.columns.append(name)
    return where(file, [1], table.columns_of(-1, len(table.columns) - 1))


def no_rows(table: Table, file: str, _rng: random.Random) -> dict:
    table.rows.clear()
    return where(file, [1, 2], [])


def empty(table: Table, file: str, _rng: random.Random) -> dict:
    table.rows.clear()
    table.columns.clear()
    table.has_mark, table.tail = False, ""
    return where(file, [1], [])


def name_twice(table: Table, file: str, rng: random.Random) -> dict:
    column = needed_columns(file)[0]
    index = rng.randrange(len(table.rows))
    table.rows.insert(rng.randint(0, index), dict(table.rows[index]))
    return where(file, [index + 3], table.places(index + 1, column))


def row_short(table: Table, file: str, rng: random.Random) -> dict:
    index = rng.randrange(len(table.rows))
    text = ",".join(table.fields(index)[:-1])
    table.lines_changed[index + 2] = text
    return where(file, [index + 2], [1, *counted([text])])


def row_long(table: Table, file: str, rng: random.Random) -> dict:
    index = rng.randrange(len(table.rows))
    text = ",".join(table.fields(index))
    table.lines_changed[index + 2] = text + ",1"
    return where(file, [index + 2], [1, *counted([text]), *counted([text, ","]), *counted([text, ",1"])])


def blank_line(table: Table, file: str, rng: random.Random) -> dict:
    index = rng.randrange(max(1, len(table.rows) - 1))
    table.rows.insert(index, {})
    table.lines_changed[index + 2] = ""
    return where(file, [index + 2], [1])


@kind("nodes_no_gpu")
def nodes_no_gpu(nodes: Table, _pods: Table, _options: list[str], _rng: random.Random) -> Broken:
    for row in nodes.rows:
        row["gpu"] = 0
    return Broken(where("nodes.csv", [], []))


@kind("nodes_model_empty")
def nodes_model_empty(nodes: Table, _pods: Table, _options: list[str], rng: random.Random) -> Broken:
    index = rng.randrange(len(nodes.rows))
    return Broken(put(nodes, "nodes.csv", index, {"gpu": "2", "model": ""}, ["model"]), is_sure=False)


@kind("pods_no_gpu")
def pods_no_gpu(_nodes: Table, pods: Table, options: list[str], _rng: random.Random) -> Broken:
    """Nothing can be drawn up to the demand, nor is there a mean of the lifetimes."""
    for row in pods.rows:
        row.update({"num_gpu": 0, "gpu_milli": 0, "profile": ""})
    if "given" in options:
        options[options.index("given")] = "seeded"
    return Broken(where("pods.csv", [], []))


@kind("pods_profile_unknown")
def pods_profile_unknown(_nodes: Table, pods: Table, _options: list[str], rng: random.Random) -> Broken:
    if "profile" not in pods.columns:
        pods.columns.append("profile")
    index = rng.randrange(len(pods.rows))
    changes = {"num_gpu": "1", "gpu_milli": "", "profile": "5g.55gb"}
    return Broken(put(pods, "pods.csv", index, changes, ["profile", "gpu_milli"]), is_sure=False)


@kind("options_churn_given")
def options_churn_given(_nodes: Table, _pods: Table, options: list[str], _rng: random.Random) -> Broken:
    options[:] = ["--order", "given", "--churn"]
    return Broken(where(None, [], []))


@kind("options_demand_given")
def options_demand_given(_nodes: Table, _pods: Table, options: list[str], rng: random.Random) -> Broken:
    options[:] = ["--order", "given", *rng.choice([["--demand", "1.2"], ["--seeds", "7"]])]
    return Broken(where(None, [], []))


add_value_kinds()
add_milli_kinds()
add_shape_kinds()
