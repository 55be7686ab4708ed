"""Lists of `berth place`: nodes and pods, read strictly as docs/reference/scheduling.md describes them.

A file that breaks a rule raises ListError with file, line and column (both from 1; the column is that of the field).
"""

import csv
import re
from fractions import Fraction
from functools import lru_cache
from typing import Iterator, NamedTuple

from place_devices import DEVICES, WHOLE_MILLI, Device

NUMBER_MAX = 1_000_000_000
NODE_GPUS_MAX = 16
NODE_COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
POD_COLUMNS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
POD_COLUMNS_OPTIONAL = ("gpu_spec", "gang", "profile")


class ListError(Exception):
    """Bad input: where, and what was wanted."""

    def __init__(self, file: str, line: int, column: int, message: str) -> None:
        super().__init__(f"{file}:{line}:{column}: {message}")
        self.file, self.line, self.column = file, line, column


class Node(NamedTuple):
    row: int          # in the file, or the number of the copy
    name: str
    cpu_milli: int
    memory_mib: int
    gpus: int
    model: str        # as in the file: gpu_spec is compared with it
    device: Device | None


class Pod(NamedTuple):
    row: int
    name: str
    cpu_milli: int
    memory_mib: int
    gpus: int
    milli: int                                # of each GPU
    spec: str                                 # as written
    gang: str
    alternatives: tuple[tuple[int, str], ...]   # (count, profile), by preference; empty: no profile

    @property
    def total_milli(self) -> int:
        return self.gpus * self.milli


@lru_cache(maxsize=None)
def accepts(spec: str, model: str) -> bool:
    """Whether a gpu_spec, as written, accepts a model."""
    return not spec or model in spec.split("|")


class Row(NamedTuple):
    """One row: its line, and text and column of the fields asked for."""
    file: str
    line: int
    text: dict[str, str]
    column: dict[str, int]

    def error(self, name: str, message: str) -> ListError:
        return ListError(self.file, self.line, self.column[name], f"{name}: {message}, found \"{self.text[name]}\"")

    def number(self, name: str, least: int = 0, most: int = NUMBER_MAX) -> int:
        text = self.text[name]
        if not re.fullmatch(r"[0-9]{1,10}", text, re.ASCII) or not least <= int(text) <= most:
            raise self.error(name, f"wanted a whole number from {least} to {most}")
        return int(text)


def split(line: str) -> list[tuple[str, int]]:
    """Fields of a line with their columns."""
    fields = next(csv.reader([line]), [""]) if '"' in line else line.split(",")
    column, found = 1, []
    for field in fields:
        found.append((field, column))
        column += len(field) + 1
    return found


def read_rows(file: str, wanted: tuple[str, ...], optional: tuple[str, ...] = ()) -> Iterator[Row]:
    with open(file, encoding="utf-8-sig", newline="") as handle:
        lines = [line.removesuffix("\r") for line in handle.read().split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise ListError(file, 1, 1, "wanted a header, found an empty file")
    header = split(lines[0])
    names = [name for name, _ in header]
    for index, (name, column) in enumerate(header):
        if name in names[:index] and name in wanted + optional:
            raise ListError(file, 1, column, f"column {name} is repeated")
    for name in wanted:
        if name not in names:
            raise ListError(file, 1, 1, f"wanted a column {name}, found none")
    if len(lines) == 1:
        raise ListError(file, 2, 1, "wanted at least one row, found none")
    for number, line in enumerate(lines[1:], start=2):
        fields = split(line)
        if len(fields) != len(header):
            raise ListError(file, number, 1, f"wanted {len(header)} fields, found {len(fields)}")
        by_name = {name: field for name, field in zip(names, fields) if name in wanted + optional}
        yield Row(file, number, {name: field[0] for name, field in by_name.items()},
                  {name: field[1] for name, field in by_name.items()})


class Names:
    """Refuses the second row of a name."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def add(self, row: Row, column: str) -> str:
        name = row.text[column]
        if name in self.seen:
            raise row.error(column, "wanted a name of its own")
        self.seen.add(name)
        return name


def read_nodes(file: str, cut_as: Device | None, copies: int | None) -> list[Node]:
    """The nodes with GPUs in the order of their rows, or their copies."""
    nodes, names = [], Names()
    for number, row in enumerate(read_rows(file, NODE_COLUMNS)):
        name = names.add(row, "sn")
        cpu_milli, memory_mib = row.number("cpu_milli"), row.number("memory_mib")
        gpus, model = row.number("gpu", 0, NODE_GPUS_MAX), row.text["model"]
        if gpus and not model:
            raise row.error("model", "wanted the model of the GPUs")
        if gpus:
            nodes.append(Node(number, name, cpu_milli, memory_mib, gpus, model, cut_as or DEVICES.get(model)))
    if not nodes:
        raise ListError(file, 1, 1, "wanted at least one GPU, found none")
    if copies is None:
        return nodes
    return [nodes[i % len(nodes)]._replace(row=i, name=f"{nodes[i % len(nodes)].name}-{i // len(nodes)}")
            for i in range(copies)]


def alternatives_of(row: Row, known: set[str]) -> tuple[tuple[int, str], ...]:
    found = []
    for text in (row.text.get("profile") or "").split("|"):
        if not text and not row.text.get("profile"):
            continue
        match = re.fullmatch(r"(?:([1-9][0-9]?)x)?(.+)", text)
        if match is None or match[2] not in known:
            raise row.error("profile", "wanted profiles joined by |")
        found.append((int(match[1] or 1), match[2]))
    return tuple(found)


def milli_of_profile(count: int, name: str, devices: list[Device]) -> int:
    """What a profile asks for where gpu_milli is empty: the first device that has it decides."""
    for device in devices:
        profile = device.profile(name)
        if profile is not None:
            return WHOLE_MILLI * count * profile.size // device.units
    raise KeyError(name)


def milli_of(row: Row, gpus: int, alternatives: tuple[tuple[int, str], ...], devices: list[Device]) -> int:
    if not row.text["gpu_milli"] and alternatives and gpus == 1:
        return milli_of_profile(*alternatives[0], devices)
    if gpus == 0:
        return row.number("gpu_milli", 0, 0)
    return row.number("gpu_milli", 1 if gpus == 1 else WHOLE_MILLI, WHOLE_MILLI)


def read_pods(file: str, fleet: list[Node]) -> list[Pod]:
    """The rows of the list; what a profile asks for is that of the first model with it in the fleet, else the table."""
    of_fleet = [node.device for node in fleet if node.device is not None]
    in_order = list(dict.fromkeys(of_fleet + list(DEVICES.values())))
    known = {profile.name for device in in_order for profile in device.profiles}
    pods, names = [], Names()
    for number, row in enumerate(read_rows(file, POD_COLUMNS, POD_COLUMNS_OPTIONAL)):
        name = names.add(row, "name")
        cpu_milli, memory_mib, gpus = row.number("cpu_milli"), row.number("memory_mib"), row.number("num_gpu")
        alternatives = alternatives_of(row, known)
        milli = milli_of(row, gpus, alternatives, in_order)
        pods.append(Pod(number, name, cpu_milli, memory_mib, gpus, milli, row.text.get("gpu_spec", ""),
                        row.text.get("gang", ""), alternatives if gpus == 1 else ()))
    return pods


def capacity_milli(nodes: list[Node]) -> int:
    return sum(node.gpus for node in nodes) * WHOLE_MILLI


def demand_of(text: str) -> Fraction:
    return Fraction(text)
