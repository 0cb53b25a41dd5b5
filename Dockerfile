# The Belfry image for an external PostgreSQL. It holds the built program and its runtime dependencies: no build tools, no
# database.
ARG NODE_IMAGE=node:24.21-bookworm-slim

# Builds the service, the dashboard and the inbox.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
# Install dependencies first, so that a source change does not reinstall them.
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

# Runtime dependencies. The embedded database is optional and left out.
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
# Some clusters run the container as a user the image does not know. That user has no home, and one library needs one.
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
# A numeric user, so that a cluster can verify it is not root. Root owns all files above: the program cannot change itself.
USER 1000:1000
EXPOSE 3000
# Liveness, not readiness: a restart does not bring a lost database back.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# No shell and no npm: the program is process 1 and receives signals itself. It has no child processes to reap.
CMD ["node", "--max-semi-space-size=64", "--heap-growing-percent=200", "server/dist/bundle/main.js"]
