// Who agreed to be counted (P14): a random number in a cookie of the visitor, and a row about what they decided.
import { randomUUID } from 'node:crypto'
import type { Queryable } from 'millrace'

/** Of the text that the visitor agrees to. A new text asks everybody again. */
export const POLICY_VERSION = '1'

const COOKIE = 'village_counting'
/** They are asked again after half a year. */
const MAX_AGE_S = 180 * 86_400

/** 'no' and 'unasked' have no row: the village knows nothing about such a visitor. */
export type Visitor = { readonly says: 'yes'; readonly id: string } | { readonly says: 'no' | 'unasked' }

const YES = new RegExp(`^${POLICY_VERSION}\\.([\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12})$`)

export function visitorOf(request: Request): Visitor {
  const value = cookieOf(request)
  if (value === `${POLICY_VERSION}.no`) return { says: 'no' }
  const id = YES.exec(value ?? '')?.[1]
  return id === undefined ? { says: 'unasked' } : { says: 'yes', id }
}

function cookieOf(request: Request): string | undefined {
  const cookies = (request.headers.get('cookie') ?? '').split(';')
  const own = cookies.map((each) => each.trim()).find((each) => each.startsWith(`${COOKIE}=`))
  return own?.slice(COOKIE.length + 1)
}

/** The visitor's decision for their browser: no script reads it, and no other website sends it with a form. */
export function cookieFor(visitor: Visitor, { basePath, isSecure }: { basePath: string; isSecure: boolean }): string {
  const value = visitor.says === 'yes' ? visitor.id : 'no'
  const secure = isSecure ? '; Secure' : ''
  return `${COOKIE}=${POLICY_VERSION}.${value}; Path=${basePath}/village; Max-Age=${MAX_AGE_S}; HttpOnly; SameSite=Lax${secure}`
}

const AGREE = `
insert into village.visitor_consents (visitor_id, analytics, policy_version)
values ($1, true, $2)`

/** The row stays, without clicks: one that is being written at this moment is found by the next roll-up. */
const WITHDRAW = `
with withdrawn as (
  update village.visitor_consents
  set analytics = false, decided_at = now()
  where visitor_id = $1
  returning visitor_id
)
delete from village.link_clicks
where visitor_id in (select visitor_id from withdrawn)`

/** Each consent is a new number: an older one cannot be joined to it. */
export async function agree(db: Queryable): Promise<Visitor> {
  const id = randomUUID()
  await db.query(AGREE, [id, POLICY_VERSION])
  return { says: 'yes', id }
}

/** The clicks of that visitor are gone with the commit. */
export async function withdraw(db: Queryable, id: string): Promise<void> {
  await db.query(WITHDRAW, [id])
}
