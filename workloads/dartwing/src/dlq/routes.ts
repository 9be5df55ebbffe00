// Dead letters as documents: list them, and decide about one by its status.
import { Refusal, type Route, route } from '@millrace/admin'
import { endpoint } from '@millrace/admin/contract'
import type { Millrace } from 'millrace'
import { z } from 'zod'
import { organizationName } from '../jobs/method.ts'
import { demandOrganization } from '../organization/scope.ts'
import type { DartwingSystem } from '../system.ts'
import { type DlqDocument, documentList, type LetterStatus, STATUSES } from './documents.ts'

const status = z.enum(STATUSES)

const document = z.object({
  doctype: z.literal('Background Job DLQ'),
  name: z.string(),
  job_id: z.string().meta({ title: 'Job ID' }),
  job_method: z.string().meta({ title: 'Job Method' }),
  organization: z.string().nullable().meta({ title: 'Organization' }),
  queue: z.string().meta({ title: 'Queue' }),
  failure_reason: z.string().meta({ title: 'Failure Reason' }),
  job_data: z.unknown().meta({ title: 'Job Data (JSON)' }),
  failed_at: z.iso.datetime().meta({ title: 'Failed At' }),
  retry_count: z.int().meta({ title: 'Retry Count' }),
  status: status.meta({ title: 'Status' }),
  resolution_notes: z.string().nullable().meta({ title: 'Resolution Notes' }),
})

export const dlqRoutes = (system: DartwingSystem): Route[] => [listRoute(system), decideRoute(system)]

const shown = (letter: DlqDocument) => ({ doctype: 'Background Job DLQ' as const, ...letter })

const listRoute = (system: DartwingSystem): Route =>
  route(
    endpoint({
      method: 'GET',
      path: '/dartwing/api/dlq',
      input: z.object({ status: status.optional(), organization: organizationName.optional() }),
      output: z.object({ data: z.array(document) }),
      permission: 'viewer',
      scope: 'tenant',
      summary: 'List dead letters as documents, newest first, at most 200',
    }),
    async ({ status: wanted, organization }, { caller }) => {
      if (organization !== undefined) demandOrganization(caller, organization)
      const organizations = organization === undefined ? (caller.tenants ?? undefined) : [organization]
      return { data: (await documentList(system.database, { status: wanted, organizations })).map(shown) }
    },
  )

const decideRoute = (system: DartwingSystem): Route =>
  route(
    endpoint({
      method: 'PATCH',
      path: '/dartwing/api/dlq/:name',
      input: z.object({
        name: z.string().regex(/^\d{1,19}$/),
        status: status.optional(),
        resolution_notes: z.string().min(1).max(4_000).optional(),
      }),
      output: document,
      permission: 'operator',
      scope: 'tenant',
      summary: 'Decide about a dead letter',
      description:
        '`Retried` runs the job again, `Resolved` and `Ignored` close the letter, `resolution_notes` is added as a note.',
    }),
    async ({ name, status: wanted, resolution_notes: note }, { millrace, caller, by }) => {
      const letter = await one(system, name, caller.tenants)
      if (note !== undefined) await millrace.deadLetters.note(name, note, { by })
      if (wanted !== undefined && wanted !== letter.status) await DECISIONS[wanted](millrace, name, by)
      return shown(await one(system, name, caller.tenants))
    },
  )

async function one(
  { database }: DartwingSystem,
  name: string,
  tenants: readonly string[] | null,
): Promise<DlqDocument> {
  const [letter] = await documentList(database, { name, organizations: tenants ?? undefined })
  if (letter !== undefined) return letter
  throw new Refusal(404, 'not_found', `There is no dead letter ${name}, or you may not see it.`)
}

const DECISIONS: Readonly<Record<LetterStatus, (millrace: Millrace, name: string, by: string) => Promise<void>>> = {
  async Pending() {
    throw new Refusal(
      409,
      'letter_decided',
      'A letter that was decided about cannot be pending again. Retry its job instead, with the status Retried.',
    )
  },
  async Retried(millrace, name, by) {
    const [result] = await millrace.deadLetters.redrive(name, { by })
    if (result?.status !== 'redriven')
      throw new Refusal(409, 'redrive_refused', `The job cannot run again: ${JSON.stringify(result)}`)
  },
  async Resolved(millrace, name, by) {
    await millrace.deadLetters.resolve(name, { by })
  },
  async Ignored(millrace, name, by) {
    await millrace.deadLetters.ignore(name, { by })
  },
}
