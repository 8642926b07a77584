#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# oclgrind-wrapper.sh PROGRAM...: runs a test under Oclgrind (env-oclgrind), and
# fails if Oclgrind has anything to say, which by itself it does not.
log=$(mktemp)
OCLGRIND_LOG=$log OCLGRIND_DATA_RACES=1 "$@"
status=$?
if [ -s "$log" ]
then
  echo 'Oclgrind reports:' >&2
  head -n 200 "$log" >&2
  [ "$status" -ne 0 ] || status=1
fi
rm -f "$log"
exit "$status"
