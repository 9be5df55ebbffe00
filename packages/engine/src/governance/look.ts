// What a governed claim saw of a queue's streams, and what follows for the next one.
import type { Seen } from '../store/governed-claims.ts'
import type { Candidate } from './round.ts'

/** More than asked for, because limits and shares turn some away. */
export const SPARE = 1.25
/** How much larger the second offer is, where the first was too small. */
const MORE = 4

/**
 * How many jobs each stream of weight 1 is asked for at first. One more than it could have: whoever has something left over
 * competes for the next slot.
 */
export const firstOffer = (slots: number, streams: number): number => 1 + Math.ceil((slots * SPARE) / streams)

/** The next one; undefined: nobody could have had more. */
export const largerOffer = (offer: number, slots: number): number | undefined =>
  offer > slots ? undefined : Math.min(slots + 1, offer * MORE)

export interface Look {
  readonly seen: readonly Seen[]
  readonly byType: boolean
  /** There are more streams than were looked at. */
  readonly isCut: boolean
  /** How many each stream of weight 1 was asked for. */
  readonly offer: number
}

/** Behind whom the next look begins: the last one served, or looked at; null: as before. */
export function turnAfter({ seen, isCut }: Look, chosen: readonly { tenant: string | null }[]): string | null {
  if (!isCut) return null
  const served = new Set(chosen.map(({ tenant }) => tenant))
  const streams = seen.filter(([nth, tenant]) => nth > 0 && (served.size === 0 || served.has(tenant)))
  return (
    streams.reduce<Seen | undefined>((last, each) => (each[0] > (last?.[0] ?? 0) ? each : last), undefined)?.[1] ?? null
  )
}

/** Has a stream given all it was asked for, and was all of it chosen? Then it would have got more. */
export function isAnyoneShort({ seen, offer }: Look, chosen: readonly Candidate[]): boolean {
  const given = countByStream(seen.flatMap(([nth, , , id]) => (id === null ? [] : nth)))
  const taken = countByStream(chosen.map(({ nth }) => nth))
  return [...given].some(([nth, count]) => nth > 0 && count >= offer && taken.get(nth) === count)
}

function countByStream(streams: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>()
  for (const nth of streams) counts.set(nth, (counts.get(nth) ?? 0) + 1)
  return counts
}
