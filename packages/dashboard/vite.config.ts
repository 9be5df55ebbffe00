import { fileURLToPath } from 'node:url'
import { operations } from '@millrace/admin/contract'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const ADMIN = process.env.MILLRACE_ADMIN_URL ?? 'http://localhost:8080'

/** Methods, paths and roles of the contract as data: its schemas would bring zod to every browser. */
function operationTable(): Plugin {
  const name = 'virtual:operations'
  const table = operations().map(({ name, endpoint: { method, path, permission, scope } }) => {
    return [name, method, path, permission, scope]
  })
  return {
    name: 'millrace-operations',
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load: (id) => (id === `\0${name}` ? `export default ${JSON.stringify(table)}` : undefined),
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Relative, because the server may be mounted anywhere: it puts its base path before the links of index.html.
  base: './',
  publicDir: false,
  plugins: [react(), operationTable()],
  build: {
    outDir: '../admin/dist/dashboard',
    emptyOutDir: true,
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    // Data URLs would need the policy to allow them for fonts and scripts.
    assetsInlineLimit: 0,
  },
  // `npm run dev -w packages/dashboard`: the browser talks to Vite, and Vite to a running admin server.
  server: { proxy: { '^/(admin/(api|login|logout)|api)(/|$)': { target: ADMIN, changeOrigin: false } } },
})
