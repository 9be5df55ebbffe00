// Serves the dashboard: one page for all of its URLs, and assets that never change, because their names are hashes.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { AdminApp } from './admin.ts'
import { CSP, escaped } from './pages.ts'

/** `npm run build` puts the dashboard here, and the package ships it. */
const FOLDER = new URL('../dashboard/', import.meta.url)

const MEDIA: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
  png: 'image/png',
}

const FOREVER = 'public, max-age=31536000, immutable'
/** The preferred one first. */
const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
]

export interface Dashboard {
  readonly page: string
  /** Names of all files in `assets`. */
  readonly assets: ReadonlySet<string>
}

/** Undefined: this build of the package has no dashboard. */
export function readDashboard(): Dashboard | undefined {
  try {
    const page = readFileSync(new URL('index.html', FOLDER), 'utf8')
    return { page, assets: new Set(readdirSync(new URL('assets/', FOLDER))) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export function addDashboard(app: AdminApp, dashboard: Dashboard, basePath: string): void {
  const page = pageAt(dashboard.page, basePath)
  app.get('/admin/assets/:name', (c) => {
    const name = c.req.param('name')
    if (!dashboard.assets.has(name)) return c.notFound()
    return asset(name, encodingFor(name, c.req.header('accept-encoding') ?? '', dashboard.assets))
  })
  app.get('/admin/', () => page())
  // Every other path is a screen's. A program that asks for a path that does not exist is told so.
  app.get('/admin/*', async (c, next) => {
    const isScreen = !/^\/admin\/(api|login|logout|assets)(\/|$)/.test(c.req.path)
    if (isScreen && /\btext\/html\b/.test(c.req.header('accept') ?? '')) return page()
    await next()
  })
}

/** The page under a base path. Its scripts in the page itself are allowed by their hashes. */
function pageAt(template: string, basePath: string): () => Response {
  const base = escaped(basePath)
  const html = template
    .replaceAll('="./assets/', `="${base}/admin/assets/`)
    .replace('data-base=""', `data-base="${base}"`)
  const hashes = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  )
  const policy = CSP.replace("script-src 'self'", ["script-src 'self'", ...hashes].join(' '))
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy': policy,
  }
  return () => new Response(html, { headers })
}

function encodingFor(name: string, accepted: string, assets: ReadonlySet<string>) {
  return ENCODINGS.find(({ name: encoding, suffix }) => {
    const isAccepted = new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(accepted)
    return isAccepted && assets.has(`${name}${suffix}`)
  })
}

function asset(name: string, encoding: { name: string; suffix: string } | undefined): Response {
  const body = readFileSync(new URL(`assets/${name}${encoding?.suffix ?? ''}`, FOLDER))
  const extension = name.slice(name.lastIndexOf('.') + 1)
  return new Response(new Uint8Array(body), {
    headers: {
      'content-type': MEDIA[extension] ?? 'application/octet-stream',
      'cache-control': FOREVER,
      vary: 'accept-encoding',
      ...(encoding && { 'content-encoding': encoding.name }),
    },
  })
}
