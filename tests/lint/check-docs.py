#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-docs.py ROOT: fails on a public function without a documentation comment.

A function marked GYRE_API in include/gyre/ has a comment that begins with its
name and a colon, in the source file that defines it.
"""

import pathlib
import re
import sys

# GYRE_API, a type, a name, an argument list.
DECLARATION = re.compile(r'\bGYRE_API\b([^;(){}#]*?)\b(\w+)\s*\(', re.DOTALL)
DOCUMENTED = re.compile(r'^/\*\*\n \* (\w+):', re.MULTILINE)
IGNORED = re.compile(r'/\*.*?\*/|^#.*?$', re.DOTALL | re.MULTILINE)

# What GObject asks for and nobody looks up.
BOILERPLATE = re.compile(r'^(G_\w+|\w+_get_type|\w+_quark)$')


def public_functions(root):
    for header in sorted((root / 'include' / 'gyre').glob('*.h*')):
        text = IGNORED.sub('', header.read_text(encoding='utf-8'))
        for match in DECLARATION.finditer(text):
            if not BOILERPLATE.match(match[2]):
                yield header, match[2]


def main(root):
    documented = set()
    for source in (root / 'src').rglob('*.c'):
        documented |= set(DOCUMENTED.findall(source.read_text(encoding='utf-8')))

    n_functions = n_bad = 0
    for header, name in public_functions(root):
        n_functions += 1
        if name not in documented:
            print(f'{header.relative_to(root)}: {name} has no documentation comment')
            n_bad += 1
    print(f'{n_functions} public functions, {n_bad} without a documentation comment')
    return 1 if n_bad or not n_functions else 0


if __name__ == '__main__':
    sys.exit(main(pathlib.Path(sys.argv[1])))
