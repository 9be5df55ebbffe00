// A job beside the list: enough to decide whether to look closer.

import { useQuery } from '@tanstack/react-query'
import { ask, queryClient } from '../../data/queries.ts'
import { useTopic } from '../../data/use-live.ts'
import { Button } from '../../ui/button.tsx'
import { JsonBlock } from '../../ui/code-block.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Link } from '../../ui/link.tsx'
import { QueueName, TenantName, TypeName } from '../../ui/names.tsx'
import { ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { formatDuration } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { reasonOf } from '../failures/groups.ts'
import { JobActions, type JobDetails } from '../job/actions.tsx'

function endOf({ status, reason, startedAt, finishedAt }: JobDetails): string {
  const ms = startedAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt)
  const took = ms === null ? '' : ` Its last run took ${formatDuration(ms)}.`
  if (status === 'completed') return `It is completed.${took}`
  const word = status === 'dead' ? 'is dead' : 'was cancelled'
  return `It ${word}${reason === null ? '' : `: ${reasonOf(reason)}`}.${took}`
}

export function Peek({ id, onClose }: { id: string; onClose: () => void }) {
  const job = useQuery({ ...ask('jobs', 'get', { id }), retry: false })
  const why = useQuery({ ...ask('jobs', 'explain', { id }), retry: false })
  useTopic(`job:${id}`, () => {
    void queryClient.invalidateQueries({ queryKey: ['jobs', 'get', { id }] })
  })
  return (
    <aside className="peek" aria-label={`Job ${id}`}>
      <div className="head">
        <h2>
          Job <span className="mono">{id}</span>
        </h2>
        <Link to={`/jobs/${id}`} className="btn sm">
          Open <kbd>Enter</kbd>
        </Link>
        <Button variant="quiet" size="sm" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </Button>
      </div>
      {job.error && <ErrorState what="The job could not be read." error={job.error} onRetry={job.refetch} />}
      {job.isPending && <SkeletonRows />}
      {job.data && (
        <>
          <p className="lead">{job.data.finishedAt === null ? why.data?.summary : endOf(job.data)}</p>
          <JobActions job={job.data} />
          <dl className="kv">
            <dt>State</dt>
            <dd>
              <StatusBadge status={job.data.status} />
            </dd>
            <dt>Type</dt>
            <dd>
              <TypeName name={job.data.type} />
            </dd>
            <dt>Queue</dt>
            <dd>
              <QueueName name={job.data.queue} />
            </dd>
            <dt>Tenant</dt>
            <dd>
              <TenantName name={job.data.tenant} />
            </dd>
            <dt>Attempt</dt>
            <dd>
              {job.data.attempt} of {job.data.maxAttempts}
            </dd>
            <dt>Created</dt>
            <dd>
              <RelativeTime at={job.data.createdAt} />
            </dd>
            {why.data?.expectedAt && (
              <>
                <dt>Expected</dt>
                <dd>
                  <RelativeTime at={why.data.expectedAt} />
                </dd>
              </>
            )}
          </dl>
          {job.data.lastError !== null && <pre className="error-text">{job.data.lastError}</pre>}
          {job.data.payload !== undefined && (
            <JsonBlock label="Payload as JSON" caption="payload" value={job.data.payload} height={260} />
          )}
        </>
      )}
    </aside>
  )
}
