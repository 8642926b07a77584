#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-command.py GYRE GROUP: runs the command as a user does, and looks at its exit
status, its output and its log. A group is a class below. GYRE_TEST_LAYER is the
counting OpenCL layer."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

GYRE = ''
LAYER = os.environ.get('GYRE_TEST_LAYER', '')
SECONDS = 240  # for one command, on a machine that is busy
SMALL = 'flatten ! dense features=10'
MLP = 'flatten ! dense features=32 ! relu ! dense features=10'
# What is set outside must not choose for the tests.
UNSET = ['GYRE_ALL_REDUCE', 'GYRE_GEMM', 'GYRE_FUSE', 'OPENCL_LAYERS', 'POCL_DEVICES']


def environment(**more):
    env = {k: v for k, v in os.environ.items() if k not in UNSET}
    # processes that build at once get into each other's way in PoCL's cache
    if 'POCL_CACHE_DIR' in env:
        env['POCL_CACHE_DIR'] += '-command-' + '-'.join(sys.argv[2:]).lower()
    env.setdefault('GYRE_DEVICES', 'pocl')
    env.update(more)
    return env


def run(*args, **env):
    for _ in range(3):
        done = subprocess.run([GYRE, *args], env=environment(**env), timeout=SECONDS,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              encoding='utf-8', check=False)
        # LeakSanitizer stumbles, rarely, over a driver's thread that is ending
        if 'Tracer caught signal' not in done.stderr:
            break
    return done


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='gyre-test-'))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def train(self, *args, log='log', devices='pocl', model=MLP, **env):
        """Trains on the digits; returns what was printed, and the log's text."""
        path = self.folder / log
        done = run('train', '--data', 'digits', '--model', model, '--devices', devices,
                   '--log', str(path), *args, **env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, '')
        return done.stdout, path.read_text(encoding='utf-8')

    def refuse(self, args, culprit, status=2, **env):
        """One line on stderr that names what was wrong."""
        done = run(*args, **env)
        self.assertEqual(done.returncode, status, (args, done.stderr))
        self.assertRegex(done.stderr, r'\A[^\n]+\n\Z', args)
        self.assertTrue(done.stderr.startswith('gyre'), done.stderr)
        self.assertIn(culprit, done.stderr, args)
        return done.stderr


def losses(log):
    lines = [json.loads(line) for line in log.splitlines()[1:]]
    return [line['loss'] for line in lines if 'step' in line]


def without_seconds(log):
    return re.sub(r'"seconds":[0-9.e+-]+', '"seconds":-', log)


class Devices(Case):
    def test_json_lists_devices(self):
        done = run('devices', '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        devices = json.loads(done.stdout)
        self.assertIn('Portable Computing Language', [d['platform'] for d in devices])
        for device in devices:
            self.assertIs(type(device['name']), str)
            self.assertGreater(device['memory'], 0)
            self.assertIn(device['type'], ['cpu', 'gpu', 'accelerator', 'other'])
            self.assertIs(type(device['admitted']), bool)
            self.assertTrue(device['admitted'] or device['reason'])

    def test_text_has_each_name(self):
        listed = json.loads(run('devices', '--json').stdout)
        text = run('devices').stdout
        for device in listed:
            self.assertIn(device['name'], text)

    def test_no_platform_says_what_to_install(self):
        for args in (['devices'], ['devices', '--json'], ['train', '--data', 'digits']):
            line = self.refuse(args, 'install', status=1,
                               OCL_ICD_VENDORS=str(self.folder))
            self.assertIn('pocl-opencl-icd', line)


class Errors(Case):
    def test_names_the_culprit(self):
        digits = ['train', '--data', 'digits']
        wide = ['train', '--data', 'digits', '--devices', 'pocl*2']
        for args, culprit in (
                ([*digits, '--model', 'flatten ! dens features=3'], 'dens'),
                ([*digits, '--model', 'flatten ! dense features=0'], 'features=0'),
                ([*digits, '--model', 'flatten ! dense features=10 ! dropout rate=1.5'],
                 'rate=1.5'),
                ([*digits, '--model', 'flatten ! dense colour=3'], 'colour'),
                ([*digits, '--model', 'flatten ! dense'], 'features'),
                ([*digits, '--model', 'flatten !'], 'column 10'),
                ([*digits, '--model', 'dense features=10'], '[64, 8, 8, 10]'),
                ([*digits, '--model', 'flatten ! dense features=5'], '[64, 5]'),
                ([*digits, '--optimizer', 'adan'], 'adan'),
                ([*digits, '--optimizer', 'adam learning-rate=-1'], 'learning-rate=-1'),
                ([*digits, '--batch-size', '0'], '--batch-size 0'),
                ([*digits, '--batch-size', '1e3'], '1e3'),
                ([*digits, '--epochs', '0'], '--epochs 0'),
                ([*digits, '--steps', '0'], '--steps 0'),
                ([*digits, '--seed', 'x'], '--seed x'),
                ([*digits, '--mode', 'spmd'], 'spmd'),
                ([*digits, '--dump', 'all'], 'all'),
                ([*digits, '--devices', 'nonsense'], 'nonsense'),
                ([*digits, '--devices', 'pocl*0'], 'pocl*0'),
                ([*digits, '--devices', 'pocl:9'], 'pocl:9'),
                ([*digits, '--devices', 'pocl,,'], 'pocl,,'),
                ([*digits, '--shares', '1:2'], '1:2'),
                ([*wide, '--shares', '1:x'], '1:x'),
                ([*wide, '--shares', '1:-1'], '1:-1'),
                ([*wide, '--shares', '0:0'], '0:0'),
                ([*wide, '--shares', '1:1:1'], '1:1:1'),
                ([*wide, '--shares', '1e308:1e308'], '1e308:1e308'),
                ([*digits, '--devices', ''], 'column 1'),
                ([*digits, '--devices', 'pocl/999'], '999 sub-devices'),
                ([*digits, '--devices', 'pocl=0.7,pocl=0.7'], 'add up to 1.4'),
                (['train', '--data', 'digits:3'], 'digits:3'),
                (['train', '--data', 'mnist:3'], 'fashion-mnist'),
                ([*digits, '--shares', 'equal', '--plan', '/dev/null'], '--plan'),
                ([*digits, '--plan', '/nowhere/log'], '/nowhere/log'),
                (['train', '--data', 'idx:/nowhere'], '/nowhere'),
                (['train', '--data', 'idx:' + GYRE], GYRE),
                (['train', '--data', 'mnist2'], 'mnist2'),
                ([*digits, '--colour'], '--colour'),
                ([*digits, 'more'], 'more'),
                (['trian'], 'trian'),
                (['inspect', 'dens'], 'dens'),
                (['bench', 'all-reduce', '--bytes', '3'], '--bytes 3'),
                (['bench', 'all-reduce', '--algorithm', 'tree', '--devices', 'pocl*2'],
                 'tree'),
                (['bench', 'nothing'], 'bench all-reduce')):
            with self.subTest(args=args):
                self.refuse(args, culprit)

    def test_bytes_that_are_no_text(self):
        self.refuse(['train', '--model', b'flatt\xffen'], 'character set')

    def test_damaged_plan(self):
        plan, damaged = self.folder / 'plan', self.folder / 'damaged'
        self.train('--steps', '1', log='plan')
        head = json.loads(plan.read_text(encoding='utf-8').splitlines()[0])
        for name, value in (('name', {}), ('name', 3), ('share', 'x'), ('share', []),
                            ('share', 0), ('share', True), ('share', -1),
                            ('benched', True)):
            with self.subTest(name=name, value=value):
                head['devices'] = [{**head['devices'][0], name: value}]
                damaged.write_text(json.dumps(head) + '\n', encoding='utf-8')
                self.refuse(['train', '--data', 'digits', '--devices', 'pocl',
                             '--plan', str(damaged)], str(damaged), status=1)

    def test_full_disk(self):
        small = ['train', '--data', 'digits', '--model', SMALL, '--devices', 'pocl']
        # at the first step, not after all of them
        line = self.refuse([*small, '--epochs', '1000000', '--log', '/dev/full'],
                           '/dev/full', status=1)
        self.assertIn('No space left', line)
        for args in (['devices'], ['inspect', 'dense'], [*small, '--steps', '1']):
            with self.subTest(args=args), open('/dev/full', 'wb') as full:
                done = subprocess.run([GYRE, *args], env=environment(), timeout=SECONDS,
                                      stdout=full, stderr=subprocess.PIPE, text=True,
                                      check=False)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr,
                                 r"\Agyre [^\n]+ output can't be written[^\n]*\n\Z")

    def test_closed_output(self):
        log = self.folder / 'log'
        done = subprocess.run(
            ['sh', '-c', '"$@" >&-', 'sh', GYRE, 'train', '--data', 'digits', '--model',
             SMALL, '--devices', 'pocl', '--steps', '2', '--log', str(log)],
            env=environment(), timeout=SECONDS, stderr=subprocess.PIPE, text=True,
            check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        # nothing that was meant for the screen is in it
        for line in log.read_text(encoding='utf-8').splitlines():
            json.loads(line)

    def test_a_folder_without_the_files_is_named(self):
        done = run('train', '--data', f'idx:{self.folder}')
        self.assertIn(done.returncode, (1, 2))
        self.assertRegex(done.stderr, r'\A[^\n]+\n\Z')
        self.assertIn(str(self.folder), done.stderr)
        self.assertIn('train-images-idx3-ubyte', done.stderr)


class Inspect(Case):
    def test_shows_properties(self):
        text = run('inspect', 'dense').stdout
        self.assertIn('plugin dense', text)
        self.assertRegex(text, r'features[^\n]*\n[^\n]*integer, 1 to 2147483647; has to')
        self.assertRegex(text, r'use-bias[^\n]*\n[^\n]*boolean[^\n]*default true')
        text = run('inspect', 'dropout').stdout
        self.assertRegex(text, r'rate[^\n]*\n[^\n]*number, 0 to 1; default 0\.5')
        self.assertIn('part of the library', run('inspect', 'sequential').stdout)

    def test_describes_each_layer_of_a_line(self):
        line = ('flatten ! residual ( dense features=784 ) ! repeat times=2 ( relu ) ! '
                'dense name=head features=10')
        text = run('inspect', line, '--input', '28,28,1', '--batch-size', '3').stdout
        for row in (r'residual_0 +\[3, 784\] +0 +2\.35 kFLOP',
                    r'residual_0/dense_0 +\[3, 784\] +615440 ',
                    r'repeat_0 +\[3, 784\] +0 +0 FLOP +0 B',
                    r'repeat_0/1/relu_0 ', r'head +\[3, 10\] +7850 ', r'all +623290 '):
            self.assertRegex(text, '(?m)^' + row)
        self.assertRegex(run('inspect', SMALL, '--data', 'digits').stdout,
                         r'flatten_0 +\[1, 64\]')
        self.refuse(['inspect', SMALL, '--input', '28,x'], '28,x')
        self.refuse(['inspect', 'flatten ! residual ( dense features=3 )', '--input', '4'],
                    'f32[1, 3]', status=1)

    def test_says_which_of_two_modules_wins(self):
        build = pathlib.Path(os.environ['GYRE_PLUGIN_PATH'])
        plugins = self.folder / 'plugins'
        plugins.mkdir()
        shutil.copy(build / 'libgyre-dense.so', plugins)
        text = run('inspect', GYRE_PLUGIN_PATH=f'{plugins}:{build}').stdout
        self.assertIn(f'{plugins}/libgyre-dense.so wins over {build}/libgyre-dense.so', text)

    def test_writes_a_plugin(self):
        done = run('new-plugin', 'swish2', '--directory', str(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        names = sorted(path.name for path in (self.folder / 'swish2').iterdir())
        self.assertEqual(names, ['README.md', 'meson.build', 'swish2-kernel.c', 'swish2.c', 'swish2.cl',
                                 'swish2.gresource.xml', 'swish2.h', 'test-swish2.c'])
        for path in (self.folder / 'swish2').iterdir():
            self.assertNotRegex(path.read_text(encoding='utf-8'), r'@\w+@')
        again = ['new-plugin', 'swish2', '--directory', str(self.folder)]
        self.refuse(again, 'File exists', status=1)
        self.refuse(['new-plugin', 'relu'], "a layer 'relu' already")
        for name, why in (('Swish', 'words of a-z'), ('', 'words of a-z'), ('2x', 'words'),
                          ('a--b', 'words'), ('a_b', 'words'), ('../x', 'words'),
                          ('gyre', 'prefix'), ('gyre-x', 'prefix'), ('x' * 65, '65'),
                          ('x\n', 'words')):
            self.assertIn(why, self.refuse(['new-plugin', name], f"'{name[:1]}"))

    def test_lists_all(self):
        text = run('inspect').stdout
        for name in ('dense', 'relu', 'dropout', 'flatten', 'sequential', 'adam', 'sgd',
                     'cosine-decay', 'he-normal', 'huber', 'idx'):
            self.assertRegex(text, rf'(?m)^ *{name}\b')
        self.assertRegex(text, r'plugin dense \S+, Apache-2.0, Gyre\n  layers\n    dense .*'
                               r'features=\.\.\. use-bias=true')

    def test_one_of_each_kind(self):
        modules = os.environ['GYRE_TEST_PLUGINS']
        plugins = self.folder / 'plugins'
        plugins.mkdir()
        for name in ('kinds', 'good', 'second'):
            shutil.copy(f'{modules}/libgyre-test-{name}.so', plugins)
        env = {'GYRE_PLUGIN_PATH': f"{plugins}:{os.environ['GYRE_PLUGIN_PATH']}"}
        for kind, name in (('layer', 'test-twice'), ('optimizer', 'test-plain'),
                           ('schedule', 'test-stairs'), ('initializer', 'test-counting'),
                           ('loss', 'test-absolute'), ('data format', 'test-chess')):
            text = run('inspect', name, **env).stdout
            self.assertRegex(text, rf'\A{kind} {name}\n  type \w+\n  plugin test_kinds 2.0, '
                                   r'Apache-2.0, the tests of Gyre\n')
        self.assertIn('primitives\n    test-twice\n', run('inspect', 'test-kinds', **env).stdout)
        self.assertIn(f'hides that of {plugins}/libgyre-test-second.so',
                      run('inspect', 'test-rms-norm', **env).stdout)
        text = run('inspect', **env).stdout
        self.assertIn(f'layer "sequential": that of the library hides that of '
                      f'{plugins}/libgyre-test-second.so', text)
        self.assertIn('did you mean "test-chess"',
                      self.refuse(['inspect', 'test-ches'], 'test-ches', **env) or
                      run('inspect', 'test-ches', **env).stderr)
        logs = [self.train('--loss', f'test-absolute reduction={reduction}', '--optimizer',
                           'test-plain learning-rate=test-stairs(height=0.125)',
                           '--data', 'test-chess(n=12):x', '--batch-size', '5', '--mode',
                           mode, devices='pocl*3', log=f'{reduction}-{mode}',
                           model='flatten ! dense features=2 '
                                 'kernel-init=test-counting(start=-2) ! test-twice', **env)[1]
                for reduction in ('mean', 'sum') for mode in ('jit', 'pmap')]
        mean, mean_pmap, total, total_pmap = [losses(log) for log in logs]
        for a, b in (*zip(mean, mean_pmap), *zip(total, total_pmap)):
            self.assertAlmostEqual(a, b, delta=1e-5 * abs(a))
        self.assertAlmostEqual(total[0], 10 * mean[0], delta=1e-5 * total[0])

    def test_dense_is_a_module(self):
        plugins = self.folder / 'plugins'
        build = pathlib.Path(os.environ['GYRE_PLUGIN_PATH'])
        plugins.mkdir()
        for module in build.glob('libgyre-*.so'):
            if module.name != 'libgyre-dense.so':
                shutil.copy(module, plugins)
        self.assertTrue((plugins / 'libgyre-flatten.so').exists())
        # a copy of the library, so that the build tree is not beside it
        library = self.folder / 'lib'
        library.mkdir()
        for so in pathlib.Path(GYRE).parent.glob('libgyre-1.0.so*'):
            if so.is_file():
                shutil.copy(so, library / so.name)
        for program in ('gyre', 'gyre-plugin-scan'):
            shutil.copy(pathlib.Path(GYRE).parent / program, library)
        done = subprocess.run(
            [library / 'gyre', 'train', '--data', 'digits', '--model', SMALL],
            env=environment(GYRE_PLUGIN_PATH=str(plugins), LD_LIBRARY_PATH=str(library)),
            timeout=SECONDS, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('unknown layer "dense"', done.stderr)
        self.assertRegex(done.stderr, r'\A[^\n]+\n\Z')


class Kit(Case):
    """A plugin outside of the tree, as gyre new-plugin writes it, and as the guide does."""

    def setUp(self):
        super().setUp()
        source = pathlib.Path(__file__).resolve().parents[3]
        build = pathlib.Path(GYRE).resolve().parents[1]
        self.guide = (source / 'docs' / 'writing-a-layer.md').read_text(encoding='utf-8')
        (self.folder / 'gyre-1.0.pc').write_text(
            f'plugindir={self.folder}/plugins\nName: Gyre\nVersion: 0\n'
            'Description: that of the build tree\n'
            'Requires: glib-2.0, gobject-2.0, gio-2.0\n'
            f'Cflags: -I{source}/include -I{build}/include\n'
            f'Libs: -L{build}/src -lgyre-1.0\n', encoding='utf-8')

    def build_and_test(self, name):
        env = environment(PKG_CONFIG_PATH=str(self.folder),
                          POCL_CACHE_DIR=str(self.folder / 'pocl'))
        for command in (['meson', 'setup', 'b', '--fatal-meson-warnings', '-Dwerror=true'],
                        ['ninja', '-C', 'b', 'test']):
            done = subprocess.run(command, cwd=self.folder / name, env=env, timeout=600,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        log = self.folder / name / 'b' / 'meson-logs' / 'testlog.txt'
        return log.read_text(encoding='utf-8').count('\nok: ')

    def test_a_new_plugin_passes_its_test(self):
        run('new-plugin', 'swish2', '--directory', str(self.folder))
        self.assertEqual(self.build_and_test('swish2'), 4)

    def test_the_guide_is_right(self):
        run('new-plugin', 'relu2', '--directory', str(self.folder))
        files = re.findall(r'```c (\S+)\n(.*?)```', self.guide, re.DOTALL)
        self.assertEqual(len(files), 4)
        for name, text in files:
            (self.folder / 'relu2' / name).write_text(text, encoding='utf-8')
        self.assertEqual(self.build_and_test('relu2'), 3)
        line = 'flatten ! relu2 features=16 ! relu2-kernel ! dense features=10'
        plugins = f"{self.folder}/relu2/b:{os.environ['GYRE_PLUGIN_PATH']}"
        self.train('--steps', '3', model=line, GYRE_PLUGIN_PATH=plugins)

    def test_the_other_guide_is_right(self):
        """Each example is a module by the command of the page, and runs as it says."""
        source = pathlib.Path(__file__).resolve().parents[3]
        guide = (source / 'docs' / 'writing-plugins.md').read_text(encoding='utf-8')
        env = environment(PKG_CONFIG_PATH=str(self.folder), GYRE_DEVICES='pocl')
        env['PATH'] = f'{pathlib.Path(GYRE).parent}:{env["PATH"]}'
        env['GYRE_PLUGIN_PATH'] = f"{self.folder}/plugins:{env['GYRE_PLUGIN_PATH']}"
        files = re.findall(r'```c (\S+)\.c\n(.*?)```', guide, re.DOTALL)
        self.assertEqual(len(files), 5)
        command = re.search(r'(?m)^    (cc .*)$', guide)[1]
        lines = ['mkdir plugins']
        for name, text in files:
            (self.folder / f'{name}.c').write_text(text, encoding='utf-8')
            lines.append(command.replace('ternary', name) + ' -Wall -Werror')
        lines += [match[1] for match in re.finditer(
            r'(?m)^    ((?:gyre train|printf)(?:.*\\\n)*.*)$', guide)]
        self.assertEqual(len(lines), 1 + 5 + 7)
        for line in lines:
            done = subprocess.run(['sh', '-c', line], cwd=self.folder, env=env,
                                  timeout=SECONDS, capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, line + done.stdout + done.stderr)


class Log(Case):
    ARGS = ('--batch-size', '512', '--epochs', '2', '--shares', 'equal')

    def test_format(self):
        out, log = self.train(*self.ARGS, '--seed', '3')
        self.assertIn('digits', out)
        lines = log.splitlines()
        head = json.loads(lines[0])
        for name in ('devices', 'shares', 'mesh', 'seed', 'model'):
            self.assertIn(name, head)
        self.assertEqual(head['seed'], 3)
        self.assertEqual(head['model'], MLP)
        number = r'[0-9]\.?[0-9.]*(e[+-][0-9]+)?'
        # 1437 rows in batches of 512 are 3 a epoch, the last one short
        step = rf'\{{"step":(\d+),"epoch":(\d+),"loss":({number})\}}'
        steps = [re.fullmatch(step, line) for line in lines[1:4] + lines[5:8]]
        self.assertTrue(all(steps), log)
        self.assertEqual([(int(m[1]), int(m[2])) for m in steps],
                         [(i, i // 3) for i in range(6)])
        epoch = (rf'\{{"epoch":(\d+),"mean_loss":({number}),'
                 rf'"test_accuracy":({number}),"seconds":({number})\}}')
        for i, line in ((0, lines[4]), (1, lines[8])):
            match = re.fullmatch(epoch, line)
            self.assertTrue(match, line)
            self.assertEqual(int(match[1]), i)
            rows = [512, 512, 413]
            mean = sum(r * float(m[3]) for r, m in zip(rows, steps[3 * i:])) / 1437
            self.assertAlmostEqual(float(match[2]), mean, delta=1e-6)
        self.assertEqual(len(lines), 9)
        for match in steps:  # nine significant digits, trailing zeros aside
            self.assertLessEqual(len(match[3].replace('.', '').lstrip('0')), 9)
        self.assertTrue(any(len(m[3].replace('.', '').lstrip('0')) == 9 for m in steps))

    def test_same_command_same_bytes(self):
        _, first = self.train(*self.ARGS, log='first')
        _, second = self.train(*self.ARGS, log='second')
        self.assertEqual(without_seconds(first), without_seconds(second))
        _, other = self.train(*self.ARGS, '--seed', '1', log='other')
        self.assertNotEqual(losses(first), losses(other))

    def test_no_locale(self):
        listed = subprocess.run(['locale', '-a'], capture_output=True, text=True,
                                check=False).stdout.lower().split()
        german = [name for name in listed if name.startswith('de_de')]
        if not german:
            self.skipTest('no German locale is installed')
        _, plain = self.train(*self.ARGS, log='plain', LC_ALL='C')
        _, other = self.train(*self.ARGS, log='other', LC_ALL=german[0])
        self.assertEqual(without_seconds(plain), without_seconds(other))

    def test_plan_repeats(self):
        args = ('--batch-size', '512', '--epochs', '1')
        _, first = self.train(*args, log='first', devices='pocl*2')
        _, second = self.train(*args, '--plan', str(self.folder / 'first'), log='second',
                               devices='pocl*2')
        self.assertEqual(without_seconds(first), without_seconds(second))

    def test_steps_ends_early(self):
        _, log = self.train('--batch-size', '512', '--epochs', '9', '--steps', '4',
                            '--shares', 'equal')
        self.assertEqual(len(losses(log)), 4)


class Modes(Case):
    """On the digits at batch 256 thirty steps hold five short batches."""

    ARGS = ('--batch-size', '256', '--epochs', '5', '--steps', '30')

    def test_losses_agree(self):
        _, log = self.train(*self.ARGS, '--shares', 'equal')
        expected = losses(log)
        self.assertEqual(len(expected), 30)
        self.assertLess(expected[-1], 0.95 * expected[0])
        for devices, shares, mode in (('pocl*2', 'equal', 'jit'),
                                      ('pocl*3', '5:2:1', 'jit'),
                                      ('pocl*7', 'equal', 'jit'),
                                      ('pocl', 'equal', 'pmap'),
                                      ('pocl*3', '5:2:1', 'pmap'),
                                      ('pocl*7', 'equal', 'pmap')):
            with self.subTest(devices=devices, shares=shares, mode=mode):
                _, log = self.train(*self.ARGS, '--shares', shares, '--mode', mode,
                                    devices=devices)
                actual = losses(log)
                self.assertEqual(len(actual), 30)
                for step, (a, e) in enumerate(zip(actual, expected)):
                    self.assertLessEqual(abs(a - e), 1e-4 * e, f'step {step}')


class Interrupt(Case):
    def test_while_a_kernel_is_built(self):
        # the compiler of a driver takes its files away when it sees the signal
        cache = self.folder / 'pocl'
        cache.mkdir()
        child = subprocess.Popen(
            [GYRE, 'train', '--data', 'digits', '--model', MLP, '--devices', 'pocl',
             '--shares', 'equal', '--epochs', '1000000'],
            env=environment(POCL_CACHE_DIR=str(cache), GYRE_CACHE='off',
                            GYRE_ADMISSION='off'),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and child.poll() is None:
            if any(cache.glob('tempfile*.tmp')):
                break
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=SECONDS)
        self.assertEqual((child.returncode, err), (130, ''))
        self.assertRegex(out, r'stopped after step \d+ in epoch \d+')

    def test_ends_after_the_running_step(self):
        log = self.folder / 'log'
        child = subprocess.Popen(
            [GYRE, 'train', '--data', 'digits', '--model', MLP, '--devices', 'pocl',
             '--shares', 'equal', '--epochs', '1000000', '--log', str(log)],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and child.poll() is None:
            if log.exists() and log.read_text(encoding='utf-8').count('\n') > 3:
                break
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130, err)
        self.assertEqual(err, '')
        said = re.search(r'after step (\d+) in epoch (\d+)', out)
        self.assertTrue(said, out)
        self.assertEqual(len(losses(log.read_text(encoding='utf-8'))), int(said[1]))


@unittest.skipUnless(LAYER, 'there is no counting layer')
class Faults(Case):
    """PoCL shows two devices; the layer makes one of them fail its self-test."""

    def check(self, fault):
        env = {'POCL_DEVICES': 'pthread basic', 'OPENCL_LAYERS': LAYER, fault: 'basic',
               'XDG_CACHE_HOME': str(self.folder / 'cache'), 'GYRE_ADMIT_TIMEOUT': '20'}
        out, log = self.train('--batch-size', '512', '--steps', '2', '--shares', 'equal',
                              devices='basic,pthread', **env)
        named = [line for line in out.splitlines() if 'basic' in line]
        self.assertEqual(len(named), 1, out)
        self.assertEqual(len(losses(log)), 2)
        self.assertEqual(len(json.loads(log.splitlines()[0])['devices']), 1)
        listed = json.loads(run('devices', '--json', **env).stdout)
        bad = [device for device in listed if 'basic' in device['name']]
        self.assertEqual([device['admitted'] for device in bad], [False])
        self.assertTrue(bad[0]['reason'])
        return named[0]

    def test_crash(self):
        self.assertRegex(self.check('GYRE_LAYER_CRASH'), '(?i)crash|signal|segmentation')

    def test_lie(self):
        self.check('GYRE_LAYER_LIE')


@unittest.skipUnless(LAYER, 'there is no counting layer')
class Steady(Case):
    """What each step of a long run asks of OpenCL, by the counting layer."""

    ASIDE = {'clGetEventInfo', 'clGetEventProfilingInfo'}

    def count(self, steps, devices, **env):
        path = self.folder / f'calls-{steps}'
        # 179 batches: no epoch ends within them, and the one evaluation is the same
        self.train('--batch-size', '8', '--steps', str(steps), '--shares', 'equal',
                   devices=devices, OPENCL_LAYERS=LAYER, GYRE_LAYER_LOG=str(path), **env)
        lines = path.read_text(encoding='utf-8').splitlines()
        return {name: int(n) for name, n in (line.split() for line in lines)
                if name not in self.ASIDE}

    def added(self, first, second):
        return {name: n - first.get(name, 0) for name, n in second.items()
                if n != first.get(name, 0)}

    def check(self, devices, **env):
        self.count(1, devices, **env)  # programs are cached from here on
        run20, run40, run140 = (self.count(n, devices, **env) for n in (20, 40, 140))
        twenty, hundred = self.added(run20, run40), self.added(run40, run140)
        self.assertEqual({name: 5 * n for name, n in twenty.items()}, hundred)
        self.assertEqual({name for name, n in hundred.items() if n % 100}, set())
        self.assertGreater(hundred['clEnqueueNDRangeKernel'], 0)
        for name in hundred:
            self.assertNotRegex(name, 'clFinish|clCreateProgram|clBuildProgram')
        return hundred

    def test_one_device(self):
        # with GEMMs of Gyre's own all calls are its own
        hundred = self.check('pocl', GYRE_GEMM='panel')
        for name in hundred:
            self.assertNotRegex(name, 'clCreate')

    def test_two_devices(self):
        hundred = self.check('pocl*2', GYRE_GEMM='panel', GYRE_ALL_REDUCE='ring')
        for name in hundred:
            self.assertNotRegex(name, 'clCreate')

    def test_clblast_releases_what_it_makes(self):
        hundred = self.check('pocl', GYRE_GEMM='clblast')
        self.assertEqual(hundred.get('clCreateKernel', 0),
                         hundred.get('clReleaseKernel', 0))
        self.assertEqual(hundred.get('clCreateBuffer', 0) +
                         hundred.get('clCreateSubBuffer', 0),
                         hundred.get('clReleaseMemObject', 0))


if __name__ == '__main__':
    GYRE = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
