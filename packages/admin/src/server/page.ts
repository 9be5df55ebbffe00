// A page of a workload: a path and everything below it, answered by the workload itself.
import type { Millrace } from 'millrace'
import type { Role } from '../contract/endpoint.ts'
import type { AdminApp, AdminContext } from './admin.ts'
import type { Authentication } from './auth.ts'
import { bearerOf } from './auth.ts'
import { type Caller, demandRole } from './caller.ts'
import { demandOwnForm, demandOwnOrigin } from './origin.ts'
import { Refusal } from './problem.ts'

export interface PageContext {
  readonly millrace: Millrace
  /** Who asks; null: nobody knows, which happens on public pages only. */
  readonly caller: Caller | null
  /** Before every path of this server: '' or where it is mounted. */
  readonly basePath: string
  /** The network address that the request came from. */
  readonly source: string
}

export interface Page {
  /** Such as '/village'. Requests to it and to all that is below it come here, whatever their method. */
  readonly path: string
  /** For people: the name in the navigation. Without one it is not in there, as for a file that programs read. */
  readonly title?: string
  /** The least role that may see it. Default: everybody may. */
  readonly permission?: Role
  handle(request: Request, context: PageContext): Response | Promise<Response>
}

/** Paths that are ours. */
const OURS = /^\/(admin|api|healthz|readyz|metrics)(\/|$)/

export function checkPages(pages: readonly Page[]): void {
  const paths = new Set<string>()
  for (const { path, title = path } of pages) {
    if (typeof path !== 'string' || !/^(\/[\w.~-]+)+$/.test(path))
      throw new TypeError(`Page "${title}" has path ${JSON.stringify(path)}: expected one such as '/village'.`)
    if (OURS.test(path))
      throw new TypeError(`Page "${title}" has path ${path}, which belongs to Millrace. Choose another.`)
    if (paths.has(path)) throw new TypeError(`Two pages have the path ${path}. Give each its own.`)
    paths.add(path)
  }
}

export function addPage(
  app: AdminApp,
  page: Page,
  { millrace, auth, basePath }: { millrace: Millrace; auth: Authentication; basePath: string },
): void {
  const answer = async (c: AdminContext) => {
    const request = c.req.raw
    const { source, requestId } = c.var
    const caller = await callerOf(page, request, () => auth.callerOf(request, source))
    return millrace.audit.from({ source, requestId }, async () =>
      page.handle(request, { millrace, caller, basePath, source }),
    )
  }
  app.all(page.path, answer)
  app.all(`${page.path}/*`, answer)
}

/** Changes that a browser sends must come from our own pages. Programs send no origin, and a public page may expect them. */
async function callerOf(page: Page, request: Request, find: () => Promise<Caller>): Promise<Caller | null> {
  if (page.permission === undefined) {
    if (isChange(request) && isOfBrowser(request) && bearerOf(request) === undefined) demandOwnForm(request)
    return find().catch((error: unknown) => {
      if (error instanceof Refusal) return null
      throw error
    })
  }
  const caller = await find()
  // A link from elsewhere may lead to a page; only changes must not come from there.
  if (isChange(request)) demandOwnOrigin(request, caller)
  demandRole(caller, page.permission)
  return caller
}

const isChange = ({ method }: Request): boolean => method !== 'GET' && method !== 'HEAD'

const isOfBrowser = ({ headers }: Request): boolean => headers.has('origin') || headers.has('sec-fetch-site')
