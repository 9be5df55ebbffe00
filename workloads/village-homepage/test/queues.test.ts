import { createMillrace, implement, nextFire, type Schedule, timingOf } from 'millrace'
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { contractList, type VillageJobType, villageContracts } from '#src/contracts'
import { villageQueues } from '#src/queues'
import { eventually } from '../../../packages/engine/test/support/setup.ts'
import { config, setup, silent } from './support/setup.ts'

const slack = (name: string, address: string) => ({ name, channel: 'slack', address })
const DIGEST = ['ops@villagecompute.com', 'next business day']
const OPS_ALERTS = ['#ops-alerts', '4h business hours']

/** The queue matrix: priority, workers, poll (s), SLA (s), owner, colour, escalation. */
const MATRIX = {
  HIGH: [
    0,
    20,
    5,
    30,
    { name: 'Ops On-Call', channel: 'pagerduty', address: 'vc-ops-high' },
    'salmon',
    ['vc-ops-high', '15m'],
  ],
  DEFAULT: [5, 10, 10, 300, slack('Platform Services Guild', '#platform-feeds'), 'blue', OPS_ALERTS],
  SCREENSHOT: [6, 3, 10, 120, slack('Good Sites Platform', '#good-sites'), 'lavender', OPS_ALERTS],
  LOW: [7, 5, 30, 1_800, slack('Data Insights Pod', '#analytics'), 'green', DIGEST],
  BULK: [8, 8, 60, undefined, slack('Content Intelligence Squad', '#ai-pipelines'), 'yellow', DIGEST],
}

const USES = {
  HIGH: 'Stock refresh (market hours), message relay, urgent notifications',
  DEFAULT: 'Feed refresh, weather refresh, listing expiration, rank recalculation, inbound email',
  SCREENSHOT: 'Good Sites screenshot capture via jvppeteer/Chromium',
  LOW: 'Social refresh, link health checks, sitemap generation, click rollup',
  BULK: 'AI tagging (P10 budget enforced), image processing, bulk imports',
}

/** The job type registry. */
const REGISTRY: Record<VillageJobType, keyof typeof MATRIX> = {
  RSS_FEED_REFRESH: 'DEFAULT',
  WEATHER_REFRESH: 'DEFAULT',
  LISTING_EXPIRATION: 'DEFAULT',
  RANK_RECALCULATION: 'DEFAULT',
  INBOUND_EMAIL: 'DEFAULT',
  STOCK_REFRESH: 'HIGH',
  MESSAGE_RELAY: 'HIGH',
  SOCIAL_REFRESH: 'LOW',
  LINK_HEALTH_CHECK: 'LOW',
  SITEMAP_GENERATION: 'LOW',
  CLICK_ROLLUP: 'LOW',
  AI_TAGGING: 'BULK',
  IMAGE_PROCESSING: 'BULK',
  SCREENSHOT_CAPTURE: 'SCREENSHOT',
}

const contracts = villageContracts(config())

test('the five queues are those of the queue matrix', () => {
  const found = Object.entries(villageQueues(config())).map(([name, queue]) => {
    const { owner, color, escalation } = queue.facts
    const { to: channel, respondWithin } = escalation as Record<string, unknown>
    const sla = queue.slaMs === undefined || queue.slaMs === null ? undefined : queue.slaMs / 1_000
    return [
      name,
      [
        queue.priority,
        queue.concurrency,
        Number(queue.pollIntervalMs) / 1_000,
        sla,
        owner,
        color,
        [channel, respondWithin],
      ],
    ]
  })
  expect(Object.fromEntries(found)).toEqual(MATRIX)
  expect(
    Object.fromEntries(Object.entries(villageQueues(config())).map(([name, { facts }]) => [name, facts.use])),
  ).toEqual(USES)
})

test('fourteen types have their queue for good, five attempts, and examples that they accept', async () => {
  await using t = await setup()
  expect(Object.fromEntries(contractList(contracts).map(({ type, queue }) => [type, queue.name]))).toEqual(REGISTRY)
  for (const contract of contractList(contracts)) {
    expect(contract.retry.attempts, contract.type).toBe(5)
    expect(contract.examples.length, contract.type).toBeGreaterThan(0)
    for (const payload of contract.examples) await t.millrace.enqueueByType(contract.type, payload)
  }
  const rows = await t.sql<{ job_type: string; queue: string }>(
    'select distinct job_type, queue from millrace.delayed_jobs',
  )
  expect(Object.fromEntries(rows.map(({ job_type, queue }) => [job_type, queue]))).toEqual(REGISTRY)
  // @ts-expect-error: a type cannot be enqueued into another queue
  await t.millrace.enqueue(t.parts.contracts.AI_TAGGING, {}, { queue: 'HIGH' })
  await expect(t.millrace.enqueueByType('RSS_FEED_REFRES', {})).rejects.toThrow('RSS_FEED_REFRESH')
  const unknownKey = { source: 'x' } as never
  await expect(t.millrace.enqueue(t.parts.contracts.RSS_FEED_REFRESH, unknownKey)).rejects.toThrow('source')
})

/** The classes of the registry. */
const CLASSES: Record<string, string> = {
  RSS_FEED_REFRESH: 'RssFeedRefreshHandler',
  WEATHER_REFRESH: 'WeatherRefreshJobHandler',
  LISTING_EXPIRATION: 'ListingExpirationHandler',
  RANK_RECALCULATION: 'RankRecalculationHandler',
  INBOUND_EMAIL: 'InboundEmailHandler',
  STOCK_REFRESH: 'StockRefreshJobHandler',
  MESSAGE_RELAY: 'MessageRelayHandler',
  SOCIAL_REFRESH: 'SocialRefreshHandler',
  LINK_HEALTH_CHECK: 'LinkHealthCheckHandler',
  SITEMAP_GENERATION: 'SitemapGenerationHandler',
  CLICK_ROLLUP: 'ClickRollupHandler',
  AI_TAGGING: 'AiTaggingJobHandler',
  IMAGE_PROCESSING: 'ImageProcessingHandler',
  SCREENSHOT_CAPTURE: 'ScreenshotCaptureHandler',
  CDN_UPLOAD: 'CdnUploadHandler',
  CDN_REMOVE: 'CdnRemoveHandler',
}

test('handlers have the full names of their classes', async () => {
  await using t = await setup()
  expect(t.village.handlers.length).toBeGreaterThanOrEqual(4)
  for (const { contract, name } of t.village.handlers)
    expect(name).toBe(`villagecompute.homepage.jobs.${CLASSES[contract.type]}`)
})

/** The bounds, in seconds, of what jitter leaves of 30 s doubled with each attempt. */
const DELAYS = [
  [23, 38],
  [45, 75],
  [90, 150],
  [180, 300],
] as const

test('delays after failures double from 30 s with jitter, and the fifth failure is a dead letter', async () => {
  const failing = implement(contracts.RSS_FEED_REFRESH, () => {
    throw new Error('down')
  })
  for (const [i, [least, most]] of DELAYS.entries()) {
    for (let sample = 0; sample < 20; sample++) {
      const run = await runJob(failing, {}, { attempt: i + 1 })
      const seconds = run.outcome === 'retry' ? Number(run.delayMs) / 1_000 : 0
      expect(Math.round(seconds)).toBeGreaterThanOrEqual(least)
      expect(Math.round(seconds)).toBeLessThanOrEqual(most)
    }
  }
  expect(await runJob(failing, {}, { attempt: 5 })).toMatchObject({ outcome: 'dead' })
})

test('base-delay and max-attempts of the configuration change both', async () => {
  const env = { VILLAGECOMPUTE_JOBS_BASE_DELAY: '1', VILLAGECOMPUTE_JOBS_MAX_ATTEMPTS: '2' }
  const failing = implement(villageContracts(config(env)).RSS_FEED_REFRESH, () => {
    throw new Error('down')
  })
  const first = await runJob(failing, {}, { attempt: 1 })
  expect(first.outcome === 'retry' ? Number(first.delayMs) : 0).toBeGreaterThanOrEqual(750)
  expect(first.outcome === 'retry' ? Number(first.delayMs) : 0).toBeLessThanOrEqual(1_250)
  expect(await runJob(failing, {}, { attempt: 2 })).toMatchObject({ outcome: 'dead' })
})

test('work that no notification tells of is found within the poll interval of its queue', async () => {
  await using t = await setup({ env: { VILLAGECOMPUTE_JOBS_POLL_INTERVAL_DEFAULT: '1' } })
  await using millrace = createMillrace({ database: t.url, jobs: t.village.jobs, logger: silent })
  const { id } = await millrace.enqueue(t.parts.contracts.RSS_FEED_REFRESH, {}, { delay: '1h' })
  const worker = await t.work()
  // A change by SQL tells nobody.
  await t.sql('update millrace.job set run_at = now() where id = $1', [id])
  await eventually(async () => (await t.millrace.job(id))?.status === 'completed', 8_000)
  await worker.stop()
})

test('each schedule fires at its times', async () => {
  await using t = await setup()
  const minutes = (schedule: Schedule | undefined) => {
    const now = new Date('2026-11-18T00:00:00Z')
    const timing = timingOf((schedule as Schedule).when, { now })
    const fires = [nextFire(timing, now) as Date]
    for (let i = 0; i < 3; i++) fires.push(nextFire(timing, fires[i] as Date) as Date)
    return fires.map((at) => (at.getTime() - now.getTime()) / 60_000)
  }
  const of = (name: string) => minutes(t.village.schedules?.find((schedule) => schedule.name === name))
  expect(of('rss-feed-refresh')).toEqual([5, 10, 15, 20])
  expect(of('weather-forecast')).toEqual([60, 120, 180, 240])
  expect(of('weather-alerts')).toEqual([15, 30, 45, 60])
  expect(of('ai-tagging')).toEqual([60, 120, 180, 240])
  expect(of('inbound-email')).toEqual([1, 2, 3, 4])
  expect(of('social-refresh')).toEqual([30, 60, 90, 120])
  expect(of('click-rollup')).toEqual([5, 65, 125, 185])
  expect(of('rank-recalculation')).toEqual([10, 70, 130, 190])
  expect(of('listing-expiration').map((minute) => minute / 60)).toEqual([2, 26, 50, 74])
  expect(of('sitemap-generation').map((minute) => minute / 60)).toEqual([3, 27, 51, 75])
  // Sunday at four; 18 November is a Wednesday.
  expect(of('link-health-check').map((minute) => minute / 1_440)).toEqual([4, 11, 18, 25].map((day) => day + 4 / 24))
})
