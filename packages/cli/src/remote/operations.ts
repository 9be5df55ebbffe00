// The calls of the client that an admin API can answer, too.
import type { CatalogueEntry, Duration, JobResult, Millrace } from 'millrace'

export interface Operations
  extends Pick<Millrace, 'job' | 'attempts' | 'steps' | 'explain' | 'enqueueByType' | 'queues' | 'stats'> {
  result(id: string, options: { timeout: Duration }): Promise<JobResult>
  readonly search: Pick<Millrace['search'], 'jobs' | 'count'>
  readonly catalogue: { list(kind: 'queue'): Promise<CatalogueEntry<'queue'>[]> }
  readonly pauses: Pick<Millrace['pauses'], 'list' | 'pause' | 'resume'>
  readonly workers: Pick<Millrace['workers'], 'list' | 'quiet' | 'resume' | 'stop'>
  readonly workflows: Pick<Millrace['workflows'], 'get'>
  readonly reports: Pick<Millrace['reports'], 'runs' | 'series' | 'deadLetters'>
  readonly bulk: Pick<Millrace['bulk'], 'preview' | 'start' | 'get'>
  readonly deadLetters: Pick<
    Millrace['deadLetters'],
    'list' | 'get' | 'groups' | 'counts' | 'redrive' | 'acknowledge' | 'resolve' | 'ignore' | 'note' | 'prune'
  > & {
    ofJob(id: string): Promise<{ readonly id: string; readonly status: string } | undefined>
  }
}
