# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: running it, and reading what it writes."""

import json
import re
import struct
import subprocess
import sys

MODEL = 'flatten ! dense features=32 ! relu ! dense features=10'
SECONDS = re.compile(r'"seconds":[^,}]*')
ITEM = {'F32': ('f', 4), 'I32': ('i', 4), 'U32': ('I', 4), 'U8': ('B', 1), 'BOOL': ('?', 1)}

checks = []


def check(ok, what):
    checks.append(ok)
    print(('ok   ' if ok else 'FAIL ') + what, flush=True)
    return ok


def finish():
    failed = checks.count(False)
    print(f'{len(checks) - failed} of {len(checks)} checks passed')
    sys.exit(1 if failed or not checks else 0)


class Gyre:
    """The command, in a folder of its own."""

    def __init__(self, command, folder):
        self.command = command
        self.folder = folder

    def start(self, *args):
        return subprocess.Popen([self.command, *args], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *args, status=0):
        """What it prints; its status must be this one."""
        process = self.start(*args)
        out, err = process.communicate(timeout=300)
        if 'Tracer caught signal' in err:
            # LeakSanitizer stumbles, rarely, over a driver's thread that is ending
            process = self.start(*args)
            out, err = process.communicate(timeout=300)
        if process.returncode != status:
            check(False, f'gyre {" ".join(args)}: status {process.returncode}, not '
                         f'{status}: {err.strip()}')
        return out if status == 0 else err

    def fails(self, what, status, says, *args):
        """One line that says all of these."""
        err = self.run(*args, status=status)
        check(err.count('\n') == 1 and all(word in err for word in says),
              f'{what}: {err.strip()}')

    def log(self, name):
        """The lines of a log, times aside."""
        text = (self.folder / name).read_text()
        return SECONDS.sub('"seconds":0', text).splitlines()

    def losses(self, name):
        lines = [json.loads(line) for line in self.log(name)]
        return [line['loss'] for line in lines if 'loss' in line]


def read_safetensors(path):
    """(arrays by name as (shape, numbers), metadata), by the format's description."""
    data = path.read_bytes()
    size = struct.unpack_from('<Q', data)[0]
    header = json.loads(data[8:8 + size])
    metadata = header.pop('__metadata__', {})
    arrays = {}
    at = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]['data_offsets']):
        begin, end = entry['data_offsets']
        code, item = ITEM[entry['dtype']]
        count = 1
        for extent in entry['shape']:
            count *= extent
        assert begin == at and end - begin == count * item, name
        at = end
        arrays[name] = (entry['shape'],
                        struct.unpack_from(f'<{count}{code}', data, 8 + size + begin))
    assert 8 + size + at == len(data)
    return arrays, metadata
