# SPDX-License-Identifier: Apache-2.0
"""Runs a regression example and compares what it prints with reference losses.

check-regression.py seed_mlp.json pmap|mesh EXAMPLE [ENTRY:DEVICES[:MESH]...]

An argument such as 'dp=2,tp=2:pocl*4' names an entry of the file and the devices to run
it on; MESH is another layout that must give the same losses.  Losses are printed with six decimals: half a unit of the last is added to the
bounds of the file, 2e-6 relative at step 0 and 1e-4 after.
"""

import json
import re
import subprocess
import sys


def run(example, form, layout, devices, seed):
    command = [example, '--devices', devices, '--seed', str(seed)]
    if form == 'mesh':
        command += ['--mesh', layout]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f'{" ".join(command)}: exit status {done.returncode}: {done.stderr}')
    return re.findall(r'^Step (\d+): Loss = (\d+\.\d{6})$', done.stdout, re.M)


def compare(name, printed, losses):
    steps = [int(step) for step, _ in printed]
    if steps != list(range(0, len(losses), 10)):
        sys.exit(f'{name}: prints steps {steps}')
    for step, loss in printed:
        expected = losses[int(step)]
        bound = (2e-6 if step == '0' else 1e-4) * expected + 5e-7
        if abs(float(loss) - expected) > bound:
            sys.exit(f'{name}: loss of step {step} is {loss}, not {expected}')


def main(path, form, example, *runs):
    with open(path, encoding='utf-8') as file:
        reference = json.load(file)
    for text in runs:
        entry, devices, *layout = text.split(':')
        layout = layout[0] if layout else entry
        printed = run(example, form, layout, devices, reference['seeds'][0])
        compare(text, printed, reference[form][entry]['losses'])
        print(f'{form} {text}: {printed}')


main(*sys.argv[1:])
