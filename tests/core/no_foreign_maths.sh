#!/usr/bin/env bash
# Do results depend on the mathematical library of the system, or on the maker of the processor?
#
#   no_foreign_maths.sh NM OBJDUMP OBJECT...
#
# The library's functions are rounded as its version and the processor would have it, and so is what
# the approximate reciprocals of the processor return. No object file may have either: there is
# core/maths.hpp. What IEEE 754 defines to the last bit (sqrt, floor, fmod, ldexp, ...) is fine, and
# so is anything in pictures, statistics and reports, which decide nothing that a search does.
set -euo pipefail

nm=$1
objdump=$2
shift 2
functions='a?(sin|cos|tan)h?(pi)?|atan2|sincos|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|cbrt|hypot'
functions+='|[lt]?gamma(_r)?|erfc?|j[01n]|y[01n]'
objects=0
calls=0
for object in "$@"; do
  objects=$((objects + 1))
  case $object in
    */src/pictures/* | */unity_pictures_*) continue ;;
    */src/statistics/* | */unity_statistics_* | */src/reports/* | */unity_reports_*) continue ;;
  esac
  imported=$("$nm" --undefined-only "$object")
  code=$("$objdump" --disassemble --no-show-raw-insn "$object")
  # A finite or vector variant is called __log_finite, _ZGVbN2v_log.
  found=$(sed -E 's/.* //' <<<"$imported" |
    grep -xE "(__|_ZGV[a-zA-Z0-9]+_)?($functions)[fl]?(_finite)?" || true)
  found+=$(grep -oE '\bv?(rsqrt|rcp)(14|28)?[ps][sdh]\b' <<<"$code" | sort -u || true)
  [ -z "$found" ] && continue
  printf '%s: depends on the machine by\n%s\n' "$object" "$found"
  calls=$((calls + 1))
done
[ $objects -gt 0 ] || {
  echo 'no object files were given'
  exit 2
}
[ $calls -eq 0 ]
