"""Broken inputs of `berth schedule`: one for each kind of error that the page lists, and where it must be told."""

import random
from typing import NamedTuple

from sched_input import starts_of
from sched_random import make_case, jobs_text, write_text

BAD_INTEGERS = ("x", "-", "1.5", "1e3", "0x10", "+5", "1 000", "1000000001", "-1000000001",
                "99999999999999999999", "NaN")
HEADER = "job,submit_s,gpus,duration_s,tenant,estimate_s,priority,checkpoint_s,preemptible,deadline_s"
ROWS = ("j0,100,2,50,a,60,0,0,true,400", "j1,100,1,70,b1,,1,10,false,", "j2,130,4,5,b2,5,-2,0,true,500")
TENANT_HEADER = "tenant,parent,guaranteed,limit,weight"
TENANT_ROWS = ("a,,3,,1", "b,,4,6,2", "b1,b,1,5,1", "b2,b,2,4,3", "c,,0,0,1")
GPUS = 8
LEAST = {"submit_s": 0, "gpus": 1, "duration_s": 1, "estimate_s": 1, "checkpoint_s": 0, "deadline_s": 0,
         "guaranteed": 0, "limit": 0, "weight": 1}
NEEDED = ("job", "submit_s", "gpus", "duration_s")
PHILLY = ("timestamp,duration,num_gpus,cluster",
          "2017-10-09 07:01:55,66.0,1,11cb48", "2017-10-09 07:02:00,5.5,2,6214e9")
SHOCKWAVE = ("LM\tc\td\t--steps\t1\t10\t1\tgns\t1\t-1.000000\t1418\t0",
             "LM\tc\td\t--steps\t1\t10\t2\tgns\t1\t-1\t55.5\t3")


class Broken(NamedTuple):
    """The message must name the file, one of the lines and one of the columns (from 1, where the cell begins; None:
    any), and hold the words. Where a whole row or header is wrong its column is 1, or where this is seen."""
    name: str
    jobs: list[str]
    tenants: list[str]
    file: str   # the broken one
    lines: list[int]
    columns: list[int] | None
    words: list[str]
    trace_format: str = "own"


def grid(lines: tuple[str, ...], separator: str = ",") -> list[list[str]]:
    return [line.split(separator) for line in lines]


def text_of(cells: list[list[str]], separator: str = ",") -> list[str]:
    return [separator.join(row) for row in cells]


def put(lines: tuple[str, ...], row: int, name: str, value: str, separator: str = ",") -> tuple[list[str], int]:
    """The lines with one cell replaced, and its column; `row` counts the header."""
    cells = grid(lines, separator)
    at = cells[0].index(name)
    cells[row][at] = value
    return text_of(cells, separator), starts_of(cells[row])[at]


def in_table(file: str, lines: tuple[str, ...], needed: tuple[str, ...], key: str) -> list[tuple]:
    """Errors that every CSV file can have: (name, lines, places in the file, columns, words)."""
    cells = grid(lines)
    found = [("empty_file", [], [1], None, []), ("no_rows", [lines[0]], [1, 2], None, [])]
    for name in needed:
        at = cells[0].index(name)
        found.append((f"missing_{name}", text_of([row[:at] + row[at + 1:] for row in cells]), [1], None, [name]))
        found.append((f"other_name_for_{name}", put(lines, 0, name, name.upper())[0], [1], None, [name]))
    for name in cells[0]:
        header = starts_of(cells[0] + [name])
        found.append((f"repeated_{name}", text_of([cells[0] + [name]] + [row + ["1"] for row in cells[1:]]), [1],
                      [1, header[cells[0].index(name)], header[-1]], [name]))
    for row in range(1, len(lines)):
        short, long = list(lines), list(lines)
        short[row], long[row] = lines[row].rsplit(",", 1)[0], lines[row] + ",1"
        found.append((f"short_row_{row}", short, [row + 1], None, []))
        found.append((f"long_row_{row}", long, [row + 1], None, []))
    found.append(("blank_line", list(lines[:2]) + [""] + list(lines[2:]), [3], None, []))
    changed, column = put(lines, len(lines) - 1, key, cells[1][cells[0].index(key)])
    found.append((f"{key}_twice", changed, [len(lines)], [1, column], [cells[1][cells[0].index(key)]]))
    for name, least in LEAST.items():
        if name not in cells[0]:
            continue
        empty_is_wrong = name in needed and name != "limit"
        for value in BAD_INTEGERS + (str(least - 1),) + (("",) if empty_is_wrong else ()):
            changed, column = put(lines, 2, name, value)
            found.append((f"{name}_{value or 'empty'}", changed, [3], [column], [name]))
    return [(f"{file}_{one[0]}",) + one[1:] for one in found]


def own_jobs() -> list[Broken]:
    lines = (HEADER,) + ROWS
    made = [Broken(name, changed, [TENANT_HEADER, *TENANT_ROWS], "jobs.csv", places, columns, words)
            for name, changed, places, columns, words in in_table("jobs", lines, NEEDED, "job")]

    def one(name: str, row: int, column: str, value: str, words: list[str], lies_in: tuple[str, ...] = ()) -> None:
        changed, _ = put(lines, row, column, value)
        cells = grid(tuple(changed))
        starts = starts_of(cells[row])
        columns = [1] + [starts[cells[0].index(other)] for other in (column,) + lies_in]
        made.append(Broken(name, changed, [TENANT_HEADER, *TENANT_ROWS], "jobs.csv", [row + 1], columns, words))

    for value in ("yes", "TRUE", "True", "1", "0", "f"):
        one(f"jobs_preemptible_{value}", 2, "preemptible", value, ["preemptible"])
    for value in ("x", "1.5", "--1", "1000000001", "-1000000001"):
        one(f"jobs_priority_{value}", 2, "priority", value, ["priority"])
    one("jobs_more_gpus_than_there_are", 1, "gpus", "9", ["j0"])
    one("jobs_more_gpus_than_its_limit", 3, "gpus", "5", ["j2"], ("tenant",))
    # b1 may be owed 4 then, b with the 2 of b2 6, and a 3: more than 8.
    one("jobs_out_of_reach", 2, "gpus", "4", ["j1", '"a" (3)', '"b2" (2)'], ("preemptible", "tenant"))
    for name, row, tenant in (("without_row", 1, "nobody"), ("with_children", 2, "b"), ("other_case", 1, "A")):
        one(f"jobs_tenant_{name}", row, "tenant", tenant, [tenant])
    return made


def own_jobs_and_tree() -> list[Broken]:
    """Errors that need both files: limits of ancestors, the default tenant."""
    jobs = ["job,submit_s,gpus,duration_s,tenant", "small,0,1,1,x", "big,0,5,1,x"]
    tree = [TENANT_HEADER, "top,,0,4,1", "x,middle,0,,1", "middle,top,0,6,1"]
    columns = [1, starts_of(jobs[2].split(","))[2], starts_of(jobs[2].split(","))[4]]
    made = [Broken("jobs_more_gpus_than_an_ancestors_limit", jobs, tree, "jobs.csv", [3], columns, ["big"])]
    made += out_of_reach_in_groups()
    jobs = ["job,submit_s,gpus,duration_s", "small,0,1,1"]
    return made + [Broken("jobs_default_tenant_without_row", jobs, tree, "jobs.csv", [2], None, ["default"])]


def out_of_reach_in_groups() -> list[Broken]:
    """Jobs that may not be preempted: what others are guaranteed below the same limit, or in the same group."""
    jobs = ["job,submit_s,gpus,duration_s,tenant,preemptible", "small,0,2,1,x,false", "big,0,3,1,x,false"]
    columns = [1] + [starts_of(jobs[2].split(","))[at] for at in (2, 4, 5)]
    made = []
    for name, top, guaranteed in (("below_a_limit", "top,,2,4,1", 2), ("in_a_group", "top,,8,,1", 6)):
        tree = [TENANT_HEADER, top, "x,top,0,,1", f"y,top,{guaranteed},,1"]
        words = ["big", f'"y" ({guaranteed})']
        made.append(Broken(f"jobs_out_of_reach_{name}", jobs, tree, "jobs.csv", [3], columns, words))
    return made


def own_tenants() -> list[Broken]:
    lines = (TENANT_HEADER,) + TENANT_ROWS
    needed = tuple(TENANT_HEADER.split(","))
    made = [Broken(name, [HEADER, *ROWS], changed, "tenants.csv", places, columns, words)
            for name, changed, places, columns, words in in_table("tenants", lines, needed, "tenant")]

    def one(name: str, row: int, column: str, value: str, places: list[int] | None = None) -> None:
        changed, at = put(lines, row, column, value)
        made.append(Broken(name, [HEADER, *ROWS], changed, "tenants.csv", places or [row + 1],
                           None if places else [1, at], []))

    one("tenants_limit_below_guaranteed", 3, "limit", "0")
    one("tenants_unknown_parent", 4, "parent", "nobody")
    one("tenants_its_own_parent", 5, "parent", "c")
    one("tenants_parents_in_a_circle", 2, "parent", "b1", [3, 4])
    one("tenants_children_above_their_parent", 4, "guaranteed", "4", [3, 4, 5])
    one("tenants_top_above_gpus", 5, "guaranteed", "2", [2, 3, 6])
    changed, _ = put(tuple(made[-1].tenants), 5, "limit", "")   # only one error in this file
    made[-1] = made[-1]._replace(tenants=changed)
    return made


def other_formats() -> list[Broken]:
    made = []
    for name, column, value in (("timestamp", "timestamp", "2017-13-09 07:02:00"), ("no_time", "timestamp", "today"),
                                ("duration", "duration", "long"), ("negative", "duration", "-5.0"),
                                ("gpus", "num_gpus", "0"), ("gpus_part", "num_gpus", "1.5")):
        changed, at = put(PHILLY, 2, column, value)
        made.append(Broken(f"philly_{name}", changed, [], "jobs.csv", [3], [1, at], [], "philly"))
    for name, changed, places, columns, words in in_table("philly", PHILLY, tuple(PHILLY[0].split(",")), "cluster"):
        if not name.endswith("_twice"):   # two jobs of one cluster are no error
            made.append(Broken(name, changed, [], "jobs.csv", places, columns, words, "philly"))
    for name, index, value in (("gpus", 6, "0"), ("gpus_word", 6, "two"), ("duration", 10, "long"),
                               ("submit", 11, "-1"), ("submit_empty", 11, "")):
        cells = grid(SHOCKWAVE, "\t")
        cells[1][index] = value
        made.append(Broken(f"shockwave_{name}", text_of(cells, "\t"), [], "jobs.csv", [2],
                           [1, starts_of(cells[1])[index]], [], "shockwave"))
    for name, text in (("short", SHOCKWAVE[1].rsplit("\t", 1)[0]), ("long", SHOCKWAVE[1] + "\t1")):
        made.append(Broken(f"shockwave_{name}_row", [SHOCKWAVE[0], text], [], "jobs.csv", [2], None, [], "shockwave"))
    return made + [Broken("shockwave_empty", [], [], "jobs.csv", [1], None, [], "shockwave")]


def shifted(seed: int) -> list[Broken]:
    """Random lists with one bad cell somewhere, columns in any order."""
    rng = random.Random(f"broken {seed}")
    made = []
    for number in range(10):
        case = make_case(rng.randrange(10**6))
        lines = jobs_text(case, case.jobs).splitlines()
        row = rng.randint(1, len(lines) - 1)
        name = rng.choice([column for column in case.columns if column in LEAST and column not in ("deadline_s",)])
        value = rng.choice(BAD_INTEGERS + (str(LEAST[name] - 1),))
        changed, at = put(tuple(lines), row, name, value)
        columns = [at, bytes_before(changed[row], at)]
        made.append(Broken(f"random_{number}_{name}", changed, [], "jobs.csv", [row + 1], columns, [name]))
    return made


def bytes_before(text: str, column: int) -> int:
    """The column in bytes: either is right."""
    return len(text[:column - 1].encode()) + 1


def all_broken(seed: int) -> list[Broken]:
    made = own_jobs() + own_jobs_and_tree() + own_tenants() + other_formats() + shifted(seed)
    return [one._replace(name=f"{number:03}_" + "".join(c if c.isalnum() or c in "-_.+" else "~" for c in one.name))
            for number, one in enumerate(made)]


def arguments_of(broken: Broken) -> list[str]:
    gpus = 50 if "random_" in broken.name else GPUS
    return ["--trace", "jobs.csv", "--trace-format", broken.trace_format, "--gpus", str(gpus)] \
        + (["--tenants", "tenants.csv"] if has_tenants(broken) else [])


def has_tenants(broken: Broken) -> bool:
    return bool(broken.tenants) or broken.file == "tenants.csv"


def write_broken(broken: Broken, folder: str) -> None:
    write_text(folder, "jobs.csv", "".join(line + "\n" for line in broken.jobs))
    if has_tenants(broken):
        write_text(folder, "tenants.csv", "".join(line + "\n" for line in broken.tenants))
