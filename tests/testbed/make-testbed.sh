#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# make-testbed.sh FOLDER
#
# Makes a machine of many vendors out of software devices (Debian 12, as root
# or with sudo). Afterwards, in a shell:
#
#   . FOLDER/env            one process sees PoCL and Intel's runtime as two
#                           CPUs, llvmpipe as a GPU, and Intel's FPGA emulator
#                           as an accelerator (FPGA_DEVICES=3: as three)
#   . FOLDER/env-oclgrind   Oclgrind alone, which checks each access of a kernel
#   . FOLDER/env-none       an OpenCL loader that finds no platform
#
# Intel's runtimes come under Intel's own licence: they are installed into
# FOLDER, and are no part of Gyre.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
intel=$folder/venv/lib

# Two runtimes of one version: the emulator shares libraries with the other.
version=2025.0.5
tbb=2022.3.1

as_root ()
{
  if [ "$(id -u)" -eq 0 ]
  then
    "$@"
  else
    sudo "$@"
  fi
}

install_packages ()
{
  packages=
  for package in ocl-icd-libopencl1 pocl-opencl-icd mesa-opencl-icd oclgrind python3-venv
  do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || :) in
      *' installed') ;;
      *) packages="$packages $package" ;;
    esac
  done
  [ -n "$packages" ] || return 0

  as_root apt-get -qq update </dev/null
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install $packages \
    </dev/null >/dev/null
}

install_intel ()
{
  [ ! -e "$intel/libintelocl_emu.so" ] || return 0

  /usr/bin/python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install -q --disable-pip-version-check \
    "intel-opencl-rt==$version" "intel-opencl-fpga-emu-rt==$version" \
    "intel-cmplr-lib-rt==$version" "tbb==$tbb" </dev/null
}

# All of Intel's libraries but their OpenCL loader: the system's is the one.
link_intel ()
{
  mkdir -p "$folder/lib"
  for library in "$intel"/*.so*
  do
    case ${library##*/} in
      libOpenCL.so*) ;;
      *) ln -sf "$library" "$folder/lib/" ;;
    esac
  done
}

write_vendors ()
{
  mkdir -p "$folder/mixed" "$folder/oclgrind" "$folder/none"
  cp /etc/OpenCL/vendors/pocl.icd /etc/OpenCL/vendors/rusticl.icd "$folder/mixed/"
  echo "$intel/libintelocl.so" >"$folder/mixed/intel.icd"
  echo "$intel/libintelocl_emu.so" >"$folder/mixed/intel-fpga.icd"
  find /usr/lib -name liboclgrind-rt-icd.so >"$folder/oclgrind/oclgrind.icd"
  [ -s "$folder/oclgrind/oclgrind.icd" ] || { echo "$0: oclgrind has no ICD" >&2; exit 1; }
}

# PoCL's second driver, "basic", is left out: events between the queues of the
# two hang.
write_environments ()
{
  cat >"$folder/env" <<END
export OCL_ICD_VENDORS=$folder/mixed
export LD_LIBRARY_PATH=$folder/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
export POCL_DEVICES="\${POCL_DEVICES:-pthread}"
export RUSTICL_ENABLE=llvmpipe RUSTICL_DEVICE_TYPE=gpu
export CL_CONFIG_CPU_EMULATE_DEVICES=\${FPGA_DEVICES:-1}
# On a processor that it does not know, Intel's runtime divides integers wrong.
export CL_CONFIG_CPU_TARGET_ARCH="\${CL_CONFIG_CPU_TARGET_ARCH:-\$(
  if grep -qw avx512f /proc/cpuinfo; then echo skx
  elif grep -qw avx2 /proc/cpuinfo; then echo core-avx2
  else echo corei7
  fi)}"
END
  echo "export OCL_ICD_VENDORS=$folder/oclgrind" >"$folder/env-oclgrind"
  echo "export OCL_ICD_VENDORS=$folder/none" >"$folder/env-none"
}

install_packages
install_intel
link_intel
write_vendors
write_environments
echo "$folder: ready, '. $folder/env'"
