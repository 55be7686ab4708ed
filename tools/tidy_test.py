#!/usr/bin/env python3
"""Shows that each rule of tools/tidy can fail, on small trees made for that."""

import importlib.machinery
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


def load_tidy():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("tidy", str(Path(__file__).parent / "tidy"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
    sys.modules["tidy"] = module  # dataclasses look up their module by name
    loader.exec_module(module)
    return module


tidy = load_tidy()

def readme_of(*modules):
    """The README of a wing."""
    return "".join(f"| [{module}]({module}/README.md) | what it does |\n" for module in modules)


SOUND = {
    "CMakeLists.txt": "set(wings base domain sim ledger edges)\n",
    "src/base/README.md": readme_of("core", "json_lines", "solver"),
    "src/base/CMakeLists.txt": "berth_wing(core json_lines solver)\n",
    "src/base/core/CMakeLists.txt": "berth_module(NAME base)\n",
    "src/base/core/README.md": "# base/core\n",
    "src/base/json_lines/README.md": "# base/json_lines\n",
    "src/base/solver/README.md": "# base/solver\n",
    "src/ledger/books/README.md": "# ledger/books\n",
    "README.md": "# Berth\nSee the [modules](src/base/README.md) and the [words](GLOSSARY.md#terms-of-a-plan).\n",
    "GLOSSARY.md": "# Glossary\n\n## Terms of a plan\n\n| Term | Meaning |\n|---|---|\n| bound | what no plan exceeds |\n",
    "src/base/core/result.h": "#pragma once\n#include <gmpxx.h>\n",
    "src/domain/README.md": readme_of("mig", "trace"),
    "src/domain/CMakeLists.txt": "berth_wing(mig trace)\n",
    "src/domain/mig/CMakeLists.txt": "berth_module(NAME mig DEPS base)\n",
    "src/domain/mig/README.md": "# domain/mig\n",
    "src/domain/mig/catalogue.h": '#pragma once\n#include <vector>\n#include "base/core/result.h"\n',
    "src/domain/mig/detail/rows.h": "#pragma once\n",
    "src/domain/mig/catalogue.cc": '#include "domain/mig/catalogue.h"\n#include "domain/mig/detail/rows.h"\n',
    "src/domain/mig/catalogue_test.cc":
        '#include <gtest/gtest.h>\n#include <sys/wait.h>\n#include "domain/mig/catalogue.h"\n',
    "src/domain/trace/CMakeLists.txt": "berth_module(NAME trace\n  DEPS base)\n",
    "src/domain/trace/README.md": "# domain/trace\n",
    "src/domain/trace/reader.h": "#pragma once\n",
    "src/sim/README.md": readme_of("world"),
    "src/sim/CMakeLists.txt": "berth_wing(world)\n",
    "src/sim/world/CMakeLists.txt": "berth_module(NAME sim DEPS base mig)\n",
    "src/sim/world/README.md": "# sim/world\n",
    "src/sim/world/world.cc": '#include "domain/mig/catalogue.h"\n',
    "src/ledger/README.md": readme_of("books"),
    "src/ledger/CMakeLists.txt": "berth_wing(books)\n",
    "src/edges/README.md": readme_of("files"),
    "src/edges/CMakeLists.txt": "berth_wing(files)\n",
    "src/edges/files/CMakeLists.txt": "berth_module(NAME edges_files DEPS base LIBS ZLIB::ZLIB SYSTEM)\n",
    "src/edges/files/README.md": "# edges/files\n",
    "src/edges/files/disk.cc": "#include <fcntl.h>\n#include <zlib.h>\n",
}


def findings_of(changes, exceptions=None, count_max=0):
    """"rule path text" of each finding in the sound tree with these files changed; None removes one."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name, text in {**SOUND, **changes}.items():
            if text is None:
                continue
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        path = root / "exceptions.txt"
        if exceptions is not None:
            path.write_text(exceptions)
        return [f"{f.rule} {f.path}:{f.line} {f.text}" for f in tidy.excuse(tidy.check(root), path, count_max)]


class TidyTest(unittest.TestCase):
    def assert_one(self, findings, *parts):
        self.assertEqual(len(findings), 1, findings)
        for part in parts:
            self.assertIn(part, findings[0])

    def test_a_sound_tree_has_no_findings(self):
        self.assertEqual(findings_of({}), [])

    def test_a_declared_dependency_that_is_declared_later(self):
        found = findings_of({"src/domain/mig/CMakeLists.txt": "berth_module(NAME mig DEPS base trace)\n"})
        self.assert_one(found, "wing src/domain/mig/CMakeLists.txt:1", "mig (domain/mig) may not use trace (domain/trace)")

    def test_a_table_of_wings_without_a_module(self):
        rows = {"base": "core, solver", "domain": "mig, trace", "sim": "world", "ledger": "books", "edges": "files"}
        table = "".join(f"| [`{wing}`](src/{wing}/README.md) | {modules} | its job |\n" for wing, modules in rows.items())
        found = findings_of({"ARCHITECTURE.md": table})
        self.assert_one(found, "readme ARCHITECTURE.md:1", "base: wanted the modules core, json_lines, solver, found core, solver")

    def test_a_folder_that_is_no_wing(self):
        tree = {"src/broker/bids/CMakeLists.txt": "berth_module(NAME bids DEPS base)\n", "src/broker/bids/README.md": "# broker/bids\n"}
        found = findings_of(tree)
        self.assertEqual(len(found), 2, found)
        self.assertIn("wing src/broker:1 broker is not one of WINGS", found[0])
        self.assertIn("wing src/broker/bids/CMakeLists.txt:1 bids is named by no berth_wing", found[1])

    def test_wings_in_another_order(self):
        found = findings_of({"CMakeLists.txt": "set(wings domain base sim ledger edges)\n"})
        self.assert_one(found, "wing CMakeLists.txt:1", "wanted the wings base domain sim ledger edges, found domain base")

    def test_an_include_of_a_later_wing(self):
        tree = {"src/sim/world/extra.h": "#pragma once\n", "src/domain/mig/extra.cc": '#include "sim/world/extra.h"\n'}
        self.assert_one(findings_of(tree), "wing src/domain/mig/extra.cc:1", "mig (domain/mig) may not use sim (sim/world)")

    def test_an_unknown_dependency(self):
        found = findings_of({"src/domain/mig/CMakeLists.txt": "berth_module(NAME mig DEPS base nowhere)\n"})
        self.assert_one(found, "wing", "nowhere, which no folder declares")

    def test_includes(self):
        cases = [
            ("src/domain/mig/extra.cc", '#include "domain/trace/reader.h"\n', "mig (domain/mig) may not use trace"),
            ("src/domain/trace/extra.cc", '\n#include "domain/mig/catalogue.h"\n', "src/domain/trace/extra.cc:2"),
            ("src/sim/world/extra.cc", '#include "domain/trace/reader.h"\n', "sim does not name trace in its DEPS"),
            ("src/sim/world/extra.cc", '#include "domain/mig/detail/rows.h"\n', "domain/mig/detail/rows.h is private to mig"),
            ("src/domain/mig/extra.cc", '#include "catalogue.h"\n', "is no header of src/"),
        ]
        for path, text, wanted in cases:
            with self.subTest(text=text):
                self.assert_one(findings_of({path: text}), "wing", wanted)

    def test_a_testing_header_needs_its_library(self):
        tree = {"src/domain/mig/testing/gpus.h": "#pragma once\n", "src/sim/world/world_test.cc": '#include "domain/mig/testing/gpus.h"\n'}
        declaration = "berth_module(NAME sim DEPS base mig TESTING_DEPS {})\n"
        self.assert_one(findings_of(tree), "wing src/sim/world/world_test.cc:1", "sim does not name mig_testing in its TESTING_DEPS")
        for named, count in [("mig_testing", 0), ("trace mig_testing", 0), ("mig", 1), ("trace", 1)]:
            with self.subTest(named=named):
                declared = {**tree, "src/sim/world/CMakeLists.txt": declaration.format(named)}
                self.assertEqual(len(findings_of(declared)), count)
        in_code = {**tree, "src/sim/world/CMakeLists.txt": declaration.format("mig_testing"),
                   "src/sim/world/extra.cc": '#include "domain/mig/testing/gpus.h"\n'}
        self.assert_one(findings_of(in_code), "wing src/sim/world/extra.cc:1", "is for tests and benchmarks")

    def test_an_include_in_a_comment_does_not_count(self):
        self.assertEqual(findings_of({"src/domain/mig/extra.cc": '// #include "sim/x.h"\n/* #include "sim/x.h" */\n'}), [])

    def test_a_ring_of_headers(self):
        found = findings_of({"src/domain/mig/a.h": '#pragma once\n#include "domain/mig/b.h"\n',
                             "src/domain/mig/b.h": '#pragma once\n#include "domain/mig/a.h"\n'})
        self.assert_one(found, "cycle", "domain/mig/a.h -> domain/mig/b.h -> domain/mig/a.h")

    def test_a_long_chain_of_includes(self):
        def chain(files):
            headers = {f"src/domain/mig/h{i}.h": f'#pragma once\n#include "domain/mig/h{i + 1}.h"\n' for i in range(1, files - 1)}
            last = {f"src/domain/mig/h{files - 1}.h": "#pragma once\n"}
            return {**headers, **last, "src/domain/mig/extra.cc": '#include "domain/mig/h1.h"\n'}
        self.assertEqual(findings_of(chain(12)), [])
        self.assert_one(findings_of(chain(13)), "depth src/domain/mig/extra.cc:1", "13 files, at most 12: domain/mig/extra.cc -> domain/mig/h1.h")

    def test_libraries(self):
        cases = [
            ("src/domain/mig/extra.cc", "#include <zlib.h>\n", "src/edges/files/ alone"),
            ("src/domain/mig/extra.cc", "#include <nlohmann/json.hpp>\n", " and src/base/json_lines/flat_object_fuzz.cc alone"),
            ("src/domain/mig/extra.cc", "#include <gmpxx.h>\n", "src/base/core/ alone"),
            ("src/domain/mig/extra.cc", "#include <coin/Clp_C_Interface.h>\n", "src/base/solver/ alone"),
            ("src/domain/mig/extra.cc", "#include <gtest/gtest.h>\n", "files of tests"),
            ("src/domain/mig/extra_test.cc", "#include <rapidcheck.h>\n", "files of tests"),
            ("src/domain/mig/extra.cc", "#include <boost/any.hpp>\n", "no folder is named for it"),
            ("src/domain/mig/extra.cc", "#include <unistd.h>\n", "no folder is named for it"),
        ]
        for path, text, wanted in cases:
            with self.subTest(text=text):
                self.assert_one(findings_of({path: text}), "library", wanted)

    def test_a_header_that_tests_share(self):
        self.assertEqual(findings_of({"src/domain/mig/detail/test_gpu.h": "#pragma once\n#include <gtest/gtest.h>\n"}), [])

    def test_a_library_for_one_file(self):
        module = {"src/base/json_lines/CMakeLists.txt": "berth_module(NAME json_lines DEPS base)\n",
                  "src/base/json_lines/README.md": "# base/json_lines\n"}
        include = "#include <nlohmann/json.hpp>\n"
        self.assertEqual(findings_of({**module, "src/base/json_lines/flat_object_fuzz.cc": include}), [])
        self.assert_one(findings_of({**module, "src/base/json_lines/flat_object.cc": include}), "library")

    def test_a_library_that_tests_check_with(self):
        include = "#include <nlohmann/json.hpp>\n"
        self.assertEqual(findings_of({"src/domain/mig/extra_test.cc": include}), [])
        self.assert_one(findings_of({"src/domain/mig/extra.cc": include}), "library")

    def test_doubles_in_the_ledger(self):
        module = {"src/ledger/books/CMakeLists.txt": "berth_module(NAME ledger_books DEPS base)\n",
                  "src/ledger/books/README.md": "# ledger/books\n"}
        for code in ["double share = 0;", "float x = 1;", "auto x = static_cast<double>(y);", "std::vector<double> all;",
                     "long double x = 0;"]:
            with self.subTest(code=code):
                found = findings_of({**module, "src/ledger/books/detail/split.cc": f"\n{code}\n"})
                self.assert_one(found, "double src/ledger/books/detail/split.cc:2", "integers only")
        for name, code in [("ledger/books/split.h", "#pragma once\nint double_entry = 0;  // no double\n"),
                           ("ledger/books/split.cc", 'auto text = "a double";\n'),
                           ("ledger/books/split_test.cc", "double share = 0;\n"),
                           ("ledger/books/testing/random.h", "#pragma once\ndouble share = 0;\n"),
                           ("domain/mig/share.cc", "double share = 0;\n")]:
            with self.subTest(name=name):
                self.assertEqual(findings_of({**module, f"src/{name}": code}), [])

    def test_banned_words(self):
        core = ["std::rand();", "x = std::chrono::system_clock::now();", "auto t = steady_clock::now();", "sleep(1);",
                "std::this_thread::sleep_for(x);", "auto* p = new int(3);", "delete p;", "delete[] p;", 'getenv("X");',
                "std::cout << 1;", 'fopen("x", "r");', "std::ifstream in(path);",
                "bool b = std::filesystem::exists(p);", "std::thread t;", "std::mutex m;",
                "std::random_device d;", 'printf("x");', "#include <thread>", "#include <fstream>", "virtual void f();"]
        for code in core:
            with self.subTest(code=code):
                self.assert_one(findings_of({"src/domain/mig/extra.cc": code + "\n"}), "banned src/domain/mig/extra.cc:1")

    def test_what_only_looks_banned(self):
        innocent = ["X(const X&) = delete;", "int renew = 1;  // a new one", 'fail("sleep (1) and new");', "#include <new>",
                    "int brand(int); int y = brand(3);", "int z = 1'000 + f('\"') + 2'000;  // delete",
                    'auto s = R"(new int)";', 'snprintf(b, n, "x");', "int threads = 2;",
                    "#include <filesystem>", "auto p = std::filesystem::path(folder) / name;"]
        for code in innocent:
            with self.subTest(code=code):
                self.assertEqual(findings_of({"src/domain/mig/extra.cc": code + "\n"}), [])

    def test_where_the_bans_end(self):
        self.assertEqual(findings_of({"src/edges/files/extra.cc": "std::thread t;\nauto n = steady_clock::now();\n"}), [])
        self.assertEqual(findings_of({"src/domain/mig/extra_test.cc": 'std::ifstream in(getenv("X"));\n'}), [])
        self.assertEqual(findings_of({"src/domain/mig/extra_bench.cc": "auto t = steady_clock::now();\n"}), [])
        solver = {"src/base/solver/CMakeLists.txt": "berth_module(NAME solver)\n", "src/base/solver/README.md": "# base/solver\n"}
        self.assertEqual(findings_of({**solver, "src/base/solver/extra.cc": "std::mutex m;\n"}), [])
        self.assert_one(findings_of({**solver, "src/base/solver/extra.cc": "std::thread t;\n"}), "banned", "threads")
        self.assert_one(findings_of({"src/domain/mig/extra_test.cc": "sleep(1);\n"}), "banned", "sleep")
        self.assert_one(findings_of({"src/sim/world/extra.cc": "auto t = steady_clock::now();\n"}), "banned", "a clock")
        self.assert_one(findings_of({"src/edges/files/extra.cc": "int* p = new int;\n"}), "banned", "new")

    def test_a_public_header_includes_no_private_one(self):
        private = {"src/domain/mig/detail/inner.h": "#pragma once\n"}
        code = '#pragma once\n#include "domain/mig/detail/inner.h"\n'
        self.assert_one(findings_of({**private, "src/domain/mig/extra.h": code}), "wing src/domain/mig/extra.h:2", "private")
        self.assertEqual(findings_of({**private, "src/domain/mig/detail/extra.h": code}), [])
        self.assertEqual(findings_of({**private, "src/domain/mig/extra.cc": '#include "domain/mig/detail/inner.h"\n'}), [])

    def test_names(self):
        self.assert_one(findings_of({"src/domain/mig/gpu_util.cc": "int x;\n"}), "name", "util says nothing")
        self.assert_one(findings_of({"src/domain/mig/GpuTable.cc": "int x;\n"}), "name", "not snake_case")
        self.assert_one(findings_of({"src/domain/mig/extra.h": "int x;\n"}), "name", "#pragma once")

    def test_readmes(self):
        self.assert_one(findings_of({"src/domain/mig/README.md": "# domain/mig\n" * 41}), "readme", "more than 40 lines")
        self.assert_one(findings_of({"src/domain/mig/README.md": "#mig(floor 2)\n"}), "readme", 'found "#mig(floor 2)"')
        module = {"src/ledger/books/CMakeLists.txt": "berth_module(NAME ledger_books DEPS base)\n", "src/ledger/books/x.cc": "int x;\n",
                  "src/ledger/books/README.md": None}
        found = findings_of(module)
        self.assertEqual(len(found), 2, found)
        self.assertIn("link src/ledger/README.md:1 books/README.md", found[0])
        self.assertIn("readme src/ledger/books/README.md:1 missing", found[1])
        found = findings_of({"src/domain/README.md": readme_of("trace", "mig")})
        self.assert_one(found, "readme src/domain/README.md", "wanted rows for mig trace, found trace mig")

    def test_the_size_of_the_readme(self):
        self.assertEqual(findings_of({"README.md": "word " * 799 + "word\n"}), [])
        self.assert_one(findings_of({"README.md": "word " * 800 + "word\n"}), "document README.md:1", "801 words, at most 800")

    def test_the_size_of_the_glossary(self):
        table, row = "| Term | Meaning |\n|---|---|\n", "| a | b |\n"
        two_tables = SOUND["GLOSSARY.md"] + "\n" + table  # one row so far; headings and rules are no terms
        self.assertEqual(findings_of({"GLOSSARY.md": two_tables + row * 149}), [])
        self.assert_one(findings_of({"GLOSSARY.md": two_tables + row * 150}), "document GLOSSARY.md:1", "151 terms, at most 150")

    def test_links(self):
        self.assert_one(findings_of({"docs/page.md": "\n[gone](../GONE.md)\n"}), "link docs/page.md:2", "../GONE.md: there is no such file")
        self.assert_one(findings_of({"docs/page.md": "[`code`](gone)\n"}), "link docs/page.md:1", "gone: there is no such file")
        self.assert_one(findings_of({"docs/page.md": "[a](../GLOSSARY.md#a)\n"}), "link docs/page.md:1", "the page has no such heading")
        self.assert_one(findings_of({"docs/page.md": "# One\n[a](#two)\n"}), "link docs/page.md:2", "the page has no such heading")
        sound = "# One, `two`\n# A\n# A\n[a](#one-two) [b](#a) [c](#a-1) [d](../docs) [e](page.md) [f](https://a.example/x#y)\n"
        self.assertEqual(findings_of({"docs/page.md": sound}), [])
        self.assertEqual(findings_of({"docs/page.md": "```\n[a](gone)\n# b\n```\n`[a](gone)`\n"}), [])
        self.assert_one(findings_of({"docs/page.md": "```\n# b\n```\n[b](#b)\n"}), "link docs/page.md:4")

    def test_mentions_of_pages(self):
        for name in ["src/domain/mig/extra.cc", "tests/lists_test.py", "scripts/run", "cmake/Install.cmake"]:
            with self.subTest(name=name):
                text = "// The rules: docs/how_to/page.md.\n"
                self.assert_one(findings_of({name: text}), f"link {name}:1", "docs/how_to/page.md: there is no such page")
                self.assertEqual(findings_of({name: text, "docs/how_to/page.md": "# Page\n"}), [])
        self.assertEqual(findings_of({"src/domain/mig/extra.cc": "// other/docs/page.md, docs/decisions/0041 says why\n"}), [])

    def test_format(self):
        cases = [("int\tx;\n", "a tab"), ("int x; \n", "white space"), ("int x;", "newline"), ("int x;\n\n", "newline"),
                 ("// " + "x" * 118 + "\n", "121 columns")]
        for text, wanted in cases:
            with self.subTest(text=text):
                self.assert_one(findings_of({"src/domain/mig/extra.cc": text}), "format", wanted)
        self.assert_one(findings_of({"docs/page.md": "a \n"}), "format docs/page.md:1", "white space")
        self.assertEqual(findings_of({"src/domain/mig/corpus/reader/one.txt": "a \t", "tests/data/bad.txt": "a"}), [])

    def test_binary_files(self):
        for content in [b"\x7fELF\2\1\1\0\0", b"text\n" * 5000 + b"\0", b"\xff\xd8\xff\xe0\n"]:
            for path in ["perf", "src/domain/mig/table.bin", "tests/data/image.png", "docs/images/page.jpg"]:
                with self.subTest(content=content[:8], path=path):
                    self.assert_one(findings_of({path: content}), f"file {path}:1", "found a binary file")
        self.assertEqual(findings_of({"docs/images/page.png": b"\x89PNG\0", "build/berth": b"\x7fELF\0"}), [])
        self.assertEqual(findings_of({"docs/page.md": "1 µs ≤ 2 µs\n"}), [])

    def test_large_files(self):
        line = "1,2,3\n"
        self.assertEqual(findings_of({"tests/data/trace.csv": line * (tidy.FILE_BYTES_MAX // 6)}), [])
        for path in ["tests/data/trace.csv", "docs/images/page.png"]:
            with self.subTest(path=path):
                found = findings_of({path: line * (tidy.FILE_BYTES_MAX // 6 + 1)})
                self.assert_one(found, f"file {path}:1", "1048578 bytes, at most 1048576")

    def test_listed_files(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            (root / "trace.gz").write_bytes(b"\x1f\x8b\0" + b"x" * tidy.FILE_BYTES_MAX)
            self.assertEqual(len(tidy.check_files(root, [], [])), 2)
            self.assertEqual(tidy.check_files(root, ["*.gz"], ["trace.gz"]), [])

    def test_each_entry_of_the_lists_is_needed(self):
        root = Path(__file__).parent.parent.resolve()
        for entry in tidy.BINARY_FILES:
            with self.subTest(entry=entry):
                others = [each for each in tidy.BINARY_FILES if each != entry]
                self.assertNotEqual(tidy.check_files(root, others, tidy.LARGE_FILES), [])
        for entry in tidy.LARGE_FILES:
            with self.subTest(entry=entry):
                others = [each for each in tidy.LARGE_FILES if each != entry]
                self.assertNotEqual(tidy.check_files(root, tidy.BINARY_FILES, others), [])

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_only_tracked_files_count_in_a_checkout(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            subprocess.run(["git", "init", "-q", folder], check=True)
            for name in ["perf", "scratch", "removed"]:
                (root / name).write_bytes(b"\x7fELF\0")
            subprocess.run(["git", "-C", folder, "add", "perf", "removed"], check=True)
            (root / "removed").unlink()
            self.assertEqual([f.path for f in tidy.check_files(root, [], [])], ["perf"])

    def test_exceptions(self):
        tree = {"src/domain/mig/extra.cc": 'getenv("A");\ngetenv("B");\n'}
        entry = "# why\nsrc/domain/mig/extra.cc: banned: getenv\n"
        self.assertEqual(findings_of(tree, entry, 1), [])
        self.assert_one(findings_of(tree, entry, 0), "exception", "1 entries, at most 0")
        self.assert_one(findings_of(tree, entry, 2), "exception", "set EXCEPTION_COUNT_MAX to 1")
        self.assert_one(findings_of({}, entry, 1), "exception", "excuses nothing any more")
        self.assert_one(findings_of({}, "src/domain/mig/extra.cc\n", 1), "exception", "wanted path: rule: part of the text")


if __name__ == "__main__":
    unittest.main()
