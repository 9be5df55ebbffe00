// What was counted of jobs, under our names and under those of the systems whose queries must run as they are written.
import type { RunOutcome } from 'millrace'
import { counter, histogram, type Values } from './families.ts'
import type { Family, Labels, Sample } from './family.ts'
import type { JobCounts, TypeCounts } from './job-counts.ts'

/** Of a run, as Village writes it. A run that was put off says nothing about how long the work takes. */
const STATUS: Partial<Record<RunOutcome, string>> = {
  completed: 'success',
  failed: 'failure',
  dead: 'failure',
  cancelled: 'cancelled',
}

/** `title`: the name of a queue for people. */
export function jobFamilies(counts: JobCounts, title: (queue: string) => string): Family[] {
  const types = counts.types.map((each) => ({ ...each, queue: title(each.queue) }))
  return [...ours(types), ...villages(types), ...dartwings(types)]
}

function ours(types: readonly TypeCounts[]): Family[] {
  const each = (read: (counts: TypeCounts) => number): Values => types.map((counts) => [of(counts), read(counts)])
  return [
    counter(
      'millrace_jobs_enqueued_total',
      'Jobs written by this process.',
      each(({ enqueued }) => enqueued),
    ),
    counter(
      'millrace_jobs_finished_total',
      'Runs that ended, by outcome; failed, snoozed and crashed ones come again. Also waiting jobs that were cancelled.',
      types.flatMap((counts) => {
        const outcomes = new Map<string, number>([['completed', 0], ['dead', 0], ['failed', 0], ...counts.outcomes])
        return [...outcomes].map(([outcome, value]) => [{ ...of(counts), outcome }, value] as const)
      }),
    ),
    counter(
      'millrace_job_retries_total',
      'Failed attempts that are tried again.',
      each(({ retries }) => retries),
    ),
    counter(
      'millrace_jobs_rescued_total',
      'Runs taken from dead workers, or fenced off because they were stuck.',
      types.flatMap((counts) =>
        [...counts.rescued].map(([outcome, value]) => [{ ...of(counts), outcome }, value] as const),
      ),
    ),
    histogram(
      'millrace_job_duration_seconds',
      'From the start of a handler to its end.',
      types.flatMap((counts) =>
        [...counts.durations].flatMap(([outcome, seconds]) => seconds.samples({ ...of(counts), outcome })),
      ),
    ),
    histogram(
      'millrace_job_wait_seconds',
      'From the time at which a job was due to the claim of its first attempt.',
      types.flatMap((counts) => counts.waits.samples(of(counts))),
    ),
    histogram(
      'millrace_job_end_to_end_seconds',
      'From the time at which a job was due to the end of its first attempt.',
      types.flatMap((counts) => counts.endToEnd.samples(of(counts))),
    ),
  ]
}

function villages(types: readonly TypeCounts[]): Family[] {
  const labels = ({ queue, type }: TypeCounts): Labels => ({ job_type: type, queue })
  return [
    histogram(
      'job_execution_duration_seconds',
      'Execution time of jobs by status: success, failure or cancelled.',
      durations(types, (counts, outcome) => {
        const status = STATUS[outcome]
        return status === undefined ? undefined : { ...labels(counts), status }
      }),
    ),
    counter(
      'job_retry_total',
      'Failed attempts that are tried again.',
      types.map((counts) => [labels(counts), counts.retries]),
    ),
  ]
}

function dartwings(types: readonly TypeCounts[]): Family[] {
  const labels = ({ queue, type }: TypeCounts): Labels => ({ queue, method: type })
  return [
    counter(
      'jobs_enqueued_total',
      'Jobs enqueued, by organisation.',
      types.flatMap((counts) =>
        [...counts.tenants].map(([org, { enqueued }]) => [{ ...labels(counts), org }, enqueued] as const),
      ),
    ),
    counter(
      'jobs_completed_total',
      'Jobs that ended, by organisation and status: success, failure when dead, or cancelled.',
      types.flatMap((counts) =>
        [...counts.tenants].flatMap(([org, { completed, dead, cancelled }]) =>
          Object.entries({ success: completed, failure: dead, cancelled }).map(
            ([status, value]) => [{ ...labels(counts), org, status }, value] as const,
          ),
        ),
      ),
    ),
    histogram(
      'jobs_duration_seconds',
      'Execution time of jobs.',
      durations(types, (counts, outcome) => (outcome === 'cancelled' ? undefined : labels(counts))),
    ),
  ]
}

/** Histograms with the same labels come out as one. */
function durations(
  types: readonly TypeCounts[],
  labelsOf: (counts: TypeCounts, outcome: RunOutcome) => Labels | undefined,
): Sample[] {
  return types.flatMap((counts) =>
    [...counts.durations].flatMap(([outcome, seconds]) => {
      const labels = labelsOf(counts, outcome)
      return labels === undefined ? [] : seconds.samples(labels)
    }),
  )
}

const of = ({ queue, type }: TypeCounts): Labels => ({ queue, type })
