// The figures of the page, for programs.
import { type Route, route } from '@millrace/admin'
import { endpoint } from '@millrace/admin/contract'
import { z } from 'zod'
import type { DartwingSystem } from '../system.ts'
import { neighboursOf } from './neighbours.ts'

const queueUse = z.object({
  queue: z.string(),
  waiting: z.int(),
  running: z.int(),
  limit: z.int().nullable(),
  isOver: z.boolean(),
})

const neighbour = z.object({
  organization: z.string(),
  title: z.string(),
  isSuspended: z.boolean(),
  queues: z.array(queueUse),
  waiting: z.int(),
  running: z.int(),
  waitP95Ms: z.number().nullable(),
  why: z.string().nullable(),
  letters: z.array(z.object({ fingerprint: z.string().nullable(), pending: z.int(), message: z.string() })),
})

const output = z.object({
  at: z.string(),
  verdict: z.string(),
  slots: z.array(z.object({ queue: z.string(), organization: z.string().nullable(), isUsed: z.boolean() })),
  neighbours: z.array(neighbour),
  others: z.object({ organizations: z.int(), waiting: z.int(), running: z.int() }),
  throttled: z.object({ started: z.number().nullable(), most: z.number().nullable(), paused: z.string().nullable() }),
  stuck: z.array(
    z.object({
      job: z.string(),
      method: z.string(),
      organization: z.string().nullable(),
      secondsLeft: z.number().nullable(),
      letter: z.string().nullable(),
    }),
  ),
  refused: z.array(z.object({ at: z.string(), organization: z.string(), what: z.string() })),
})

export const neighboursRoute = (system: DartwingSystem): Route =>
  route(
    endpoint({
      method: 'GET',
      path: '/dartwing/api/neighbours',
      input: z.object({}),
      output,
      permission: 'viewer',
      scope: 'tenant',
      summary: 'Who shares the installation, and what each organization gets',
    }),
    async (_, { caller }) => neighboursOf(system, caller.tenants),
  )
