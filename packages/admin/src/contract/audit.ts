// The audit log.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { csvLimit, id, name, pageSize, time } from './fields.ts'

/** Which entries. */
const filter = {
  tenant: name.optional(),
  by: name.optional(),
  action: name.optional(),
  target: name.optional(),
  before: id.optional(),
}

export const list = endpoint({
  method: 'GET',
  path: '/admin/api/audit',
  permission: 'viewer',
  scope: 'tenant',
  summary: 'List who changed what, newest first',
  description: 'For the next page pass the id of the last entry as `before`.',
  input: z.object({ ...filter, limit: pageSize(1000) }),
  output: z.object({
    entries: z.array(
      z.object({
        id: z.string(),
        at: time,
        by: z.string(),
        action: z.string(),
        target: z.string().nullable(),
        tenant: z.string().nullable(),
        details: z.unknown(),
        source: z.string().nullable(),
        requestId: z.string().nullable(),
      }),
    ),
    next: z.string().nullable(),
  }),
})

export const csv = endpoint({
  method: 'GET',
  path: '/admin/api/audit.csv',
  permission: 'viewer',
  scope: 'tenant',
  media: 'text/csv',
  summary: 'Export the audit log as CSV, newest first',
  description: 'As `jobs.csv`.',
  input: z.object({ ...filter, limit: csvLimit }),
  output: z.string(),
})
