// The life of a job: what it did when, to look at and to read.
import { useNow } from '../../ui/text/clock.ts'
import { formatDuration } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { reasonOf } from '../failures/groups.ts'
import type { JobDetails } from './actions.tsx'
import { Prose } from './prose.tsx'
import { type Span, spansOf } from './spans.ts'

const WORDS: Readonly<Record<Span['kind'], string>> = {
  wait: 'waits',
  failed: 'ran and failed',
  off: 'backs off',
  running: 'runs',
  done: 'ran well',
  later: 'not due yet',
  expected: 'expected to wait',
}

export function Life({ job, expectedAt }: { job: JobDetails; expectedAt: string | null }) {
  const now = useNow()
  const spans = spansOf(job, expectedAt, now)
  const kinds = [...new Set(spans.map(({ kind }) => kind))]
  const total = spans.reduce((sum, span) => sum + weightOf(span), 0)
  return (
    <section className="panel" aria-labelledby="life">
      <div className="ph">
        <h2 id="life">Its life so far</h2>
        <p className="legend">
          {kinds.map((kind) => (
            <span key={kind}>
              <i className={`k-${kind}`} />
              {WORDS[kind]}
            </span>
          ))}
        </p>
      </div>
      <div
        className="life"
        role="img"
        aria-label={spans.map(({ kind, ms }) => `${WORDS[kind]} ${formatDuration(ms)}`).join(', ')}
      >
        {spans.map((span) => (
          <span
            key={`${span.kind} ${span.from}`}
            className={`k-${span.kind}`}
            style={{ flexGrow: Math.round((weightOf(span) / total) * 1_000) }}
            title={`${WORDS[span.kind]} ${formatDuration(span.ms)}`}
          >
            {weightOf(span) / total > 0.09 && <b>{formatDuration(span.ms)}</b>}
          </span>
        ))}
      </div>
      <p className="note">Long stretches are squeezed, so that short ones can be seen.</p>
      <Events job={job} expectedAt={expectedAt} />
    </section>
  )
}

/** By the square root: an attempt of a second must be seen beside an hour of waiting. */
const weightOf = ({ ms }: Span): number => Math.sqrt(Math.max(ms, 1))

interface Told {
  readonly at: string
  readonly what: string
  readonly more: string
}

function Events({ job, expectedAt }: { job: JobDetails; expectedAt: string | null }) {
  return (
    <ol className="events">
      {eventsOf(job, expectedAt).map(({ at, what, more }) => (
        <li key={`${at} ${what}`}>
          <RelativeTime at={at} as="moment" />
          <b>{what}</b>
          <span>
            <Prose text={more} />
          </span>
        </li>
      ))}
    </ol>
  )
}

function eventsOf(job: JobDetails, expectedAt: string | null): Told[] {
  const took = (from: string | null, to: string | null) =>
    from === null || to === null ? '' : `after ${formatDuration(Date.parse(to) - Date.parse(from))}`
  const by = [job.createdBy && `by ${job.createdBy}`, job.parentJobId && `by job ${job.parentJobId}`].filter(Boolean)
  const told: Told[] = [{ at: job.createdAt, what: 'Enqueued', more: by.join(', ') }]
  for (const { attempt, startedAt, finishedAt, errorMessage } of job.attempts)
    told.push({
      at: finishedAt,
      what: `Attempt ${attempt} failed`,
      more: `${took(startedAt, finishedAt)}: ${errorMessage.split('\n')[0]?.slice(0, 120)}`,
    })
  if (job.status === 'processing' && job.startedAt !== null)
    told.push({ at: job.startedAt, what: `Attempt ${job.attempt} started`, more: job.progress?.note ?? '' })
  if (job.finishedAt !== null)
    told.push({
      at: job.finishedAt,
      what: job.status === 'completed' ? 'Completed' : job.status === 'dead' ? 'Died' : 'Cancelled',
      more:
        job.status === 'completed'
          ? took(job.startedAt, job.finishedAt)
          : job.reason === null
            ? ''
            : reasonOf(job.reason),
    })
  else if (job.status !== 'processing')
    told.push({ at: job.runAt, what: Date.parse(job.runAt) > Date.now() ? 'Due then' : 'Due since', more: '' })
  if (expectedAt !== null)
    told.push({ at: expectedAt, what: `Attempt ${job.attempt + 1} expected`, more: `of at most ${job.maxAttempts}` })
  return told
}
