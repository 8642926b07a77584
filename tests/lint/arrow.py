# SPDX-License-Identifier: Apache-2.0
"""The direction of dependence: the one table of who may include whom."""

# Each folder of src/, with those just below it. What these may include, it may
# include too.
BELOW = {
    'base': [],
    'ir': ['base'],
    'prims': ['ir'],
    'trace': ['prims'],
    'autodiff': ['trace'],
    'partition': ['autodiff'],
    'fuse': ['partition'],
    'plan': ['fuse'],
    'schedule': ['plan', 'collective', 'blas', 'fft'],
    'nn': ['schedule'],
    'data': ['nn'],
    'train': ['data'],
    'plugin': ['train'],
    'tool': ['plugin'],

    'device': ['base'],
    'array': ['device', 'ir'],
    'blas': ['array'],
    'fft': ['array'],
    'collective': ['array'],
}

# The folders that may include an OpenCL header.
OPENCL = {'device', 'array', 'blas', 'fft', 'collective', 'schedule'}


def allowed(folder):
    """The folders that a file of this folder may include, itself among them."""
    found = {folder}
    for below in BELOW[folder]:
        found |= allowed(below)
    return found
