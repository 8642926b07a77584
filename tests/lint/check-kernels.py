#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-kernels.py ROOT CLANG: fails on a kernel file that clang rejects.

Each .cl file of cl/ and plugins/ compiles by itself as OpenCL C 1.2, without a
warning, on a device that has no doubles.
"""

import pathlib
import subprocess
import sys

OPTIONS = ['-x', 'cl', '-fsyntax-only', '-cl-std=CL1.2', '-target', 'spir64-unknown-unknown',
           '-Xclang', '-finclude-default-header', '-Xclang', '-cl-ext=-cl_khr_fp64',
           '-Wall', '-Werror']


def main(root, clang):
    kernels = sorted((root / 'cl').rglob('*.cl')) + sorted((root / 'plugins').rglob('*.cl'))
    n_bad = 0
    for kernel in kernels:
        run = subprocess.run([clang, *OPTIONS, str(kernel)], capture_output=True, text=True,
                             check=False)
        if run.returncode != 0:
            print(run.stderr, end='')
            n_bad += 1
    print(f'{len(kernels)} kernel files read, {n_bad} rejected')
    return 1 if n_bad else 0


if __name__ == '__main__':
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2]))
