import type { LimitState, Millrace } from 'millrace'
import { contract } from '../../contract/operations.ts'
import { type Caller, demandTenant, demandUnscoped, maySee } from '../caller.ts'
import { notFound } from '../problem.ts'
import { given, type Route, route } from '../route.ts'

const { queues, pauses, limits, keys } = contract

/** JSON has no infinity and no undefined. */
function limitBody({ running, rate, uses, ...limit }: LimitState) {
  return {
    ...limit,
    ...given({ running, rate }),
    uses: uses.map(({ free, ...use }) => ({ ...use, ...given({ free }) })),
  }
}

/** Without a tenant, a pause holds the jobs of all. */
function demandOwnTarget(caller: Caller, tenant: string | undefined): void {
  if (tenant === undefined) demandUnscoped(caller)
  else demandTenant(caller, tenant, `tenant "${tenant}"`)
}

async function limitNamed(millrace: Millrace, name: string) {
  const limit = await millrace.limits.get(name)
  if (limit === undefined) throw notFound(`limit "${name}"`)
  return limitBody(limit)
}

export const queueRoutes: readonly Route[] = [
  route(queues.list, async (_, { millrace }) => ({ queues: await millrace.queues() })),

  route(queues.stats, async (_, { millrace, caller }) => {
    const { types, tenants } = await millrace.stats()
    // The rows of types count every tenant's jobs.
    if (caller.tenants === null) return { types, tenants }
    return { types: [], tenants: tenants.filter(({ tenant }) => maySee(caller, tenant)) }
  }),

  route(queues.fairness, ({ queue, tenant }, { millrace }) => millrace.fairness(queue, given({ tenant }))),

  route(pauses.list, async (_, { millrace, caller }) => ({
    pauses: (await millrace.pauses.list()).filter(({ tenant }) => tenant === null || maySee(caller, tenant)),
  })),

  route(pauses.set, async ({ reason, for: time, ...target }, { millrace, caller, by }) => {
    demandOwnTarget(caller, target.tenant)
    return millrace.pauses.pause(given(target), { reason, by, ...given({ for: time as `${number}m` | undefined }) })
  }),

  route(pauses.end, async ({ all = false, ...target }, { millrace, caller, by }) => {
    demandOwnTarget(caller, target.tenant)
    return millrace.pauses.resume(given(target), { by, all })
  }),

  route(limits.list, async (_, { millrace }) => ({ limits: (await millrace.limits.list()).map(limitBody) })),

  route(limits.set, async ({ name, running, rate }, { millrace, by }) => {
    await millrace.limits.set(name, given({ running, rate: rate as `${number}/minute` | undefined }), { by })
    return limitNamed(millrace, name)
  }),

  route(limits.unset, async ({ name }, { millrace, by }) => ({ changed: await millrace.limits.unset(name, { by }) })),

  route(keys.list, async ({ queue }, { millrace }) => ({
    stopped: await millrace.keys.stopped(given({ queue })),
    limits: await millrace.keys.limits(),
  })),

  route(keys.continue, async ({ queue, key, tenant }, { millrace, by }) => ({
    changed: await millrace.keys.continue({ queue, key, ...given({ tenant }) }, { by }),
  })),

  route(keys.setLimit, async ({ queue, key, concurrency }, { millrace, by }) => {
    const name = { queue, ...given({ key }) }
    if (concurrency === undefined) await millrace.keys.clearLimit(name, { by })
    else await millrace.keys.setLimit({ ...name, concurrency }, { by })
    return { limits: await millrace.keys.limits() }
  }),
]
