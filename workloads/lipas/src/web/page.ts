// The page /lipas and what it reads from below: public, and read only. What changes something is a route.
import { type Page, type PageContext, Refusal } from '@millrace/admin'
import { siteOf } from '../registry/sites.ts'
import type { LipasSystem } from '../system.ts'
import { boardState } from './board-state.ts'
import { foundDocument, siteDocument, squareDocument } from './documents.ts'
import { findSites } from './find.ts'
import { RegisterMap } from './map-state.ts'
import { squareOf } from './map-store.ts'
import { offersOf, siteDetails } from './offers.ts'
import { document, fileOf } from './page/answer.ts'
import { boardHtml } from './page/board.ts'
import { messageHtml, pageHtml } from './page/document.ts'
import type { Html } from './page/html.ts'
import { mapSummary } from './page/map.ts'
import { noPlace, panelHtml, unknownPlace } from './page/panel.ts'
import { resultsHtml } from './page/results.ts'
import { squareHtml } from './page/square.ts'
import { represented } from './representation.ts'
import { mayOperate, maySeeWork, timeZoneOf } from './visitor.ts'

const PATH = '/lipas'

interface Asked {
  readonly request: Request
  readonly context: PageContext
  readonly query: URLSearchParams
}

export function lipasPage(system: LipasSystem): Page {
  const map = new RegisterMap(system)
  return {
    path: PATH,
    title: 'LIPAS',
    async handle(request, context) {
      const { pathname, searchParams: query } = new URL(request.url)
      const rest = pathname.slice(PATH.length)
      const asked = { request, context, query }
      // Addresses on the page are relative to it.
      if (rest === '/') return new Response(null, { status: 308, headers: { location: `${context.basePath}${PATH}` } })
      if (request.method !== 'GET' && request.method !== 'HEAD') throw readOnly(pathname)
      if (rest === '') return whole(system, map, asked)
      const [, id] = /^\/api\/(?:sites|squares)\/([^/]{1,100})$/.exec(rest) ?? []
      if (rest === '/api/map') return mapNews(map, asked)
      if (rest === '/api/sites') return search(system, asked)
      if (id !== undefined) return rest.startsWith('/api/sites/') ? site(system, asked, id) : square(system, asked, id)
      return fileOf(rest.slice(1), request) ?? nothing(context)
    },
  }
}

const nothing = ({ basePath }: PageContext): Promise<Response> =>
  document(messageHtml(basePath, 'Not here', 'There is no such page of LIPAS.'), 404)

const readOnly = (pathname: string): Refusal =>
  new Refusal(
    405,
    'method_not_allowed',
    `${pathname} can be read, and nothing else. POST /lipas/api/sites/:id saves a place.`,
  )

async function whole(system: LipasSystem, map: RegisterMap, asked: Asked): Promise<Response> {
  const { context, query } = asked
  const q = query.get('q') ?? ''
  const [state, panel, results, board] = await Promise.all([
    map.state(),
    panelOf(system, asked),
    resultsOf(system, context, q),
    boardOf(system, context),
  ])
  const trace = maySeeWork(context.caller) ? (query.get('trace') ?? undefined) : undefined
  return document(
    pageHtml({ map: state, query: q, results, panel, trace, board, sandboxUrl: sandboxOf(system, context) }),
  )
}

const sandboxOf = ({ sandboxUrl }: LipasSystem, { caller }: PageContext): string | undefined =>
  maySeeWork(caller) ? sandboxUrl : undefined

async function panelOf(system: LipasSystem, { context, query }: Asked): Promise<Html> {
  const [id, cellId] = [query.get('site'), query.get('square')]
  if (id !== null) return (await sitePanel(system, context, id)) ?? unknownPlace(id)
  const found = cellId === null ? undefined : await squareOf(system.database, cellId)
  return found === undefined
    ? noPlace
    : squareHtml(found, await offersOf(system.database, found), maySeeWork(context.caller))
}

async function resultsOf(system: LipasSystem, { millrace }: PageContext, query: string): Promise<Html> {
  return resultsHtml(await findSites(system, millrace, query), { query, timeZone: timeZoneOf(system) })
}

async function boardOf(system: LipasSystem, { millrace, caller }: PageContext): Promise<Html | undefined> {
  if (!maySeeWork(caller)) return undefined
  const view = { now: system.clock.now(), timeZone: timeZoneOf(system), mayOperate: mayOperate(caller) }
  return boardHtml(await boardState(system, millrace), view)
}

async function mapNews(map: RegisterMap, { request, query }: Asked): Promise<Response> {
  const state = await map.state()
  const since = Number(query.get('since') ?? 0)
  if (!Number.isSafeInteger(since) || since < 0)
    throw new Refusal(400, 'invalid_request', 'since: expected the revision that an answer before has named.')
  const json = () => ({
    levels: state.levels,
    summary: String(mapSummary(state)),
    revision: state.places.newest,
    places: state.places.since(since).map(({ lipasId, svg }) => ({ 'lipas-id': lipasId, svg })),
  })
  return represented(request, { json, html: () => mapSummary(state) })
}

async function search(system: LipasSystem, { request, context, query }: Asked): Promise<Response> {
  const q = query.get('q') ?? ''
  const found = await findSites(system, context.millrace, q)
  return represented(request, {
    html: () => resultsHtml(found, { query: q, timeZone: timeZoneOf(system) }),
    json: () => foundDocument(found),
  })
}

/** What is written wrongly is the id of nothing. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** An id that is no number is that of no place. */
const idOf = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : 0)

async function site(system: LipasSystem, { request, context }: Asked, id: string): Promise<Response> {
  const found = await siteOf(system.database, idOf(id))
  if (found === undefined) throw new Refusal(404, 'not_found', `The register has no place ${id}.`)
  const details = await siteDetails(system.database, found)
  return represented(request, {
    html: () => panelHtml(details, viewOf(system, context)),
    json: () => siteDocument(details),
  })
}

async function sitePanel(system: LipasSystem, context: PageContext, id: string): Promise<Html | undefined> {
  const found = await siteOf(system.database, idOf(id))
  return found && panelHtml(await siteDetails(system.database, found), viewOf(system, context))
}

const viewOf = (system: LipasSystem, { caller }: PageContext) => ({
  timeZone: timeZoneOf(system),
  maySeeWork: maySeeWork(caller),
  mayOperate: mayOperate(caller),
})

async function square(system: LipasSystem, { request, context }: Asked, id: string): Promise<Response> {
  const found = await squareOf(system.database, decoded(id))
  if (found === undefined) throw new Refusal(404, 'not_found', `There is no inhabited square ${id}.`)
  const offers = await offersOf(system.database, found)
  return represented(request, {
    html: () => squareHtml(found, offers, maySeeWork(context.caller)),
    json: () => squareDocument(found, offers),
  })
}
