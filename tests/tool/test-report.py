# SPDX-License-Identifier: Apache-2.0
"""What a run tells at its end: the confusion matrix on the screen, and the folder of
--report. test-report.py GYRE"""

import argparse
import json
import os
import pathlib
import shutil
import tempfile

from gyre_command import MODEL, Gyre, check, finish

COMMON = ['train', '--data', 'digits', '--model', MODEL, '--seed', '3', '--devices', 'pocl']
PICTURES = ['confusion.png', 'loss.png', 'worst.png']


def numbers(gyre, name):
    text = (gyre.folder / name / 'report.jsonl').read_text()
    return [json.loads(line) for line in text.splitlines()]


def predictions(gyre, name):
    return [json.loads(line) for line in
            gyre.run('predict', name, '--devices', 'pocl').splitlines()]


def matrix_of(lines):
    """Counts and recalls by what `gyre predict` says, in the form of the screen."""
    counts = [[0] * 10 for _ in range(10)]
    for line in lines:
        counts[line['label']][line['predicted']] += 1
    return [[str(i), *map(str, row), f'{row[i] / sum(row):.4f}']
            for i, row in enumerate(counts)]


def shown(text):
    """The rows of the matrix: the last ten lines, all of one width."""
    lines = text.splitlines()[-11:]
    check(len({len(line) for line in lines}) == 1 and lines[0].endswith('recall'),
          'the matrix is aligned')
    return [line.split() for line in lines[1:]]


def screen(gyre):
    said = gyre.run(*COMMON, '--epochs', '2', '--save', 'run')
    lines = predictions(gyre, 'run')
    check(shown(said) == matrix_of(lines), 'train prints what predict says')
    again = gyre.run('evaluate', 'run', '--devices', 'pocl')
    check(shown(again) == matrix_of(lines), 'so does evaluate')
    right = sum(line['label'] == line['predicted'] for line in lines)
    check(again.startswith(f'test accuracy {right / 360:.4f} ({right} of 360)  mean loss '),
          again.splitlines()[0])
    spread = gyre.run('train', '--data', 'digits', '--model', MODEL, '--seed', '3',
                      '--devices', 'pocl*7', '--batch-size', '64', '--epochs', '2',
                      '--mode', 'pmap')
    check(shown(spread) == matrix_of(lines), 'pmap on seven devices prints the same')
    check('recall' not in gyre.run(*COMMON, '--steps', '2', '-q'), '-q prints none')


def pictures(gyre):
    gyre.run(*COMMON, '--epochs', '2', '--save', 'run', '--report', 'a/b', '--log',
             'log.jsonl', '-q')
    check(sorted(os.listdir(gyre.folder / 'a' / 'b')) == sorted([*PICTURES, 'report.jsonl']),
          'three pictures, and the numbers')
    for name in PICTURES:
        data = (gyre.folder / 'a' / 'b' / name).read_bytes()
        check(data[:8] == b'\x89PNG\r\n\x1a\n' and data[-8:-4] == b'IEND', name)
    told = numbers(gyre, 'a/b')
    check([line['loss'] for line in told if 'step' in line] == gyre.losses('log.jsonl'),
          'its losses are the log\'s')
    lines = predictions(gyre, 'run')
    worst = [line for line in told if 'index' in line]
    check(len(worst) == 24 and
          all(lines[line['index']]['predicted'] == line['predicted'] and
              lines[line['index']]['label'] == line['label'] for line in worst) and
          all(a['loss'] >= b['loss'] for a, b in zip(worst, worst[1:])),
          'the worst images are in order, as predict has them')
    classes = [line for line in told if 'class' in line]
    check([[str(line['class']), *map(str, line['predicted'][:10]), f"{line['recall']:.4f}"]
           for line in classes] == matrix_of(lines), 'the matrix is predict\'s')


def resumed(gyre):
    args = [*COMMON, '--epochs', '2', '-q']
    gyre.run(*args, '--report', 'whole')
    gyre.run(*args, '--steps', '30', '--save', 'cut')
    gyre.run('train', '--resume', 'cut', '--devices', 'pocl', '--report', 'cut-report', '-q')
    check(numbers(gyre, 'cut-report') == numbers(gyre, 'whole'),
          'a run that was stopped has the report of one that was not')
    gyre.run('evaluate', 'cut', '--devices', 'pocl', '--report', 'evaluated')
    check(sorted(os.listdir(gyre.folder / 'evaluated')) ==
          sorted([*PICTURES, 'report.jsonl']), 'evaluate draws them too')


def trouble(gyre):
    (gyre.folder / 'file').write_text('x')
    for folder in ['file', 'file/below']:
        gyre.fails(folder, 2, ['--report', folder], *COMMON, '--report', folder, '--save',
                   'never')
    check(not (gyre.folder / 'never' / 'checkpoint.safetensors').exists(),
          'it is told before training')
    (gyre.folder / 'taken' / 'worst.png').mkdir(parents=True)
    gyre.fails('a folder in the place of a picture', 1, ['--report', 'worst.png'], *COMMON,
               '--steps', '5', '--report', 'taken', '--save', 'kept', '--log', 'kept.log',
               '-q')
    check((gyre.folder / 'kept' / 'checkpoint.safetensors').exists() and
          len(gyre.losses('kept.log')) == 5, 'what was trained is saved')
    gyre.fails('predict', 2, ['--report'], 'predict', 'kept', '--report', 'x')
    shutil.rmtree(gyre.folder / 'taken')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('gyre')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gyre = Gyre(options.gyre, pathlib.Path(folder))
        screen(gyre)
        if os.environ.get('GYRE_TEST_CAIRO') == '1':
            pictures(gyre)
            resumed(gyre)
            trouble(gyre)
        else:
            gyre.fails('without cairo', 2, ['--report', 'without cairo'], *COMMON,
                       '--report', 'x')
    finish()


main()
