# Signalbox as an image: the built service, its production dependencies and git, without build tools and development
# packages. `npm run check:image` performs these steps without Docker. See docs/how-to/deploying.md.

ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm run build:web

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
RUN apt-get update \
  && apt-get install --yes --no-install-recommends git ca-certificates \
  && rm -rf /var/lib/apt/lists/* /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn*
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY bin ./bin
COPY migration ./migration
COPY --from=build /app/web/dist ./web/dist
COPY --from=build /app/dist ./dist
RUN install -d -o 10001 -g 10001 -m 0750 /data
ENV NODE_ENV=production SIGNALBOX_ADDRESS=0.0.0.0 SIGNALBOX_DATA_DIR=/data
USER 10001:10001
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=4 CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SIGNALBOX_PORT || process.env.PORT || 8080}/readyz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/signalbox.js"]
CMD ["start"]
