// What can be followed: how to read it, how often, and what is worth telling.
import type { Job, Millrace } from 'millrace'
import type { topicNames } from '../../contract/stream.ts'

export interface Topic {
  readonly everyMs: number
  /** Callers that are limited to tenants may follow it. */
  readonly isForTenants: boolean
  /** Default: every caller may follow it. */
  readonly role?: 'operator'
  /** As it stands now. `tenants`: of these alone; null: of all. */
  read(millrace: Millrace, tenants: readonly string[] | null): Promise<unknown>
  /** What to tell of the difference; undefined: nothing has changed. Without it: all, when it has changed. */
  change?(before: unknown, after: unknown): unknown
}

type TopicName = (typeof topicNames)[number]

const NEWEST = 100
const OPERATIONS = 20

export const topics: Readonly<Record<TopicName, Topic>> = {
  overview: { everyMs: 2_000, isForTenants: false, read: (millrace) => millrace.stats() },
  queues: { everyMs: 2_000, isForTenants: false, read: (millrace) => millrace.queues() },
  workers: { everyMs: 5_000, isForTenants: false, read: (millrace) => millrace.workers.list() },
  'dead-letters': { everyMs: 5_000, isForTenants: false, read: (millrace) => millrace.deadLetters.groups() },
  // The moment of the look and ages that grow by themselves are no news.
  health: { everyMs: 10_000, isForTenants: false, read: verdictOf },
  vitals: { everyMs: 5_000, isForTenants: false, read: (millrace) => millrace.vitals() },
  alerts: { everyMs: 5_000, isForTenants: false, read: (millrace) => millrace.alerts.list() },
  // The newest operations, with the stages of their canaries.
  bulk: {
    everyMs: 2_000,
    isForTenants: false,
    role: 'operator',
    read: (millrace) => millrace.bulk.list({ limit: OPERATIONS }),
  },
  jobs: { everyMs: 1_000, isForTenants: true, read: newestJobs, change: changedJobs },
}

/** One job, as a page about it shows it. */
export const jobTopic = (id: string): Topic => ({
  everyMs: 1_000,
  isForTenants: true,
  async read(millrace, tenants) {
    const job = await millrace.job(id)
    if (job === undefined || (tenants !== null && !tenants.includes(job.tenant ?? ''))) return null
    const { payload: _, result: __, logs: ___, ...shown } = job
    return shown
  },
})

/** One bulk operation, with its canaries. */
const bulkTopic = (id: string): Topic => ({
  everyMs: 1_000,
  isForTenants: true,
  role: 'operator',
  async read(millrace, tenants) {
    const operation = await millrace.bulk.get(id)
    if (operation === undefined || (tenants !== null && !tenants.includes(operation.tenant ?? ''))) return null
    return operation
  },
})

export function topicNamed(name: string): Topic | undefined {
  const [, kind, id] = /^(job|bulk):(\d{1,19})$/.exec(name) ?? []
  if (id !== undefined) return kind === 'job' ? jobTopic(id) : bulkTopic(id)
  return Object.hasOwn(topics, name) ? topics[name as TopicName] : undefined
}

async function verdictOf(millrace: Millrace) {
  const { verdict, summary, reasons } = await millrace.health()
  return { verdict, summary, reasons }
}

type ShownJob = Omit<Job, 'payload' | 'result'>

/** Without what only operators may see: everybody who listens gets the same. */
async function newestJobs(millrace: Millrace, tenants: readonly string[] | null): Promise<ShownJob[]> {
  const jobs: Job[] = []
  for (const tenant of tenants ?? [undefined])
    jobs.push(...(await millrace.jobs({ limit: NEWEST, ...(tenant !== undefined && { tenant }) })))
  jobs.sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? 1 : -1))
  return jobs.slice(0, NEWEST).map(({ payload: _, result: __, ...job }) => job)
}

/** The jobs that are new or differ. */
function changedJobs(before: unknown, after: unknown): ShownJob[] | undefined {
  const known = new Map((before as ShownJob[]).map((job) => [job.id, JSON.stringify(job)]))
  const changed = (after as ShownJob[]).filter((job) => known.get(job.id) !== JSON.stringify(job))
  return changed.length === 0 ? undefined : changed
}
