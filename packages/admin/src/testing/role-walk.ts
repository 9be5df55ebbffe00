// Walks over the routes and pages of a workload as every kind of caller, and says what is not as it is declared.
import type { Millrace } from 'millrace'
import { type Endpoint, type Method, parametersOf, type Role } from '../contract/endpoint.ts'
import { type AdminHandler, admin } from '../server/admin.ts'
import type { Page } from '../server/page.ts'
import type { Route } from '../server/route.ts'
import { type Heard, type Letter, ROLES, type Visitors, visitorsOf } from './visitors.ts'

export interface WalkRequest {
  /** Of its path: `{ id: '7' }` for '/admin/api/sources/:id'. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
  /** It only reads, although it is no GET: the audit log need not know it. */
  readonly changesNothing?: true
}

export interface RoleWalkOptions {
  readonly routes?: readonly Route[]
  readonly pages?: readonly Page[]
  /**
   * What requests need, by 'POST /admin/api/sources/:id'. A line below the path of a page is one more request for it, such as
   * 'GET /village/stories'.
   */
  readonly requests?: Readonly<Record<string, WalkRequest>>
  /** The tenant to whom the things belong that `requests` name. No other tenant's caller may see this name. */
  readonly owner?: string
}

export interface RoleWalk {
  /** How many answers were looked at. */
  readonly checks: number
  /** What is wrong, in sentences. */
  readonly faults: readonly string[]
}

const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 }

/**
 * Calls every route and page without a token, with a wrong one, in each role, as an admin of another tenant, and out of another
 * website. What is permitted really happens: give it a database of the test's own.
 */
export async function walkRoles(millrace: Millrace, options: RoleWalkOptions): Promise<RoleWalk> {
  const { routes = [], pages = [] } = options
  const handler = admin(millrace, { routes, pages })
  try {
    const walk = new Walk(millrace, options, await visitorsOf(millrace, handler))
    walk.demandKnown()
    for (const { endpoint } of routes) await walk.route(endpoint)
    for (const page of pages) await walk.page(page)
    return { checks: walk.checks, faults: walk.faults }
  } finally {
    await (handler as AdminHandler).close()
  }
}

class Walk {
  readonly faults: string[] = []
  checks = 0
  readonly #millrace: Millrace
  readonly #options: RoleWalkOptions
  readonly #visitors: Visitors

  constructor(millrace: Millrace, options: RoleWalkOptions, visitors: Visitors) {
    this.#millrace = millrace
    this.#options = options
    this.#visitors = visitors
  }

  /** A request that belongs to nothing is a mistyped one, and what it was meant for is not walked. */
  demandKnown(): void {
    const { routes = [], pages = [], requests = {} } = this.#options
    const lines = new Set(routes.map(({ endpoint }) => lineOf(endpoint)))
    for (const line of Object.keys(requests)) {
      const path = line.split(' ')[1] ?? ''
      const isOfPage = pages.some((page) => path === page.path || path.startsWith(`${page.path}/`))
      if (!lines.has(line) && !isOfPage) this.faults.push(`There is no route or page for the request "${line}".`)
    }
  }

  async route(endpoint: Endpoint): Promise<void> {
    const line = lineOf(endpoint)
    const given = this.#options.requests?.[line] ?? {}
    const missing = parametersOf(endpoint.path).filter((name) => given.params?.[name] === undefined)
    if (missing.length > 0) {
      this.faults.push(`${line} cannot be called: name ${missing.join(' and ')} in the params of its request.`)
      return
    }
    const letter = letterOf(endpoint.method, endpoint.path, given)
    if (endpoint.permission === 'public') return this.#open(line, letter, endpoint)
    await this.#closed(line, letter, endpoint.permission)
    this.#expect(line, 'the browser of an admin, sent by another website,', 403, await this.#visitors.lured(letter))
    await this.#stranger(line, letter, endpoint)
    // The least role first: what it does is done then, and the others meet the state afterwards.
    for (const role of ROLES) {
      if (RANK[role] < RANK[endpoint.permission]) continue
      const heard = await this.#visitors.as(role, letter)
      this.#permitted(line, `the role ${role}`, heard)
      this.#declared(line, endpoint, heard)
      if (role === endpoint.permission) await this.#useful(line, endpoint, given, heard)
    }
  }

  async page(page: Page): Promise<void> {
    const own = Object.entries(this.#options.requests ?? {}).filter(([line]) => isBelow(page, line))
    const lines = own.some(([line]) => line === `GET ${page.path}`) ? own : [[`GET ${page.path}`, {}] as const, ...own]
    for (const [line, given] of lines) {
      const [method = 'GET', path = page.path] = line.split(' ')
      const letter = letterOf(method as Method, path, given)
      if (page.permission !== undefined) await this.#closed(line, letter, page.permission)
      else this.#permitted(line, 'a caller without a token', await this.#visitors.nobody(letter))
      for (const role of ROLES) {
        if (page.permission !== undefined && RANK[role] < RANK[page.permission]) continue
        this.#permitted(line, `the role ${role}`, await this.#visitors.as(role, letter))
      }
    }
    const change = letterOf('POST', page.path, {})
    this.#expect(`POST ${page.path}`, 'a browser, sent by another website,', 403, await this.#visitors.lured(change))
  }

  async #open(line: string, letter: Letter, endpoint: Endpoint): Promise<void> {
    const heard = await this.#visitors.nobody(letter)
    this.#permitted(line, 'a caller without a token', heard)
    this.#declared(line, endpoint, heard)
  }

  async #closed(line: string, letter: Letter, permission: Role): Promise<void> {
    this.#expect(line, 'a caller without a token', 401, await this.#visitors.nobody(letter))
    this.#expect(line, 'a caller with a wrong token', 401, await this.#visitors.impostor(letter))
    for (const role of ROLES)
      if (RANK[role] < RANK[permission])
        this.#expect(line, `the role ${role}`, 403, await this.#visitors.as(role, letter))
  }

  async #stranger(line: string, letter: Letter, { scope, method, path }: Endpoint): Promise<void> {
    const who = 'an admin of another tenant'
    const heard = await this.#visitors.stranger(letter)
    if (scope === 'all') return this.#expect(line, who, 403, heard)
    const { owner } = this.#options
    if (owner === undefined) {
      this.faults.push(`${line} is for callers of one tenant: name the \`owner\` of what it is called for.`)
      return
    }
    if (path.includes('/:') && method !== 'GET') return this.#expect(line, who, 404, heard)
    this.checks++
    if (heard.status >= 500) this.faults.push(`${line} fails with ${heard.status} for ${who}.`)
    if (heard.status < 300 && heard.text.includes(owner))
      this.faults.push(`${line} shows ${who} something of ${owner}.`)
  }

  #expect(line: string, who: string, status: number, heard: Heard): void {
    this.checks++
    if (heard.status !== status)
      this.faults.push(`${line} answers ${heard.status} to ${who}: expected ${status}. ${heard.text.slice(0, 200)}`)
  }

  #permitted(line: string, who: string, { status, text }: Heard): void {
    this.checks++
    if (status === 401 || status === 403)
      this.faults.push(`${line} refuses ${who}, with ${status}. ${text.slice(0, 200)}`)
    if (status >= 500) this.faults.push(`${line} fails with ${status} for ${who}.`)
  }

  #declared(line: string, { output, media }: Endpoint, { status, text }: Heard): void {
    if (status >= 300 || media !== undefined) return
    const { success, error } = output.safeParse(jsonOf(text))
    if (!success)
      this.faults.push(
        `${line} does not answer as it declares: ${error.issues[0]?.path.join('.')}: ${error.issues[0]?.message}`,
      )
  }

  /** A walk over requests that find nothing proves nothing. */
  async #useful(
    line: string,
    { method, path }: Endpoint,
    { changesNothing }: WalkRequest,
    heard: Heard,
  ): Promise<void> {
    const { status, text, requestId } = heard
    if (status >= 400)
      return void this.faults.push(
        `${line} answers ${status} even where it is permitted, so nothing is proven: give it params, a query or a body that it accepts. ${text.slice(0, 200)}`,
      )
    if (method === 'GET' || changesNothing) return
    const entries = await this.#millrace.audit.list({ limit: 100 })
    if (!entries.some((entry) => entry.requestId === requestId))
      this.faults.push(`${line} leaves no entry in the audit log: call audit.write in the handler of ${path}.`)
  }
}

const lineOf = ({ method, path }: Endpoint): string => `${method} ${path}`

const isBelow = ({ path }: Page, line: string): boolean => line.endsWith(` ${path}`) || line.includes(` ${path}/`)

function letterOf(method: Method, path: string, { params = {}, query, body }: WalkRequest): Letter {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? name))
  const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
  return { method, path: `${filled}${search}`, body: method === 'GET' ? undefined : body }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
