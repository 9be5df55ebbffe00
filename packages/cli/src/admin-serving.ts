// The admin API on the port of the health endpoints: `dev` and `admin` serve it there.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { admin, type NodeListener, nodeListener } from '@millrace/admin'
import { createMillrace, type EncryptionOptions, type Logger, type Millrace } from 'millrace'
import { Refused } from './failure.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Workload } from './workload.ts'

export const TOKEN_VARIABLE = 'ADMIN_TOKEN'

/** Its own connections, so that busy handlers do not make operators wait. */
const CONNECTIONS = 5

export interface AdminPlan {
  readonly workload: Workload | undefined
  readonly databaseUrl: string
  readonly schema: string
  readonly encryption: EncryptionOptions | undefined
  readonly logger: Logger
  readonly host: string
  /** `dev`: on a loopback address, callers need no token while there is none. */
  readonly isDevelopment: boolean
}

export class AdminServing {
  #listener: NodeListener | undefined
  /** What of the workload is served here: its pages and routes. */
  #isOfWorkload: (path: string) => boolean = () => false

  /** Serves the API from now on, until the process stops. Refuses where strangers could call it without a token. */
  async start(lifecycle: Lifecycle, plan: AdminPlan): Promise<Millrace> {
    const millrace = await lifecycle.start({
      name: 'client of the admin API',
      begin: async () => clientOf(plan),
      end: (client) => client.close(),
    })
    await ensureToken(millrace)
    await demandAuth(millrace, plan)
    const { logger, isDevelopment, workload } = plan
    const { routes = [], pages = [] } = workload ?? {}
    const handler = await lifecycle.start({
      name: 'admin API',
      begin: async () =>
        admin(millrace, { logger, routes, pages, isDevelopment: isDevelopment && isLoopback(plan.host) }),
      end: (started) => started.close(),
    })
    this.#listener = nodeListener(handler)
    this.#isOfWorkload = pathsOf(routes, pages)
    return millrace
  }

  takeOver(path: string, request: IncomingMessage, response: ServerResponse): boolean {
    const isAdmin = /^\/(admin|api)(\/|$)/.test(path) || this.#isOfWorkload(path)
    if (!isAdmin && !(path === '/' && isBrowser(request))) return false
    if (this.#listener === undefined) {
      if (!isAdmin) return false
      answer(
        response,
        503,
        { 'retry-after': '1' },
        { code: 'starting', detail: 'The server is starting: try again in a second.' },
      )
      return true
    }
    if (!isAdmin) answer(response, 302, { location: '/admin/' })
    // It answers failures itself; a connection that breaks meanwhile needs no answer.
    else this.#listener(request, response).catch(() => response.destroy())
    return true
  }
}

/** Whether a path belongs to one of them: `:name` stands for any one part of a route's path. */
function pathsOf(routes: NonNullable<Workload['routes']>, pages: NonNullable<Workload['pages']>) {
  const patterns = routes.map(({ endpoint }) => new RegExp(`^${literal(endpoint.path).replace(/:\\w+/g, '[^/]+')}/?$`))
  return (path: string): boolean =>
    patterns.some((pattern) => pattern.test(path)) ||
    pages.some((page) => path === page.path || path.startsWith(`${page.path}/`))
}

const literal = (path: string): string => path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

function clientOf({ workload, databaseUrl, schema, logger, encryption }: AdminPlan): Millrace {
  const { jobs = [], schedules = [], workflows = [], tenantRole } = workload ?? {}
  return createMillrace({
    database: databaseUrl,
    ...{ schema, logger, jobs, schedules, workflows },
    maxConnections: CONNECTIONS,
    ...(tenantRole !== undefined && { tenantRole }),
    ...(encryption && { encryption }),
  })
}

async function ensureToken(millrace: Millrace): Promise<void> {
  const secret = process.env[TOKEN_VARIABLE]
  if (!secret) return
  await millrace.tokens.ensure(secret, { name: TOKEN_VARIABLE, role: 'admin', by: TOKEN_VARIABLE })
}

async function demandAuth(millrace: Millrace, { host, isDevelopment }: AdminPlan): Promise<void> {
  if (await millrace.tokens.any()) return
  const how = `Set ${TOKEN_VARIABLE}, or make a token with \`millrace tokens create NAME --role admin\`.`
  if (!isDevelopment) throw new Refused(`Nobody could call the admin API: there is no token yet. ${how}`)
  if (!isLoopback(host))
    throw new Refused(`On ${host} strangers could reach the admin API, and there is no token yet. ${how}`)
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host)

const isBrowser = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '')

function answer(response: ServerResponse, status: number, headers: Record<string, string>, body?: object): void {
  const type = { 'content-type': 'application/problem+json; charset=utf-8' }
  response.writeHead(status, { 'cache-control': 'no-store', ...headers, ...(body && type) })
  response.end(body && `${JSON.stringify({ title: 'Not available now', status, ...body })}\n`)
}
