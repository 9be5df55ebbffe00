// Dead letters as documents of the kind `Background Job DLQ`: the fields of the platform's view, under the names of the doctype.
import type { Queryable } from 'millrace'
import { query } from '../query.ts'

export const STATUSES = ['Pending', 'Retried', 'Resolved', 'Ignored'] as const
export type LetterStatus = (typeof STATUSES)[number]

export interface DlqDocument {
  readonly name: string
  readonly job_id: string
  readonly job_method: string
  readonly organization: string | null
  readonly queue: string
  readonly failure_reason: string
  readonly job_data: unknown
  readonly failed_at: Date
  readonly retry_count: number
  readonly status: LetterStatus
  readonly resolution_notes: string | null
}

export interface DlqFilter {
  readonly name?: string | undefined
  readonly status?: LetterStatus | undefined
  /** Only of these organizations; undefined: of all. */
  readonly organizations?: readonly string[] | undefined
}

const MOST = 200

/** Newest first. */
export function documentList(db: Queryable, { name, status, organizations }: DlqFilter): Promise<DlqDocument[]> {
  return query(
    db,
    `select name, job_id::text, job_method, organization, queue, failure_reason, job_data, failed_at, retry_count, status, resolution_notes
     from millrace.background_job_dlq
     where ($1::text is null or name = $1)
       and ($2::text is null or status = $2)
       and ($3::text[] is null or organization = any($3))
     order by failed_at desc, name desc
     limit $4`,
    [name ?? null, status ?? null, organizations ?? null, MOST],
  )
}
