#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-fails.py CHECK-REFERENCE FOLDER: check-reference sees a wrong number in each kind
of file, and counts right. In the interpreter, so that no device is needed."""

import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])


class Fails(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='gyre-reference-'))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def check(self, status, *args):
        """The lines, and the counts of the last."""
        done = subprocess.run([PROGRAM, '--oracle', str(self.folder), *args], text=True,
                              capture_output=True, encoding='utf-8', check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        *lines, last = done.stdout.splitlines()
        verdicts = [line.split()[0] for line in lines]
        self.assertEqual(last, '{} ok, {} failed, {} skipped'.format(
            *(verdicts.count(word) for word in ('ok', 'FAIL', 'skip'))))
        return lines

    def alter(self, name, change):
        root = json.loads((FOLDER / name).read_text(encoding='utf-8'))
        change(root)
        (self.folder / name).write_text(json.dumps(root), encoding='utf-8')

    def failed(self, lines):
        return [line.split(None, 1)[1].split('  ')[0].strip() for line in lines
                if line.startswith('FAIL')]

    def test_draw(self):
        def change(root):
            del root[12:]
            root[2]['values'][0] += 1
        self.alter('prng.json', change)
        names = self.failed(self.check(1))
        self.assertEqual({name.split('.')[0] for name in names}, {'prng/002'})

    def test_optimizer_and_schedule(self):
        def change(root):
            root['runs']['sgd lr=0.1'][5]['b'][2] *= 1 + 1e-5
            root['schedules']['constant 0.1'][3] = 0.2
            root['runs']['sorcery lr=1'] = root['runs']['sgd lr=0.1']
        self.alter('optimizers.json', change)
        lines = self.check(1)
        self.assertEqual({name.split(':')[0] for name in self.failed(lines)},
                         {'optimizers/sgd lr=0.1', 'optimizers/sorcery lr=1',
                          'schedules/constant 0.1'})
        self.assertIn('unknown optimizer "sorcery"', ''.join(lines))

    def test_tolerance_factor(self):
        def change(root):
            root['schedules']['constant 0.1'][3] *= 1 + 5e-6
        self.alter('optimizers.json', change)
        only = ('--only', 'schedules/constant*')
        self.assertEqual(len(self.failed(self.check(1, *only))), 1)
        self.assertEqual(len(self.check(0, *only, '--tolerance-factor', '10')), 1)

    def test_empty_draw(self):
        (self.folder / 'prng.json').write_text(json.dumps([
            {'op': 'bits', 'seed': 1, 'shape': [0], 'values': []},
            {'op': 'bits', 'seed': 1, 'shape': [1], 'values': []}]), encoding='utf-8')
        names = self.failed(self.check(1))
        self.assertEqual({name.split('.')[0] for name in names}, {'prng/001'})

    def alter_layer(self, name, change):
        """A copy of the case whose metadata changes."""
        layers = self.folder / 'layers'
        layers.mkdir(exist_ok=True)
        data = (FOLDER / 'layers' / f'{name}.safetensors').read_bytes()
        size, = struct.unpack_from('<Q', data)
        header = json.loads(data[8:8 + size])
        change(header)
        text = json.dumps(header).encode()
        (layers / f'{name}.safetensors').write_bytes(
            struct.pack('<Q', len(text)) + text + data[8 + size:])

    def test_nothing_is_passed_over(self):
        """What a file says beyond what is known is a failure."""
        def attribute(name, value):
            def change(header):
                meta = header['__metadata__']
                meta['attributes'] = json.dumps(
                    {**json.loads(meta['attributes']), name: value})
            return change

        def rename(header):
            header['mask'] = header.pop('dx')
        self.alter_layer('mse', attribute('weight', 2))
        self.alter_layer('huber', attribute('reduction', 'median'))
        self.alter_layer('dense.bias', attribute('activation', 'relu'))
        self.alter_layer('dense.rank3', rename)
        self.alter_layer('layer_norm', attribute('dtype', None))
        lines = ''.join(self.check(1))
        for words in ('no attribute "weight"', 'unknown reduction "median"',
                      'no property "activation"', '"mask", which is neither'):
            self.assertIn(words, lines)
        self.assertIn('ok   layers/layer_norm', lines)

    def test_perceptron(self):
        def change(root):
            root['pmap']['2']['losses'][0] *= 1 + 1e-5
            root['mesh']['dp=2']['final']['w2'][3] += 1e-4
        self.alter('seed_mlp.json', change)
        self.assertEqual(self.failed(self.check(1)),
                         ['seed_mlp/pmap.2', 'seed_mlp/mesh.dp=2'])

    def test_layer(self):
        layers = self.folder / 'layers'
        layers.mkdir()
        for name in ('dense.bias', 'dense.rank3'):
            shutil.copy(FOLDER / 'layers' / f'{name}.safetensors', layers)
        path = layers / 'dense.rank3.safetensors'
        data = bytearray(path.read_bytes())
        size, = struct.unpack_from('<Q', data)
        first, _ = json.loads(data[8:8 + size])['grad/kernel']['data_offsets']
        number, = struct.unpack_from('<f', data, 8 + size + first)
        struct.pack_into('<f', data, 8 + size + first, number + 0.01)
        path.write_bytes(data)
        lines = self.check(1)
        self.assertEqual(self.failed(lines), ['layers/dense.rank3'])
        self.assertIn('grad/kernel[0]', ''.join(lines))
        self.assertEqual(len(self.check(0, '--only', '*bias')), 1)

    def test_broken_files(self):
        (self.folder / 'prng.json').write_text('[', encoding='utf-8')
        (self.folder / 'layers').mkdir()
        (self.folder / 'layers' / 'a.safetensors').write_bytes(b'12345')
        self.assertEqual(len(self.failed(self.check(1))), 2)

    def test_nothing_to_check(self):
        self.assertIn('no case', ''.join(self.check(1)))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
