"""Tests that check.py finds every kind of fault, and none in a tree that has none."""
import pathlib
import tempfile
import unittest

import check

TREE = {
    "CMakeLists.txt": "hearth_module(base)\nhearth_module(ops USES base LIBRARIES fmt::fmt)\nhearth_module(nn USES ops)\n",
    "hearth/base/error.h": "namespace hearth {}\n",
    "hearth/ops/context.h": '#include "hearth/base/error.h"\nnamespace hearth::ops {\nstruct Context;\n}\n',
    "hearth/nn/model.cc": '#include "hearth/ops/context.h"\nvoid f(ops::Context&);  // as base::error does\n',
}


class Check(unittest.TestCase):
    def faults(self, **changes):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**TREE, **changes}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check.check(pathlib.Path(folder))[0]

    def expect_fault(self, sentence, **changes):
        faults = self.faults(**changes)
        self.assertEqual(len(faults), 1, faults)
        self.assertIn(sentence, faults[0])

    def test_a_tree_without_faults(self):
        self.assertEqual(self.faults(), [])

    def test_an_include_that_the_table_does_not_name(self):
        self.expect_fault("add base to the line hearth_module(nn USES ...)",
                          **{"hearth/nn/more.h": '#include "hearth/base/error.h"\n'})

    def test_an_edge_that_nothing_uses(self):
        table = TREE["CMakeLists.txt"].replace("nn USES ops", "nn USES ops base")
        self.expect_fault("nn includes nothing of base", **{"CMakeLists.txt": table})

    def test_a_namespace_that_is_not_included(self):
        self.expect_fault("base/user.cc uses ops:: and base includes no header of ops",
                          **{"hearth/base/user.cc": "void f(ops::Context&);\n"})

    def test_a_module_that_is_not_in_the_table(self):
        self.expect_fault("the module extra is not in CMakeLists.txt", **{"hearth/extra/a.h": "\n"})

    def test_a_library_outside_its_fence(self):
        self.expect_fault("which only kernels/gemm/onednn.cc may include",
                          **{"hearth/nn/more.h": "#include <dnnl.hpp>\n"})


class PublicHeaders(unittest.TestCase):
    def faults(self, files, names=None):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            headers = check.public_headers(root) if names is None else [root / name for name in names]
            return check.public_faults(root, headers)

    def test_a_library_behind_another_header(self):
        files = {"hearth/a.h": '#include "hearth/b.h"\n', "hearth/b.h": "#include <fmt/format.h>\n"}
        faults = self.faults(files, ["hearth/a.h"])
        self.assertEqual(len(faults), 1, faults)
        self.assertIn("fmt/format.h, by way of hearth/a.h -> hearth/b.h", faults[0])

    def test_the_standard_library_is_no_fault(self):
        self.assertEqual(self.faults({"hearth/a.h": "#include <vector>\n"}, ["hearth/a.h"]), [])

    def test_the_umbrella_headers_come_first(self):
        files = {"include/hearth/train.h": '#include "hearth/a.h"\n', "hearth/a.h": "#include <nlohmann/json.hpp>\n"}
        self.assertIn("by way of include/hearth/train.h -> hearth/a.h", self.faults(files)[0])

    def test_a_header_that_is_missing(self):
        self.assertIn("there is no such header", self.faults({}, ["hearth/a.h"])[0])


if __name__ == "__main__":
    unittest.main()
