#!/bin/sh
# local.sh bases | build NAME | run COMMAND…: images without a registry, for tests and for a look at them. As root, on Debian.
#   bases       makes the base images from Debian's packages: what images stand on, what they are built in, and the stores
#   build NAME  builds localhost/gatewarden, localhost/gatewarden-inference or localhost/gatewarden-bridge on them, from the
#               Dockerfiles as they are; further arguments go to buildah
#   run         runs podman or buildah on the images of this checkout
# Everything is in .tools/containers. SOURCE_DATE_EPOCH dates what is in the images (0 unless given).
set -eu
cd "$(dirname -- "$0")/../.."
home=$PWD/.tools/containers
export CONTAINERS_CONF=$home/containers.conf CONTAINERS_STORAGE_CONF=$home/storage.conf
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-0}"

configure() {
  mkdir -p "$home"
  [ -e "$home/storage.conf" ] && return 0
  # Whoever may not raise limits takes these; crun wants cgroups of version 2, runc takes both.
  cat >"$home/containers.conf" <<END
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
END
  cat >"$home/policy.json" <<END
{ "default": [{ "type": "insecureAcceptAnything" }] }
END
  cat >"$home/storage.conf" <<END
[storage]
driver = "overlay"
graphroot = "$home/storage"
runroot = "$home/run"
END
}

. tools/images/bases.sh

build() {
  name=$1
  shift
  case $name in
    gatewarden) file=Dockerfile ;;
    gatewarden-inference) file=inference/Dockerfile ;;
    gatewarden-bridge) file=bridge/Dockerfile ;;
    *) echo "unknown image: $name" >&2; exit 2 ;;
  esac
  # npm in the build goes where npm of this machine goes, trusts what it trusts, and takes what it has fetched before;
  # checksums are those of the lock file.
  printf '%s\n' "registry=$(npm config get registry 2>/dev/null)" cafile=/etc/ssl/certs/ca-certificates.crt \
    cache=/var/cache/npm prefer-offline=true >"$home/npmrc"
  mkdir -p "$home/npm-cache"
  buildah build --quiet --isolation chroot --network host --signature-policy "$home/policy.json" --pull-never --layers \
    --volume "$home/npm-cache:/var/cache/npm" --volume /etc/ssl/certs/ca-certificates.crt:/etc/ssl/certs/ca-certificates.crt:ro \
    --secret "id=npmrc,src=$home/npmrc" --timestamp "$SOURCE_DATE_EPOCH" --identity-label=false \
    --build-arg "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH" --build-arg BASE=localhost/gatewarden-base \
    --build-arg BUILD_BASE=localhost/gatewarden-build --file "$file" --tag "localhost/$name" "$@" .
}

configure
case ${1-} in
  bases) bases ;;
  build)
    shift
    build "$@"
    ;;
  run)
    shift
    exec "$@"
    ;;
  *)
    sed -n '2,7s/^# //p' "$0" >&2
    exit 2
    ;;
esac
