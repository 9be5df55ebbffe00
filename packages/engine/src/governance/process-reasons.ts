// Why a job waits that no process may take now, by what the processes say about themselves: one takes no more jobs, is short of
// memory, runs another suspect, or has no permit left of a limit per process. A job is held only if that is so of each of them.
import type { Job } from '../store/jobs.ts'
import type { StoredReport, WorkerRow } from '../store/worker-reports.ts'
import type { Explainer, Look, Mechanism, Reason } from './reason.ts'
import { workerName } from './run-reason.ts'

type Reporting = WorkerRow & { report: StoredReport }

/** The mechanisms that only a process itself knows of. */
type Kind = Extract<Mechanism, 'quiet' | 'memory' | 'suspect' | 'semaphore'>

/** A report that is older than this has missed a heartbeat, or comes from a blocked event loop. */
const OLD_MS = 15_000

export const explainProcesses: Explainer = async (job, { workers }) => {
  const able = workers.filter((worker) => isAble(worker, job))
  const held = able.map((worker) => ({ worker, kind: hindrance(worker, job) }))
  if (able.length === 0 || held.some(({ kind }) => kind === undefined)) return undefined
  return KINDS.flatMap((kind) => {
    const those = held.filter((each) => each.kind === kind).map(({ worker }) => worker as Reporting)
    const [first] = those
    return first === undefined ? [] : WORDS[kind](job, first, subject(those, able.length))
  })
}

/** An older worker may not have said its types. */
const isAble = ({ types, report }: WorkerRow, { type }: Job): boolean =>
  types.includes(type) || (report === null && types.length === 0)

/** Why this worker cannot take the job; undefined: nothing is known that keeps it. */
function hindrance({ report }: WorkerRow, job: Job): Kind | undefined {
  if (report === null) return undefined
  if (report.state !== 'working') return 'quiet'
  if (report.memory.isHigh) return 'memory'
  if (job.crashes > 0 && report.suspectJobId !== null) return 'suspect'
  return fullPermit(report, job) === undefined ? undefined : 'semaphore'
}

const fullPermit = ({ permits }: StoredReport, { type }: Job) =>
  permits.find(({ free, types }) => free === 0 && types.includes(type))

/** Who is hindered, and whether that takes a plural. */
interface Subject {
  readonly who: string
  readonly isOne: boolean
}

function subject(those: readonly WorkerRow[], able: number): Subject {
  const [only] = those
  if (only !== undefined && able === 1)
    return { who: `the only worker that could run it, ${workerName(only.id, only)},`, isOne: true }
  const who =
    those.length === able
      ? `all ${able} workers that could run it`
      : `${those.length} of ${able} workers that could run it`
  return { who, isOne: those.length === 1 }
}

type Words = (job: Job, first: Reporting, subject: Subject) => Reason

const WORDS: Readonly<Record<Kind, Words>> = {
  quiet: (_, { id, request, requestedBy, requestReason }, { who, isOne }) => ({
    mechanism: 'quiet',
    sentence: `${capital(who)} ${isOne ? 'takes' : 'take'} no more jobs${requestedBy === null ? '' : `, as ${requestedBy} asked: ${requestReason}`}.`,
    until: null,
    remedy: request === 'quiet' ? `millrace workers resume ${id}` : 'millrace work MODULE',
  }),
  memory: (_, { report }, { who, isOne }) => ({
    mechanism: 'memory',
    sentence: `${capital(who)} ${isOne ? 'runs' : 'run'} short of memory (${report.memory.percent} % in use) and ${isOne ? 'takes' : 'take'} no jobs until there is room.`,
    until: null,
    remedy: 'Start more workers, or find the handler that keeps memory.',
  }),
  suspect: ({ crashes }, { report }, { who, isOne }) => ({
    mechanism: 'suspect',
    sentence: `${crashes === 1 ? 'A process' : `${crashes} processes`} died while running this job, so a process runs it only while it runs no other such job. Now ${who} ${isOne ? 'runs' : 'run'} another one, job ${report.suspectJobId}.`,
    until: null,
    remedy: null,
  }),
  semaphore: (job, { report }, { who, isOne }) => {
    const { limit, most } = fullPermit(report, job) as StoredReport['permits'][number]
    return {
      mechanism: 'semaphore',
      sentence: `Limit "${limit}" lets ${most} run at once in each process, and ${who} ${isOne ? 'has' : 'have'} no place left.`,
      until: null,
      remedy: 'Start more workers, or raise perProcess of the limit in the code.',
    }
  },
}

const KINDS = Object.keys(WORDS) as Kind[]

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** What cannot be known about a job that waits: sentences for a person. */
export function unknownOfWaiting(job: Job, { workers, registry }: Look, reasons: readonly Reason[]): string[] {
  const able = workers.filter((worker) => isAble(worker, job))
  const sentences = able.flatMap((worker) => {
    const { report, version } = worker
    const name = workerName(worker.id, worker)
    if (report === null)
      return `The ${name} runs version ${version}, which does not report: whether it takes jobs, its memory and its permits are not known.`
    const ageMs = ageOf(worker, report)
    return ageMs > OLD_MS
      ? `The last report of ${name} is ${seconds(ageMs)} old: its event loop may be blocked, and what holds the job there is not known.`
      : []
  })
  if (reasons.some(({ mechanism }) => (KINDS as readonly string[]).includes(mechanism)))
    sentences.push(
      'Workers say with their heartbeat what holds a job in their process: it may have changed since the last one.',
    )
  if (registry.find(job.type) === undefined)
    sentences.push(
      `No program that is known declares type "${job.type}": its limits, services and budget are not known.`,
    )
  return sentences
}

/** The same about a job that its worker has claimed: it may wait in that worker's buffer. */
export function unknownOfClaimed(job: Job, workers: readonly WorkerRow[]): { isBuffered: boolean; unknown: string[] } {
  const worker = workers.find(({ id }) => id === job.workerId)
  const report = worker?.report
  if (worker === undefined || report == null || report.runs.some(({ jobId }) => jobId === job.id))
    return { isBuffered: false, unknown: [] }
  const reportedMs = worker.heartbeatAt.getTime() - report.ageMs
  const isNewer = reportedMs > (job.startedAt?.getTime() ?? 0)
  // Only the longest runs are listed.
  if (!isNewer || report.running > report.runs.length)
    return {
      isBuffered: false,
      unknown: ['Whether its handler has started is not known: it may wait in the buffer of its worker.'],
    }
  return { isBuffered: report.lanes.some(({ buffered }) => buffered > 0), unknown: [] }
}

const ageOf = ({ silentMs }: WorkerRow, { ageMs }: StoredReport): number => silentMs + ageMs

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`
