// What a governed claim saw of a queue's streams, and what follows for the next one.

import { justBefore, type Walked } from '../queue-entry.ts'
import type { Seen } from '../store/governed-claims.ts'
import type { Position } from '../store/job-claims.ts'
import { compareIds } from '../store/job-id.ts'
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
  /** Nothing of these types was left out: neither by type, nor because somebody else held it a moment ago. */
  readonly isWhole: boolean
  readonly walked: Walked
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

/**
 * Where the next look at each stream may begin: before the first job that was left, or else behind the last one taken. What was
 * not seen must not be passed.
 */
export function frontiers({ seen, isWhole }: Look, taken: readonly { id: string }[]): Position[] {
  if (!isWhole) return []
  const isTaken = new Set(taken.map(({ id }) => id))
  const streams = new Map<string, { left?: Position; last?: Position }>()
  for (const [nth, tenant, , id, type, priority, runAtS] of seen) {
    if (nth < 0 || id === null) continue
    const key = `${nth} ${priority}`
    const stream = streams.get(key) ?? {}
    const job = { tenant, type, priority, runAtS, id }
    if (!isTaken.has(id)) {
      if (stream.left === undefined || isBefore(job, stream.left)) stream.left = job
    } else if (stream.last === undefined || isBefore(stream.last, job)) stream.last = job
    streams.set(key, stream)
  }
  return [...streams.values()].flatMap(({ left, last }) => (left === undefined ? (last ?? []) : justBefore(left)))
}

const isBefore = (a: Position, b: Position): boolean =>
  a.runAtS < b.runAtS || (a.runAtS === b.runAtS && compareIds(a.id, b.id) < 0)
