// How far running jobs say they are.
import type { Now } from '../clock.ts'
import type { Progress } from '../contract/progress.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'

export interface JobProgress extends Progress {
  /** When it was stored. */
  at: Date
}

/** As a statement returns it beside a job. */
export type StoredProgress = (Progress & { at: string }) | null

export const progressOf = (stored: StoredProgress): JobProgress | null =>
  stored && { ...stored, at: new Date(stored.at) }

interface RunKey {
  id: string
  runId: string
}

/** Returns the ids of the jobs whose fence held. */
export async function progressWrite(
  session: Session,
  now: Now,
  reports: readonly (RunKey & Progress)[],
): Promise<Set<string>> {
  const rows = await session.run<{ jobId: string }>('progressWrite', [
    now,
    plainArray(reports.map(({ id }) => id)),
    plainArray(reports.map(({ runId }) => runId)),
    plainArray(reports.map(({ done }) => done)),
    plainArray(reports.map(({ total }) => total)),
    textArray(reports.map(({ note }) => note)),
  ])
  return new Set(rows.map(({ jobId }) => jobId))
}

export async function progressForget(session: Session, runs: readonly RunKey[]): Promise<void> {
  const keys = [plainArray(runs.map(({ id }) => id)), plainArray(runs.map(({ runId }) => runId))]
  await session.run('progressForget', keys)
}

export async function progressPrune(session: Session, limit: number): Promise<void> {
  await session.run('progressPrune', [limit])
}
