#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-includes.py ROOT: fails on an include against the arrow (arrow.py).

Plugins and examples are programs of others: they see public headers only.
"""

import pathlib
import re
import sys

import arrow

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
OPENCL = re.compile(r'^(CL/|OpenCL/|clblast|clFFT)')
OUTSIDE = 'outside'


def homes(root):
    """Where each public header belongs: the folder of the file that implements it."""
    found = {}
    for header in (root / 'include' / 'gyre').glob('gyre-*.h'):
        for source in sorted((root / 'src').glob('*/gyre-*.c')):
            if source.stem == header.stem:
                found[header.name] = source.parent.name
    return found


def target(included, home):
    """The folder that an include leads into, or None if it is none of ours."""
    folder, _, name = included.partition('/')
    if folder == 'gyre':
        return home.get(name)
    return folder if folder in arrow.BELOW else None


def complaint(folder, included, home):
    if folder == OUTSIDE:
        private = included.partition('/')[0] in arrow.BELOW or OPENCL.match(included)
        return 'only public headers' if private else None
    if OPENCL.match(included):
        return None if folder in arrow.OPENCL else 'may not know OpenCL'
    into = target(included, home)
    if into is None or into in arrow.allowed(folder):
        return None
    return f'{folder} may not include {into}'


def files(root, home):
    """Each file to read, with the folder that it counts to."""
    for folder in arrow.BELOW:
        for path in sorted((root / 'src' / folder).rglob('*.[ch]')):
            yield path, folder
    for folder in ['plugins', 'examples']:
        for path in sorted((root / folder).rglob('*.[ch]')):
            yield path, OUTSIDE
    for name, folder in sorted(home.items()):
        yield root / 'include' / 'gyre' / name, folder


def main(root):
    home = homes(root)
    n_files = n_bad = 0
    for folder in sorted((root / 'src').iterdir()):
        if folder.is_dir() and folder.name not in arrow.BELOW:
            print(f'{folder.relative_to(root)}: not in the table of tests/lint/arrow.py')
            n_bad += 1
    for path, folder in files(root, home):
        text = path.read_text(encoding='utf-8')
        n_files += 1
        for match in INCLUDE.finditer(text):
            why = complaint(folder, match[2], home)
            if why:
                line = text.count('\n', 0, match.start()) + 1
                print(f'{path.relative_to(root)}:{line}: includes {match[2]}: {why}')
                n_bad += 1
    print(f'{n_files} files read, {n_bad} includes against the arrow')
    return 1 if n_bad or not n_files else 0


if __name__ == '__main__':
    sys.exit(main(pathlib.Path(sys.argv[1])))
