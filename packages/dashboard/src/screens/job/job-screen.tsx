// One job: how it stands, why it does not run, what happened to it, and what can be done.
import { AdminError } from '@millrace/admin/contract'
import { getRouteApi } from '@tanstack/react-router'
import { useKeyHints } from '../../app/key-hints.ts'
import { useTitle } from '../../app/title.ts'
import { useMay } from '../../data/session.tsx'
import { Card } from '../../ui/card.tsx'
import { Meter } from '../../ui/chart/meter.tsx'
import { JsonBlock } from '../../ui/code-block.tsx'
import type { KeyHint } from '../../ui/key-hints.tsx'
import { Link } from '../../ui/link.tsx'
import { QueueName, TenantName, TypeName } from '../../ui/names.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { Em, Verdict } from '../../ui/verdict.tsx'
import { JobActions, type JobDetails, reasonsAgainst } from './actions.tsx'
import { Attempts } from './attempts.tsx'
import { Equivalents } from './equivalents.tsx'
import type { Explanation } from './estimate.ts'
import './job.css'
import { Life } from './life.tsx'
import { Logs } from './logs.tsx'
import { Neighbours } from './neighbours.tsx'
import { useJob } from './use-job.ts'
import { verdictOf } from './verdict-of.ts'
import { SummaryPanel, WhyPanel } from './why-panel.tsx'

const route = getRouteApi('/jobs/$id')

const HINTS: readonly KeyHint[] = [
  { keys: 'r', does: 'try again' },
  { keys: 'e', does: 'edit and retry' },
  { keys: 'p', does: 'prioritise' },
  { keys: 'c', does: 'cancel' },
]
const NONE: readonly KeyHint[] = []

export function JobScreen() {
  const { id } = route.useParams()
  const may = useMay()
  useTitle(`Job ${id}`)
  useKeyHints(may('jobs.retry') ? HINTS : NONE)
  const { job, why } = useJob(id)
  if (job.data) return <Shown key={id} job={job.data} why={why.data} />
  if (job.error === null)
    return (
      <div aria-busy="true">
        <SkeletonRows rows={10} />
      </div>
    )
  const isGone = job.error instanceof AdminError && job.error.status === 404
  return (
    <>
      <Verdict>{isGone ? `There is no job ${id}.` : 'The job cannot be shown.'}</Verdict>
      {isGone ? (
        <EmptyState title="It is not here." action={<Link to="/jobs">All jobs</Link>}>
          <p>{job.error.message}</p>
        </EmptyState>
      ) : (
        <ErrorState what="The job could not be read." error={job.error} onRetry={job.refetch} />
      )}
    </>
  )
}

function Shown({ job, why }: { job: JobDetails; why: Explanation | undefined }) {
  const { before, stress, tone, after } = verdictOf(job, why)
  const against = reasonsAgainst(job)
  const isWaiting = job.finishedAt === null && job.status !== 'processing'
  return (
    <>
      <nav className="crumbs" aria-label="Breadcrumb">
        <ol>
          <li>
            <Link to="/jobs">Jobs</Link>
          </li>
          <li>
            <Link to={`/jobs?q=${encodeURIComponent(`type:${job.type}`)}`}>{job.type}</Link>
          </li>
          <li aria-current="page" className="mono">
            {job.id}
          </li>
        </ol>
      </nav>
      <Verdict
        facts={[
          <QueueName key="queue" name={job.queue} />,
          <TypeName key="type" name={job.type} />,
          `priority ${job.priority}`,
          job.tenant !== null && <TenantName key="tenant" name={job.tenant} />,
          attemptOf(job),
          <>
            created <RelativeTime at={job.createdAt} />
          </>,
        ]}
      >
        {before}
        <Em tone={tone}>{stress}</Em>
        {after}
      </Verdict>
      <div className="bar">
        <JobActions job={job} hasKeys />
        {isWaiting && against.retry !== null && <p className="note">{against.retry}</p>}
      </div>
      {isWaiting && why !== undefined && <WhyPanel job={job} why={why} />}
      {isWaiting && why === undefined && (
        <div className="panel" aria-busy="true">
          <SkeletonRows rows={6} />
        </div>
      )}
      {job.status === 'processing' && why !== undefined && <SummaryPanel text={why.summary} />}
      {job.progress !== null && job.progress.total !== null && job.status === 'processing' && (
        <Card title="Progress" note={job.progress.note ?? undefined}>
          <Meter
            share={job.progress.done / Math.max(1, job.progress.total)}
            label={`${job.progress.done} of ${job.progress.total}`}
          />
        </Card>
      )}
      <Life job={job} expectedAt={isWaiting ? (why?.expectedAt ?? null) : null} />
      <div className="grid2">
        <div>
          <Attempts job={job} />
          <Logs logs={job.logs} title="Logs of the run that ended it" since={job.startedAt} />
          <Steps job={job} />
          <Neighbours job={job} />
          {job.attempts.length === 0 && <Equivalents job={job} />}
        </div>
        <div>
          <Payload job={job} />
          {job.attempts.length > 0 && <Equivalents job={job} />}
        </div>
      </div>
    </>
  )
}

function attemptOf({ status, attempt, maxAttempts }: JobDetails): string {
  const isWaiting = status === 'pending' || status === 'failed' || status === 'blocked'
  return isWaiting ? `attempt ${attempt + 1} of ${maxAttempts} comes next` : `attempt ${attempt} of ${maxAttempts}`
}

function Payload({ job }: { job: JobDetails }) {
  if (job.payload === undefined)
    return (
      <Card title="Payload">
        <p className="note">Payloads and results are shown to operators and admins.</p>
      </Card>
    )
  return (
    <>
      <Card
        title="Payload"
        aside={<span className="note">version {job.payloadVersion}; sensitive values are never shown</span>}
      >
        <JsonBlock label="Payload as JSON" value={job.payload} height={380} />
      </Card>
      {job.result !== null && job.result !== undefined && (
        <Card title="Result">
          <JsonBlock label="Result as JSON" value={job.result} height={280} />
        </Card>
      )}
    </>
  )
}

function Steps({ job: { steps } }: { job: JobDetails }) {
  if (steps.length === 0) return null
  return (
    <Card title="Durable steps" note="Their results are kept: a later attempt does not do them again.">
      <ul className="kv-list">
        {steps.map(({ name, startedAt, finishedAt }) => (
          <li key={name}>
            <b>{name}</b> began <RelativeTime at={startedAt} as="clock" />
            {finishedAt === null ? ', not finished' : ', done '}
            {finishedAt !== null && <RelativeTime at={finishedAt} as="clock" />}
          </li>
        ))}
      </ul>
    </Card>
  )
}
