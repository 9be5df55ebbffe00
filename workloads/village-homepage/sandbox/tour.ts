// What a newcomer sees in the first minute: each type runs once, at the start of `millrace dev`.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Millrace } from 'millrace'
import type { TourStop } from '../src/village.ts'
import { addPictures, showSites } from './tour-pictures.ts'
import { agreeAndClick, writeToSellers } from './tour-visitors.ts'

const OPTIONS = { createdBy: 'tour' }
/** Tagging begins when the first feeds are there: a slow one is not waited for. */
const MOST_WAIT_MS = 10_000
const FEEDS_TO_SEE = 3
/** The neighbour has answered by then. */
const REPLY_IN = '7s'

/** Resolves when all is enqueued. */
export async function tour(stop: TourStop): Promise<void> {
  const { millrace, parts, signal } = stop
  const { contracts } = parts
  const feeds = completions(millrace, contracts.RSS_FEED_REFRESH.type, FEEDS_TO_SEE)
  try {
    await millrace.enqueue(contracts.RSS_FEED_REFRESH, {}, OPTIONS)
    await millrace.enqueue(contracts.WEATHER_REFRESH, { kind: 'forecast' }, OPTIONS)
    await millrace.enqueue(contracts.WEATHER_REFRESH, { kind: 'alerts' }, OPTIONS)
    await millrace.enqueue(contracts.STOCK_REFRESH, {}, OPTIONS)
    await millrace.enqueue(contracts.SOCIAL_REFRESH, {}, OPTIONS)
    await millrace.enqueue(contracts.LINK_HEALTH_CHECK, {}, OPTIONS)
    await millrace.enqueue(contracts.LISTING_EXPIRATION, {}, OPTIONS)
    await writeToSellers(parts, OPTIONS)
    await showSites(stop, OPTIONS)
    await addPictures(stop, OPTIONS)
    await millrace.enqueue(contracts.INBOUND_EMAIL, {}, { ...OPTIONS, delay: REPLY_IN })
    await millrace.enqueue(contracts.SITEMAP_GENERATION, {}, OPTIONS)
    await Promise.race([feeds.seen, sleep(MOST_WAIT_MS, undefined, { signal, ref: false })])
    await millrace.enqueue(contracts.AI_TAGGING, { trigger: 'manual' }, OPTIONS)
    const rollup = completions(millrace, contracts.CLICK_ROLLUP.type, 1)
    await agreeAndClick(parts)
    await millrace.enqueue(contracts.CLICK_ROLLUP, {}, OPTIONS)
    await Promise.race([rollup.seen, sleep(MOST_WAIT_MS, undefined, { signal, ref: false })]).finally(rollup.stop)
    await millrace.enqueue(contracts.RANK_RECALCULATION, {}, OPTIONS)
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
