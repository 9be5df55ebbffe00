// Why a job waits that somebody has paused, or whose tenant may not run.
import type { Job } from '../store/jobs.ts'
import { type Pause, pauseList } from '../store/pauses.ts'
import { tenantList } from '../store/tenants.ts'
import type { Explainer, Reason } from './reason.ts'

export const explainPauses: Explainer = async (job, { db, now }) => {
  return pausesOf(await pauseList(db, now), job).map(reasonOf)
}

/** Those of the pauses that hold this job. */
export function pausesOf(pauses: readonly Pause[], job: Pick<Job, 'queue' | 'type' | 'tenant'>): Pause[] {
  const holds = ({ queue, type, tenant }: Pause) =>
    (queue ?? job.queue) === job.queue && (type ?? job.type) === job.type && (tenant ?? job.tenant) === job.tenant
  return pauses.filter(holds)
}

function reasonOf(pause: Pause): Reason {
  const { reason, by, createdAt, expiresAt } = pause
  const end = expiresAt === null ? 'until somebody resumes it' : `until ${expiresAt.toISOString()}`
  const names = Object.entries({ queue: pause.queue, type: pause.type, tenant: pause.tenant }).flatMap(
    ([kind, name]) => (name === null ? [] : [[kind, name] as const]),
  )
  const what = names.map(([kind, name]) => `${kind} "${name}"`).join(', ')
  return {
    mechanism: 'pause',
    sentence: `Paused by ${by} since ${createdAt.toISOString()}, ${end} (${what}): ${reason}`,
    until: expiresAt,
    remedy: `millrace resume ${names.map(([kind, name]) => `--${kind} ${argument(name)}`).join(' ')}`,
  }
}

export const explainTenant: Explainer = async ({ tenant: name }, { db }) => {
  if (name === null) return undefined
  const [tenant] = await tenantList(db, { names: [name] })
  if (tenant === undefined || tenant.status === 'active') return undefined
  const { status, updatedBy, updatedAt, reason } = tenant
  const who = updatedBy === null ? '' : ` (last changed by ${updatedBy} at ${updatedAt.toISOString()})`
  return {
    mechanism: 'tenant',
    sentence: `Tenant "${name}" is ${status}${who}${reason === null ? '.' : `: ${reason}`}`,
    until: null,
    remedy: `millrace tenants resume ${argument(name)}`,
  }
}

/** As a shell reads it. */
const argument = (name: string): string =>
  /^[\w.:@-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`
