"""The memory of a running server: unloads give it back, many models stay within --memory, and --cache changes no answer."""

import math
import os
import time
import unittest

import large_models
import local_serve
from local_serve import Case
from memory_load import MB, Crowd, ask, connect, cycle, floats, resident_bytes

CYCLES = int(os.environ.get("BERTH_CYCLES", "8"))
GIVEN_BACK = 0.95  # within a second
PIXELS = 32


def small_resnet(width=16):
    """The graph of ResNet-50 with fewer channels: 6 MB, or 54 MB with three times the width."""
    return large_models.ResNet(width=width, classes=100).model(PIXELS)


class Memory(Case):
    def settle(self):
        time.sleep(1.1)  # files count once they are unchanged for a second

    def check_cycles(self, model, shape):
        self.settle()
        serve = self.serve("--threads", "1")
        warm, *found = cycle(serve, model, shape, floats(math.prod(shape)), CYCLES + 1)
        for before, loaded, after in found:
            self.assertLessEqual(after - before, (1 - GIVEN_BACK) * (loaded - before) + MB / 4)
        self.assertLess(found[-1][2] - found[0][0], 0.05 * (found[0][1] - found[0][0]) + MB / 4, "it drifts")

    def test_cycles_of_a_perceptron(self):
        content, width = large_models.perceptron(40 * MB)
        self.add("layers", content)
        self.check_cycles("layers", [2, width])

    def test_cycles_of_a_convolutional_network(self):
        self.add("resnet", small_resnet(width=48))  # what threads and arenas keep, up to 1.3 MB, is little of it
        self.check_cycles("resnet", [4, 3, PIXELS, PIXELS])

    def test_many_models_stay_within_the_memory(self):
        shapes = {}
        for i in range(12):
            content, width = large_models.perceptron((4 + 2 * i) * MB, seed=i)
            self.add(f"m{i}", content)
            shapes[f"m{i}"] = [width]
        self.settle()
        memory = 80 * MB
        serve = self.serve("--memory", str(memory), "--threads", "2")
        base = resident_bytes(serve)
        crowd = Crowd(serve, shapes).run(300)
        self.assertEqual(crowd.failures, [])
        self.assertLess(crowd.peak - base, 1.1 * memory)

    def test_large_runs_keep_no_memory(self):
        self.add("resnet", small_resnet())
        self.settle()
        serve = self.serve("--threads", "1")
        sizes = []
        with connect(serve) as connection:
            for rows in [1, 64, 1]:
                status, answer = ask(connection, "resnet", [rows, 3, PIXELS, PIXELS], floats(rows * 3 * PIXELS**2))
                self.assertEqual(status, 200, answer)
                sizes.append(resident_bytes(serve))
        self.assertLess(sizes[2] - sizes[0], 40 * MB)

    def test_the_cache_changes_no_answer(self):
        self.add("resnet", small_resnet())
        self.settle()
        cache = self.repository / ".." / f"{self.repository.name}.cache"
        self.addCleanup(lambda: [path.unlink() for path in cache.glob("*")] and cache.rmdir())

        def answer(*words):
            serve = self.serve(*words)
            with connect(serve) as connection:
                status, found = ask(connection, "resnet", [1, 3, PIXELS, PIXELS], floats(3 * PIXELS**2))
            self.assertEqual(status, 200, found)
            return found, serve.end()[1]

        plain, _ = answer()
        self.assertEqual(answer("--cache", str(cache)), (plain, ""))
        [kept] = cache.iterdir()
        content = kept.read_bytes()
        self.assertEqual(answer("--cache", str(cache)), (plain, ""))
        damaged = bytearray(content)
        damaged[len(damaged) // 2] ^= 1
        kept.write_bytes(damaged)
        found, errors = answer("--cache", str(cache))
        self.assertEqual(found, plain)
        self.assertEqual(len(errors.splitlines()), 1, errors)
        self.assertEqual(kept.read_bytes(), content)
        found, errors = answer("--cache", "/dev/null/cache")
        self.assertEqual(found, plain)
        self.assertIn("is not kept", errors)


if __name__ == "__main__":
    local_serve.require_engine()
    unittest.main()
