// How the platform is: verdict, alerts, escalations and reports.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { duration, id, name, pageSize, reason, time } from './fields.ts'

const API = '/admin/api'

const verdict = z.enum(['ok', 'degraded', 'failing'])
const finding = z.object({
  check: z.string(),
  area: z.string(),
  verdict,
  says: z.string(),
  remedy: z.string().nullable(),
})

export const read = endpoint({
  method: 'GET',
  path: `${API}/health`,
  permission: 'viewer',
  scope: 'all',
  summary: 'Give one verdict on the health of the platform, with reasons and remedies',
  input: z.object({}),
  output: z.object({
    verdict,
    at: time,
    summary: z.string(),
    reasons: z.array(finding),
    findings: z.array(finding),
    figures: z.looseObject({ due: z.number(), dead: z.number() }).nullable(),
  }),
})

const silence = z.object({
  name: z.string(),
  subject: z.string().nullable(),
  reason: z.string(),
  by: z.string(),
  createdAt: time,
  until: time,
})

export const alerts = endpoint({
  method: 'GET',
  path: `${API}/alerts`,
  permission: 'viewer',
  scope: 'all',
  summary: 'List alerts that fire, wait to fire or have cleared within a day, and silences',
  input: z.object({}),
  output: z.object({
    alerts: z.array(
      z.looseObject({
        name: z.string(),
        subject: z.string(),
        severity: z.enum(['info', 'notice', 'warning', 'critical']),
        state: z.enum(['pending', 'firing', 'cleared']),
        summary: z.string(),
        why: z.string(),
        action: z.string(),
        since: time,
        silence: silence.nullable(),
      }),
    ),
    silences: z.array(silence),
  }),
})

export const alertRules = endpoint({
  method: 'GET',
  path: `${API}/alerts/rules`,
  permission: 'viewer',
  scope: 'all',
  summary: 'List the alert rules that every Millrace has, as they are without settings of a program',
  input: z.object({}),
  output: z.object({
    rules: z.array(
      z.object({
        name: z.string(),
        severity: z.enum(['info', 'notice', 'warning', 'critical']),
        summary: z.string(),
        action: z.string(),
        threshold: z.number(),
        compare: z.enum(['>', '>=']),
        forMs: z.number(),
        tells: z.enum(['owner', 'queues', 'ops']).nullable(),
      }),
    ),
  }),
})

export const silenceAlert = endpoint({
  method: 'POST',
  path: `${API}/alerts/:name/silence`,
  permission: 'operator',
  scope: 'all',
  summary: 'Tell nobody of an alert for a while',
  input: z.object({ name, subject: name.optional(), reason, for: duration }),
  output: silence,
})

export const unsilenceAlert = endpoint({
  method: 'POST',
  path: `${API}/alerts/:name/unsilence`,
  permission: 'operator',
  scope: 'all',
  summary: 'End a silence of an alert',
  input: z.object({ name, subject: name.optional() }),
  output: z.object({ changed: z.boolean() }),
})

const escalation = z.looseObject({
  id: z.string(),
  key: z.string(),
  kind: z.string(),
  severity: z.enum(['info', 'notice', 'warning', 'error', 'critical']),
  summary: z.string().nullable(),
  queue: z.string().nullable(),
  type: z.string().nullable(),
  tenant: z.string().nullable(),
  jobId: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
  channel: z.string().nullable(),
  createdAt: time,
  dueAt: time.nullable(),
  sentAt: time.nullable(),
  undeliverableAt: time.nullable(),
  tries: z.number(),
  repeats: z.number(),
  lastError: z.string().nullable(),
  respondBy: time.nullable(),
  acknowledgedAt: time.nullable(),
  acknowledgedBy: z.string().nullable(),
  resolvedAt: time.nullable(),
  isOverdue: z.boolean(),
})

export const escalations = endpoint({
  method: 'GET',
  path: `${API}/escalations`,
  permission: 'viewer',
  scope: 'all',
  summary: 'List escalations, newest first, and how delivery stands',
  description: 'For the next page pass the id of the last escalation as `before`.',
  input: z.object({
    state: z.enum(['open', 'undelivered', 'overdue', 'resolved']).optional(),
    queue: name.optional(),
    channel: name.optional(),
    before: id.optional(),
    limit: pageSize(1000),
  }),
  output: z.object({
    escalations: z.array(escalation),
    standing: z.object({
      unsent: z.number(),
      oldestUnsentAt: time.nullable(),
      undeliverable: z.number(),
      overdue: z.number(),
      deliverers: z.number(),
    }),
    next: z.string().nullable(),
  }),
})

const ids = z.array(id).min(1).max(1000)

export const acknowledgeEscalations = endpoint({
  method: 'POST',
  path: `${API}/escalations/acknowledge`,
  permission: 'operator',
  scope: 'all',
  summary: 'Say that somebody looks after escalations',
  input: z.object({ ids }),
  output: z.object({
    results: z.array(
      z.object({ id: z.string(), status: z.enum(['acknowledged', 'already_acknowledged', 'not_found']) }),
    ),
  }),
})

export const resendEscalations = endpoint({
  method: 'POST',
  path: `${API}/escalations/resend`,
  permission: 'operator',
  scope: 'all',
  summary: 'Send escalations again',
  input: z.object({ ids }),
  output: z.object({ ids: z.array(z.string()) }),
})

export const testEscalation = endpoint({
  method: 'POST',
  path: `${API}/escalations/test`,
  permission: 'operator',
  scope: 'all',
  summary: 'Send a test message to a channel',
  description: 'The list of escalations, filtered by `channel`, says whether it arrived.',
  status: 201,
  input: z.object({ channel: z.string().min(1).max(200) }),
  output: z.object({ id }),
})

const span = { since: duration, queue: name.optional(), type: name.optional() }
const spread = z.object({
  meanMs: z.number().nullable(),
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  p99Ms: z.number().nullable(),
})
const summary = z.object({
  completed: z.number(),
  cancelled: z.number(),
  failed: z.number(),
  dead: z.number(),
  snoozed: z.number(),
  crashed: z.number(),
  runs: z.number(),
  finished: z.number().describe('Jobs that ended: completed, cancelled or dead'),
  failureRate: z.number().nullable(),
  duration: spread.describe('How long handlers ran'),
  wait: spread.describe('From the time at which a run was due to its claim'),
  latency: spread.describe('From the time at which a job was due to the end of its first attempt'),
})

export const runs = endpoint({
  method: 'GET',
  path: `${API}/reports/runs`,
  permission: 'viewer',
  scope: 'all',
  summary: 'Report what became of runs in a span, by queue and type',
  input: z.object(span),
  output: z.object({
    from: time,
    to: time,
    total: summary,
    types: z.array(summary.extend({ queue: z.string(), type: z.string() })),
  }),
})

export const series = endpoint({
  method: 'GET',
  path: `${API}/reports/series`,
  permission: 'viewer',
  scope: 'all',
  summary: 'Report what became of runs step by step',
  input: z.object({ ...span, step: z.enum(['minute', 'hour', 'day']) }),
  output: z.object({ from: time, to: time, step: z.string(), points: z.array(summary.extend({ at: time })) }),
})

export const queueHistory = endpoint({
  method: 'GET',
  path: `${API}/reports/queues`,
  permission: 'viewer',
  scope: 'all',
  summary:
    'Report step by step how many jobs waited and ran in each queue, and how long the oldest due one had been due',
  description: 'The highest figures of each step. `queues` is null where no worker looked; an empty queue is left out.',
  input: z.object({ since: duration, queue: name.optional(), step: z.enum(['minute', 'hour', 'day']) }),
  output: z.object({
    from: time,
    to: time,
    step: z.string(),
    points: z.array(
      z.object({
        at: time,
        queues: z
          .array(
            z.object({
              queue: z.string(),
              waiting: z.number(),
              due: z.number(),
              running: z.number(),
              oldestDueMs: z.number().nullable(),
            }),
          )
          .nullable(),
      }),
    ),
  }),
})

export const letters = endpoint({
  method: 'GET',
  path: `${API}/reports/dead-letters`,
  permission: 'viewer',
  scope: 'all',
  summary: 'Report dead letters that were born and decided about, by the hour or day',
  input: z.object({ ...span, since: duration.optional(), step: z.enum(['hour', 'day']).optional() }),
  output: z.object({
    from: time,
    to: time,
    step: z.string(),
    growth: z.number(),
    points: z.array(z.object({ at: time, born: z.number(), decided: z.number(), pending: z.number() })),
  }),
})
