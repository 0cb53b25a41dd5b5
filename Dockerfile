# Belfry for an external PostgreSQL: the built program and what it needs to run, nothing that builds it, and no database.
ARG NODE_IMAGE=node:24.21-bookworm-slim

# Builds the service, the dashboard and the inbox.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
# What to install first, so that a change of the sources does not install everything again.
COPY package.json package-lock.json ./
COPY server/package.json server/
COPY inbox/package.json inbox/
COPY dashboard/package.json dashboard/
COPY bench/package.json bench/
RUN npm ci --include=dev --no-audit --no-fund
COPY tsconfig.base.json tsconfig.json ./
COPY scripts scripts
COPY server server
COPY inbox inbox
COPY dashboard dashboard
RUN node scripts/setup.mjs start

# What the service needs to run. The embedded database is an optional dependency, and left out.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY server/package.json server/
COPY inbox/package.json inbox/
COPY dashboard/package.json dashboard/
COPY bench/package.json bench/
RUN npm ci --workspace=@belfry/server --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

FROM ${NODE_IMAGE}
# A user whom the image does not know, as some clusters choose, has no home, and a library asks for one.
ENV NODE_ENV=production \
  HOME=/tmp \
  HOST=0.0.0.0 \
  PORT=3000
WORKDIR /app
COPY LICENSE ./
COPY server/package.json server/
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/server/dist/bundle server/dist/bundle
COPY --from=build /app/server/src/db/migrations server/src/db/migrations
COPY --from=build /app/dashboard/dist dashboard/dist
COPY --from=build /app/inbox/dist inbox/dist
# By number, so that a cluster can tell that it is not root. Everything above belongs to root: the program cannot change itself.
USER 1000:1000
EXPOSE 3000
# Alive, not ready: restarting helps nobody whose database is away.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# No shell and no npm in between: the program is process 1, hears the signal itself, and has no children to wait for.
CMD ["node", "--enable-source-maps", "--max-semi-space-size=64", "--heap-growing-percent=200", "server/dist/bundle/main.js"]
