"""What make.py and the test share: a folder of `berth up` as text, and what its API shows of the world."""

import contextlib
import json
import pathlib
import sqlite3
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts/detail"))
sys.dont_write_bytecode = True
from live_server import server_in  # noqa: E402,F401  (also for those who import this file)

DATABASES = ("journal.db", "devices")
MARKS = ("application_id", "user_version")  # what iterdump leaves out
NEARLY_STILL = ["--speed", "0.001"]  # the world hardly moves while it is read
KINDS = ("tenants", "services", "gpus", "slices", "plans", "faults")
MOVING = {"services": ("status",), "faults": ("status",)}  # figures of the last minute; when a fault ends


def dump(database, path):
    """Writes a database of a stopped server as SQL, each value with its type and bytes."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        lines = [f"PRAGMA {mark} = {connection.execute(f'PRAGMA {mark}').fetchone()[0]};" for mark in MARKS]
        for name, sql in connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY rowid").fetchall():
            lines.append(f"{sql};")
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
            # As bytes, since a text may hold any.
            values = ", ".join(f"typeof({column}), CAST({column} AS BLOB)" for column in columns)
            for row in connection.execute(f"SELECT {values} FROM {name} ORDER BY {columns[0]}"):
                lines.append(f"INSERT INTO {name} VALUES({', '.join(map(literal, row[::2], row[1::2]))});")
    path.write_text("\n".join(["BEGIN;", *lines, "COMMIT;"]) + "\n")


def literal(kind, value):
    """The bytes of a value in SQL."""
    if kind in ("integer", "real"):
        return value.decode()
    if kind == "text":
        text = value.decode(errors="replace")
        is_plain = text.isprintable() and text.encode() == value
        return f"'{text.replace(chr(39), chr(39) * 2)}'" if is_plain else f"CAST(X'{value.hex()}' AS TEXT)"
    return f"X'{value.hex()}'" if kind == "blob" else "NULL"


def restore(folder, state):
    """Makes the databases of a folder in `state`, which is made."""
    state.mkdir(mode=0o700)
    for name in DATABASES:
        with contextlib.closing(sqlite3.connect(state / name)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript((folder / f"{name}.sql").read_text())


def items(client, path):
    """All pages of a list."""
    found, following = [], ""
    while True:
        page, _ = client.send(f"{path}{'&' if '?' in path else '?'}limit=500{following}")
        found += page["items"]
        if not page["metadata"]["continue"]:
            return found
        following = "&continue=" + urllib.parse.quote(page["metadata"]["continue"], safe="")


def usage(client, until):
    """All intervals until a time of the world."""
    return items(client, f"/v1/usage?to={until}")


def promises(client):
    """What changes promised, and what came of it where that is known."""
    return items(client, "/v1/promises")


def read_world(client):
    """Everything that a restart keeps, without what moves with the clock."""
    world = {"time": client.send("/v1/status")[0]["time"], "planning": client.send("/v1/planning")[0]}
    for kind in KINDS:
        found = items(client, f"/v1/{'sim/' if kind == 'faults' else ''}{kind}")
        for part in MOVING.get(kind, ()):
            for item in found:
                item.pop(part, None)
        world[kind] = found
    return world


def write_json(value, path):
    """A line for each object, so that changes can be read."""
    lines = []
    for key, part in value.items():
        if isinstance(part, list) and part:
            lines.append(f"{json.dumps(key)}: [\n" + ",\n".join(json.dumps(item) for item in part) + "\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(part)}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
