// The canary of a bulk operation: a few jobs, each of another tenant if there are so many, are redriven first. The first death
// among them stops the operation; if all of them end well, the rest follows.
//
// Every step is written down before the next one, so any worker can go on with it. Nothing is held while canaries run: the
// operation's own job is put off, and looks again.
import { type Condition, isOneOf } from '../search/query.ts'
import {
  type BulkCanary,
  type BulkRow,
  type BulkVerdict,
  bulkCanaries,
  bulkCanaryAdd,
  bulkEnd,
  bulkFacts,
  bulkNext,
  bulkRecord,
  bulkStage,
} from '../store/bulk.ts'
import type { BulkProgress } from './bulk-batch.ts'
import { concernedBy, findMore, without } from './bulk-find.ts'
import { type BulkActionName, GONE, judge } from './bulk-judge.ts'
import { type BulkWorkServices, verdictsOn } from './bulk-work.ts'
import { JobFinder, TimeLeft } from './job-finder.ts'

type Operation = BulkRow & { stage: 'choosing' | 'waiting' }
type Step = Omit<BulkProgress, 'operation'>

/** Contracts may refuse what was chosen: then others are chosen, up to so many in all. */
const MOST_TRIED = 100
const FIND_MS = 5_000
const PAGE = 20
const BATCH = 100
/** As many as an operation may name. */
const MOST_IDS = 10_000

const MORE: Step = { dealt: 0, next: 'more' }
const WAIT: Step = { dealt: 0, next: 'wait' }

export async function canaryBatch(services: BulkWorkServices, operation: Operation): Promise<Step> {
  const { db } = services
  const { id } = operation
  const canaries = await bulkCanaries(db, id)
  const open = canaries.filter(({ outcome }) => outcome === null)
  if (open.length > 0) {
    const items = open.slice(0, operation.rate).map(({ jobId }) => ({ jobId, before: null }))
    const verdicts = await verdictsOn(services, operation, items)
    await bulkRecord(db, id, verdicts)
    return { dealt: verdicts.length, next: verdicts.length === 0 ? 'elsewhere' : 'more' }
  }
  const death = canaries.find(({ status }) => status === 'dead')
  if (death !== undefined) return stop(services, id, deathText(death))
  if (operation.stage === 'choosing') return choosing(services, operation, canaries)
  return waiting(services, operation, canaries)
}

async function choosing(
  services: BulkWorkServices,
  operation: Operation,
  canaries: readonly BulkCanary[],
): Promise<Step> {
  const { db } = services
  const { id, canary } = operation
  const wanted = Math.min((canary ?? 0) - redriven(canaries).length, MOST_TRIED - canaries.length)
  if (wanted > 0) {
    const chosen = await ofOtherTenants(services, operation, { canaries, wanted })
    if (chosen.length > 0) {
      await bulkCanaryAdd(db, id, chosen)
      return MORE
    }
    const step = await anyOther(services, operation, wanted)
    if (step !== undefined) return step
  }
  await bulkStage(db, id, { from: ['choosing'], to: 'waiting' })
  return MORE
}

/** Jobs of tenants that have none yet: the oldest of one, the newest of the next. */
async function ofOtherTenants(
  services: BulkWorkServices,
  operation: Operation,
  { canaries, wanted }: { canaries: readonly BulkCanary[]; wanted: number },
): Promise<string[]> {
  const { db } = services
  const left = new TimeLeft(FIND_MS)
  const named = operation.query === null ? await bulkNext(db, operation.id, MOST_IDS) : undefined
  if (named?.length === 0) return []
  const conditions = [
    ...concernedBy(operation),
    isOneOf('status', 'dead'),
    ...(named === undefined ? [] : [isOneOf('id', ...named.map(({ jobId }) => jobId))]),
  ]
  const tenants = new Set(canaries.map(({ tenant }) => tenant))
  const chosen: string[] = []
  while (chosen.length < wanted && left.ms > 0) {
    const order = chosen.length % 2 === 0 ? 'oldest' : 'newest'
    const found = await firstOf(services, operation, { conditions: [...conditions, ...notOf(tenants)], order, left })
    if (found === undefined) break
    chosen.push(found.id)
    tenants.add(found.tenant)
  }
  return chosen
}

/** The first that would be redriven, if it is found in time. */
async function firstOf(
  services: BulkWorkServices,
  operation: Operation,
  search: { conditions: Condition[]; order: 'oldest' | 'newest'; left: TimeLeft },
): Promise<{ id: string; tenant: string | null } | undefined> {
  const finder = new JobFinder(services)
  let after: string | null = null
  do {
    const page = await finder.page({ ...search, after }, PAGE, search.left)
    const ids = page.jobs.map(({ id }) => id)
    const [fit] = fitting(await judged(services, operation, ids))
    const first = page.jobs.find((job) => job.id === fit)
    if (first !== undefined) return first
    after = page.next
  } while (after !== null && search.left.ms > 0)
  return undefined
}

/** Jobs of whatever tenant, in the order of the operation. Undefined: there is none left. */
async function anyOther(services: BulkWorkServices, operation: Operation, wanted: number): Promise<Step | undefined> {
  const { db } = services
  const { id } = operation
  const ids = (await bulkNext(db, id, BATCH)).map(({ jobId }) => jobId)
  if (ids.length === 0) {
    if (operation.isFound) return undefined
    await findMore(services, operation, BATCH)
    return MORE
  }
  const verdicts = await judged(services, operation, ids)
  const fit = fitting(verdicts)
  if (fit.length > 0) await bulkCanaryAdd(db, id, fit.slice(0, wanted))
  // So that the next look finds others.
  else await bulkRecord(db, id, verdicts)
  return { dealt: fit.length > 0 ? 0 : verdicts.length, next: 'more' }
}

async function judged(
  { db, clock }: BulkWorkServices,
  { action }: Operation,
  ids: readonly string[],
): Promise<BulkVerdict[]> {
  if (ids.length === 0) return []
  const facts = await bulkFacts(db, clock.databaseNow(), ids)
  return ids.map((jobId) => {
    const job = facts.get(jobId)
    return { jobId, ...(job === undefined ? GONE : judge(action as BulkActionName, { ...job, isSame: false })) }
  })
}

const fitting = (verdicts: readonly BulkVerdict[]): string[] =>
  verdicts.filter(({ outcome }) => outcome === 'changed').map(({ jobId }) => jobId)

function notOf(tenants: ReadonlySet<string | null>): Condition[] {
  const named = [...tenants].filter((tenant) => tenant !== null)
  const some: Condition = { field: 'tenant', path: [], isNegated: false, matches: [{ kind: 'any' }] }
  return [...without('tenant', named), ...(tenants.has(null) ? [some] : [])]
}

async function waiting(services: BulkWorkServices, { id }: Operation, canaries: readonly BulkCanary[]): Promise<Step> {
  const runs = redriven(canaries)
  if (runs.some(isLive)) return WAIT
  if (runs.length === 0 && canaries.length > 0)
    return stop(services, id, `None of the ${canaries.length} jobs chosen as canaries could be redriven.`)
  if (runs.length > 0 && runs.every(({ status }) => status === 'cancelled'))
    return stop(services, id, 'No canary completed: all of them were cancelled.')
  await bulkStage(services.db, id, { from: ['waiting'], to: 'passed' })
  return MORE
}

async function stop({ db, clock }: BulkWorkServices, id: string, error: string): Promise<Step> {
  await bulkEnd(db, clock.databaseNow(), id, { status: 'stopped', error })
  return MORE
}

const redriven = (canaries: readonly BulkCanary[]) => canaries.filter(({ newJobId }) => newJobId !== null)

/** A job that is gone has ended well: the death of one leaves a letter. */
const isLive = ({ status }: BulkCanary): boolean =>
  status !== null && status !== 'completed' && status !== 'cancelled' && status !== 'dead'

function deathText({ newJobId, tenant, error }: BulkCanary): string {
  const whose = tenant === null ? '' : ` of tenant ${tenant}`
  return `Canary job ${newJobId}${whose} died: ${error ?? 'its contract says that no letter is kept'}`
}
