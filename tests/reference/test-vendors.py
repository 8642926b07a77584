#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-vendors.py CHECK-REFERENCE FOLDER: the layers on the devices of other vendors that
are here (tests/testbed makes such a machine), within ten times the bounds: the functions
of OpenCL may be less exact than PoCL's. A process a device, as a user would. Skipped
where there is none."""

import subprocess
import sys

# Intel's two runtimes share a compiler, so the emulator runs some of the cases.
PLATFORMS = {'intel': 'layers/*', 'fpga': 'layers/*norm*', 'rusticl': 'layers/*'}
SKIPPED = 77


def check(platform):
    """None where there is no such device, else whether all is well."""
    done = subprocess.run([sys.argv[1], sys.argv[2], '--only', PLATFORMS[platform],
                           '--devices', platform, '--tolerance-factor', '10'],
                          text=True, encoding='utf-8', check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = done.stdout.splitlines()
    if any('no device matches' in line or 'no OpenCL' in line for line in lines):
        return None
    print(platform + ':')
    print('\n'.join(line for line in lines if not line.startswith('ok ')), flush=True)
    return done.returncode == 0


def main():
    results = [check(platform) for platform in PLATFORMS]
    if results == [None] * len(PLATFORMS):
        return SKIPPED
    return 1 if False in results else 0


if __name__ == '__main__':
    sys.exit(main())
