# SPDX-License-Identifier: Apache-2.0
"""Options that say what an update is: several batches accumulated, data held back,
schedules of the learning rate. test-updates.py GYRE"""

import argparse
import json
import math
import pathlib
import re
import struct
import tempfile

from gyre_command import MODEL, Gyre, check, finish

COMMON = ['train', '--data', 'digits', '--model', MODEL, '--seed', '3', '-q']


def near(a, b, tolerance):
    return len(a) == len(b) > 0 and all(abs(x - y) <= tolerance * abs(y)
                                        for x, y in zip(a, b))


def accumulate(gyre, mode, devices):
    """As one batch four times as large: sums in another order, 30 steps, 1e-5. An epoch of
    23 updates ends in 29 samples: a batch of 16 and one of 13."""
    args = [*COMMON, '--epochs', '2', '--steps', '30', '--devices', devices, '--mode', mode]
    gyre.run(*args, '--batch-size', '64', '--log', 'large.log')
    gyre.run(*args, '--batch-size', '16', '--accumulate', '4', '--log', 'small.log')
    large = gyre.losses('large.log')
    small = gyre.losses('small.log')
    check(len(large) == 30 and near(small, large, 1e-5),
          f'{mode} on {devices}: 4 batches of 16 are one of 64')


def sum_up(gyre, mode):
    """Batches before an update's last send no gradients: each device keeps its own sums."""
    said = gyre.run(*COMMON, '--devices', 'pocl*2', '--mode', mode, '--steps', '2',
                    '--batch-size', '16', '--accumulate', '2', '--dump', 'program')
    adder, update = said.split('mesh data=2')[1:]
    arrays = re.compile(r'f32\[\d[^ ]* (?:all_reduce|reduce_scatter|all_gather|psum)\b')
    check(not arrays.findall(adder) and len(arrays.findall(update)) >= 4,
          f'{mode}: the gradients are added up once an update')


def resume(gyre):
    args = [*COMMON, '--epochs', '3', '--devices', 'pocl*2', '--batch-size', '16',
            '--accumulate', '3', '--validation', '0.2']
    gyre.run(*args, '--steps', '40', '--log', 'whole.log')
    gyre.run(*args, '--steps', '33', '--log', 'cut.log', '--save', 'cut')
    gyre.run('train', '--resume', 'cut', '--devices', 'pocl*2', '--steps', '40', '--log',
             'cut.log', '-q')
    check(gyre.log('cut.log') == gyre.log('whole.log'),
          'accumulated, with data held back, stopped and resumed')
    gyre.fails('another part held back', 2, ['--validation', "'0.2"], 'train', '--resume',
               'cut', '--devices', 'pocl', '--validation', '0.1')


def validation(gyre):
    """A quarter of 1,437 is 359: 1,078 are left, which is 17 batches of 64."""
    gyre.run(*COMMON, '--epochs', '2', '--devices', 'pocl', '--validation', '0.25', '--log',
             'held.log')
    lines = [json.loads(line) for line in gyre.log('held.log')]
    epochs = [line for line in lines if 'mean_loss' in line]
    check(len(gyre.losses('held.log')) == 2 * 17 and len(epochs) == 2, '17 steps an epoch')
    rights = [line['validation_accuracy'] * 359 for line in epochs]
    check(all(abs(right - round(right)) < 1e-4 for right in rights) and rights[-1] > 90,
          f'{rights[-1]:.0f} of 359 are right')
    for part in ['1', '-0.1', 'x', '0.0001']:
        gyre.fails(f'--validation {part}', 2, ['--validation'], *COMMON, '--devices', 'pocl',
                   '--validation', part)


def augment(gyre):
    """Images are changed by row and epoch: as well on three devices, and after a stop."""
    args = [*COMMON, '--epochs', '3', '--batch-size', '64', '--augment', 'crop=1, flip']
    gyre.run(*args, '--steps', '50', '--devices', 'pocl', '--log', 'one.log')
    gyre.run(*args, '--steps', '50', '--devices', 'pocl*3', '--shares', '5:2:1', '--log',
             'three.log')
    check(near(gyre.losses('three.log'), gyre.losses('one.log'), 1e-5),
          'the same images on three devices')
    gyre.run(*args, '--steps', '30', '--devices', 'pocl', '--log', 'part.log', '--save',
             'part')
    gyre.run('train', '--resume', 'part', '--devices', 'pocl', '--steps', '50', '--log',
             'part.log', '-q')
    check(gyre.log('part.log') == gyre.log('one.log'), 'the same images after a stop')
    check(json.loads(gyre.log('one.log')[0])['augment'] == 'crop=1,flip', 'it is logged')
    gyre.run(*args, '--steps', '30', '--devices', 'pocl*3', '--mode', 'pmap', '--log',
             'pmap.log')
    check(near(gyre.losses('pmap.log'), gyre.losses('one.log')[:30], 1e-5),
          'the same images in pmap form')
    still = [*COMMON, '--devices', 'pocl', '--optimizer', 'sgd learning-rate=0', '--log']
    gyre.run(*still, 'moved.log', '--augment', 'crop=3,flip')
    gyre.run(*still, 'plain.log')
    check(gyre.losses('moved.log') != gyre.losses('plain.log') and
          json.loads(gyre.log('moved.log')[-1]) == {
              **json.loads(gyre.log('plain.log')[-1]),
              'mean_loss': json.loads(gyre.log('moved.log')[-1])['mean_loss']},
          'test images stay as they are')
    gyre.fails('another augmentation', 2, ['--augment', "'crop=1,flip'"], 'train',
               '--resume', 'part', '--devices', 'pocl', '--augment', 'flip')
    gyre.fails('no augmentation', 2, ["'crop=x'", 'crop=4,flip'], *COMMON, '--devices',
               'pocl', '--augment', 'crop=x')


def schedules(gyre):
    """SGD steps in proportion to its rate: with one of zero nothing moves, and a schedule
    that is constant so far gives the losses of the constant."""
    def losses(rate):
        gyre.run(*COMMON, '--devices', 'pocl', '--steps', '20', '--optimizer',
                 f'sgd learning-rate={rate}', '--log', 'rate.log')
        return gyre.losses('rate.log')

    constant = losses('0.1')
    check(constant[-1] < constant[0], 'a constant rate learns')
    check(losses('piecewise-constant(init-value=0.1,boundaries-and-scales=100:0.1)') ==
          constant, 'a piecewise constant rate before its boundary')
    decayed = losses('cosine-decay(init-value=0.1,decay-steps=10)')
    check(decayed[0] == constant[0] and decayed[1] == constant[1] and
          decayed[5] != constant[5], 'a cosine decay starts at its value, and falls')
    args = [*COMMON, '--devices', 'pocl', '--optimizer']
    gyre.run(*args, 'adam learning-rate=cosine-decay(init-value=1e-3,decay-steps=10000)',
             '--steps', '5', '--log', 'adam.log')
    gyre.run(*args, 'adam learning-rate=1e-3', '--steps', '5', '--log', 'plain.log')
    # the rate is 1e-3 (1 + cos (pi t / 10000)) / 2: 4e-7 less of it by step 4
    check(near(gyre.losses('adam.log'), gyre.losses('plain.log'), 1e-5) and
          all(map(math.isfinite, gyre.losses('adam.log'))), 'Adam with a cosine decay')


def bad_pixel(gyre):
    """Ten samples, f32, of which one has a NaN."""
    images = struct.pack('<40f', *[0.5] * 39, math.nan)
    labels = struct.pack('<10i', *range(10))
    header = {}
    at = 0
    for split in ['', 'test_']:
        for name, dtype, shape, size in [('image', 'F32', [10, 2, 2, 1], len(images)),
                                         ('label', 'I32', [10], len(labels))]:
            header[split + name] = {'dtype': dtype, 'shape': shape,
                                    'data_offsets': [at, at + size]}
            at += size
    text = json.dumps(header).encode()
    (gyre.folder / 'bad.safetensors').write_bytes(
        struct.pack('<Q', len(text)) + text + (images + labels) * 2)
    return 'safetensors:bad.safetensors'


def nans(gyre):
    """A rate so large that a layer overflows. Of two layers the second gives infinities,
    and their difference in the loss is no number; a third one adds them up. A pixel that
    is no number is named as what came in."""
    deep = MODEL + ' ! relu ! dense features=10'
    for words, args in [
            ("'matmul' made it, in layer dense_2", ['--model', deep, '--devices', 'pocl*2']),
            ("'matmul' made it, in layer dense_2", ['--model', deep, '--devices', 'pocl*2',
                                                    '--mode', 'pmap']),
            ('in the loss', ['--devices', 'pocl', '--batch-size', '16', '--accumulate', '4'])]:
        gyre.fails(' '.join(args), 1, ['step 1: the first NaN', words], *COMMON, *args,
                   '--check-nan', '--optimizer', 'sgd learning-rate=1e30')
    gyre.fails('a pixel', 1, ['step 0: the first NaN', 'batch/image'], 'train', '--data',
               bad_pixel(gyre), '--devices', 'pocl', '--check-nan')
    gyre.run(*COMMON, '--devices', 'pocl', '--check-nan', '--steps', '20', '--log',
             'checked.log')
    gyre.run(*COMMON, '--devices', 'pocl', '--steps', '20', '--log', 'plain.log')
    check(near(gyre.losses('checked.log'), gyre.losses('plain.log'), 1e-5),
          'without NaNs the losses are the same')
    said = gyre.run(*COMMON[:-1], '--devices', 'pocl', '--steps', '20', '--optimizer',
                    'sgd learning-rate=1e30')
    check(said.count('--check-nan') == 1, 'without the option a NaN is noted once')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('gyre')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gyre = Gyre(options.gyre, pathlib.Path(folder))
        for mode in ['jit', 'pmap']:
            for devices in ['pocl', 'pocl*3']:
                accumulate(gyre, mode, devices)
            sum_up(gyre, mode)
        resume(gyre)
        validation(gyre)
        augment(gyre)
        schedules(gyre)
        nans(gyre)
    finish()


main()
