# Answers each line with its first two numbers, but one that begins with 13 in a way of its own:
# sh bad.sh KIND
kind=$1
case $kind in
  banner) echo 'Simulator 1.0' ;;
  leaves) echo 'no licence' >&2; exit 7 ;;
  input-closed) exec <&-; exec sleep 1000 ;;
esac

misbehave() {
  case $kind in
    exit-3) echo 'mesh is broken' >&2; exit 3 ;;
    exit-0) exit 0 ;;
    exit-139) exit 139 ;;
    segv) kill -s SEGV $$ ;;
    kill) kill -s KILL $$ ;;
    half) printf '13 0'; exit 0 ;;
    few) echo 13 ;;
    many) echo 13 0 1 ;;
    nan) echo 13 nan ;;
    infinite) echo -inf 0 ;;
    too-large) echo 1e999 0 ;;
    text) echo 'Segmentation fault' ;;
    mixed) echo 13 0x10 ;;
    comma) echo 13,5 0,5 ;;
    comment) echo '13 0 # fine' ;;
    empty) echo ;;
    blank) echo '   ' ;;
    control) printf '\033[31m13\033[0m 0\n' ;;
    endless) tr '\0' 1 </dev/zero ;;
    two-lines) printf '13 0\n13 0\n' ;;
    flood) yes '13 0' ;;
    output-closed) exec >&-; exec sleep 1000 ;;
    orphan) sleep 1000 & exit 4 ;;
    noisy) yes 'all is lost' | head -c 3000000 >&2; echo 'the last words' >&2; exit 5 ;;
    hang) exec sleep 1000 ;;
    stop) kill -s STOP $$ ;;
    deaf) trap '' TERM INT HUP; while :; do sleep 1000; done ;;
  esac
}

while read -r first second rest; do
  if [ "$first" = 13 ]; then misbehave; else echo "$first $second"; fi
done
