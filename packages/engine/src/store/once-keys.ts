// Keys under which something is done once: who does it, and what came of it. The steps of a job are such keys too.
import type { Now } from '../clock.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import { ARCHIVE_DAYS } from './partitions.ts'

/** What the scope of a step begins with; its job's id follows. The statements spell it out. */
export const STEP_SCOPE = '$step:'
export const stepScope = (jobId: string): string => `${STEP_SCOPE}${jobId}`

/** A key, and the run that wants it. */
export interface OnceClaim {
  /** '' for jobs that have none. */
  tenant: string
  scope: string
  key: string
  jobId: string
  runId: string
  /** It belongs to the job, and is kept as long as that is; `retentionMs` says when to look. */
  isStep: boolean
  retentionMs: number
}

export interface OnceHolder {
  state: 'running' | 'done'
  /** JSON text; null: there is no result. */
  result: string | null
  jobId: string
  runId: string
  isExpired: boolean
  /** Whether its run is still the latest of its job. */
  isLive: boolean
}

export interface OnceLook {
  isOwnLive: boolean
  holder: OnceHolder | undefined
}

/** False: somebody has it, or had it. `lockTimeoutMs` would outlive the statement in a transaction of the caller's. */
export async function onceClaim(
  session: Session,
  now: Now,
  claim: OnceClaim,
  lockTimeoutMs: number | null,
): Promise<boolean> {
  return (await session.run('onceClaim', [...valuesOf(now, claim), claim.retentionMs, lockTimeoutMs])).length > 0
}

export async function onceLook(session: Session, now: Now, claim: OnceClaim): Promise<OnceLook> {
  type Row = { isOwnLive: boolean } & { [Field in keyof OnceHolder]: OnceHolder[Field] | null }
  const [row] = await session.run<Row>('onceLook', valuesOf(now, claim))
  const { isOwnLive, ...holder } = row as Row
  return { isOwnLive, holder: holder.state === null ? undefined : (holder as OnceHolder) }
}

/** False: somebody else was faster. */
export async function onceTakeOver(session: Session, now: Now, claim: OnceClaim, from: OnceHolder): Promise<boolean> {
  const values = [...valuesOf(now, claim), claim.retentionMs, from.state, from.jobId, from.runId]
  return (await session.run('onceTakeOver', values)).length > 0
}

/** False: the key was taken over meanwhile. */
export async function onceFinish(
  session: Session,
  now: Now,
  claim: OnceClaim,
  result: string | null,
): Promise<boolean> {
  return (await session.run('onceFinish', [...valuesOf(now, claim), claim.retentionMs, result])).length > 0
}

export async function onceRelease(session: Session, claim: OnceClaim): Promise<void> {
  await session.run('onceRelease', valuesOf(null, claim).slice(1))
}

export async function oncePrune(session: Session, now: Now, limit: number): Promise<number> {
  return (await session.run('oncePrune', [now, limit])).length
}

export interface JobStep {
  name: string
  startedAt: Date
  /** Null: it is under way, or the process died in it. */
  finishedAt: Date | null
}

/** In the order in which they began. */
export function stepList(session: Session, jobId: string): Promise<JobStep[]> {
  return session.run('stepList', [jobId])
}

/** Gives the job that takes the place of a dead one the steps that this had finished. */
export async function stepInherit(
  session: Session,
  now: Now,
  heirs: readonly { deadJobId: string; jobId: string }[],
): Promise<void> {
  if (heirs.length === 0) return
  const [dead, jobs] = [heirs.map(({ deadJobId }) => deadJobId), heirs.map(({ jobId }) => jobId)]
  await session.run('stepInherit', [now, plainArray(dead), plainArray(jobs)])
}

/** Puts off the end of steps whose job is still known. Returns how many. */
export async function stepKeep(session: Session, now: Now, limit: number): Promise<number> {
  const retentions = ARCHIVE_DAYS.map(({ retention }) => retention)
  const days = ARCHIVE_DAYS.map(({ keepDays }) => keepDays)
  return (await session.run('stepKeep', [now, limit, textArray(retentions), plainArray(days)])).length
}

const valuesOf = (now: Now, { tenant, scope, key, jobId, runId }: OnceClaim): unknown[] => [
  now,
  tenant,
  scope,
  key,
  jobId,
  runId,
]
