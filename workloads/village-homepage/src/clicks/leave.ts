// /village/go/{kind}/{id}: leads to a story or a site that the village shows, and counts the click of a visitor who agreed. The
// address comes from the tables, so the link leads nowhere else.
import type { Queryable } from 'millrace'
import type { VillageParts } from '../village-parts.ts'
import { visitorOf } from './visitor.ts'

const PATH = /^\/go\/(item|site)\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i

const TARGETS = {
  item: 'select url from village.feed_items where id = $1',
  site: "select url from village.good_sites where id = $1 and status = 'listed'",
} as const

type Kind = keyof typeof TARGETS

/** Without a consent that still holds, no row. */
const COUNT = `
insert into village.link_clicks (target_kind, target_id, visitor_id, clicked_at, consented)
select $1, $2, visitor_id, $4, true
from village.visitor_consents
where visitor_id = $3
  and analytics
for share`

export interface Target {
  readonly kind: Kind
  readonly id: string
}

/** `path`: below /village. */
export function targetOf(path: string): Target | undefined {
  const [, kind, id] = PATH.exec(path) ?? []
  return kind === undefined || id === undefined ? undefined : { kind: kind.toLowerCase() as Kind, id }
}

/** Undefined: the village shows nothing of that id. */
export async function leave(parts: VillageParts, target: Target, request: Request): Promise<Response | undefined> {
  const { database, site } = parts
  const { rows } = await database.query(TARGETS[target.kind], [target.id])
  const url = rows[0]?.url
  if (typeof url !== 'string' || !/^https?:\/\//i.test(url)) return undefined
  if (isClick(request)) {
    // A visitor gets where they want to, whether or not we can count it.
    await count(parts, target, request).catch((error: unknown) =>
      site.logger?.warn({ err: error }, 'a click could not be counted'),
    )
  }
  return new Response(null, {
    status: 302,
    headers: {
      location: new URL(url).href,
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex, nofollow',
    },
  })
}

async function count({ database, clock }: VillageParts, { kind, id }: Target, request: Request): Promise<void> {
  const visitor = visitorOf(request)
  if (visitor.says === 'yes') await countClick(database, { kind, id, visitor: visitor.id, at: clock.now() })
}

const countClick = (db: Queryable, click: Target & { visitor: string; at: Date }) =>
  db.query(COUNT, [click.kind, click.id, click.visitor, click.at])

/** Not a look ahead by the browser, and not a HEAD of a program. */
const isClick = ({ method, headers }: Request): boolean =>
  method === 'GET' && !/prefetch|prerender/.test(`${headers.get('sec-purpose')} ${headers.get('purpose')}`)
