// How fast Village Homepage refreshes its feeds, against a plain loop over rss-parser: without a network between, where only work
// counts, and with feeds that take 50 ms to answer, as real ones do at best.
import { interleaveTrials, named, ratio } from '../rounds.ts'
import type { Suite } from '../suite.ts'
import { plainLoop } from '../village/plain-loop.ts'
import { startPublisher } from '../village/publisher.ts'
import { startVillage } from '../village/village-run.ts'

const ITEMS = 20
const DELAYS_MS = [0, 50]

export const village: Suite = {
  name: 'village',
  summary: 'feeds and items a second in Village Homepage, against a plain loop over rss-parser',
  jobs: 200,

  async run(bench) {
    const { options, progress, step, pool } = bench
    await using publisher = await startPublisher(options.jobs, ITEMS)
    await using run = await startVillage(bench, publisher.address)
    const units = { feeds: 'feeds/s', items: 'items/s' }
    const rates = (seconds: number) => ({
      feeds: options.jobs / seconds,
      items: (options.jobs * ITEMS) / seconds,
    })
    const trials = DELAYS_MS.flatMap((delayMs) => {
      const urls = publisher.urls(delayMs)
      return [
        { name: ours(delayMs), units, measure: async () => rates(await run.refresh(urls)) },
        { name: plain(delayMs), units, measure: async () => rates(await plainLoop(pool, urls)) },
      ]
    })
    const measurements = await interleaveTrials(trials, { ...options, progress, step })
    const of = (name: string) => named(measurements, `${name}, feeds`)
    return {
      measurements,
      ratios: DELAYS_MS.map((delayMs) => ratio(`village / loop, ${delayMs} ms`, of(ours(delayMs)), of(plain(delayMs)))),
    }
  },
}

const ours = (delayMs: number): string => `village, feeds after ${delayMs} ms`
const plain = (delayMs: number): string => `rss-parser loop, feeds after ${delayMs} ms`
