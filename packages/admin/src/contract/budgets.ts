// Budgets: where each stands, who spent what, and another limit.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { name, time } from './fields.ts'

const BUDGETS = '/admin/api/budgets'

const period = z.string().max(10)

export const budget = z.object({
  budget: z.string(),
  unit: z.string(),
  per: z.enum(['month', 'day']),
  timeZone: z.string(),
  period: z.string(),
  startsAt: time,
  endsAt: time,
  level: z.string(),
  spent: z.number(),
  reserved: z.number(),
  used: z.number(),
  limit: z.number(),
  limitFrom: z.enum(['period', 'setting', 'source', 'code']),
  remaining: z.number(),
  percent: z.number(),
  retryAt: time,
  retryInMs: z.number(),
  notified: z.number(),
  isUntold: z.boolean(),
  source: z.object({ readAt: time.nullable(), limit: z.number().nullable() }).nullable(),
})

export const list = endpoint({
  method: 'GET',
  path: BUDGETS,
  permission: 'viewer',
  scope: 'all',
  summary: 'List the budgets and where each stands',
  input: z.object({}),
  output: z.object({ budgets: z.array(budget) }),
})

export const get = endpoint({
  method: 'GET',
  path: `${BUDGETS}/:budget`,
  permission: 'viewer',
  scope: 'all',
  summary: 'Show a budget in a period, and who spent how much',
  input: z.object({ budget: name, period: period.optional() }),
  output: budget.extend({
    usage: z.array(
      z.object({
        type: z.string(),
        createdBy: z.string().nullable(),
        amount: z.number(),
        calls: z.number(),
        updatedAt: time,
      }),
    ),
  }),
})

export const adjust = endpoint({
  method: 'PATCH',
  path: `${BUDGETS}/:budget`,
  permission: 'operator',
  scope: 'all',
  summary: 'Set another limit of a budget, from now on or for one period',
  description:
    "`period` is 'current', or a period such as '2026-11'. A limit of null lets the code's limit hold again.",
  input: z.object({ budget: name, limit: z.number().min(0).nullable(), period: period.optional() }),
  output: budget,
})
