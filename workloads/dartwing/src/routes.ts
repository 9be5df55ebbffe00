// The operations of Dartwing in the admin API: they take the platform's tokens and roles.
import { Refusal, type Route, route } from '@millrace/admin'
import { endpoint } from '@millrace/admin/contract'
import { z } from 'zod'
import { dlqRoutes } from './dlq/routes.ts'
import { fileRoutes } from './files/routes.ts'
import { organizationName } from './jobs/method.ts'
import { enqueueWithIsolation } from './jobs/router.ts'
import { OrganizationSuspended, OrganizationUnknown } from './organization/directory.ts'
import { organizationRoutes } from './organization/routes.ts'
import { demandOrganization } from './organization/scope.ts'
import { neighboursRoute } from './page/routes.ts'
import type { DartwingSystem } from './system.ts'

export const dartwingRoutes = (system: DartwingSystem): Route[] => [
  enqueueRoute(),
  neighboursRoute(system),
  ...dlqRoutes(system),
  ...fileRoutes(system),
  ...organizationRoutes(system),
]

const enqueueRoute = (): Route =>
  route(
    endpoint({
      method: 'POST',
      path: '/dartwing/api/enqueue',
      input: z.object({
        method: z.string(),
        organization: organizationName.optional(),
        user: z.string().optional(),
        arguments: z.record(z.string(), z.unknown()).optional(),
      }),
      output: z.object({ id: z.string(), status: z.string(), warnings: z.array(z.string()) }),
      permission: 'operator',
      scope: 'tenant',
      summary: 'Enqueue a job by the name of its method',
      description: 'The queue is looked up. `arguments` are the payload beside `organization`.',
    }),
    async (input, { millrace, caller, by }) => {
      const { method, organization, user = by, arguments: given = {} } = input
      demandOrganization(caller, organization)
      const result = await enqueueWithIsolation(millrace, { method, organization, user, arguments: given }).catch(
        refuse,
      )
      await millrace.audit.write({
        by,
        action: 'dartwing.enqueue',
        target: `job:${result.id}`,
        ...(organization !== undefined && { tenant: organization }),
      })
      const warnings = 'warnings' in result ? result.warnings.map(({ message }) => message) : []
      return { id: result.id, status: result.status, warnings }
    },
  )

function refuse(error: unknown): never {
  if (error instanceof OrganizationUnknown) throw new Refusal(404, 'organization_unknown', error.message)
  if (error instanceof OrganizationSuspended) throw new Refusal(409, 'organization_suspended', error.message)
  throw error
}
