"""What tests compare with: packages of other people, from their registries into build/third_party, where the next run finds
them. Nothing of them is in the tree."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("BERTH_SOURCE_DIR") or os.path.dirname(os.path.dirname(HERE))
THIRD_PARTY = os.path.join(ROOT, "build", "third_party")
DOWNLOAD_SECONDS_MAX = 100

GO_NVML = "github.com/NVIDIA/go-nvml@v0.13.3-1"  # NVML 13.3
BINDING = "nvidia-ml-py==13.615.71"


class Absent(Exception):
    """What could not be had, and why."""


def run(command, **options):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS_MAX, check=True, **options)
    except subprocess.TimeoutExpired as error:
        raise Absent(f"no answer within {DOWNLOAD_SECONDS_MAX} s") from error
    except subprocess.CalledProcessError as error:
        words = re.findall(r'"Error": "(.*)"', error.stdout) or error.stderr.strip().splitlines() or ["no message"]
        raise Absent(words[-1]) from error


def go_environment():
    """For the command go: its modules are kept here, and it fetches no other version of itself."""
    if not shutil.which("go"):
        raise Absent("there is no go")
    cache = os.path.join(THIRD_PARTY, "go")
    os.makedirs(cache, exist_ok=True)
    return dict(os.environ, GOMODCACHE=cache, GOFLAGS="-modcacherw", GOTOOLCHAIN="local", GOWORK="off")


def fetch_go_module(module):
    """The folder of a module, "path@version"."""
    environment = go_environment()
    answer = run(["go", "mod", "download", "-json", module], cwd=environment["GOMODCACHE"], env=environment).stdout
    return json.loads(answer)["Dir"]


def fetch_package(package):
    """The wheel of a package, its path."""
    name, version = package.split("==")
    folder = os.path.join(THIRD_PARTY, "pip")
    os.makedirs(folder, exist_ok=True)
    start = f"{name.replace('-', '_')}-{version}-"
    for wheel in sorted(os.listdir(folder)):
        if wheel.startswith(start) and wheel.endswith(".whl"):
            return os.path.join(folder, wheel)
    pip = [sys.executable, "-m", "pip"] if importlib.util.find_spec("pip") else [shutil.which("pip3") or shutil.which("pip")]
    if pip == [None]:
        raise Absent("there is no pip")
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        # Any machine can read a header: take the package of one system everywhere.
        run([*pip, "download", "--quiet", "--no-deps", "--only-binary=:all:", "--platform", "manylinux2014_x86_64",
             "--retries", "1", "--timeout", "20", "--dest", fresh, package])
        wheel = os.listdir(fresh)[0]
        os.replace(os.path.join(fresh, wheel), os.path.join(folder, wheel))
    return os.path.join(folder, wheel)


def file_of_package(package, suffix):
    """The one file of a package whose path ends so, as a file in build/third_party."""
    wheel = fetch_package(package)
    path = f"{wheel}.{os.path.basename(suffix)}"
    if not os.path.exists(path):
        with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory(dir=THIRD_PARTY) as fresh:
            inside = next(name for name in archive.namelist() if name.endswith(suffix))
            os.replace(archive.extract(inside, fresh), path)
    return path
