#!/usr/bin/env bash
# Does code for a newer processor stay where only that processor finds it?
#
#   no_leaked_symbols.sh NM LEVEL OBJECT... [LEVEL OBJECT...]...
#
# Where two object files define the same weak symbol, the linker keeps either
# one. Whatever an object file compiled for LEVEL defines for others to see must
# therefore carry LEVEL in its name: in the namespace rarefy::kernels::LEVEL, or
# made of types of Eigen_LEVEL. Anything else could be called on a processor
# that cannot run it.
set -euo pipefail

nm=$1
shift
level=
objects=0
leaks=0
for argument in "$@"; do
  case $argument in
    */* | *.o) ;;
    *)
      level=$argument
      continue
      ;;
  esac
  objects=$((objects + 1))
  symbols=$("$nm" --demangle --defined-only --extern-only "$argument")
  grep -qE "\bkernels::$level::" <<<"$symbols" || {
    echo "$argument: defines nothing in kernels::$level, expected the kernels of that level"
    leaks=$((leaks + 1))
  }
  # DW.ref.*: how position-independent code finds the unwinder; data, the same for all.
  leaked=$(grep -vE "(\bkernels::$level|\bEigen_$level)::| V DW\.ref\." <<<"$symbols" || true)
  if [ -n "$leaked" ]; then
    echo "$argument: visible to other files, but not marked as $level:"
    sed -E 's/^[0-9a-f]* */  /' <<<"$leaked"
    leaks=$((leaks + 1))
  fi
done
[ $objects -gt 0 ] || {
  echo 'no object files were given'
  exit 2
}
[ $leaks -eq 0 ]
