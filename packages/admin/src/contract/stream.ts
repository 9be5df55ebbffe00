// What changes, as it happens: server-sent events.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'

export const topicNames = [
  'overview',
  'queues',
  'jobs',
  'workers',
  'dead-letters',
  'health',
  'vitals',
  'alerts',
  'bulk',
] as const

/** The data of each event, whose name is the topic. */
export const streamEvent = z.object({
  topic: z.string(),
  kind: z
    .enum(['snapshot', 'change', 'error'])
    .describe('A snapshot replaces what you have, a change adds to it, an error says why nothing comes'),
  value: z.unknown(),
})

export const open = endpoint({
  method: 'GET',
  path: '/admin/api/stream',
  permission: 'viewer',
  scope: 'tenant',
  media: 'text/event-stream',
  summary: 'Follow topics as server-sent events',
  description: `Topics: ${topicNames.join(', ')}, \`job:ID\` for one job, and \`bulk:ID\` for one bulk operation. \`bulk\` and \`bulk:ID\` need an operator. Each begins with a snapshot. After a drop, send the id of the last event as Last-Event-ID: what you missed follows, or a new snapshot. Callers that are limited to tenants may follow \`jobs\`, \`job:ID\` and \`bulk:ID\`.`,
  input: z.object({ topics: z.string().min(1).max(2000).describe('Names, separated by commas') }),
  output: z.string(),
})
