// Circuit breakers: look, reset, open by hand, and set what they go by.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { duration, name, time } from './fields.ts'

const BREAKERS = '/admin/api/breakers'

const settings = z.object({ failures: z.number(), openForMs: z.number(), successes: z.number() })

export const breaker = z.object({
  service: z.string(),
  state: z.enum(['closed', 'open', 'half_open']),
  failureCount: z.number(),
  successCount: z.number(),
  lastFailureAt: time.nullable(),
  openedAt: time.nullable(),
  nextProbeAt: time.nullable(),
  halfOpenedAt: time.nullable(),
  probe: z.object({ jobId: z.string().nullable(), runId: z.string() }).nullable(),
  settings,
  overrides: settings.partial(),
  types: z.array(z.string()),
})

export const list = endpoint({
  method: 'GET',
  path: BREAKERS,
  permission: 'viewer',
  scope: 'all',
  summary: 'List the circuit breakers',
  input: z.object({}),
  output: z.object({ breakers: z.array(breaker) }),
})

export const get = endpoint({
  method: 'GET',
  path: `${BREAKERS}/:service`,
  permission: 'viewer',
  scope: 'all',
  summary: 'Show the circuit breaker of a service',
  input: z.object({ service: name }),
  output: breaker,
})

export const reset = endpoint({
  method: 'POST',
  path: `${BREAKERS}/:service/reset`,
  permission: 'operator',
  scope: 'all',
  summary: 'Close a breaker and forget the failures',
  input: z.object({ service: name }),
  output: breaker,
})

export const trip = endpoint({
  method: 'POST',
  path: `${BREAKERS}/:service/open`,
  permission: 'operator',
  scope: 'all',
  summary: 'Open a breaker by hand, until it is reset or for a while',
  input: z.object({ service: name, for: duration.optional() }),
  output: breaker,
})

export const configure = endpoint({
  method: 'PATCH',
  path: `${BREAKERS}/:service`,
  permission: 'operator',
  scope: 'all',
  summary: 'Set what a breaker goes by; null lets the code decide again',
  input: z.object({
    service: name,
    failures: z.number().int().min(1).nullable().optional(),
    openFor: duration.nullable().optional(),
    successes: z.number().int().min(1).nullable().optional(),
  }),
  output: breaker,
})
