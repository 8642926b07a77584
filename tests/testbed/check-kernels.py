#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-kernels.py [--quick] [--data FOLDER] BUILD: runs every kernel under Oclgrind, on
small shapes, and fails where Oclgrind reports anything, or a kernel of cl/ or of a plugin
was never launched.

Kernels that are made while Gyre runs are those of the primitives: the table of cases
(test-fuse-prims) has each of them, and says so itself. Layers, forward and backward, are
the reference cases. Oclgrind is an OpenCL platform here, so a part runs as it would on any
device; no other driver is in the process, since Oclgrind dies beside some."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
KERNEL = re.compile(r'\b(?:__)?kernel\s+(?:__attribute__\s*\(\(.*?\)\)\s*)?void\s+(\w+)\s*\(',
                    re.S)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)


class Part:
    """A program with arguments; cases: of a Check program, those to run."""

    def __init__(self, name, program, *args, cases=(), quick=True):
        self.name, self.program, self.args = name, program, args
        self.cases, self.quick = cases, quick


def make_parts(data):
    reference = 'tests/reference/check-reference'
    layers = ('--only', 'layers/*')
    return (
        Part('kernels by hand', 'tests/check/test-device-kernel'),
        Part('buffers', 'tests/check/test-device-buffer'),
        Part('fused kernels', 'tests/check/test-fuse-fuse'),
        Part('a perceptron', 'tests/check/test-fuse-mlp'),
        Part('collectives', 'tests/check/test-collective-contract'),
        Part('collectives by the host', 'tests/check/test-schedule-collectives',
             cases=('host',)),
        Part('layers', reference, data, *layers, '--devices', 'oclgrind'),
        Part('layers in shares', reference, data, '--only', 'layers/*norm*',
             '--devices', 'oclgrind*2'),
        Part('optimizers', reference, data, '--only', 'optimizers/*',
             '--devices', 'oclgrind', quick=False),
        Part('primitives', 'tests/check/test-fuse-prims'),
        Part('transforms', 'tests/check/test-fft-fft', quick=False),
        Part('products', 'tests/check/test-blas-blas', quick=False),
        Part('convolutions', 'tests/check/test-prims-convolution', quick=False),
    )


def find_kernels():
    """The names of all kernels in files."""
    names = set()
    for folder in ('cl', 'plugins'):
        for path in sorted((SOURCE / folder).rglob('*.cl')):
            text = COMMENT.sub(' ', path.read_text(encoding='utf-8'))
            found = KERNEL.findall(text)
            if not found:
                raise SystemExit(f'{path}: there is no kernel in it, or none that this '
                                 'program can read')
            names.update(found)
    return names


def find_platform():
    for folder in ('/usr/lib', '/usr/local/lib'):
        for path in pathlib.Path(folder).rglob('liboclgrind-rt-icd.so'):
            return path
    raise SystemExit('Oclgrind is not installed (Debian: oclgrind)')


def make_environment(build, folder):
    vendors = folder / 'vendors'
    vendors.mkdir()
    (vendors / 'oclgrind.icd').write_text(f'{find_platform()}\n', encoding='utf-8')
    env = dict(
        os.environ, OCL_ICD_VENDORS=str(vendors), GYRE_DEVICES='oclgrind',
        GYRE_TEST_PLATFORM='oclgrind', OCLGRIND_DATA_RACES='1',
        GYRE_TEST_DATA=str(SOURCE / 'tests/data'), CK_FORK='no', CK_VERBOSITY='normal',
        GYRE_PLUGIN_PATH=str(build / 'plugins'), GYRE_LIBEXEC=str(build / 'src/device'),
        OPENCL_LAYERS=str(build / 'tests/layers/libgyre-count-layer.so'),
        GYRE_LAYER_KERNELS=str(folder / 'kernels'), G_DEBUG='fatal-criticals',
        # admission is run anew, so that its kernels are seen
        XDG_CACHE_HOME=str(folder / 'cache'))
    for name in ('CK_RUN_CASE', 'CK_RUN_SUITE', 'OCLGRIND_LOG', 'OCLGRIND_BUILD_OPTIONS'):
        env.pop(name, None)
    return env


def run_program(part, build, env, log):
    """Its exit status and output. Oclgrind itself dies at times where one thread makes
    buffers while another launches; what it reports before counts."""
    for _ in range(3):
        log.write_bytes(b'')
        done = subprocess.run([str(build / part.program), *part.args], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding='utf-8', errors='replace', check=False)
        if "throwing an instance of 'std::out_of_range'" not in done.stdout or \
           log.stat().st_size > 0:
            break
        print(f'     {part.name}: Oclgrind died; once more', flush=True)
    return done.returncode, done.stdout


def run_part(part, build, folder, env):
    """What is wrong with it; empty: nothing."""
    complaints = []
    log = folder / 'log'
    for case in part.cases or (None,):
        env = dict(env, OCLGRIND_LOG=str(log))
        if case is not None:
            env['CK_RUN_CASE'] = case
        status, output = run_program(part, build, env, log)
        if status != 0:
            complaints += [f'exit status {status}'] + output.splitlines()[-20:]
        elif re.search(r'Checks: 0\b|^0 ok', output, re.M):
            complaints.append('nothing was run')
        complaints += log.read_text(encoding='utf-8', errors='replace').splitlines()[:40]
    return complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(':')[0])
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--quick', action='store_true',
                        help='short parts only, and no list of kernels that were missed')
    parser.add_argument('--data', default=str(SOURCE / 'tests/data'),
                        help='another folder of reference numbers')
    options = parser.parse_args()
    build = options.build.resolve()
    n_failed = 0

    with tempfile.TemporaryDirectory(prefix='gyre-kernels-') as name:
        folder = pathlib.Path(name)
        env = make_environment(build, folder)
        for part in make_parts(options.data):
            if options.quick and not part.quick:
                continue
            begin = time.monotonic()
            complaints = run_part(part, build, folder, env)
            verdict = 'FAIL' if complaints else 'ok'
            print(f'{verdict:4} {part.name} ({time.monotonic() - begin:.0f} s)', flush=True)
            print(''.join(f'     {line}\n' for line in complaints), end='', flush=True)
            n_failed += bool(complaints)
        launched = set((folder / 'kernels').read_text(encoding='utf-8').split())

    known = find_kernels()
    missed = sorted(known - launched)
    n_made = sum('fused' in name for name in launched)
    print(f'{len(known) - len(missed)} of {len(known)} kernels of cl/ and plugins/ were '
          f'launched, and {n_made} that were made of primitives')
    if not options.quick and missed:
        print('never launched: ' + ', '.join(missed))
        n_failed += 1
    return 1 if n_failed else 0


if __name__ == '__main__':
    sys.exit(main())
