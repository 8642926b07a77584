# SPDX-License-Identifier: Apache-2.0
"""A run that is stopped goes on as if it had not been; a run that is killed while it
saves leaves a checkpoint that loads.

test-checkpoints.py GYRE [--kills N] [--safetensors]: --kills: how often a run is killed;
--safetensors: read a checkpoint with the library of that name as well.
"""

import argparse
import json
import pathlib
import random
import signal
import struct
import tempfile
import time

from gyre_command import MODEL, Gyre, check, finish, read_safetensors

DROPOUT = 'flatten ! dense features=32 ! relu ! dropout rate=0.1 ! dense features=10'
NORM = ('flatten ! dense features=32 ! batch-norm ! relu ! dropout rate=0.2 ! '
        'dense features=10')
SCHEDULE = ('clip-by-global-norm max-norm=1 ! adam learning-rate=warmup-cosine-decay('
            'init-value=0,peak-value=2e-3,warmup-steps=20,decay-steps=150)')
COMMON = ['--data', 'digits', '--batch-size', '64', '--seed', '3', '--epochs', '8', '-q']


def train(gyre, *args, devices='pocl*2', status=0):
    return gyre.run('train', '--devices', devices, *args, status=status)


def stop_and_go_on(gyre, mode):
    """At step 137, which is amid an epoch: the log is that of a run that wasn't stopped."""
    args = ['--model', DROPOUT, '--mode', mode, *COMMON]
    train(gyre, *args, '--steps', '160', '--log', 'whole.log')
    train(gyre, *args, '--steps', '137', '--log', 'cut.log', '--save', mode)
    train(gyre, '--resume', mode, '--steps', '160', '--log', 'cut.log', '-q')
    check(gyre.log('cut.log') == gyre.log('whole.log'), f'{mode}: the same log, continued')
    train(gyre, '--resume', mode, '--steps', '160', '--log', 'other.log', '-q')
    check(gyre.log('other.log') == gyre.log('whole.log'),
          f'{mode}: the same log, in another file')


def everything(gyre, mode):
    """The same with running statistics, a schedule, images that are changed, and several
    batches an update, on three devices."""
    args = ['--model', NORM, '--optimizer', SCHEDULE, '--data', 'digits', '--batch-size',
            '20', '--accumulate', '2', '--augment', 'crop=1,flip', '--seed', '7', '--mode',
            mode, '--epochs', '9', '-q', '--shares', '5:2:1']
    train(gyre, *args, '--steps', '150', '--log', 'whole.log', devices='pocl*3')
    train(gyre, *args, '--steps', '137', '--log', 'cut.log', '--save', 'all',
          devices='pocl*3')
    train(gyre, '--resume', 'all', '--steps', '150', '--log', 'cut.log', '-q',
          devices='pocl*3')
    check(len(gyre.losses('cut.log')) == 150 and
          gyre.log('cut.log') == gyre.log('whole.log'), f'{mode}: all of it at once')


def save_every(gyre):
    """The last checkpoint of several is that of a multiple, or of the end."""
    args = ['--model', MODEL, *COMMON]
    train(gyre, *args, '--steps', '50', '--log', 'whole.log', '--save', 'whole')
    train(gyre, *args, '--steps', '31', '--log', 'cut.log', '--save', 'every',
          '--save-every', '20')
    train(gyre, '--resume', 'every', '--steps', '50', '--log', 'cut.log', '--save', 'every',
          '-q')
    check(gyre.log('cut.log') == gyre.log('whole.log'), 'saved twice, resumed, saved again')
    whole, _ = read_safetensors(gyre.folder / 'whole/checkpoint.safetensors')
    every, _ = read_safetensors(gyre.folder / 'every/checkpoint.safetensors')
    check(whole == every, 'the states at the end are equal bit by bit')


def other_devices(gyre):
    """Losses of another number of devices differ by rounding alone: 13 steps, 1e-5."""
    whole = gyre.losses('whole.log')
    for devices in ['pocl', 'pocl*3']:
        for mode in ['jit', 'pmap']:
            train(gyre, '--resume', 'jit', '--steps', '150', '--log', 'moved.log', '-q',
                  '--mode', mode, devices=devices)
            if mode == 'jit':
                train(gyre, '--resume', 'jit', '--steps', '150', '--log', 'stay.log', '-q')
                same = gyre.losses('stay.log')
                moved = gyre.losses('moved.log')
                check(len(moved) == 150 and moved[:137] == same[:137] and
                      all(abs(a - b) <= 1e-5 * abs(b) for a, b in zip(moved, same)),
                      f'two devices, then {devices}')
            else:
                # each device draws a dropout mask of its own
                moved = gyre.losses('moved.log')
                check(len(moved) == 150 and max(moved[137:]) < 2 * max(moved[100:137]),
                      f'jit, then pmap on {devices}')
    check(len(whole) == 50, 'the log has each step once')


def contents(gyre, with_library):
    arrays, metadata = read_safetensors(gyre.folder / 'jit/checkpoint.safetensors')
    check(set(metadata) >= {'model', 'optimizer', 'data', 'batch_size', 'seed', 'plan',
                            'epoch', 'batch', 'steps'}, 'the metadata say what runs')
    check(json.loads(metadata['plan'])['shares'] == [0.5, 0.5], 'the plan is the log\'s')
    check(arrays['dense_0/kernel'][0] == [64, 32] and
          arrays['opt_state/mu/dense_0/kernel'][0] == [64, 32] and
          arrays['step'] == ([], (137,)) and arrays['key'][0] == [2],
          'parameters by their paths, moments whole, step and key')
    if with_library:
        from safetensors.numpy import load_file
        loaded = load_file(gyre.folder / 'jit/checkpoint.safetensors')
        check(set(loaded) == set(arrays) and
              all(tuple(loaded[name].ravel().tolist()) == values and
                  list(loaded[name].shape) == shape
                  for name, (shape, values) in arrays.items()),
              'the safetensors library reads the same')


def misfits(gyre):
    """Each is one line that says what is wrong."""
    def fails(what, status, says, *args):
        gyre.fails(what, status, says, 'train', '--devices', 'pocl', *args)

    fails('nothing there', 1, ['no checkpoint', 'nowhere'], '--resume', 'nowhere')
    fails('another model', 2, ['--model', 'features=10', 'jit'], '--resume', 'jit',
          '--model', 'flatten ! dense features=10')
    fails('another optimizer', 2, ["'opt_state/", 'another model or optimizer'],
          '--resume', 'jit', '--optimizer', 'sgd')
    fails('another seed', 2, ['--seed', "'4'", "'3'"], '--resume', 'jit', '--seed', '4')
    fails('another batch size', 2, ['--batch-size', "'32'"], '--resume', 'jit',
          '--batch-size', '32')
    fails('other data', 2, ['other data', 'digits'], '--resume', 'jit', '--data',
          other_data(gyre))
    (gyre.folder / 'file').write_text('')
    fails('a folder that is a file', 2, ['--save', 'file/x'], '--save', 'file/x')
    fails('--save-every alone', 2, ['--save'], '--save-every', '3')
    whole = (gyre.folder / 'jit/checkpoint.safetensors').read_bytes()
    (gyre.folder / 'short').mkdir()
    for size in [0, 7, 100, len(whole) - 1]:
        (gyre.folder / 'short/checkpoint.safetensors').write_bytes(whole[:size])
        fails(f'cut to {size} bytes', 1, ['checkpoint.safetensors'], '--resume', 'short')


def damaged(gyre):
    """A header that was written by something else, of arrays that are sound."""
    whole = (gyre.folder / 'jit/checkpoint.safetensors').read_bytes()
    size = struct.unpack_from('<Q', whole)[0]
    data = whole[8 + size:]
    path = gyre.folder / 'damaged/checkpoint.safetensors'
    path.parent.mkdir()

    def fails(what, status, says, change, more=b''):
        header = json.loads(whole[8:8 + size])
        change(header, header['__metadata__'])
        text = json.dumps(header).encode()
        path.write_bytes(struct.pack('<Q', len(text)) + text + data + more)
        gyre.fails(what, status, ['damaged', *says], 'train', '--resume', 'damaged',
                   '--devices', 'pocl')

    def foreign(header, _):
        header['other'] = {'dtype': 'U8', 'shape': [4],
                           'data_offsets': [len(data), len(data) + 4]}

    def turned(header, _):
        header['dense_0/kernel']['shape'].reverse()

    fails('an array of nobody', 2, ["'other'"], foreign, b'four')
    fails('another shape', 2, ["'dense_0/kernel' is f32[32, 64] and not f32[64, 32]"],
          turned)
    fails('a hole at the end', 1, ['sound'], lambda header, texts: None, b'four')
    fails('no texts', 1, ['epochs'], lambda header, texts: texts.clear())
    for name, value, status in [('mode', 'both', 1), ('batch', '24', 1),
                                ('steps', '-3', 2), ('epoch_loss', 'nan', 2)]:
        fails(f'{name} {value}', status, [name, value.lstrip('-')],
              lambda header, texts, pair=(name, value): texts.update([pair]))


def other_data(gyre, side=8):
    """Ten samples, as large as digits."""
    images = bytes(10 * side * side)
    labels = struct.pack('<10i', *range(10))
    header = {}
    at = 0
    for split in ['', 'test_']:
        for name, dtype, shape, size in [('image', 'U8', [10, side, side, 1], len(images)),
                                         ('label', 'I32', [10], len(labels))]:
            header[split + name] = {'dtype': dtype, 'shape': shape,
                                    'data_offsets': [at, at + size]}
            at += size
    text = json.dumps(header).encode()
    (gyre.folder / 'other.safetensors').write_bytes(
        struct.pack('<Q', len(text)) + text + (images + labels) * 2)
    return 'safetensors:other.safetensors'


def interrupt(gyre):
    """Ctrl-C ends after the step that runs, and saves it."""
    args = ['--model', MODEL, '--data', 'digits', '--epochs', '100000', '-q']
    process = gyre.start('train', '--devices', 'pocl', *args, '--save', 'stopped', '--log',
                         'stopped.log')
    wait_for(lambda: len(lines_of(gyre.folder / 'stopped.log')) > 30, process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    steps = len(gyre.losses('stopped.log'))
    arrays, _ = read_safetensors(gyre.folder / 'stopped/checkpoint.safetensors')
    check(process.returncode == 130 and arrays['step'][1] == (steps,),
          f'interrupted and saved after step {steps}')


def use(gyre):
    """What is said of each test sample, from a finished run: its log has the accuracy."""
    train(gyre, '--model', DROPOUT, *COMMON, '--log', 'full.log', '--save', 'full')
    logged = json.loads(gyre.log('full.log')[-1])['test_accuracy']
    right = round(logged * 360)
    for devices in ['pocl', 'pocl*3']:
        said = gyre.run('evaluate', 'full', '--devices', devices)
        check(f'test accuracy {logged:.4f} ({right} of 360)' in said,
              f'evaluate on {devices}: {said.strip()}')
    gyre.run('predict', 'full', '--devices', 'pocl', '--batch-size', '100', '--output',
             'said.jsonl')
    said = [json.loads(line) for line in (gyre.folder / 'said.jsonl').open()]
    check([one['index'] for one in said] == list(range(360)) and
          sum(one['label'] == one['predicted'] for one in said) == right and
          all(0.1 <= one['probability'] <= 1 for one in said),
          'predict: each sample once, in order')
    gyre.fails('images of another shape', 2, ['[9, 9, 1]', '[8, 8, 1]'], 'evaluate', 'full',
               '--devices', 'pocl', '--data', other_data(gyre, 9))
    gyre.fails('no folder', 2, ['one folder'], 'predict')
    gyre.fails('not a checkpoint', 1, ['nowhere', 'no checkpoint'], 'predict', 'nowhere')
    said = gyre.run('evaluate', 'full', '--devices', 'pocl', '--data', other_data(gyre))
    check('of 10)' in said, f'evaluate other data: {said.strip()}')
    said = gyre.run('train', '--resume', 'full', '--devices', 'pocl*2')
    check('nothing is left' in said and f'test accuracy {logged:.4f}' in said,
          'a finished run has nothing left to do')


def lines_of(path):
    return path.read_text().splitlines() if path.exists() else []


def wait_for(happens, process):
    end = time.monotonic() + 120
    while not happens() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)


def kill(gyre, times):
    """SIGKILL at random moments of a run that saves after each step."""
    draw = random.Random(0)
    args = ['--model', 'flatten ! dense features=512 ! relu ! dense features=10', '--data',
            'digits', '--epochs', '100000', '-q']
    path = gyre.folder / 'killed/checkpoint.safetensors'
    resume = []
    steps = -1
    good = 0
    for _ in range(times):
        process = gyre.start('train', '--devices', 'pocl', *(resume or args), '--save',
                             'killed', '--save-every', '1')
        before = path.stat().st_mtime_ns if path.exists() else 0
        wait_for(lambda: path.exists() and path.stat().st_mtime_ns != before, process)
        time.sleep(draw.uniform(0, 0.1))
        process.kill()
        process.communicate()
        arrays, _ = read_safetensors(path)
        good += arrays['step'][1][0] > steps
        steps = arrays['step'][1][0]
        resume = ['--resume', 'killed', '-q', '--epochs', '100000']
    check(good == times, f'killed {times} times: each left a newer checkpoint that loads, '
                         f'the last of step {steps}')
    left = list((gyre.folder / 'killed').iterdir())
    check(len(left) <= 2, 'no more than one half-written file is left')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('gyre')
    parser.add_argument('--kills', type=int, default=4)
    parser.add_argument('--safetensors', action='store_true')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gyre = Gyre(options.gyre, pathlib.Path(folder))
        for mode in ['jit', 'pmap']:
            stop_and_go_on(gyre, mode)
            everything(gyre, mode)
        save_every(gyre)
        contents(gyre, options.safetensors)
        other_devices(gyre)
        misfits(gyre)
        damaged(gyre)
        use(gyre)
        interrupt(gyre)
        kill(gyre, options.kills)
    finish()


main()
