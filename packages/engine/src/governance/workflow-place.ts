// Of which workflow a job is part. That holds no job, but says what its end is awaited for, and why it may be cancelled.
import type { Session } from '../store/db.ts'
import { explainWorkflow, type JobPlace } from '../store/explain.ts'

export interface JobWorkflow extends Pick<JobPlace, 'id' | 'name' | 'step'> {
  /** A sentence for a person: what this job does in it, and how the workflow stands. */
  readonly sentence: string
}

/** Null: it is of none, or the workflow was resumed with another job in its place, or is forgotten. */
export async function workflowOf(db: Session, jobId: string): Promise<JobWorkflow | null> {
  const place = await explainWorkflow(db, jobId)
  if (place === undefined) return null
  const { id, name, step, kind, status, reason, held } = place
  const does = kind === 'do' ? 'It is a job of' : 'It undoes'
  const why = reason === null ? '' : ` (${reason})`
  const wait = held === null ? '' : ` It could not be carried on when last tried: ${held}`
  return {
    id,
    name,
    step,
    sentence: `${does} step "${step}" of workflow ${id}, "${name}", which is ${status}${why}.${wait}`,
  }
}
