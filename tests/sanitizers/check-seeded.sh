#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check-seeded.sh PROGRAM FAULT WORDS: the program must fail, and its report
# must hold these words. FAULT none: it must succeed.
set -u
report=$("$1" "$2" 2>&1)
status=$?

if [ "$2" = none ]
then
  [ "$status" -eq 0 ] && exit 0
  echo "a program without a fault failed with status $status:"
elif [ "$status" -eq 0 ]
then
  echo "the seeded $2 went unseen:"
elif printf '%s' "$report" | grep -qF -e "$3"
then
  exit 0
else
  echo "the seeded $2 ended with status $status, but the report lacks '$3':"
fi
printf '%s\n' "$report"
exit 1
