// How old the oldest due job was, while this page has been open: the database keeps no history of it.
import { useEffect, useReducer } from 'react'
import type { Vitals } from './queue-state.ts'

export interface Seen {
  readonly at: number
  readonly ms: number
}

/** Of an hour, at one reading in five seconds. */
const MOST = 720
let seen: readonly Seen[] = []

/** It outlives the screen, so that coming back shows what was seen before. */
export function useOldest(vitals: Vitals): readonly Seen[] {
  const [, draw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const at = new Date(vitals.at).getTime()
    const ms = Math.max(0, ...vitals.queues.map(({ oldestDueMs }) => oldestDueMs ?? 0))
    if (seen.at(-1)?.at === at) return
    seen = [...seen, { at, ms }].slice(-MOST)
    draw()
  }, [vitals])
  return seen
}
