// `npm run build:web` creates web/dist, which the API process serves under /app/. `npm run dev:web` serves
// the sources and forwards calls to a server that is already running (`npm run dev`).

import { defineConfig } from 'vite';

const server = process.env['SIGNALBOX_URL'] ?? 'http://127.0.0.1:8080';

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    rolldownOptions: {
      // Libraries mark modules that are not for a server; here everything is for the browser.
      onLog: (level, log, pass) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && pass(level, log),
    },
  },
  server: {
    proxy: {
      '/app/api': {
        target: server,
        configure: (proxy) =>
          proxy.on('proxyReq', (request) => {
            // For the server, the calls come from its own pages.
            request.setHeader('origin', server);
          }),
      },
    },
  },
});
