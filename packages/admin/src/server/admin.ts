// The admin API as a fetch handler.
import { randomUUID } from 'node:crypto'
import { type Context, Hono } from 'hono'
import type { Logger, Millrace } from 'millrace'
import { parametersOf } from '../contract/endpoint.ts'
import { contract, operations } from '../contract/operations.ts'
import { Authentication, type OwnAuth } from './auth.ts'
import { AuthFailures } from './auth-failures.ts'
import { demandRole, demandUnscoped, hasRole } from './caller.ts'
import { addDashboard, readDashboard } from './dashboard.ts'
import { accessRoutes } from './handlers/access.ts'
import { actionRoutes } from './handlers/actions.ts'
import { bulkRoutes } from './handlers/bulk.ts'
import { catalogueRoutes } from './handlers/catalogue.ts'
import { deadLetterRoutes } from './handlers/dead-letters.ts'
import { governanceRoutes } from './handlers/governance.ts'
import { healthRoutes } from './handlers/health.ts'
import { jobRoutes } from './handlers/jobs.ts'
import { queueRoutes } from './handlers/queues.ts'
import { scheduleRoutes } from './handlers/schedules.ts'
import { tenantRoutes } from './handlers/tenants.ts'
import { workerRoutes } from './handlers/workers.ts'
import { workflowRoutes } from './handlers/workflows.ts'
import { inputOf } from './input.ts'
import { addLogin } from './login.ts'
import { type NamedEndpoint, openApiOf } from './openapi.ts'
import { demandOwnOrigin } from './origin.ts'
import { addPage, checkPages, type Page } from './page.ts'
import { CSP, homePage } from './pages.ts'
import { problemOf, problemResponse, Refusal } from './problem.ts'
import { Answer, type Route, route } from './route.ts'
import { StreamHub } from './stream/hub.ts'

export interface AdminOptions {
  /** Where it is mounted, such as '/ops'. Requests may come with or without it. Default: at the root. */
  readonly basePath?: string
  /** Your own auth, asked where no token of ours is given. Null: it does not know the caller either. */
  readonly auth?: OwnAuth
  /** More operations, of the same kind as ours. */
  readonly routes?: readonly Route[]
  /** Pages of the program, each with everything below its path. */
  readonly pages?: readonly Page[]
  /** Told what nobody foresaw. Default: nothing is. */
  readonly logger?: Logger
  /**
   * Only for development, on a server that listens on a loopback address: while there is no token, whoever calls it directly
   * is admin. Default false.
   */
  readonly isDevelopment?: boolean
  /** What the dashboard calls this system in a badge, such as 'staging'. Default: MILLRACE_ENVIRONMENT. */
  readonly environment?: string
}

/** A standard fetch handler: `admin(millrace)` or its `fetch`. */
export interface AdminHandler {
  (request: Request, env?: unknown): Promise<Response>
  fetch(request: Request, env?: unknown): Promise<Response>
  /** Ends open streams. The client stays open. */
  close(): Promise<void>
}

export interface RequestFacts {
  readonly requestId: string
  /** An address, where the server knows it. */
  readonly source: string
}

type Env = { Variables: RequestFacts; Bindings: { incoming?: { socket?: { remoteAddress?: string } } } }
export type AdminApp = Hono<Env>
export type AdminContext = Context<Env>

const ownRoutes: readonly Route[] = [
  ...jobRoutes,
  ...bulkRoutes,
  ...deadLetterRoutes,
  ...queueRoutes,
  ...tenantRoutes,
  ...scheduleRoutes,
  ...workflowRoutes,
  ...workerRoutes,
  ...governanceRoutes,
  ...healthRoutes,
  ...catalogueRoutes,
  ...accessRoutes,
  ...actionRoutes,
]

export function admin(millrace: Millrace, options: AdminOptions = {}): AdminHandler {
  const basePath = checkedBasePath(options.basePath ?? '')
  const failures = new AuthFailures()
  const auth = new Authentication(millrace, { ...options, isDevelopment: options.isDevelopment ?? false, failures })
  const hub = new StreamHub(millrace)
  const app: AdminApp = new Hono<Env>()
  const { logger, routes: added = [], pages = [] } = options
  checkPages(pages)

  app.use(async (c, next) => {
    c.set('requestId', requestIdOf(c.req.raw))
    c.set('source', sourceOf(c))
    await next()
    protect(c)
  })
  app.onError((error, c) => {
    const problem = problemOf(error)
    const { requestId } = c.var
    if (problem.status === 500 || problem.status === 503)
      logger?.error({ err: error, requestId, path: c.req.path }, 'a request failed')
    return problemResponse(problem, requestId)
  })
  app.notFound((c) => problemResponse(problemOf(nothingHere(c.req.path)), c.var.requestId))

  const all = [...ownRoutes, meRoute(options), streamRoute(auth, hub), openApiRoute(added, basePath), ...added]
  // A path without parameters comes before one that has some: '/jobs/prune' is no id.
  for (const each of [...all].sort((a, b) => parameters(a) - parameters(b))) bind(app, each, { millrace, auth })
  app.get('/admin', (c) => c.redirect(`${basePath}/admin/`))
  addLogin(app, { millrace, failures, basePath })
  const dashboard = readDashboard()
  if (dashboard === undefined) app.get('/admin/', () => homePage(basePath, pages.flatMap(inNavigation)))
  else addDashboard(app, dashboard, basePath)
  // The longer path first, so that a page below another one is found.
  for (const page of [...pages].sort((a, b) => b.path.length - a.path.length))
    addPage(app, page, { millrace, auth, basePath })

  const fetch = async (request: Request, env: unknown = {}): Promise<Response> =>
    app.fetch(withoutBase(request, basePath), typeof env === 'object' && env !== null ? env : {})
  const close = async () => hub.close()
  return Object.assign((request: Request, env?: unknown) => fetch(request, env), { fetch, close })
}

const parameters = ({ endpoint }: Route): number => parametersOf(endpoint.path).length

function bind(
  app: AdminApp,
  { endpoint, handle }: Route,
  { millrace, auth }: { millrace: Millrace; auth: Authentication },
): void {
  app.on(endpoint.method, endpoint.path, async (c) => {
    const request = c.req.raw
    const { requestId, source } = c.var
    const caller =
      endpoint.permission === 'public'
        ? { name: 'public', role: 'viewer' as const, tenants: null, via: 'own' as const }
        : await auth.callerOf(request, source)
    if (endpoint.permission !== 'public') {
      demandOwnOrigin(request, caller)
      demandRole(caller, endpoint.permission)
      if (endpoint.scope === 'all') demandUnscoped(caller)
    }
    const input = await inputOf(c.req, endpoint)
    const context = { millrace, caller, by: caller.name, request, requestId }
    const answer = await millrace.audit.from({ source, requestId }, () => handle(input, context))
    if (answer instanceof Response) return answer
    const [status, body] = answer instanceof Answer ? [answer.status, answer.body] : [endpoint.status ?? 200, answer]
    return new Response(`${JSON.stringify(body)}\n`, {
      status,
      headers: { 'content-type': 'application/json; charset=utf-8' },
    })
  })
}

const inNavigation = ({ path, title }: Page) => (title === undefined ? [] : [{ path, title }])

function meRoute({ pages = [], environment = process.env.MILLRACE_ENVIRONMENT }: AdminOptions): Route {
  return route(contract.access.me, async (_, { caller }) => {
    const { name, role, tenants, via } = caller
    const visible = pages.filter(({ permission }) => permission === undefined || hasRole(caller, permission))
    return {
      ...{ name, role, tenants, via },
      environment: environment || null,
      pages: visible.flatMap(inNavigation),
    }
  })
}

function streamRoute(auth: Authentication, hub: StreamHub): Route {
  return route(contract.stream.open, async ({ topics }, { caller, request }) => {
    const isStillValid = async () => {
      try {
        const now = await auth.callerOf(request, 'open stream')
        return now.role === caller.role && JSON.stringify(now.tenants) === JSON.stringify(caller.tenants)
      } catch (error) {
        if (error instanceof Refusal && error.status === 401) return false
        throw error
      }
    }
    return hub.open({ topics, lastEventId: request.headers.get('last-event-id') }, caller, isStillValid)
  })
}

function openApiRoute(added: readonly Route[], basePath: string): Route {
  const own: NamedEndpoint[] = operations()
  const theirs = added.map(({ endpoint }) => ({ name: nameOf(endpoint), topic: 'workload', endpoint }))
  let document: Record<string, unknown> | undefined
  return route(contract.access.openApi, async () => {
    document ??= openApiOf([...own, ...theirs], { basePath })
    return document as { openapi: string }
  })
}

/** Of an operation that a workload adds: 'patch /admin/api/sources/:id'. */
const nameOf = ({ method, path }: { method: string; path: string }): string =>
  `${method.toLowerCase()}${path.replace(/[^\w]+/g, '_')}`

function nothingHere(path: string): Refusal {
  return new Refusal(404, 'no_such_path', `There is nothing at ${path}. /admin/api/openapi.json lists the operations.`)
}

function requestIdOf({ headers }: Request): string {
  const given = headers.get('x-request-id') ?? ''
  return /^[\w.:-]{1,100}$/.test(given) ? given : randomUUID()
}

/** The address of whoever is connected: a proxy's, if there is one. Headers that anybody can write do not count. */
const sourceOf = (c: AdminContext): string => c.env?.incoming?.socket?.remoteAddress ?? 'http'

function protect(c: AdminContext): void {
  const { headers } = c.res
  headers.set('x-request-id', c.var.requestId)
  headers.set('x-content-type-options', 'nosniff')
  headers.set('referrer-policy', 'same-origin')
  headers.set('x-frame-options', 'DENY')
  // A page of the program may need another one.
  if (!headers.has('content-security-policy')) headers.set('content-security-policy', CSP)
  headers.set('cross-origin-resource-policy', 'same-origin')
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
}

function checkedBasePath(path: string): string {
  const trimmed = path.replace(/\/+$/, '')
  if (trimmed === '' || /^(\/[\w.~-]+)+$/.test(trimmed)) return trimmed
  throw new TypeError(`basePath is ${JSON.stringify(path)}: expected a path such as '/ops'.`)
}

function withoutBase(request: Request, basePath: string): Request {
  if (basePath === '') return request
  const url = new URL(request.url)
  if (url.pathname !== basePath && !url.pathname.startsWith(`${basePath}/`)) return request
  url.pathname = url.pathname.slice(basePath.length) || '/'
  return new Request(url, request)
}
