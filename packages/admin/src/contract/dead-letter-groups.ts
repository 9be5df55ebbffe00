// Kinds of failure: pending letters that have fingerprint and type in common, who is hit, and since which version.
import { z } from 'zod'
import { deadReason, LETTERS } from './dead-letters.ts'
import { endpoint } from './endpoint.ts'
import { name, pageSize, time } from './fields.ts'

export const groups = endpoint({
  method: 'GET',
  path: `${LETTERS}/groups`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Group the pending letters by kind of failure, the largest groups first',
  input: z.object({ queue: name.optional(), type: name.optional(), tenant: name.optional(), limit: pageSize(1000) }),
  output: z.object({
    groups: z.array(
      z.object({
        fingerprint: z.string().nullable(),
        type: z.string(),
        pending: z.number(),
        firstDiedAt: time,
        lastDiedAt: time,
        newestId: z.string(),
        sampleMessage: z.string(),
      }),
    ),
  }),
})

const fingerprint = z.string().regex(/^[0-9a-f]{6,64}$/, 'expected a fingerprint')

export const groupFacts = endpoint({
  method: 'GET',
  path: `${LETTERS}/groups/facts`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Say of kinds of failure who is hit, what was decided, and how many died in which hour',
  description:
    'Of each fingerprint the newest ten thousand letters are looked at; `isCapped` says that there are more.',
  input: z.object({
    fingerprints: z.string().min(6).max(13_000).describe('Separated by commas, at most 200'),
    hours: z.coerce.number<number | string>().int().min(1).max(168).optional().describe('Default 24'),
    tenant: name.optional(),
  }),
  output: z.object({
    groups: z.array(
      z.object({
        fingerprint: z.string(),
        type: z.string(),
        queue: z.string().describe('Of the newest letter'),
        reason: deadReason,
        errorClass: z.string().nullable(),
        lastNotes: z.string().nullable(),
        letters: z.number().describe('Those that were decided about included'),
        isCapped: z.boolean(),
        acknowledged: z.number().describe('Pending ones that somebody has seen'),
        acknowledgedBy: z.string().nullable(),
        acknowledgedAt: time.nullable(),
        retried: z.number(),
        resolved: z.number(),
        ignored: z.number(),
        byHour: z.array(z.number()).describe('Deaths by the hour, the oldest hour first'),
        tenants: z.number().describe('With pending letters'),
        byTenant: z.array(z.object({ tenant: z.string().nullable(), letters: z.number() })),
      }),
    ),
  }),
})

export const groupVersions = endpoint({
  method: 'GET',
  path: `${LETTERS}/groups/versions`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Say in which versions of the program the newest letters of a kind failed',
  input: z.object({ fingerprint, type: name, tenant: name.optional() }),
  output: z.object({
    versions: z.array(
      z.object({
        version: z.string(),
        letters: z.number(),
        firstDiedAt: time,
        lastDiedAt: time,
        startedAt: time.describe('Since when workers of that version are known'),
      }),
    ),
  }),
})
