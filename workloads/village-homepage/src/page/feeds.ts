// The page /village/feeds: every source with its state, for operators, and buttons to refresh it now or to enable it.
import type { Page, PageContext } from '@millrace/admin'
import { changeSource, oneSource, type SourceRow } from '../feeds/source-catalogue.ts'
import type { VillageParts } from '../village-parts.ts'
import { answer } from './answer.ts'
import { feedsDocument } from './feeds-document.ts'
import { message } from './layout.ts'

const PATH = '/village/feeds'
const ACTION = /^\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/(refresh|enable)$/i

export function feedsPage(parts: VillageParts): Page {
  return {
    path: PATH,
    title: 'Feeds',
    permission: 'operator',
    async handle(request, context) {
      const url = new URL(request.url)
      const rest = url.pathname.slice(url.pathname.indexOf(PATH) + PATH.length).replace(/\/$/, '')
      if (rest === '' && (request.method === 'GET' || request.method === 'HEAD'))
        return answer(await feedsDocument(parts, context, url.searchParams))
      const [, id, action] = ACTION.exec(rest) ?? []
      if (id === undefined || request.method !== 'POST') return refused(context, rest === '' ? 405 : 404)
      const source = await oneSource(parts.database, id)
      if (source === undefined) return refused(context, 404)
      const told = action === 'enable' ? await enable(parts, context, source) : await refresh(parts, context, source)
      const query = new URLSearchParams({ ...told, source: source.id })
      return new Response(null, { status: 303, headers: { location: `${context.basePath}${PATH}?${query}` } })
    },
  }
}

const nameOf = ({ caller }: PageContext): string => caller?.name ?? 'unknown'

async function refresh({ contracts }: VillageParts, context: PageContext, { id }: SourceRow) {
  const enqueued = await context.millrace.enqueue(
    contracts.RSS_FEED_REFRESH,
    { source_id: id, force_refresh: true },
    { createdBy: nameOf(context) },
  )
  return { told: enqueued.status === 'duplicate' ? 'waits' : 'refreshes', job: enqueued.id }
}

async function enable({ database }: VillageParts, context: PageContext, { id }: SourceRow) {
  const change = { is_active: true, error_count: 0 }
  await database.transaction(async (tx) => {
    await changeSource(tx, id, change)
    const entry = { by: nameOf(context), action: 'rss_source.change', target: id, details: change }
    await context.millrace.audit.write(entry, { tx })
  })
  return { told: 'enabled' }
}

function refused({ basePath }: PageContext, status: 404 | 405): Promise<Response> {
  return status === 404
    ? answer(message(basePath, 'Not here', 'There is no such feed in the village.'), { status })
    : answer(message(basePath, 'Not possible', 'This page can be read; its buttons change one feed.'), {
        status,
        headers: { allow: 'GET, HEAD' },
      })
}
