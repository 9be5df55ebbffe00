// "Why is this job not running?" Every mechanism answers for itself; here they are asked, and the answers put in order.
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { JobNotFound } from '../errors.ts'
import { explainBreakers } from '../governance/breaker-reason.ts'
import { explainBudget } from '../governance/budget-explainer.ts'
import { explainKeyedWork } from '../governance/keyed-work.ts'
import { explainLimits } from '../governance/limit-reason.ts'
import { explainOverload } from '../governance/overload-reason.ts'
import { explainPauses, explainTenant } from '../governance/pause-reason.ts'
import { explainPayloadVersion } from '../governance/payload-version.ts'
import { explainProcesses, unknownOfClaimed, unknownOfWaiting } from '../governance/process-reasons.ts'
import type { Explainer, Look, Mechanism, Reason } from '../governance/reason.ts'
import { explainRunning } from '../governance/run-reason.ts'
import { explainDue, explainWorker } from '../governance/waiting-reasons.ts'
import { type JobWorkflow, workflowOf } from '../governance/workflow-place.ts'
import type { Database } from '../store/db.ts'
import { type Ahead, explainAhead } from '../store/explain.ts'
import { isJobId } from '../store/job-id.ts'
import { type Job, jobGet } from '../store/jobs.ts'
import { workerList } from '../store/worker-reports.ts'
import { knownContracts } from './catalogue.ts'
import { shownJob } from './protect.ts'

export interface Explanation {
  readonly job: Job
  /** Why it does not run, or that it does, in a sentence or two. */
  readonly summary: string
  /** All that holds it, what nobody can wait out first. */
  readonly reasons: readonly Reason[]
  /** What stands before it in its queue; null: it does not wait. */
  readonly ahead: Ahead | null
  /** When it may be expected to start, judging by what ended in the queue lately; null: nobody can say. */
  readonly expectedAt: Date | null
  /** Of which workflow it is part, and how that one stands; null: of none. */
  readonly workflow: JobWorkflow | null
  /** What nobody can tell from here, in sentences: the state of a worker that does not report, for instance. */
  readonly unknown: readonly string[]
}

export interface ExplainOptions {
  /** The tenants that may be named besides the job's own: for callers who may know of no other. Default: all. */
  tenants?: readonly string[]
}

/** By what holds a job. Each is complete: the compiler refuses a mechanism without an answer. */
const explainers: Readonly<Record<Mechanism, Explainer>> = {
  due: explainDue,
  worker: explainWorker,
  pause: explainPauses,
  tenant: explainTenant,
  limit: explainLimits,
  share: explainLimits,
  rate: explainLimits,
  breaker: explainBreakers,
  budget: explainBudget,
  order: explainKeyedWork,
  key_limit: explainKeyedWork,
  version: explainPayloadVersion,
  overload: explainOverload,
  quiet: explainProcesses,
  memory: explainProcesses,
  suspect: explainProcesses,
  semaphore: explainProcesses,
}

const PACE_MS = 300_000

export class Explainers {
  readonly #services: { db: Database; clock: Clock; registry: Registry }

  constructor(services: { db: Database; clock: Clock; registry: Registry }) {
    this.#services = services
  }

  async explain(id: string, { tenants }: ExplainOptions = {}): Promise<Explanation> {
    const { db, clock, registry } = this.#services
    const found = isJobId(id) ? await jobGet(db, id) : undefined
    if (found === undefined) throw new JobNotFound(id, 'it never existed, or its time in the archive is over.')
    const job = shownJob(registry, found)
    const workflow = await workflowOf(db, id)
    if (job.finishedAt !== null) return { ...settled, job, workflow, summary: endOf(job) }
    if (job.status === 'processing') {
      const { summary, reason } = await explainRunning(db, job)
      if (reason !== undefined) return { ...settled, job, workflow, summary, reasons: [reason] }
      const { isBuffered, unknown } = unknownOfClaimed(job, await workerList(db))
      return { ...settled, job, workflow, unknown, summary: isBuffered ? bufferOf(job) : summary }
    }
    const now = clock.databaseNow()
    const look = { db, now, registry: await knownContracts(this.#services), workers: await workerList(db) }
    const reasons = await reasonsOf(found, look)
    const all = await explainAhead(db, now, id)
    const expectedAt = expectationOf(reasons, all, now ?? new Date())
    const unknown = unknownOfWaiting(job, look, reasons)
    const ahead =
      tenants === undefined ? all : { ...all, others: all.others.filter(([name]) => tenants.includes(name)) }
    const summary = reasons[0]?.sentence ?? turnOf(job, ahead, all.others.length)
    return { job, reasons, ahead, expectedAt, workflow, unknown, summary }
  }
}

async function reasonsOf(job: Job, look: Look): Promise<Reason[]> {
  const answers = await Promise.all([...new Set(Object.values(explainers))].map((ask) => ask(job, look)))
  const reasons = answers.flatMap((answer) => answer ?? [])
  return reasons.sort((a, b) => endingOf(b) - endingOf(a))
}

const settled = { reasons: [], ahead: null, expectedAt: null, unknown: [] }

/** What does not end by itself comes first, then what ends last. */
const endingOf = ({ until }: Reason): number => until?.getTime() ?? Number.POSITIVE_INFINITY

function endOf({ status, finishedAt, reason, lastError }: Job): string {
  const why = reason === null ? '' : ` (${reason})`
  const error = status !== 'dead' || lastError === null ? '' : `. Its last error: ${lastError}`
  return `It ended ${finishedAt?.toISOString()}: ${status}${why}${error}${/[.!?]$/.test(error) ? '' : '.'}`
}

function bufferOf({ workerId, startedAt }: Job): string {
  return `It was claimed ahead at ${startedAt?.toISOString()}, and waits for a slot in the buffer of worker ${workerId}. If none is free within half a second, it goes back to its queue.`
}

/** `count` is of all other tenants; `others` are those that may be named. */
function turnOf(job: Job, { own, others, running }: Ahead, count: number): string {
  const first =
    own === 0
      ? 'It is next'
      : `${own}${own === 10_000 ? ' or more' : ''} due ${own === 1 ? 'job comes' : 'jobs come'} first`
  const whose = job.tenant === null ? '' : ` among the jobs of tenant "${job.tenant}"`
  const names = others.slice(0, 3).map(([tenant]) => `"${tenant}"`)
  const list = names.length === 0 ? '' : `: ${names.join(', ')}${count > names.length ? ' …' : ''}`
  const among =
    count === 0
      ? ''
      : `; ${count === 50 ? '50 or more' : count} other ${count === 1 ? 'tenant has' : 'tenants have'} work waiting${list}`
  return `It waits for a free slot of queue "${job.queue}", where ${running} ${running === 1 ? 'job runs' : 'jobs run'}. ${first}${whose}${among}.`
}

/** Tenants take turns: of the jobs of others as many come first as of our own. */
function expectationOf(reasons: readonly Reason[], { own, others, ended }: Ahead, now: Date): Date | null {
  if (reasons.some(({ until }) => until === null)) return null
  const earliest = Math.max(now.getTime(), ...reasons.map(({ until }) => until?.getTime() ?? 0))
  if (own === 0 && others.length === 0) return new Date(earliest)
  if (ended === 0) return null
  const before = others.reduce((sum, [, jobs]) => sum + Math.min(jobs, own + 1), own)
  return new Date(Math.max(earliest, now.getTime() + (before / ended) * PACE_MS))
}
