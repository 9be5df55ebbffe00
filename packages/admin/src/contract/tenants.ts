// Tenants: shares, limits and lifecycle.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { name, pageSize, reason, time } from './fields.ts'

const TENANTS = '/admin/api/tenants'

const status = z.enum(['active', 'suspended', 'deleted'])

export const tenant = z.object({
  name: z.string(),
  status,
  weight: z.number(),
  minSlots: z.number(),
  maxSlots: z.number().nullable(),
  reason: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
  updatedBy: z.string().nullable(),
})

const slots = z.object({
  queue: z.string(),
  minSlots: z.number(),
  maxSlots: z.number().nullable(),
  updatedAt: time,
  updatedBy: z.string(),
})

const tenantLimit = z.object({
  queue: z.string(),
  jobs: z.number(),
  over: z.enum(['warn', 'reject', 'defer']),
  updatedAt: time,
  updatedBy: z.string(),
})

const details = tenant.extend({ slots: z.array(slots), limits: z.array(tenantLimit) })
const counts = { minSlots: z.number().int().min(0).optional(), maxSlots: z.number().int().min(0).nullable().optional() }

export const list = endpoint({
  method: 'GET',
  path: TENANTS,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'List tenants by name',
  description: 'For the next page pass the name of the last tenant as `behind`.',
  input: z.object({ status: status.optional(), behind: name.optional(), limit: pageSize(1000) }),
  output: z.object({ tenants: z.array(tenant), next: z.string().nullable() }),
})

export const get = endpoint({
  method: 'GET',
  path: `${TENANTS}/:tenant`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Show a tenant with its slots and limits by queue',
  input: z.object({ tenant: name }),
  output: details,
})

export const set = endpoint({
  method: 'PATCH',
  path: `${TENANTS}/:tenant`,
  permission: 'operator',
  scope: 'all',
  summary: 'Register a tenant, or change its share: weight, and slots in every queue or in one',
  input: z.object({
    tenant: name,
    weight: z.number().int().min(1).max(1000).optional(),
    ...counts,
    queue: name.optional().describe('The slots of this queue alone'),
  }),
  output: details,
})

export const unsetSlots = endpoint({
  method: 'DELETE',
  path: `${TENANTS}/:tenant/slots/:queue`,
  permission: 'operator',
  scope: 'all',
  summary: "Let the tenant's own slots hold in a queue again",
  input: z.object({ tenant: name, queue: name }),
  output: z.object({ changed: z.boolean() }),
})

export const limit = endpoint({
  method: 'PUT',
  path: `${TENANTS}/:tenant/limits/:queue`,
  permission: 'operator',
  scope: 'all',
  summary: 'Set how many jobs a tenant may have in a queue, and what happens to more',
  input: z.object({
    tenant: name,
    queue: name,
    jobs: z.number().int().min(0),
    over: z.enum(['warn', 'reject', 'defer']),
  }),
  output: details,
})

export const unlimit = endpoint({
  method: 'DELETE',
  path: `${TENANTS}/:tenant/limits/:queue`,
  permission: 'operator',
  scope: 'all',
  summary: "Let the queue's own limit hold for a tenant again",
  input: z.object({ tenant: name, queue: name }),
  output: z.object({ changed: z.boolean() }),
})

export const suspend = endpoint({
  method: 'POST',
  path: `${TENANTS}/:tenant/suspend`,
  permission: 'operator',
  scope: 'all',
  summary: 'Suspend a tenant: its jobs wait, and nothing more is enqueued for it',
  input: z.object({ tenant: name, reason }),
  output: tenant,
})

export const resume = endpoint({
  method: 'POST',
  path: `${TENANTS}/:tenant/resume`,
  permission: 'operator',
  scope: 'all',
  summary: 'Let the jobs of a tenant run again',
  input: z.object({ tenant: name, reason: reason.optional() }),
  output: tenant,
})

export const remove = endpoint({
  method: 'POST',
  path: `${TENANTS}/:tenant/delete`,
  permission: 'admin',
  scope: 'all',
  summary: 'Delete a tenant: its jobs are cancelled',
  input: z.object({ tenant: name, reason }),
  output: tenant.extend({ cancelled: z.number(), requested: z.number() }),
})

export const queues = endpoint({
  method: 'GET',
  path: `${TENANTS}/:tenant/queues`,
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Show what a tenant has waiting and running in each queue, and how long its jobs waited lately',
  input: z.object({ tenant: name }),
  output: z.object({
    queues: z.array(
      z.object({
        queue: z.string(),
        waiting: z.number(),
        running: z.number(),
        runs: z.number(),
        waitP50Ms: z.number().nullable(),
        waitP95Ms: z.number().nullable(),
      }),
    ),
  }),
})
