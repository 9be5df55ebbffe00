// Who shares the installation, and what each gets: the figures of the page and of its route.
import type { Fairness, Job, LimitState, Millrace } from 'millrace'
import { QUEUE_CONFIG, type QueueName } from '../jobs/queue-config.ts'
import { queues } from '../jobs/queues.ts'
import { type Organization, organizationList } from '../organization/directory.ts'
import type { DartwingSystem } from '../system.ts'
import { waitsList } from './neighbours-store.ts'
import { type Stuck, stuckOf } from './stuck.ts'
import { verdictOf } from './verdict.ts'

export interface QueueUse {
  readonly queue: QueueName
  readonly waiting: number
  readonly running: number
  /** Null: no limit. */
  readonly limit: number | null
  readonly isOver: boolean
}

export interface Neighbour {
  readonly organization: string
  readonly title: string
  readonly isSuspended: boolean
  readonly queues: readonly QueueUse[]
  readonly waiting: number
  readonly running: number
  readonly waitP95Ms: number | null
  /** Why its oldest job waits. */
  readonly why: string | null
  readonly letters: readonly {
    readonly fingerprint: string | null
    readonly pending: number
    readonly message: string
  }[]
}

export interface Slot {
  readonly queue: QueueName
  /** Null: free, or used for the installation or for an organization that the caller may not see. */
  readonly organization: string | null
  readonly isUsed: boolean
}

export interface Neighbours {
  readonly at: string
  readonly verdict: string
  readonly slots: readonly Slot[]
  readonly neighbours: readonly Neighbour[]
  /** Those that are not shown one by one. */
  readonly others: { readonly organizations: number; readonly waiting: number; readonly running: number }
  readonly throttled: { readonly started: number | null; readonly most: number | null; readonly paused: string | null }
  readonly stuck: readonly Stuck[]
  readonly refused: readonly { readonly at: string; readonly organization: string; readonly what: string }[]
}

const SHOWN = 8
const NAMES = Object.keys(QUEUE_CONFIG) as QueueName[]

/** `tenants`: the organizations that the caller may see; null: all. */
export async function neighboursOf(
  { millrace, database }: DartwingSystem,
  tenants: readonly string[] | null,
): Promise<Neighbours> {
  const maySee = (organization: string | null): boolean =>
    tenants === null || (organization !== null && tenants.includes(organization))
  const [pictures, running, directory, limits, pauses, violations] = await Promise.all([
    Promise.all(NAMES.map((name) => millrace.fairness(name))),
    millrace.jobs({ status: 'processing', limit: 200 }),
    organizationList(database),
    millrace.limits.list(),
    millrace.pauses.list(),
    millrace.audit.list({ action: 'tenant.isolation_violation' }),
  ])
  const seen = directory.filter(({ name }) => maySee(name))
  const ranked = seen
    .map((organization) => ({ organization, use: usesOf(organization.name, pictures) }))
    .sort((a, b) => sum(b.use) - sum(a.use) || a.organization.name.localeCompare(b.organization.name))
  // By name, so that they keep their places while they are looked at.
  const shown = ranked.slice(0, SHOWN).sort((a, b) => a.organization.name.localeCompare(b.organization.name))
  const neighbours = await Promise.all(await withWaits(millrace, database, shown))
  const rest = ranked.slice(SHOWN)
  return {
    at: new Date().toISOString(),
    verdict: verdictOf(neighbours),
    slots: slotsOf(pictures, running, maySee),
    neighbours,
    others: {
      organizations: rest.length,
      waiting: total(
        rest.flatMap(({ use }) => use),
        'waiting',
      ),
      running: total(
        rest.flatMap(({ use }) => use),
        'running',
      ),
    },
    throttled: {
      ...rateOf(limits.find(({ name }) => name === 'bulk')),
      paused:
        pauses.find(({ queue, type, tenant }) => queue === 'bulk' && type === null && tenant === null)?.reason ?? null,
    },
    stuck: await stuckOf(millrace, running, maySee),
    refused: violations
      .filter(({ tenant }) => maySee(tenant))
      .slice(0, 5)
      .map(({ at, tenant, by, target }) => ({
        at: at.toISOString(),
        organization: tenant ?? '',
        what: `${by} → ${target ?? 'another organization'}`,
      })),
  }
}

const total = (uses: readonly QueueUse[], what: 'waiting' | 'running'): number =>
  uses.reduce((all, use) => all + use[what], 0)
const sum = (uses: readonly QueueUse[]): number => total(uses, 'waiting') + total(uses, 'running')

function usesOf(organization: string, pictures: readonly Fairness[]): QueueUse[] {
  return pictures.map(({ queue, top }) => {
    const { waiting = 0, running = 0 } = top.find(({ tenant }) => tenant === organization) ?? {}
    const limit = queues[queue as QueueName].tenantJobs?.max ?? null
    return { queue: queue as QueueName, waiting, running, limit, isOver: limit !== null && waiting + running > limit }
  })
}

type Ranked = { readonly organization: Organization; readonly use: readonly QueueUse[] }

async function withWaits(
  millrace: Millrace,
  database: DartwingSystem['database'],
  shown: readonly Ranked[],
): Promise<Promise<Neighbour>[]> {
  const waits = await waitsList(
    database,
    shown.map(({ organization }) => organization.name),
  )
  return shown.map(async ({ organization: { name, title, status }, use }) => {
    const { waitP95Ms = null, oldestJob = null } = waits.find(({ organization }) => organization === name) ?? {}
    const [why, letters] = await Promise.all([
      oldestJob === null
        ? null
        : millrace.explain(oldestJob, { tenants: [name] }).then(
            ({ summary }) => summary,
            () => null,
          ),
      millrace.deadLetters.groups({ tenant: name, limit: 3 }),
    ])
    return {
      ...{ organization: name, title, isSuspended: status === 'Suspended', queues: use, waitP95Ms, why },
      ...{ waiting: total(use, 'waiting'), running: total(use, 'running') },
      letters: letters.map(({ fingerprint, pending, sampleMessage }) => ({
        fingerprint,
        pending,
        message: sampleMessage,
      })),
    }
  })
}

/** As many as all living workers have, the used ones first; without a worker, those of one process. */
function slotsOf(
  pictures: readonly Fairness[],
  running: readonly Job[],
  maySee: (organization: string | null) => boolean,
): Slot[] {
  return pictures.flatMap((picture) => {
    const queue = picture.queue as QueueName
    const used = running.filter((job) => job.queue === queue)
    const slots = Math.max(picture.slots || QUEUE_CONFIG[queue].workers, used.length)
    return Array.from({ length: slots }, (_, i) => {
      const job = used[i]
      const organization = job !== undefined && maySee(job.tenant) ? job.tenant : null
      return { queue, organization, isUsed: job !== undefined }
    })
  })
}

function rateOf(limit: LimitState | undefined): { started: number | null; most: number | null } {
  const most = limit?.rate?.jobs ?? null
  const free = limit?.isPerTenant === false ? limit.uses[0]?.free : undefined
  return { most, started: most === null || free === undefined ? null : most - free }
}
