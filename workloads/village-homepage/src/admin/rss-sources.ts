// Operations about feeds in the admin API: look, add, change, import.
import { type CallContext, Refusal, type Route, route } from '@millrace/admin'
import { endpoint } from '@millrace/admin/contract'
import type { Queryable } from 'millrace'
import { z } from 'zod'
import { DEFAULT_CATEGORY, intervalOf } from '../feeds/categories.ts'
import { feedsOfOpml, type OpmlFeeds, OpmlUnusable } from '../feeds/import-opml.ts'
import {
  addSources,
  allSources,
  changeSource,
  type NewSource,
  oneSource,
  type SourceChange,
  type SourceRow,
} from '../feeds/source-catalogue.ts'
import type { VillageParts } from '../village-parts.ts'
import { changeFields, shownSource, sourceFields } from './source-fields.ts'

const PATH = '/admin/api/rss-sources'
const id = z.uuid({ error: 'expected the id of a source: a uuid' })
const UNIQUE_VIOLATION = '23505'

const list = endpoint({
  method: 'GET',
  path: PATH,
  input: z.object({}),
  output: z.object({ sources: z.array(shownSource) }),
  permission: 'viewer',
  scope: 'all',
  summary: 'List the feeds that the village follows',
  description: 'Disabled ones come first, then failing ones.',
})

const show = endpoint({
  method: 'GET',
  path: `${PATH}/:id`,
  input: z.object({ id }),
  output: shownSource,
  permission: 'viewer',
  scope: 'all',
  summary: 'Show a feed',
})

const add = endpoint({
  method: 'POST',
  path: PATH,
  input: z.object({
    name: sourceFields.name,
    url: sourceFields.url,
    category: sourceFields.category.optional(),
    refresh_interval_minutes: sourceFields.refresh_interval_minutes.optional(),
    dedupe_mode: sourceFields.dedupe_mode.optional(),
    entry_limit: sourceFields.entry_limit.optional(),
    user_agent: sourceFields.user_agent.optional(),
  }),
  output: shownSource,
  permission: 'operator',
  scope: 'all',
  status: 201,
  summary: 'Follow a feed',
  description: 'Without an interval it gets that of its category. It is fetched at the next tick, within five minutes.',
})

const change = endpoint({
  method: 'PATCH',
  path: `${PATH}/:id`,
  input: z.object({ id, ...z.object(changeFields).partial().shape }),
  output: shownSource,
  permission: 'operator',
  scope: 'all',
  summary: 'Change a feed, or enable it again',
  description:
    'What is not named stays. With `{"is_active": true, "error_count": 0}` a disabled feed is fetched again.',
})

const importAll = endpoint({
  method: 'POST',
  path: `${PATH}/import`,
  input: z.object({ opml: z.string().min(1).describe('The text of an OPML file') }),
  output: z.object({ found: z.int(), added: z.int(), known: z.int(), unusable: z.array(z.string()) }),
  permission: 'operator',
  scope: 'all',
  summary: 'Follow the feeds of an OPML file',
  description: 'Folders become categories. Feeds that the village follows already stay as they are.',
})

export function rssSourceRoutes({ database }: VillageParts): Route[] {
  return [
    route(list, async () => ({ sources: await allSources(database) })),
    route(show, async ({ id }) => (await oneSource(database, id)) ?? noSource(id)),
    route(importAll, ({ opml }, caller) => {
      const { feeds, unusable } = opmlOrRefuse(opml)
      return database.transaction(async (tx) => {
        const added = feeds.length === 0 ? [] : await addSources(tx, feeds)
        const counts = { found: feeds.length, added: added.length, known: feeds.length - added.length }
        await note(tx, caller, { action: 'rss_source.import', details: counts })
        return { ...counts, unusable }
      })
    }),
    route(add, (given, caller) =>
      database.transaction(async (tx) => {
        const category = given.category ?? DEFAULT_CATEGORY
        const minutes = given.refresh_interval_minutes ?? intervalOf(category)
        const [added] = await addSources(tx, [{ ...given, category, refresh_interval_minutes: minutes } as NewSource])
        if (added === undefined) return urlTaken(given.url)
        await note(tx, caller, { action: 'rss_source.create', target: added.id, details: { url: added.url } })
        return added
      }),
    ),
    route(change, ({ id, ...given }, caller) =>
      database.transaction(async (tx) => {
        const changed = (await changeOrRefuse(tx, id, given as SourceChange)) ?? noSource(id)
        await note(tx, caller, { action: 'rss_source.change', target: id, details: given })
        return changed
      }),
    ),
  ]
}

/** In the audit log, exactly if the change commits. */
const note = (
  tx: Queryable,
  { millrace, by }: Pick<CallContext, 'millrace' | 'by'>,
  entry: { action: string; target?: string; details: Record<string, unknown> },
): Promise<void> => millrace.audit.write({ by, ...entry }, { tx })

function opmlOrRefuse(opml: string): OpmlFeeds {
  try {
    return feedsOfOpml(opml)
  } catch (error) {
    if (error instanceof OpmlUnusable) throw new Refusal(400, 'invalid_opml', error.message)
    throw error
  }
}

async function changeOrRefuse(tx: Queryable, id: string, change: SourceChange): Promise<SourceRow | undefined> {
  try {
    return await changeSource(tx, id, change)
  } catch (error) {
    if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) urlTaken(change.url ?? '')
    throw error
  }
}

function noSource(id: string): never {
  throw new Refusal(404, 'not_found', `There is no feed ${id}. GET ${PATH} lists them.`)
}

function urlTaken(url: string): never {
  throw new Refusal(409, 'url_taken', `The village follows ${url} already. GET ${PATH} lists its feeds.`)
}
