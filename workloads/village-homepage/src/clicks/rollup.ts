// CLICK_ROLLUP: forgets what may not be kept, then counts the hours that are over.
import { type Implementation, implement, type JobContext } from 'millrace'
import { named } from '../handler-names.ts'
import type { VillageParts } from '../village-parts.ts'
import { deleteOld, deleteWithdrawn, rollUp, spanOf } from './click-store.ts'

const HOUR_MS = 3_600_000

export const clickRollup = (parts: VillageParts): Implementation =>
  implement(
    parts.contracts.CLICK_ROLLUP,
    async ({ from_hour, to_hour }, ctx) => {
      const { database, clock, config } = parts
      const now = clock.now()
      // Withdrawn first, so that they are not counted; old ones last, when they have been.
      const withdrawn = await all(ctx, () => deleteWithdrawn(database))
      const days = config.clicks.retentionDays
      const span = await spanOf(database, { now, days, from: fullHour(from_hour), to: fullHour(to_hour) })
      const rows = await database.transaction((tx) => rollUp(tx, span))
      const old = await all(ctx, () => deleteOld(database, now, days))
      const hours = Math.max(0, (span.to.getTime() - span.from.getTime()) / HOUR_MS)
      return { hours, rows, deleted: withdrawn + old }
    },
    named('CLICK_ROLLUP'),
  )

const fullHour = (text: string | undefined): Date | undefined =>
  text === undefined ? undefined : new Date(Math.floor(Date.parse(text) / HOUR_MS) * HOUR_MS)

async function all({ signal }: JobContext, some: () => Promise<number>): Promise<number> {
  let sum = 0
  for (let count = await some(); count > 0; count = await some()) {
    sum += count
    signal.throwIfAborted()
  }
  return sum
}
