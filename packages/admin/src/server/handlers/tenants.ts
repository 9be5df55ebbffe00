import type { Millrace } from 'millrace'
import { contract } from '../../contract/operations.ts'
import { demandTenant } from '../caller.ts'
import { notFound } from '../problem.ts'
import { given, type Route, route } from '../route.ts'

const { tenants } = contract
const PAGE = 100

async function detailsOf(millrace: Millrace, name: string) {
  const tenant = await millrace.tenants.get(name)
  if (tenant === undefined) throw notFound(`tenant "${name}"`)
  return { ...tenant, slots: await millrace.tenants.slots(name), limits: await millrace.tenants.limits(name) }
}

export const tenantRoutes: readonly Route[] = [
  route(tenants.list, async ({ limit = PAGE, ...filter }, { millrace, caller }) => {
    const names = caller.tenants ?? undefined
    const page = await millrace.tenants.list({ ...given({ ...filter, names }), limit })
    return { tenants: page, next: page.length === limit ? (page.at(-1)?.name ?? null) : null }
  }),

  route(tenants.get, async ({ tenant }, { millrace, caller }) => {
    demandTenant(caller, tenant, `tenant "${tenant}"`)
    return detailsOf(millrace, tenant)
  }),

  route(tenants.queues, async ({ tenant }, { millrace, caller }) => {
    demandTenant(caller, tenant, `tenant "${tenant}"`)
    return { queues: await millrace.tenantQueues(tenant) }
  }),

  route(tenants.set, async ({ tenant, queue, weight, ...slots }, { millrace, by }) => {
    if (queue === undefined) await millrace.tenants.set(tenant, given({ weight, ...slots }), { by })
    else {
      if (weight !== undefined) await millrace.tenants.set(tenant, { weight }, { by })
      await millrace.tenants.setSlots(tenant, queue, given(slots), { by })
    }
    return detailsOf(millrace, tenant)
  }),

  route(tenants.unsetSlots, async ({ tenant, queue }, { millrace, by }) => ({
    changed: await millrace.tenants.unsetSlots(tenant, queue, { by }),
  })),

  route(tenants.limit, async ({ tenant, queue, jobs, over }, { millrace, by }) => {
    await millrace.tenants.limit(tenant, queue, { jobs, over }, { by })
    return detailsOf(millrace, tenant)
  }),

  route(tenants.unlimit, async ({ tenant, queue }, { millrace, by }) => ({
    changed: await millrace.tenants.unlimit(tenant, queue, { by }),
  })),

  route(tenants.suspend, ({ tenant, reason }, { millrace, by }) => millrace.tenants.suspend(tenant, { by, reason })),
  route(tenants.resume, ({ tenant, reason }, { millrace, by }) =>
    millrace.tenants.resume(tenant, { by, ...given({ reason }) }),
  ),
  route(tenants.delete, ({ tenant, reason }, { millrace, by }) => millrace.tenants.delete(tenant, { by, reason })),
]
