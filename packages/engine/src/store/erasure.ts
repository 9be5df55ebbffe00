// Erasing what jobs carried: finding the rows page by page, and emptying them.
import { plainArray } from './arrays.ts'
import type { Session } from './db.ts'
import { workflowErase } from './workflows.ts'

export type ErasePlace = 'live' | 'archive' | 'deadLetters' | 'workflows'

export interface EraseFilter {
  tenant: string | null
  type: string | null
  /** JSON text that the payload must contain. */
  where: string | null
  ids: readonly string[] | null
  createdBy: string | null
}

export interface ErasePage {
  /** The id of the last row that was looked at; undefined at the end. */
  last: string | undefined
  scanned: number
  /** Of workflows `jobId` is their own id. */
  matches: { jobId: string; status: string }[]
}

const finds = {
  live: 'jobFind',
  archive: 'jobArchiveFind',
  deadLetters: 'deadLetterFind',
  workflows: 'workflowFindSubject',
} as const

export async function erasePage(
  session: Session,
  place: ErasePlace,
  filter: EraseFilter,
  { after, limit }: { after: string; limit: number },
): Promise<ErasePage> {
  const { tenant, type, where, ids, createdBy } = filter
  const rows = await session.run<{ id: string; jobId: string; status: string; isMatch: boolean | null }>(finds[place], [
    after,
    limit,
    tenant,
    type,
    where,
    ids && plainArray(ids),
    createdBy,
  ])
  return {
    last: rows.length < limit ? undefined : rows.at(-1)?.id,
    scanned: rows.length,
    matches: rows.filter(({ isMatch }) => isMatch === true),
  }
}

export interface ErasedRows {
  jobs: number
  deadLetters: number
  attempts: number
}

/** Empties the archived rows, letters and failed attempts of these jobs, and forgets what they did once and held, and people's words in their history. */
export async function eraseJobs(session: Session, jobIds: readonly string[]): Promise<ErasedRows> {
  const ids = [plainArray(jobIds)]
  await session.run('onceErase', ids)
  await session.run('dedupWindowErase', ids)
  await session.run('jobEventErase', ids)
  await workflowErase(session, { jobIds })
  return {
    jobs: (await session.run('jobArchiveErase', ids)).length,
    deadLetters: (await session.run('deadLetterErase', ids)).length,
    attempts: (await session.run('jobAttemptErase', ids)).length,
  }
}
