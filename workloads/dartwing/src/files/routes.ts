// Reports and exports are asked for by a person; what was made is downloaded by a signed link.
import { type Page, Refusal, type Route, route } from '@millrace/admin'
import { endpoint } from '@millrace/admin/contract'
import type { Millrace } from 'millrace'
import { z } from 'zod'
import { fullExport, generateReport } from '../contracts/bulk.ts'
import { id, organizationName } from '../jobs/method.ts'
import { demandActive } from '../organization/directory.ts'
import { demandOrganization } from '../organization/scope.ts'
import { query } from '../query.ts'
import type { DartwingSystem } from '../system.ts'
import { fileGet } from './file-store.ts'
import { isGood, signedLink } from './signed-link.ts'

const PATH = '/dartwing/files'
const queued = z.object({ id: z.string(), job: z.string() })

export const fileRoutes = (system: DartwingSystem): Route[] => [
  route(
    endpoint({
      method: 'POST',
      path: '/dartwing/api/reports',
      input: z.object({
        organization: organizationName,
        kind: z.enum(['contacts', 'faxes']),
        format: z.enum(['pdf', 'csv']),
      }),
      output: queued,
      permission: 'operator',
      scope: 'tenant',
      summary: 'Ask for a report',
    }),
    async ({ organization, kind, format }, { millrace, caller, by }) => {
      demandOrganization(caller, organization)
      return asked(millrace, { organization, by, action: 'dartwing.report' }, async (tx) => {
        const [row] = await query<{ id: string }>(
          tx,
          'insert into dartwing.report (organization, kind, format, asked_by) values ($1, $2, $3, $4) returning id::text',
          [organization, kind, format, by],
        )
        const report = (row as { id: string }).id
        return {
          id: report,
          job: await millrace.enqueue(generateReport, { organization, report }, { tx, createdBy: by }),
        }
      })
    },
  ),
  route(
    endpoint({
      method: 'POST',
      path: '/dartwing/api/exports',
      input: z.object({ organization: organizationName }),
      output: queued,
      permission: 'operator',
      scope: 'tenant',
      summary: 'Ask for all that an organization has, as a ZIP',
    }),
    async ({ organization }, { millrace, caller, by }) => {
      demandOrganization(caller, organization)
      return asked(millrace, { organization, by, action: 'dartwing.export' }, async (tx) => {
        const [row] = await query<{ id: string }>(
          tx,
          'insert into dartwing.export (organization, asked_by) values ($1, $2) returning id::text',
          [organization, by],
        )
        const { id: made } = row as { id: string }
        return {
          id: made,
          job: await millrace.enqueue(fullExport, { organization, export: made }, { tx, createdBy: by }),
        }
      })
    },
  ),
  route(
    endpoint({
      method: 'GET',
      path: '/dartwing/api/files/:organization/:file',
      input: z.object({ organization: organizationName, file: id }),
      output: z.object({
        path: z.string(),
        until: z.iso.datetime(),
        name: z.string(),
        bytes: z.number(),
        sha256: z.string(),
      }),
      permission: 'viewer',
      scope: 'tenant',
      summary: 'Get a link to a file, good for 15 minutes',
    }),
    async ({ organization, file }, { millrace, caller }) => {
      demandOrganization(caller, organization)
      const found = await millrace.tenantDb(organization, (tx) => fileGet(tx, file))
      if (found === undefined) throw new Refusal(404, 'not_found', `${organization} has no file ${file}.`)
      const { name, bytes, sha256 } = found
      return { ...signedLink(system.linkSecret, { organization, file }), name, bytes, sha256 }
    },
  ),
]

/** Row and job in one transaction. */
async function asked(
  millrace: Millrace,
  { organization, by, action }: { organization: string; by: string; action: string },
  work: (tx: Parameters<Parameters<Millrace['tenantDb']>[1]>[0]) => Promise<{ id: string; job: { id: string } }>,
) {
  await demandActive(millrace, organization)
  const { id: made, job } = await millrace.tenantDb(organization, work, { actingUser: by })
  await millrace.audit.write({ by, action, target: `job:${job.id}`, tenant: organization })
  return { id: made, job: job.id }
}

/** The link is all that is needed, so a person can follow it without a token. */
export const filesPage = (system: DartwingSystem): Page => ({
  path: PATH,
  async handle(request, { millrace }) {
    const url = new URL(request.url)
    const [file = '', organization = ''] = url.pathname.split('/').reverse()
    const isWhole = organizationName.safeParse(organization).success && id.safeParse(file).success
    if (request.method !== 'GET' || !isWhole || !isGood(system.linkSecret, { organization, file }, url.searchParams))
      return new Response('This link is not good, or no longer. Ask for another one.\n', { status: 403 })
    const found = await millrace.tenantDb(organization, (tx) => fileGet(tx, file))
    if (found === undefined) return new Response('The file is gone.\n', { status: 404 })
    const headers = {
      'content-type': found.mediaType,
      'content-length': String(found.bytes),
      'content-disposition': `attachment; filename="${found.name}"`,
      'cache-control': 'private, no-store',
    }
    return new Response(system.files.web(organization, found.name), { headers })
  },
})
