#!/bin/sh
# Starts Redis, PostgreSQL and the gateway in one container, and ends with the gateway.
set -eu
data=/var/lib/board
redis-server --bind 127.0.0.1 --port 6379 --save '' --loglevel warning --dir "$data" &
# Rows are on disk before their holds are settled, as in service: fsync stays on.
"$(echo /usr/lib/postgresql/*/bin/postgres)" -D "$data/postgres" -c listen_addresses=127.0.0.1 \
  -c unix_socket_directories="$data" -c jit=off &
until "$(echo /usr/lib/postgresql/*/bin/pg_isready)" -q -h 127.0.0.1; do sleep 0.2; done
install -d "$data/gateway"
exec env NODE_ENV=production HOST=0.0.0.0 PORT=8080 GW_CONFIG_DIR=/etc/gatewarden GW_DATA_DIR="$data/gateway" \
  GW_INFERENCE=off REDIS_URL=redis://127.0.0.1:6379 DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres \
  node --max-semi-space-size=32 src/main.ts
