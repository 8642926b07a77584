# SPDX-License-Identifier: Apache-2.0
"""Runs the CNN example: on the digits, on images in the format of CIFAR-10 and in one
safetensors file, on bad inputs. check-cnn.py EXAMPLE cairo|none"""

import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

POCL_ABORT = 'pocl_release_dlhandle_cache'  # now and then, in PoCL 3.1 itself
EPOCH = re.compile(r'^epoch (\d+)  mean loss (\d\.\d{4})  test accuracy (\d\.\d{4})$', re.M)


def run(example, *args):
    for _ in range(3):
        done = subprocess.run([example, *args], capture_output=True, text=True, timeout=300,
                              check=False)
        if POCL_ABORT not in done.stderr:
            break
    return done


def train(example, *args):
    """The epochs' losses, and all that was printed."""
    done = run(example, *args)
    if done.returncode != 0:
        sys.exit(f'{args}: status {done.returncode}: {done.stderr}')
    losses = [float(loss) for _, loss, _ in EPOCH.findall(done.stdout)]
    if not losses or not all(a > b for a, b in zip(losses, losses[1:])):
        sys.exit(f'{args}: the loss does not fall: {done.stdout}')
    if 'confusion matrix' not in done.stdout:
        sys.exit(f'{args}: no confusion matrix: {done.stdout}')
    print(args, losses)
    return losses, done.stdout


def refuse(example, words, *args):
    done = run(example, *args)
    if done.returncode != 1 or words not in done.stderr or done.stderr.count('\n') != 1:
        sys.exit(f'{args}: status {done.returncode}: {done.stderr}')
    print(args, done.stderr.strip())


def cifar(folder, per_file):
    """A class a place: a bright square of the class's colour on noise."""
    draw = random.Random(1)
    names = [f'data_batch_{i}.bin' for i in range(1, 6)] + ['test_batch.bin']
    for name in names:
        records = bytearray()
        for i in range(per_file):
            label = i % 10
            planes = [bytearray(draw.randbytes(1024)) for _ in range(3)]
            for y in range(12):
                at = (y + 2 + 14 * (label // 5)) * 32 + 4 * (label % 5) + 2
                planes[label % 3][at:at + 12] = bytes([255] * 12)
            records += bytes([label]) + b''.join(planes)
        (folder / name).write_bytes(records)


def safetensors(path):
    """Ten classes of 12 x 9 floats with two channels, of which one tells the class."""
    draw = random.Random(2)
    parts, header, at = [], {}, 0
    for split, n in [('', 640), ('test_', 50)]:
        labels = [i % 10 for i in range(n)]
        pixels = [draw.random() if j % 2 else float((j // 2) % 10 == label)
                  for label in labels for j in range(12 * 9 * 2)]
        for name, code, kind, shape, values in [
                ('image', 'F32', 'f', [n, 12, 9, 2], pixels), ('label', 'I32', 'i', [n], labels)]:
            data = struct.pack(f'<{len(values)}{kind}', *values)
            header[split + name] = {'dtype': code, 'shape': shape,
                                    'data_offsets': [at, at + len(data)]}
            at += len(data)
            parts.append(data)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack('<Q', len(text)) + text + b''.join(parts))


def main(example, cairo):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        report = ['--report', name + '/pictures'] if cairo == 'cairo' else []
        _, one = train(example, '--data', 'digits', '--devices', 'pocl', *report)
        losses, three = train(example, '--data', 'digits', '--devices', 'pocl*3')
        # sums in another order: a loss by 1e-4, an image or two of 360 the other way
        for a, b in zip(EPOCH.findall(one), EPOCH.findall(three)):
            if abs(float(a[1]) - float(b[1])) > 3e-4 or abs(float(a[2]) - float(b[2])) > 0.006:
                sys.exit(f'one device and three differ: {a}, {b}')
        moved, _ = train(example, '--data', 'digits', '--devices', 'pocl', '--augment',
                         'crop=1')
        if moved == losses:
            sys.exit('--augment changes nothing')
        if report and sorted(p.name for p in (folder / 'pictures').iterdir()) != [
                'confusion.png', 'loss.png', 'report.jsonl', 'worst.png']:
            sys.exit('the pictures are others')
        cifar(folder, 40)
        _, text = train(example, '--data', f'cifar10:{name}', '--devices', 'pocl',
                        '--augment', 'crop=1', *report)
        if 'airplane' not in text:
            sys.exit(f'the classes have no names: {text}')
        safetensors(folder / 'set.safetensors')
        train(example, '--data', f'safetensors:{name}/set.safetensors', '--devices', 'pocl',
              '--epochs', '2', *report)
        (folder / 'test_batch.bin').write_bytes(b'x' * 100)
        refuse(example, 'test_batch.bin', '--data', f'cifar10:{name}', '--devices', 'pocl')
        refuse(example, 'fahion', '--data', 'fahion')
        refuse(example, 'turn', '--data', 'digits', '--augment', 'turn', '--devices', 'pocl')
        refuse(example, 'nonesuch', '--data', 'digits', '--devices', 'nonesuch')
        (folder / 'x.jsonl').write_text('')
        refuse(example, 'x.jsonl' if report else 'without cairo', '--data', 'digits',
               '--report', name + '/x.jsonl/y' if report else name)


if __name__ == '__main__':
    main(*sys.argv[1:])
