# The gateway, its command line and the controller: `node src/start.js`, `node src/cli/gwctl.ts`, `node operators/main.ts`.
# Build it from the root of the repository; README.md says how. Nothing of the build stage but /out comes into the image.

# Both bases are named by their digests, such as node:24-bookworm-slim@sha256:… and debian:12-slim@sha256:….
# Where packages are installed: Node.js 24.14 or newer and npm.
ARG BUILD_BASE
# What the image stands on: the C and C++ libraries, certificates, time zones. No shell is needed: a "distroless" image with the C++ library will do.
ARG BASE

FROM ${BASE} AS base

FROM ${BUILD_BASE} AS build
ARG BASE
ARG BUILD_BASE
# A tag can be moved to other contents, a digest cannot; localhost/ has what was built on this machine.
RUN for base in "$BASE" "$BUILD_BASE"; do case $base in *@sha256:*|localhost/*) ;; \
    *) echo "name $base by its digest: …@sha256:…" >&2; exit 1 ;; esac; done
WORKDIR /build
COPY package.json package-lock.json ./
# The secret is for networks with a registry of their own.
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY src src
COPY operators operators
COPY k8s/samples/local k8s/samples/local
COPY tools tools
COPY --from=base /var/lib/dpkg /base/var/lib/dpkg
ARG SOURCE_DATE_EPOCH=0
RUN node tools/images/assemble.ts gateway /out /base && install -d -m 0750 /out/data

# Loaded once where it will run, so that each start finds compiled code.
FROM ${BASE} AS compiled
COPY --from=build /out/usr /usr
COPY --from=build /out/app /app
COPY --from=build /build/tools/images /images
WORKDIR /app
RUN ["/usr/local/bin/node", "--predictable", "/images/compile.ts", "gateway"]

FROM ${BASE}
COPY --from=build /out/usr /usr
COPY --from=compiled /app /app
# For runs without a volume there: development keys, the journal, an embedded database.
COPY --from=build --chown=65532:65532 /out/data /var/lib/gatewarden
WORKDIR /app
USER 65532:65532
ENV PATH=/usr/local/bin:/usr/bin:/bin NODE_ENV=production HOST=0.0.0.0 GW_DATA_DIR=/var/lib/gatewarden
EXPOSE 8080 8081
ENTRYPOINT []
CMD ["node", "--max-semi-space-size=32", "src/start.js"]
