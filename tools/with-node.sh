#!/bin/sh
# with-node.sh COMMAND…: runs a command with a Node.js that can run this project first on the PATH. That is the
# system's own when it is 24.14 or newer, else the one pinned in tools/node, fetched on first use.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

# new_enough VERSION: whether `v24.21.0` and the like can run TypeScript without a build step.
new_enough() {
  major=${1#v}
  minor=${major#*.}
  major=${major%%.*}
  minor=${minor%%.*}
  case $major$minor in '' | *[!0-9]*) return 1 ;; esac
  [ "$major" -gt 24 ] || { [ "$major" -eq 24 ] && [ "$minor" -ge 12 ]; }
}

if ! new_enough "$(node --version 2>/dev/null || true)"; then
  "$root/tools/setup.sh" node
  PATH=$root/tools/node/node_modules/.bin:$PATH
  export PATH
fi
exec "$@"
