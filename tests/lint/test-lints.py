#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-lints.py CLANG: each check passes a clean tree and fails a seeded one."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CLANG = sys.argv.pop(1) if len(sys.argv) > 1 else ''
LICENCE = '/* SPDX-License-Identifier: Apache-2.0 */\n'
GUARD = '#pragma once\n#error "Only <gyre/gyre.h> can be included directly."\n'

CLEAN = {
    'include/gyre/meson.build': "'gyre-sum.h', 'gyre-x.h'",
    'include/gyre/gyre-sum.h': LICENCE + GUARD + 'GYRE_API\nint gyre_sum (int a,\n'
                               '              int b);\n',
    'src/nn/gyre-sum.c': LICENCE + '#include <gyre/gyre-sum.h>\n'
                         '#include "base/gyre-arena-private.h"\n\n'
                         '/**\n * gyre_sum:\n *\n * Adds.\n */\nint\ngyre_sum (int a, int b)\n'
                         '{\n  return a + b;\n}\n',
    'src/device/gyre-queue.c': LICENCE + '#include <CL/cl.h>\n',
    'cl/add.cl': LICENCE + 'kernel void\ngyre_add (global float *y)\n'
                 '{\n  y[get_global_id (0)] += 1.0f;\n}\n',
    'plugins/dense/dense.c': LICENCE,
}


class Lints(unittest.TestCase):
    def run_check(self, name, seeds):
        """Runs a check over the clean tree with these files put in or replaced."""
        arguments = [CLANG] if name == 'kernels' else []
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {**CLEAN, **seeds}.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding='utf-8')
            return subprocess.run([sys.executable, HERE / f'check-{name}.py', folder, *arguments],
                                  capture_output=True, text=True, check=False)

    def passes(self, name, seeds=None):
        run = self.run_check(name, seeds or {})
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def fails(self, name, seeds, words):
        run = self.run_check(name, seeds)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn(words, run.stdout + run.stderr)

    def test_includes_clean(self):
        self.passes('includes')

    def test_includes_upward(self):
        self.fails('includes', {'src/base/x.c': '#include "nn/gyre-layer-private.h"\n'},
                   'base may not include nn')

    def test_includes_across(self):
        self.fails('includes', {'src/device/x.c': '#include "ir/gyre-graph-private.h"\n'},
                   'device may not include ir')
        self.fails('includes', {'src/fuse/x.c': '#  include "device/gyre-buffer-private.h"\n'},
                   'fuse may not include device')

    def test_includes_public_header_upward(self):
        self.fails('includes', {'src/prims/x.c': '#include <gyre/gyre-sum.h>\n'},
                   'prims may not include nn')

    def test_includes_opencl(self):
        self.fails('includes', {'src/train/x.c': '#include <CL/cl.h>\n'}, 'may not know OpenCL')

    def test_includes_of_plugins(self):
        self.fails('includes', {'plugins/dense/x.c': '#include "base/gyre-arena-private.h"\n'},
                   'only public headers')
        self.fails('includes', {'examples/x.c': '#include <CL/cl.h>\n'}, 'only public headers')

    def test_includes_unknown_folder(self):
        self.fails('includes', {'src/misc/x.c': ''}, 'not in the table')

    def test_kernels_clean(self):
        self.needs_clang()
        self.passes('kernels')

    def test_kernels_broken(self):
        self.needs_clang()
        self.fails('kernels', {'plugins/dense/cl/bad.cl': 'kernel void f (global float *y)\n'
                               '{\n  y[0] = no_such_function (1.0f);\n}\n'}, 'no_such_function')

    def test_kernels_double(self):
        self.needs_clang()
        self.fails('kernels', {'cl/bad.cl': 'kernel void f (global float *y)\n'
                               '{\n  y[0] = y[0] * 0.5;\n}\n'}, 'bad.cl')

    def test_docs_clean(self):
        self.passes('docs')

    def test_docs_missing(self):
        self.fails('docs', {'include/gyre/gyre-x.h': 'GYRE_API void gyre_x (void);\n'},
                   'gyre_x has no documentation comment')

    def test_docs_boilerplate(self):
        self.passes('docs', {'include/gyre/gyre-x.h': 'GYRE_API GType gyre_x_get_type (void);\n'})

    def test_layout_clean(self):
        self.passes('layout')

    def test_layout_seeded(self):
        self.fails('layout', {'src/nn/x.c': 'int x;\n'}, 'first line')
        self.fails('layout', {'src/nn/x.c': LICENCE + 'int x; \n'}, 'space at the end')
        self.fails('layout', {'src/nn/x.c': LICENCE + '\tint x;\n'}, 'a tab')
        self.fails('layout', {'src/nn/x.c': LICENCE + '/' * 91 + '\n'}, '91 columns')
        self.fails('layout', {'include/gyre/gyre-x.h': LICENCE + '#pragma once\n'},
                   'can be included directly')
        self.fails('layout', {'include/gyre/gyre-y.h': LICENCE + GUARD}, 'not in include')

    def needs_clang(self):
        if not CLANG:
            self.skipTest('no clang')


if __name__ == '__main__':
    unittest.main()
