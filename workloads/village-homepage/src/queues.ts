// The five queue families. Their facts are those of the queue matrix; numbers come from the configuration.
import { type Duration, defineQueues } from 'millrace'
import type { VillageConfig } from './config/read.ts'

const seconds = (count: number): Duration => `${count}s`

export function villageQueues({ jobs }: VillageConfig) {
  const { workers, pollInterval, escalation } = jobs
  const digest = { to: escalation.opsEmail, respondWithin: 'next business day' }
  return defineQueues({
    HIGH: {
      priority: 0,
      concurrency: workers.high,
      pollInterval: seconds(pollInterval.high),
      sla: '30s',
      owner: { name: 'Ops On-Call', channel: 'pagerduty', address: 'vc-ops-high' },
      color: 'salmon',
      use: 'Stock refresh (market hours), message relay, urgent notifications',
      escalation: { to: 'vc-ops-high', respondWithin: '15m' },
    },
    DEFAULT: {
      priority: 5,
      concurrency: workers.default,
      pollInterval: seconds(pollInterval.default),
      sla: '5m',
      owner: { name: 'Platform Services Guild', channel: 'slack', address: '#platform-feeds' },
      color: 'blue',
      use: 'Feed refresh, weather refresh, listing expiration, rank recalculation, inbound email',
      escalation: { to: '#ops-alerts', respondWithin: '4h business hours' },
    },
    SCREENSHOT: {
      priority: 6,
      concurrency: workers.screenshot,
      pollInterval: seconds(pollInterval.screenshot),
      sla: '2m',
      owner: { name: 'Good Sites Platform', channel: 'slack', address: '#good-sites' },
      color: 'lavender',
      use: 'Good Sites screenshot capture via jvppeteer/Chromium',
      escalation: { to: '#ops-alerts', respondWithin: '4h business hours' },
    },
    LOW: {
      priority: 7,
      concurrency: workers.low,
      pollInterval: seconds(pollInterval.low),
      sla: '30m',
      owner: { name: 'Data Insights Pod', channel: 'slack', address: '#analytics' },
      color: 'green',
      use: 'Social refresh, link health checks, sitemap generation, click rollup',
      escalation: digest,
    },
    // Best effort: no SLA.
    BULK: {
      priority: 8,
      concurrency: workers.bulk,
      pollInterval: seconds(pollInterval.bulk),
      owner: { name: 'Content Intelligence Squad', channel: 'slack', address: '#ai-pipelines' },
      color: 'yellow',
      use: 'AI tagging (P10 budget enforced), image processing, bulk imports',
      escalation: digest,
    },
  })
}

export type VillageQueues = ReturnType<typeof villageQueues>
