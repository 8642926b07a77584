# SPDX-License-Identifier: Apache-2.0
"""Runs train-state and compares the losses that it prints with reference losses.

check-train-state.py seed_trainstate.json EXAMPLE N...

The bound is the file's, 1e-3 relative or 1e-6 absolute, and half a unit of the last
decimal printed.
"""

import json
import re
import subprocess
import sys


# PoCL 3.1 aborts now and then, in the bookkeeping of its compiled kernels.
POCL_ABORT = 'pocl_release_dlhandle_cache'


def run(example, n):
    for _ in range(3):
        done = subprocess.run([example, '--devices', f'pocl*{n}'], capture_output=True,
                              text=True, timeout=120, check=False)
        if done.returncode == 0 or POCL_ABORT not in done.stderr:
            break
        print(f'{n} devices: once more: {done.stderr.strip()}')
    return done


def main(path, example, *counts):
    with open(path, encoding='utf-8') as file:
        runs = json.load(file)['runs']
    for n in counts:
        done = run(example, n)
        if done.returncode != 0:
            sys.exit(f'{n} devices: status {done.returncode}: {done.stderr}')
        printed = re.findall(r'^Average loss across devices: (\d+\.\d{4})$', done.stdout,
                             re.M)
        losses = [sum(row) / len(row) for dropout in '01'
                  for row in runs[f'ones n={n} dropout={dropout}']['losses']]
        if len(printed) != len(losses):
            sys.exit(f'{n} devices: {len(printed)} losses, not {len(losses)}')
        for i, (loss, expected) in enumerate(zip(printed, losses)):
            if abs(float(loss) - expected) > max(1e-3 * expected, 1e-6) + 5e-5:
                sys.exit(f'{n} devices: loss {i} is {loss}, not {expected}')
        print(f'{n} devices: {printed}')


main(*sys.argv[1:])
