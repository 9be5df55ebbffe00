// The fourteen job types. No handler code and no database: a web process imports these to enqueue.
import { defineJob, defineLimit, defineService, exponential, type JobContract } from 'millrace'
import { z } from 'zod'
import type { VillageConfig } from './config/read.ts'
import { type VillageQueues, villageQueues } from './queues.ts'
import { taggingBudget } from './tagging/budget.ts'

const asOf = z.strictObject({ as_of: z.iso.datetime().optional() })
const count = z.int().min(0)
const ALL = { key: () => 'all' }
const SITE = '5f0f6f2e-6f0c-4c58-9d3a-0e1f5b7a9c11'

export function villageContracts(config: VillageConfig) {
  const queues = villageQueues(config)
  const common: Common = {
    queues,
    retry: {
      attempts: config.jobs.maxAttempts,
      backoff: exponential({ base: `${config.jobs.baseDelay}s`, jitter: 0.25 }),
    },
  }
  return {
    ...defaultContracts(common),
    ...highContracts(common),
    ...lowContracts(common),
    ...bulkContracts(common, config),
    ...screenshotContracts(common, config),
  }
}

interface Common {
  readonly queues: VillageQueues
  readonly retry: { attempts: number; backoff: ReturnType<typeof exponential> }
}

export type VillageContracts = ReturnType<typeof villageContracts>
export type VillageJobType = keyof VillageContracts

/** For createMillrace and the workload. */
export const contractList = (contracts: VillageContracts): JobContract[] => Object.values(contracts)

function defaultContracts({ queues, retry }: Common) {
  const { DEFAULT: queue } = queues
  return {
    RSS_FEED_REFRESH: defineJob({
      type: 'RSS_FEED_REFRESH',
      queue,
      retry,
      timeout: '2m',
      // Without a source: every source that is due.
      payload: z.strictObject({ source_id: z.uuid().nullish(), force_refresh: z.boolean().optional() }),
      result: z.union([
        z.strictObject({ due: count, enqueued: count, duplicate: count }),
        z.strictObject({
          source_id: z.uuid(),
          status: z.enum(['fetched', 'not_modified', 'not_due', 'inactive', 'not_found']),
          fetched: count,
          new: count,
          duplicate: count,
          skipped: count,
        }),
      ]),
      // A forced refresh has a key of its own: a job that waits for its retry must not swallow it.
      dedupe: { key: ({ source_id, force_refresh }) => `${source_id ?? 'all'}${force_refresh ? ':force' : ''}` },
      attributes: ['source_id'],
      examples: [{}, { source_id: SITE, force_refresh: true }],
    }),
    WEATHER_REFRESH: defineJob({
      type: 'WEATHER_REFRESH',
      queue,
      retry,
      timeout: '2m',
      payload: z.strictObject({ kind: z.enum(['forecast', 'alerts']), location_id: z.uuid().optional() }),
      result: z.strictObject({
        kind: z.enum(['forecast', 'alerts']),
        refreshed: count,
        stale: count,
        alerts_new: count,
        alerts_ended: count,
      }),
      dedupe: { key: ({ kind, location_id }) => `${kind}:${location_id ?? 'all'}` },
      attributes: ['kind'],
      examples: [{ kind: 'forecast' }, { kind: 'alerts' }],
    }),
    LISTING_EXPIRATION: defineJob({
      type: 'LISTING_EXPIRATION',
      queue,
      retry,
      timeout: '10m',
      payload: asOf,
      result: z.strictObject({ expired: count, reminded: count }),
      dedupe: ALL,
      examples: [{ as_of: '2026-11-18T02:00:00Z' }],
    }),
    RANK_RECALCULATION: defineJob({
      type: 'RANK_RECALCULATION',
      queue,
      retry,
      timeout: '10m',
      payload: asOf,
      result: z.strictObject({ sites: count, items: count, changed: count }),
      dedupe: ALL,
      examples: [{ as_of: '2026-11-18T10:10:00Z' }],
    }),
    INBOUND_EMAIL: defineJob({
      type: 'INBOUND_EMAIL',
      queue,
      retry,
      timeout: '2m',
      payload: z.strictObject({ mailbox: z.string().min(1).optional() }),
      result: z.strictObject({ fetched: count, relayed: count, quarantined: count, bounced: count }),
      dedupe: { key: ({ mailbox = 'INBOX' }) => mailbox },
      services: [defineService('imap')],
      examples: [{}, { mailbox: 'INBOX' }],
    }),
  }
}

function highContracts({ queues, retry }: Common) {
  const { HIGH: queue } = queues
  return {
    STOCK_REFRESH: defineJob({
      type: 'STOCK_REFRESH',
      queue,
      retry,
      timeout: '2m',
      payload: z.strictObject({
        session: z.enum(['market', 'after_hours', 'weekend']).optional(),
        symbols: z
          .array(z.string().regex(/^[A-Z][A-Z0-9.-]{0,9}$/))
          .min(1)
          .max(50)
          .optional(),
      }),
      result: z.strictObject({
        session: z.enum(['market', 'after_hours', 'weekend']),
        source: z.enum(['alpha-vantage', 'stooq']),
        refreshed: count,
        stale: count,
        requests_left: count,
      }),
      dedupe: { key: () => 'stocks' },
      examples: [{ session: 'market' }, { symbols: ['AAPL', 'MSFT'] }],
    }),
    MESSAGE_RELAY: defineJob({
      type: 'MESSAGE_RELAY',
      queue,
      retry,
      timeout: '1m',
      // Without a conversation it is a notice.
      payload: z.strictObject({ message_id: z.uuid(), conversation_id: z.uuid().optional() }),
      result: z.strictObject({ smtp_message_id: z.string() }),
      dedupe: { key: ({ message_id }) => message_id },
      order: { key: ({ conversation_id }) => conversation_id },
      services: [defineService('smtp')],
      attributes: ['message_id'],
      examples: [{ message_id: SITE }],
    }),
  }
}

function lowContracts({ queues, retry }: Common) {
  const { LOW: queue } = queues
  return {
    SOCIAL_REFRESH: defineJob({
      type: 'SOCIAL_REFRESH',
      queue,
      retry,
      timeout: '5m',
      payload: z.strictObject({ account_id: z.uuid().optional() }),
      result: z.union([
        z.strictObject({ due: count, enqueued: count, duplicate: count }),
        z.strictObject({
          account_id: z.uuid(),
          posts_new: count,
          token: z.enum(['kept', 'refreshed', 'reauthorise']),
        }),
      ]),
      dedupe: { key: ({ account_id = 'all' }) => account_id },
      attributes: ['account_id'],
      examples: [{}, { account_id: SITE }],
    }),
    LINK_HEALTH_CHECK: defineJob({
      type: 'LINK_HEALTH_CHECK',
      queue,
      retry,
      timeout: '10m',
      payload: z.strictObject({
        link_ids: z.array(z.uuid()).min(1).max(50).optional(),
        host: z.string().min(1).optional(),
        round: z.int().min(1).max(3).optional(),
      }),
      // Without links: a job for the links of each host that are due.
      result: z.union([
        z.strictObject({ due: count, enqueued: count, duplicate: count }),
        z.strictObject({ checked: count, ok: count, moved: count, broken: count, dead: count }),
      ]),
      dedupe: { key: ({ link_ids, round = 1 }) => (link_ids === undefined ? 'all' : `${link_ids[0]}:${round}`) },
      // One job at a time for a host: its server answers one request of ours after the other.
      keyLimit: { key: ({ host }) => host, concurrency: 1 },
      attributes: ['host'],
      examples: [{}, { link_ids: [SITE], host: 'example.com', round: 2 }],
    }),
    SITEMAP_GENERATION: defineJob({
      type: 'SITEMAP_GENERATION',
      queue,
      retry,
      timeout: '15m',
      payload: asOf,
      result: z.strictObject({ urls: count, files: count, bytes: count }),
      dedupe: ALL,
      examples: [{ as_of: '2026-11-18T03:00:00Z' }],
    }),
    CLICK_ROLLUP: defineJob({
      type: 'CLICK_ROLLUP',
      queue,
      retry,
      timeout: '10m',
      payload: z.strictObject({ from_hour: z.iso.datetime().optional(), to_hour: z.iso.datetime().optional() }),
      result: z.strictObject({ hours: count, rows: count, deleted: count }),
      dedupe: ALL,
      examples: [{}, { from_hour: '2026-11-18T08:00:00Z', to_hour: '2026-11-18T10:00:00Z' }],
    }),
  }
}

function bulkContracts({ queues, retry }: Common, config: VillageConfig) {
  const { BULK: queue } = queues
  return {
    AI_TAGGING: defineJob({
      type: 'AI_TAGGING',
      queue,
      retry,
      timeout: '45m',
      payload: z.strictObject({
        trigger: z.enum(['scheduled', 'manual']).optional(),
        untagged_count: count.optional(),
      }),
      result: z.strictObject({
        trigger: z.enum(['scheduled', 'manual']),
        tagged: count,
        reused: count,
        failed: count,
        batches: count,
        cost_cents: z.number().min(0),
        stopped: z.boolean(),
        left: count,
      }),
      dedupe: ALL,
      budget: taggingBudget(config),
      services: [defineService('anthropic', { failures: 5, openFor: '60s' })],
      attributes: ['trigger'],
      examples: [{ trigger: 'scheduled', untagged_count: 150 }, { trigger: 'manual' }],
    }),
    IMAGE_PROCESSING: defineJob({
      type: 'IMAGE_PROCESSING',
      queue,
      retry,
      timeout: '60s',
      payload: z.strictObject({ media_id: z.uuid(), kind: z.enum(['listing', 'screenshot']) }),
      result: z.strictObject({
        variants: z.array(
          z.strictObject({
            media_id: z.uuid(),
            role: z.string(),
            format: z.string(),
            width: count,
            height: count,
            bytes: count,
          }),
        ),
      }),
      dedupe: { key: ({ media_id }) => media_id },
      limits: [defineLimit('images', { perProcess: config.media.concurrency })],
      attributes: ['media_id', 'kind'],
      examples: [{ media_id: SITE, kind: 'listing' }],
    }),
  }
}

function screenshotContracts({ queues, retry }: Common, { jobs }: VillageConfig) {
  const { workers, screenshotConcurrency = workers.screenshot } = jobs
  return {
    SCREENSHOT_CAPTURE: defineJob({
      type: 'SCREENSHOT_CAPTURE',
      queue: queues.SCREENSHOT,
      retry,
      timeout: '60s',
      payload: z.strictObject({ site_id: z.uuid(), url: z.url({ protocol: /^https?$/ }) }),
      result: z.strictObject({
        title: z.string(),
        final_url: z.string(),
        media: z.array(z.strictObject({ viewport: z.string(), media_id: z.uuid() })),
      }),
      dedupe: { key: ({ site_id }) => site_id },
      // P12: Chromium takes 200 to 400 MB each.
      limits: [defineLimit('screenshots', { perProcess: screenshotConcurrency })],
      attributes: ['site_id', 'url'],
      examples: [{ site_id: SITE, url: 'https://example.com/' }],
    }),
  }
}
