// POST /lipas/api/mass-import computes many places anew, then tells the partner and whoever asked: see mass-import.ts.
import { randomUUID } from 'node:crypto'
import { type Route, route } from '@millrace/admin'
import { endpoint } from '@millrace/admin/contract'
import { z } from 'zod'
import { massImport, massImportInput } from '../mass-import.ts'
import type { LipasSystem } from '../system.ts'

const start = endpoint({
  method: 'POST',
  path: '/lipas/api/mass-import',
  permission: 'operator',
  scope: 'all',
  status: 201,
  summary: 'Compute many places anew, then tell the partner and the one who asked',
  description:
    'Heights of all, then the diversity around all, then one message to the partner and one mail. One bad trail does not stop the rest.',
  input: z.object(massImportInput.shape),
  output: z.object({ 'workflow-id': z.string(), 'correlation-id': z.string() }),
})

export const massImportRoute = ({ database }: LipasSystem): Route =>
  route(start, async ({ ids, 'reply-to': replyTo }, { millrace, by }) => {
    const correlationId = randomUUID()
    const id = await database.transaction(async (tx) => {
      // An id that is named twice would be computed twice.
      const input = { ids: [...new Set(ids)], 'reply-to': replyTo }
      const workflow = await millrace.workflows.start(massImport, input, { tx, correlationId, createdBy: by })
      const entry = { by, action: 'sites.import', target: workflow.id, details: { places: input.ids.length } }
      await millrace.audit.write(entry, { tx })
      return workflow.id
    })
    return { 'workflow-id': id, 'correlation-id': correlationId }
  })
