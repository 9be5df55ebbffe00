// RSS_FEED_REFRESH: all sources that are due, or one. What a source did wrong is remembered in its row, and enough of it
// in a row disables the source, whatever jobs the failures belong to.
import { type Implementation, implement } from 'millrace'
import { named } from '../handler-names.ts'
import { spanEvent } from '../telemetry/span-events.ts'
import type { VillageParts } from '../village-parts.ts'
import { fanOut } from './fan-out.ts'
import { SourceRun } from './source-run.ts'
import { sourceById } from './source-store.ts'

const NOTHING = { fetched: 0, new: 0, duplicate: 0, skipped: 0 }

export function rssFeedRefresh(parts: VillageParts): Implementation {
  const { contracts, database } = parts
  return implement(
    contracts.RSS_FEED_REFRESH,
    async ({ source_id, force_refresh: isForced = false }, ctx) => {
      if (source_id === undefined || source_id === null) return fanOut(parts, { isForced, ctx })
      const source = await sourceById(database, source_id)
      if (source === undefined) {
        spanEvent('source.not_found', { source_id })
        return { source_id, status: 'not_found' as const, ...NOTHING }
      }
      if (!source.isActive) {
        spanEvent('source.inactive', { source_id })
        return { source_id, status: 'inactive' as const, ...NOTHING }
      }
      if (!source.isDue && !isForced) return { source_id, status: 'not_due' as const, ...NOTHING }
      return new SourceRun(parts, { source, isForced, ctx }).refresh()
    },
    named('RSS_FEED_REFRESH'),
  ) as Implementation
}
