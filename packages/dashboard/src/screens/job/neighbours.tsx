// What belongs together with the job: its parent, its children, its workflow, and all with its correlation id.

import { ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Card } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Link } from '../../ui/link.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Duration } from '../../ui/text/figures.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { quoted } from '../jobs/query-text.ts'
import type { JobDetails } from './actions.tsx'

const MOST = 12

export function Neighbours({ job }: { job: JobDetails }) {
  const { data } = useLive(
    { ...ask('jobs', 'correlation', { correlationId: job.correlationId, limit: 100 }), retry: false },
    { every: 15_000 },
  )
  const jobs = data?.jobs ?? []
  const at = jobs.findIndex(({ id }) => id === job.id)
  const first = Math.max(0, Math.min(at - 5, jobs.length - MOST))
  const traceId = job.traceParent?.split('-')[1]
  return (
    <Card title="What belongs to it">
      <dl className="kv">
        {job.parentJobId !== null && (
          <>
            <dt>enqueued by</dt>
            <dd>
              <Link to={`/jobs/${job.parentJobId}`}>job {job.parentJobId}</Link>
            </dd>
          </>
        )}
        {job.workflowId !== null && (
          <>
            <dt>workflow</dt>
            <dd>
              <Link to={`/workflows/${job.workflowId}`}>{job.workflowId}</Link>
            </dd>
          </>
        )}
        <dt>correlation</dt>
        <dd className="mono">
          {job.correlationId} <CopyButton text={job.correlationId} label="Copy the correlation id" iconOnly />
        </dd>
        {traceId && (
          <>
            <dt>trace</dt>
            <dd className="mono">
              {traceId} <CopyButton text={traceId} label="Copy the trace id" iconOnly />
            </dd>
          </>
        )}
      </dl>
      {jobs.length > 1 && (
        <table className="near">
          <caption>Jobs of this correlation id, in the order of their ids</caption>
          <tbody>
            {jobs.slice(first, first + MOST).map((each) => (
              <tr key={each.id} className={each.id === job.id ? 'sel' : ''}>
                <th scope="row">
                  {each.id === job.id ? (
                    <span className="mono">{each.id}</span>
                  ) : (
                    <Link to={`/jobs/${each.id}`} className="mono">
                      {each.id}
                    </Link>
                  )}
                </th>
                <td className="mono">{each.type}</td>
                <td>
                  <StatusBadge status={each.status} />
                </td>
                <td className="r">
                  {each.startedAt && each.finishedAt ? (
                    <Duration ms={Date.parse(each.finishedAt) - Date.parse(each.startedAt)} />
                  ) : (
                    <RelativeTime at={each.createdAt} />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {jobs.length > MOST && (
        <p className="note">
          <Link to={`/jobs?q=${encodeURIComponent(`correlation:${quoted(job.correlationId)}`)}`}>All of them</Link>
        </p>
      )}
    </Card>
  )
}
