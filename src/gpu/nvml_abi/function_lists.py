"""The functions that simulated.inc and functions.inc list, for tests."""

import functools
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))


def names_in(file, macro):
    with open(os.path.join(HERE, file), encoding="utf-8") as lines:
        return re.findall(rf"^{macro}\((nvml\w+)", lines.read(), re.MULTILINE)


@functools.cache
def simulated():
    return names_in("simulated.inc", r"BERTH_NVML_(?:TEXT_)?FUNCTION")


@functools.cache
def not_simulated(macro=r"BERTH_NVML_\w+"):
    """Those of a macro of functions.inc, or all."""
    return names_in("functions.inc", macro)


@functools.cache
def exported():
    """Every function of the two lists."""
    return {*simulated(), *not_simulated()}
