// Why a job waits for a limit: its places are taken, its rate is used up, or its service asked for a pause.
import type { Limit } from '../contract/limit.ts'
import { limitHolders } from '../store/explain.ts'
import { governedStanding, type Standing } from '../store/governed-claims.ts'
import type { Job } from '../store/jobs.ts'
import { jobCost } from './job-cost.ts'
import { limitsOf, runningUnder } from './meters.ts'
import { RateWindow } from './rate-window.ts'
import type { Explainer, Look, Reason } from './reason.ts'
import { PER_TENANT, Rules } from './rules.ts'

const HOLDERS = 5

export const explainLimits: Explainer = async (job, look) => {
  const contract = look.registry.find(job.type)
  if (contract === undefined) return undefined
  const rules = new Rules()
  await rules.load(look.db)
  const limits = limitsOf(contract, rules)
  const standing = await governedStanding(look.db, look.now, {
    queue: job.queue,
    limits: limits.map(({ name }) => name),
    tenants: job.tenant === null ? [] : [job.tenant],
  })
  const reasons: Reason[] = []
  const share = shareReason(job, rules, standing)
  if (share !== undefined) reasons.push(share)
  const cost = jobCost(contract, look.registry.keys, job)
  for (const limit of limits) {
    const reason = (await placesReason(job, limit, { look, standing })) ?? rateReason(job, { limit, cost }, standing)
    if (reason !== undefined) reasons.push(reason)
  }
  return reasons
}

function shareReason({ tenant, queue }: Job, rules: Rules, { running }: Standing): Reason | undefined {
  const maxSlots = tenant === null ? undefined : rules.tenantsIn(queue).get(tenant)?.maxSlots
  if (tenant === null || maxSlots == null) return undefined
  const held = (running ?? []).reduce((sum, [name, , jobs]) => sum + (name === tenant ? jobs : 0), 0)
  if (held < maxSlots) return undefined
  const command = rules.isMaxOfQueue(tenant, queue) ? `set-slots ${tenant} ${queue}` : `set ${tenant}`
  return {
    mechanism: 'share',
    sentence: `Tenant "${tenant}" holds ${held} of the ${maxSlots} slots that it may hold in queue "${queue}" at once.`,
    until: null,
    remedy: `millrace tenants ${command} --max-slots N`,
  }
}

async function placesReason(
  job: Job,
  limit: Limit,
  { look, standing }: { look: Look; standing: Standing },
): Promise<Reason | undefined> {
  if (limit.running === undefined) return undefined
  const scope = limit.isPerTenant ? job.tenant : undefined
  const taken = runningUnder(limit, standing)
    .filter(([tenant]) => scope === undefined || tenant === scope)
    .reduce((sum, [, jobs]) => sum + jobs, 0)
  if (taken < limit.running) return undefined
  const [kind, rest] = limit.name.split(':')
  const isNamed = rest === undefined
  const of = {
    limit: limit.name,
    tenant: limit.isPerTenant ? job.tenant : null,
    queue: isNamed ? null : job.queue,
    type: kind === 'type' ? job.type : null,
  }
  const holders = await limitHolders(look.db, of, HOLDERS)
  const who = holders.length === 0 ? '' : `, by ${holders.length < taken ? 'among others ' : ''}${jobList(holders)}`
  return {
    mechanism: 'limit',
    sentence: `${nameOf(limit, job)} lets ${limit.running} run at once, and ${taken} ${taken === 1 ? 'does' : 'do'}${who}.`,
    until: null,
    remedy: `millrace limits set ${limit.name} --running N`,
  }
}

function rateReason(job: Job, { limit, cost }: { limit: Limit; cost: number }, standing: Standing): Reason | undefined {
  const nowMs = standing.nowS * 1_000
  const scope = limit.isPerTenant ? (job.tenant ?? '') : ''
  const [, , starts = [], heldUntilS = null] =
    standing.rates?.find(([name, tenant]) => name === limit.name && tenant === scope) ?? []
  if (heldUntilS !== null && heldUntilS * 1_000 > nowMs) {
    const until = new Date(heldUntilS * 1_000)
    return {
      mechanism: 'rate',
      sentence: `${nameOf(limit, job)} is held until ${until.toISOString()}, because the service behind it asked for a pause.`,
      until,
      remedy: null,
    }
  }
  if (limit.rate === undefined) return undefined
  const window = new RateWindow(limit.rate, starts, nowMs)
  if (window.isRoomFor(cost)) return undefined
  const waitMs = window.waitFor(cost)
  const until = Number.isFinite(waitMs) ? new Date(nowMs + waitMs) : null
  const next = until === null ? 'nothing starts until it is raised' : `the next may start at ${until.toISOString()}`
  return {
    mechanism: 'rate',
    sentence: `${nameOf(limit, job)} allows ${limit.rate.jobs} per ${limit.rate.perMs / 1_000} s, and they are used up; ${next}.`,
    until,
    remedy: `millrace limits set ${limit.name} --rate N/minute`,
  }
}

function nameOf(limit: Limit, { tenant }: Job): string {
  const each = limit.isPerTenant ? ` for tenant "${tenant ?? ''}"` : ''
  return `Limit "${limit.name.replace(PER_TENANT, '')}"${each}`
}

const jobList = (jobs: readonly { id: string }[]): string =>
  `${jobs.length === 1 ? 'job' : 'jobs'} ${jobs.map(({ id }) => id).join(', ')}`
