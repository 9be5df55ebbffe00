// The queue, the seven job types, the services that they call and the limits on them. No handler code: every process may import it.
import { defineJob, defineLimit, defineQueues, defineService, exponential, Unrecoverable } from 'millrace'
import { z } from 'zod'

/** An answer with 429 says that the service is well and we are too fast. */
export const isTooMany = (error: unknown): boolean => (error as { status?: unknown } | null)?.status === 429
const counts = (error: unknown): boolean => !(error instanceof Unrecoverable) && !isTooMany(error)

export const services = {
  email: defineService('email-service', { counts }),
  webhook: defineService('webhook-service', { counts }),
  elevation: defineService('elevation-service', { counts }),
  routing: defineService('routing-service', { counts }),
  search: defineService('search-service', { counts }),
}

export const limits = {
  mail: defineLimit('mail', { rate: '20/second' }),
  utp: defineLimit('utp', { rate: '60/minute' }),
  elevation: defineLimit('elevation', { running: 2 }),
}

export const { lipas: queue } = defineQueues({
  lipas: {
    priority: 100,
    concurrency: 8,
    history: 'full',
    // Priority is strict: the first analyses at 200 never pass what a user has saved.
    boost: false,
    retry: { attempts: 3, backoff: exponential({ base: '1s', jitter: { plus: 0.1 }, cap: '5m' }) },
    use: 'Work that follows from saving a sports place',
  },
})

// `cleanup-jobs` decides what is forgotten, so the archive itself keeps these types for 90 days.
const kept = { queue, retention: 'long' } as const

const MOST_BODY_BYTES = 100_000
const lipasId = z.int().positive()
const placeId = z.strictObject({ 'lipas-id': lipasId })

export const email = defineJob({
  ...kept,
  type: 'email',
  speed: 'fast',
  payload: z.strictObject({
    to: z.email(),
    subject: z
      .string()
      .max(200)
      .regex(/^[^\r\n]*$/, 'expected one line')
      .default('Message from LIPAS'),
    body: z
      .string()
      .refine((body) => Buffer.byteLength(body) <= MOST_BODY_BYTES, `expected at most ${MOST_BODY_BYTES} bytes`)
      .default(''),
    type: z.enum(['notification', 'reminder']).default('notification'),
    'reminder-id': z.uuid().optional(),
  }),
  result: z.strictObject({ 'message-id': z.string(), kind: z.enum(['notification', 'reminder']) }),
  dedupe: { key: ({ 'reminder-id': id }) => (id === undefined ? undefined : `reminder-${id}`) },
  services: [services.email],
  limits: [limits.mail],
  examples: [
    { to: 'user@example.com', subject: 'Welcome!', body: 'Your account is ready', type: 'notification' },
    { to: 'user@example.com', subject: 'Welcome' },
    { to: 'user@example.com' },
  ],
})

export const produceReminders = defineJob({
  ...kept,
  type: 'produce-reminders',
  speed: 'fast',
  payload: z.strictObject({}),
  result: z.strictObject({ produced: z.int() }),
  examples: [{}],
})

export const cleanupJobs = defineJob({
  ...kept,
  type: 'cleanup-jobs',
  speed: 'fast',
  payload: z.strictObject({ 'days-old': z.int().min(1).max(90).default(7) }),
  result: z.strictObject({ jobs: z.int(), reminders: z.int(), deliveries: z.int() }),
  examples: [{ 'days-old': 7 }, {}],
})

const ids = z.array(z.int().positive()).max(1_000)

/** Version 1 carried the rows of the older queue: `{ batch-data: { … } }`. */
const unwrapped = (payload: { 'batch-data': unknown }): unknown => payload['batch-data']

export const webhook = defineJob({
  ...kept,
  type: 'webhook',
  speed: 'fast',
  version: 2,
  migrate: { 1: unwrapped },
  payload: z
    .strictObject({
      'lipas-ids': ids.optional(),
      'loi-ids': ids.optional(),
      'operation-type': z
        .string()
        .regex(/^[a-z-]{1,40}$/)
        .optional(),
      'initiated-by': z.string().max(200).optional(),
    })
    .refine((each) => (each['lipas-ids']?.length ?? 0) + (each['loi-ids']?.length ?? 0) > 0, {
      path: ['lipas-ids'],
      message: 'expected at least one id in lipas-ids or loi-ids',
    }),
  result: z.strictObject({ sent: z.int(), unknown: z.array(z.int()), status: z.int() }),
  services: [services.webhook],
  limits: [limits.utp],
  examples: [{ 'lipas-ids': [1234, 5678], 'loi-ids': [91011, 121314], 'operation-type': 'update' }],
})

export const monitorQueueHealth = defineJob({
  queue,
  retention: 'short',
  history: 'off',
  type: 'monitor-queue-health',
  speed: 'fast',
  payload: z.strictObject({}),
  result: z.strictObject({ status: z.string(), firing: z.array(z.string()), notified: z.int() }),
  examples: [{}],
})

export const analysis = defineJob({
  ...kept,
  type: 'analysis',
  payload: placeId,
  result: z.strictObject({
    cells: z.int(),
    mode: z.enum(['route', 'euclid']),
    'mean-before': z.number().nullable(),
    'mean-after': z.number().nullable(),
  }),
  dedupe: { key: ({ 'lipas-id': id }) => `analysis-${id}` },
  services: [services.routing, services.search],
  examples: [{ 'lipas-id': 12_345 }],
})

export const elevation = defineJob({
  ...kept,
  type: 'elevation',
  payload: placeId,
  result: z.strictObject({
    vertices: z.int(),
    requests: z.int(),
    'min-m': z.number(),
    'max-m': z.number(),
    'ascent-m': z.number(),
    'descent-m': z.number(),
  }),
  dedupe: { key: ({ 'lipas-id': id }) => `elevation-${id}` },
  services: [services.elevation, services.search],
  limits: [limits.elevation],
  examples: [{ 'lipas-id': 12_345 }],
})

export const contracts = [
  email,
  produceReminders,
  cleanupJobs,
  webhook,
  monitorQueueHealth,
  analysis,
  elevation,
] as const
