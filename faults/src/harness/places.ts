// What the places of keys look like while a scenario runs: how many are taken, and how long one is free in vain.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fact, RunFact } from './history.ts'
import { PLACES } from './tasks.ts'
import type { World } from './world.ts'

const LOOK_EVERY_MS = 25

interface KeyCount {
  key: string
  kind: 'limit' | 'order'
  admitted: number
  /** Blocked, and kept so by nothing but its key. */
  ready: number
}

export interface PlaceReport {
  /** The most that were admitted at once, beyond what is allowed. */
  excess: number
  /** The longest time for which a key had a free place and somebody who waited for it. */
  longestVainMs: number
  looks: number
}

/** Looks at the table again and again until it is stopped. */
export function watchPlaces(world: World): { stop(): Promise<PlaceReport> } {
  const report: PlaceReport = { excess: 0, longestVainMs: 0, looks: 0 }
  const vainSince = new Map<string, number>()
  let isWatching = true
  const look = async () => {
    const counts = await world.query<KeyCount>(
      `select coalesce(limit_key, order_key) as key, case when limit_key is null then 'order' else 'limit' end as kind,
         count(*) filter (where status <> 'blocked')::int as admitted,
         count(*) filter (where status = 'blocked' and run_at <= now())::int as ready
       from millrace.job where coalesce(limit_key, order_key) is not null group by 1, 2`,
    )
    report.looks++
    const vain = new Set<string>()
    for (const { key, kind, admitted, ready } of counts) {
      const places = kind === 'limit' ? PLACES : 1
      report.excess = Math.max(report.excess, admitted - places)
      if (ready > 0 && admitted < places) vain.add(`${kind} ${key}`)
    }
    const now = performance.now()
    for (const key of vain) {
      const since = vainSince.get(key) ?? now
      vainSince.set(key, since)
      report.longestVainMs = Math.max(report.longestVainMs, now - since)
    }
    for (const key of vainSince.keys()) if (!vain.has(key)) vainSince.delete(key)
  }
  const loop = (async () => {
    while (isWatching) {
      await look()
      await sleep(LOOK_EVERY_MS)
    }
  })()
  return {
    async stop() {
      isWatching = false
      await loop
      return report
    },
  }
}

/**
 * The most jobs of one key that ran at once, by the history. A run that was taken away from a frozen or dead worker ends
 * where the next run of its job begins: the job has one place, whoever runs it.
 */
export function mostAtOnce(facts: readonly Fact[], keyOf: (n: string) => string | undefined): Map<string, number> {
  const running = new Map<string, Map<string, string>>()
  const most = new Map<string, number>()
  for (const fact of facts) {
    const { what, n, run } = fact as RunFact
    const key = what === 'started' || what === 'ended' || what === 'failed' ? keyOf(n) : undefined
    if (key === undefined) continue
    const ofKey = running.get(key) ?? new Map<string, string>()
    running.set(key, ofKey)
    if (what === 'started') ofKey.set(n, run)
    else if (ofKey.get(n) === run) ofKey.delete(n)
    most.set(key, Math.max(most.get(key) ?? 0, ofKey.size))
  }
  return most
}
