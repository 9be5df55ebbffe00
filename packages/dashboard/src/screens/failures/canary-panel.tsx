// A redrive under way: its canaries, the decision that follows from them, and the rest.
import { useEffect, useState } from 'react'
import { api } from '../../data/client.ts'
import { ask, refresh } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { JobId, TenantName } from '../../ui/names.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { Badge, StatusBadge } from '../../ui/status-badge.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { Duration } from '../../ui/text/figures.tsx'
import { counted, formatDuration, formatNumber } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { CanaryStages } from './canary-stages.tsx'
import { headlineOf } from './canary-words.ts'
import type { Report } from './operations.ts'

export function CanaryPanel({ id }: { id: string }) {
  const { data, error, refetch } = useLive(ask('bulk', 'get', { id }), { topic: `bulk:${id}`, every: 2_000 })
  if (error && !data) return <ErrorState what="The redrive could not be read." error={error} onRetry={refetch} />
  if (!data) return <Skeleton height={220} />
  return <Panel operation={data} />
}

function Panel({ operation }: { operation: Report }) {
  const { id, createdAt, createdBy, canary, canaries, status, error, waits, changed } = operation
  // Each letter that is redriven waits no more: the sentence on top would say so only seconds later.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the progress, and needs none of it
  useEffect(() => void refresh('deadLetters'), [status, changed])
  return (
    <Card
      className="redrive"
      title={headlineOf(operation)}
      aside={
        <span className="note">
          started <RelativeTime at={createdAt} /> by {createdBy}, operation {id}
        </span>
      }
    >
      <CanaryStages operation={operation} />
      {error && (
        <p className="t-fail stopped" role="alert">
          {error}
        </p>
      )}
      {waits && <p className="note">{waits}</p>}
      {canary && (
        <DataTable
          label="The canaries: letters of different tenants."
          showLabel
          rows={canaries}
          columns={CANARY_COLUMNS}
          keyOf={({ jobId }) => jobId}
          hasKeys={false}
          isPage={false}
          onPhone="rows"
          none={<p className="note">The canaries are being chosen.</p>}
        />
      )}
      {status === 'running' && <Steering operation={operation} />}
      {status !== 'running' && <Refusals operation={operation} />}
    </Card>
  )
}

type Canary = Report['canaries'][number]

const CANARY_COLUMNS: Column<Canary>[] = [
  { key: 'tenant', title: 'tenant', isHead: true, cell: ({ tenant }) => <TenantName name={tenant} /> },
  { key: 'old', title: 'died as', narrow: 'hide', cell: ({ jobId }) => <JobId id={jobId} /> },
  {
    key: 'new',
    title: 'new job',
    cell: ({ newJobId }) => (newJobId ? <JobId id={newJobId} /> : <span className="faint">–</span>),
  },
  {
    key: 'outcome',
    title: 'outcome',
    cell: ({ status, outcome, reason, error }) => (
      <span title={error ?? reason ?? undefined}>
        {status ? (
          <StatusBadge status={status} />
        ) : (
          <Badge tone="off" icon="wait">
            {outcome === 'refused' ? 'refused' : 'chosen'}
          </Badge>
        )}
      </span>
    ),
  },
  {
    key: 'took',
    title: 'took',
    align: 'right',
    cell: ({ startedAt, finishedAt }) =>
      startedAt && finishedAt ? (
        <Duration ms={+new Date(finishedAt) - +new Date(startedAt)} />
      ) : startedAt ? (
        <Duration since={startedAt} />
      ) : (
        '–'
      ),
  },
]

/** Not to wait for the canaries, or to stop. */
function Steering({ operation: { id, canary, rate, expected, changed, already, refused } }: { operation: Report }) {
  const [next, setNext] = useState(rate)
  const rest = Math.max(0, expected - changed - already - refused)
  const isWaiting = canary?.stage === 'choosing' || canary?.stage === 'waiting'
  const act = async (does: Promise<unknown>) => {
    await does
    await refresh('bulk', 'deadLetters')
  }
  return (
    <div className="acts steering">
      {isWaiting && (
        <>
          <Button onClick={() => act(api.bulk.proceed({ id, rate: Math.max(1, next) }))}>Start the rest now</Button>
          <label className="inline">
            at
            <input
              type="number"
              min={1}
              max={5_000}
              value={next}
              onChange={(event) => setNext(event.target.valueAsNumber || 1)}
            />
            per second
          </label>
        </>
      )}
      <Button onClick={() => act(api.bulk.cancel({ id }))}>{isWaiting ? 'Stop after the canary' : 'Stop here'}</Button>
      {!isWaiting && rest > 0 && <span className="note">about {formatDuration((rest / rate) * 1_000)} left</span>}
    </div>
  )
}

function Refusals({ operation: { reasons, changed } }: { operation: Report }) {
  const told = reasons.filter(({ outcome }) => outcome !== 'changed')
  return (
    <p className="dim">
      {counted(changed, 'letter')} {changed === 1 ? 'was' : 'were'} redriven
      {told.map(
        ({ outcome, reason, count }) =>
          `, ${formatNumber(count)} ${outcome === 'refused' ? 'refused' : 'left as they are'}${reason ? `: ${reason}` : ''}`,
      )}
      .
    </p>
  )
}
