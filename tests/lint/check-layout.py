#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-layout.py ROOT: fails on a source file that is not laid out as the house asks.

The licence line first, 90 columns, no tabs, nothing at the end of a line, one
newline at the end; in headers #pragma once, and in public ones the guard and a
line in the list of what is installed.
"""

import pathlib
import sys

COLUMNS = 90
LICENCE = '/* SPDX-License-Identifier: Apache-2.0 */'
FOLDERS = ['include', 'src', 'cl', 'plugins', 'examples', 'tests']
UMBRELLAS = {'gyre.h', 'gyre-plugin.h', 'gyre-test.h'}
GUARD = '#error "Only <gyre/gyre.h> can be included directly."'


def complaints(path, text, is_public):
    lines = text.split('\n')
    if lines[0] != LICENCE:
        yield 1, f'the first line is not {LICENCE}'
    if not text.endswith('\n') or text.endswith('\n\n'):
        yield len(lines), 'does not end in one newline'
    if path.suffix == '.h' and '\n#pragma once\n' not in text:
        yield 1, 'has no #pragma once'
    if is_public and path.name not in UMBRELLAS and GUARD not in text:
        yield 1, 'can be included directly'
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield number, f'{len(line)} columns, more than {COLUMNS}'
        if '\t' in line:
            yield number, 'a tab'
        if line != line.rstrip():
            yield number, 'space at the end of the line'


def not_installed(root):
    folder = root / 'include' / 'gyre'
    listed = (folder / 'meson.build').read_text(encoding='utf-8')
    for header in sorted(folder.glob('*.h')):
        if f"'{header.name}'" not in listed:
            yield header


def main(root):
    data = root / 'tests' / 'data'  # what tests compare with is as it is
    n_files = n_bad = 0
    for header in not_installed(root):
        print(f'{header.relative_to(root)}:1: not in include/gyre/meson.build')
        n_bad += 1
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob('*')):
            if path.suffix not in {'.c', '.h', '.cl'} or data in path.parents:
                continue
            n_files += 1
            text = path.read_text(encoding='utf-8')
            for line, why in complaints(path, text, folder == 'include'):
                print(f'{path.relative_to(root)}:{line}: {why}')
                n_bad += 1
    print(f'{n_files} files read, {n_bad} complaints')
    return 1 if n_bad or not n_files else 0


if __name__ == '__main__':
    sys.exit(main(pathlib.Path(sys.argv[1])))
