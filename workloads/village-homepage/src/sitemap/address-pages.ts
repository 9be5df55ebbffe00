// The public addresses of the village, a page of a query at a time: a village may have more of them than fit into memory.
import type { VillageDatabase } from '../database/pool.ts'
import { listingPath, sitePath } from '../page/addresses.ts'
import { CATEGORIES } from '../tagging/tags.ts'

export interface Address {
  /** Below the address of the village's site, such as /village. */
  readonly path: string
  readonly changedAt: Date
}

const AT_ONCE = 5_000
const FIRST = '00000000-0000-0000-0000-000000000000'

const LISTINGS = `
select id, created_at as "changedAt"
from village.listings
where status = 'active'
  and id > $1
order by id
limit ${AT_ONCE}`

const SITES = `
select id, created_at as "changedAt"
from village.good_sites
where status = 'listed'
  and id > $1
order by id
limit ${AT_ONCE}`

interface Row {
  readonly id: string
  readonly changedAt: Date
}

export async function* addressPages(database: VillageDatabase, now: Date): AsyncGenerator<readonly Address[]> {
  const news = CATEGORIES.map((name) => `/village?category=${encodeURIComponent(name)}`)
  yield ['/village', ...news].map((path) => ({ path, changedAt: now }))
  yield* keyset(database, LISTINGS, listingPath)
  yield* keyset(database, SITES, sitePath)
}

async function* keyset(
  database: VillageDatabase,
  statement: string,
  pathOf: (id: string) => string,
): AsyncGenerator<readonly Address[]> {
  let after = FIRST
  for (;;) {
    const rows = (await database.query(statement, [after])).rows as unknown as Row[]
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.id
    yield rows.map(({ id, changedAt }) => ({ path: pathOf(id), changedAt }))
  }
}
