// What a newcomer sees in the first minute: each type that is built runs once, at the start of `millrace dev`.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Millrace } from 'millrace'
import type { TourStop } from '../src/village.ts'

const OPTIONS = { createdBy: 'tour' }
/** Tagging begins when the first feeds are there: a slow one is not waited for. */
const MOST_WAIT_MS = 10_000
const FEEDS_TO_SEE = 3

/** Resolves when all is enqueued. */
export async function tour({ millrace, contracts, signal }: TourStop): Promise<void> {
  const { RSS_FEED_REFRESH, WEATHER_REFRESH, STOCK_REFRESH, AI_TAGGING, CLICK_ROLLUP, RANK_RECALCULATION } = contracts
  const feeds = completions(millrace, RSS_FEED_REFRESH.type, FEEDS_TO_SEE)
  try {
    await millrace.enqueue(RSS_FEED_REFRESH, {}, OPTIONS)
    await millrace.enqueue(WEATHER_REFRESH, { kind: 'forecast' }, OPTIONS)
    await millrace.enqueue(WEATHER_REFRESH, { kind: 'alerts' }, OPTIONS)
    await millrace.enqueue(STOCK_REFRESH, {}, OPTIONS)
    await Promise.race([feeds.seen, sleep(MOST_WAIT_MS, undefined, { signal, ref: false })])
    await millrace.enqueue(AI_TAGGING, { trigger: 'manual' }, OPTIONS)
    await millrace.enqueue(CLICK_ROLLUP, {}, OPTIONS)
    await millrace.enqueue(RANK_RECALCULATION, {}, OPTIONS)
  } finally {
    feeds.stop()
  }
}

/** So many completed runs of that type: one that fans out, then those of the sources. */
function completions(millrace: Millrace, type: string, count: number) {
  let left = count
  let tell = () => {}
  const seen = new Promise<void>((resolve) => {
    tell = resolve
  })
  const stop = millrace.events.on('job_completed', ({ job }) => {
    if (job.type !== type) return
    left -= 1
    if (left === 0) tell()
  })
  return { seen, stop }
}
