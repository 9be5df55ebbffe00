// How old the oldest due job was: by the minute as workers wrote it down, and at this moment by the vitals.
import type { Range } from '../../app/address.ts'
import { ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import type { Vitals } from './queue-state.ts'
import { stepFor } from './steps.ts'

export interface Seen {
  readonly at: number
  readonly ms: number
}

export function useOldest(vitals: Vitals, since: Range): readonly Seen[] {
  const { data } = useLive(ask('reports', 'queues', { since, step: stepFor(since) }), { every: 60_000 })
  const past = (data?.points ?? []).flatMap(({ at, queues }) =>
    // Null: no worker looked, so nobody knows.
    queues === null ? [] : [{ at: Date.parse(at), ms: oldestOf(queues) }],
  )
  return [...past, { at: Date.parse(vitals.at), ms: oldestOf(vitals.queues) }]
}

const oldestOf = (queues: readonly { oldestDueMs: number | null }[]): number =>
  Math.max(0, ...queues.map(({ oldestDueMs }) => oldestDueMs ?? 0))
