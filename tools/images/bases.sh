# How base images are made from Debian's packages. Read by local.sh, which says where images are kept.

# import NAME ARCHIVE: one image of one layer.
import() {
  container=$(buildah from --quiet scratch)
  buildah add --quiet "$container" "$2" / >/dev/null
  commit "$container" "$1"
}

commit() {
  buildah commit --quiet --rm --timestamp "$SOURCE_DATE_EPOCH" --identity-label=false "$1" "localhost/$2" >/dev/null
}

C_LIBRARIES='base-files libc6 libgcc-s1 gcc-12-base libstdc++6 ca-certificates tzdata netbase'

bases() {
  stamp=$(cat tools/images/rootfs.sh tools/images/bases.sh | cksum)
  [ "$(cat "$home/.bases" 2>/dev/null)" != "$stamp" ] || return 0
  # shellcheck disable=SC2086 # a list of package names
  tools/images/rootfs.sh "$home/base.tar" $C_LIBRARIES
  # shellcheck disable=SC2086
  tools/images/rootfs.sh "$home/build.tar" $C_LIBRARIES dash coreutils libacl1 libattr1 libgmp10 libselinux1 libpcre2-8-0 \
    tesseract-ocr-eng tesseract-ocr-deu tesseract-ocr-fra tesseract-ocr-ita tesseract-ocr-nld tesseract-ocr-pol \
    tesseract-ocr-por tesseract-ocr-spa
  tools/images/rootfs.sh "$home/stores.tar" --needs base-files dash coreutils libc-bin redis-server postgresql-15
  import gatewarden-base "$home/base.tar"
  container=$(buildah from --quiet scratch)
  buildah add --quiet "$container" "$home/build.tar" / >/dev/null
  buildah copy --quiet "$container" tools/node/node_modules/node-linux-*/bin/node /usr/local/bin/node >/dev/null
  buildah copy --quiet "$container" "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" /usr/local/lib/npm >/dev/null
  printf '#!/bin/sh\nexec node /usr/local/lib/npm/bin/npm-cli.js "$@"\n' >"$home/npm"
  buildah copy --quiet --chmod 755 "$container" "$home/npm" /usr/local/bin/npm >/dev/null
  buildah config --env PATH=/usr/local/bin:/usr/bin:/bin "$container"
  commit "$container" gatewarden-build
  import gatewarden-stores "$home/stores.tar"
  rm -f "$home"/*.tar
  printf '%s\n' "$stamp" >"$home/.bases"
}
