#!/usr/bin/env python3
"""`berth serve --evict warm` with real models: what was asked for comes back into free memory without a request, and is counted."""

import unittest

import large_models
from local_serve import Serving, require_engine
from memory_load import MB, ask, connect, floats

PRELOAD_SECONDS = 60  # a step takes 5 s; more on a busy machine
MEMORY = 40 * MB  # for both small models, or for the first load of the large one and less than both
SMALL, LARGE = 4 * MB, 12 * MB


class Warm(Serving):
    def models(self, serve):
        status, memory = serve.json("GET", "/berth/v1/memory")
        self.assertEqual(status, 200)
        self.assertLessEqual(memory["reserved_bytes"], MEMORY)
        return {model["name"]: model for model in memory["models"]}

    def is_resident(self, serve, *names):
        return all(self.models(serve)[name]["state"] == "resident" for name in names)

    def add_models(self, **sizes):
        self.widths = {}
        for seed, (name, size) in enumerate(sizes.items()):
            content, self.widths[name] = large_models.perceptron(size, seed=seed)
            self.add(name, content)

    def output(self, serve, name):
        with connect(serve) as connection:
            status, answer = ask(connection, name, [1, self.widths[name]], floats(self.widths[name]))
        self.assertEqual(status, 200, answer)
        return answer

    def test_models_come_back_before_they_are_asked_for(self):
        self.add_models(a=SMALL, b=SMALL, never=SMALL, large=LARGE)
        serve = self.serve("--memory", str(MEMORY), "--threads", "1", "--evict", "warm")
        first = {name: self.output(serve, name) for name in ("a", "b", "large")}
        self.assertFalse(self.is_resident(serve, "a") and self.is_resident(serve, "b"))
        self.assertEqual(serve.json("POST", "/v2/repository/models/large/unload")[0], 200)
        self.wait_until(lambda: self.is_resident(serve, "a", "b"), "both small models", PRELOAD_SECONDS)
        models = self.models(serve)
        self.assertGreaterEqual(models["a"]["preloads"] + models["b"]["preloads"], 1)
        self.assertEqual(models["a"]["preload_hits"] + models["b"]["preload_hits"], 0)
        self.assertGreater(models["a"]["chance"], 0)
        self.assertEqual((models["never"]["state"], models["never"]["preloads"], models["never"]["chance"]), ("cold", 0, 0))
        for name in ("a", "b"):
            self.assertEqual(self.output(serve, name), first[name])
        models = self.models(serve)
        self.assertGreaterEqual(models["a"]["preload_hits"] + models["b"]["preload_hits"], 1)
        metrics = serve.ask("GET", "/metrics")[2].decode()
        for name in ("a", "b"):
            for metric in ("preloads", "preload_hits"):
                self.assertIn(f'berth_model_{metric}_total{{model="{name}",version="1"}} {models[name][metric]}', metrics)
        self.assertEqual(self.ends_well(serve), "")

    def test_other_rules_say_nothing_of_preloads(self):
        self.add_models(a=SMALL)
        serve = self.serve("--memory", str(MEMORY), "--threads", "1")
        self.output(serve, "a")
        self.assertEqual([key for key in self.models(serve)["a"] if "preload" in key or key == "chance"], [])
        self.assertNotIn("preload", serve.ask("GET", "/metrics")[2].decode())


if __name__ == "__main__":
    require_engine()
    unittest.main()
