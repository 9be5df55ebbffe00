// RSS_FEED_REFRESH without a source: a job for every source that is due, so that one bad feed holds up no other.
import type { JobContext } from 'millrace'
import { spanEvent } from '../telemetry/span-events.ts'
import type { VillageParts } from '../village-parts.ts'
import { sourcesForRefresh } from './source-store.ts'

export async function fanOut(
  { contracts, database, client, outside }: VillageParts,
  { isForced, ctx }: { isForced: boolean; ctx: JobContext },
): Promise<{ due: number; enqueued: number; duplicate: number }> {
  const ids = await sourcesForRefresh(database, { isForced, hasSandbox: outside.hasSandbox })
  if (ids.length === 0) {
    spanEvent('refresh.no_sources', {})
    return { due: 0, enqueued: 0, duplicate: 0 }
  }
  // Children of this job: they inherit its correlation.
  const results = await client.current.enqueueMany(
    contracts.RSS_FEED_REFRESH,
    ids.map((source_id) => ({ source_id, ...(isForced && { force_refresh: true }) })),
  )
  const duplicate = results.filter(({ status }) => status === 'duplicate').length
  ctx.log.info({ due: ids.length, duplicate }, isForced ? 'refreshing all feeds' : 'refreshing the feeds that are due')
  return { due: ids.length, enqueued: ids.length - duplicate, duplicate }
}
