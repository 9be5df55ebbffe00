// Who was told of what, whether it arrived, and whether somebody answers for it.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { type Answer, ask, refresh } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { useLive } from '../../data/use-live.ts'
import { Button } from '../../ui/button.tsx'
import { FilterChips } from '../../ui/filter-chips.tsx'
import { JobId, QueueName } from '../../ui/names.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { Pagination } from '../../ui/pagination.tsx'
import { EmptyState, ErrorState, SkeletonRows, sentenceOf } from '../../ui/states.tsx'
import { Badge } from '../../ui/status-badge.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { counted } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { TONE } from './firing.tsx'
import type { AlertsSearch } from './route.ts'
import { TestChannel } from './test-channel.tsx'

type Escalation = Answer<'escalations', 'list'>['escalations'][number]

const PAGE = 50
const STATES = { open: 'Open', overdue: 'Overdue', undelivered: 'Undelivered', resolved: 'Resolved', any: 'All' }

export function Escalations() {
  const {
    state = 'open',
    channel,
    before,
  } = useSearch({ strict: false }) as Omit<AlertsSearch, 'state'> & {
    state?: keyof typeof STATES
  }
  const navigate = useNavigate()
  const may = useMay()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const filter = {
    ...(state !== 'any' && { state }),
    ...(channel !== undefined && { channel }),
    ...(before !== undefined && { before }),
  }
  const { data, error, refetch } = useLive(ask('escalations', 'list', { ...filter, limit: PAGE }), { every: 5_000 })
  const change = (part: object) =>
    navigate({ to: '.', search: ((old: object) => ({ ...old, before: undefined, ...part })) as never })
  const act = async (does: (ids: string[]) => Promise<unknown>, says: string) => {
    const ids = [...selected]
    try {
      await does(ids)
      toast({ says: `${counted(ids.length, 'escalation')} ${says}`, tone: 'ok' })
      setSelected(new Set())
    } catch (problem) {
      toast({ says: sentenceOf(problem), tone: 'fail' })
    }
    await refresh('escalations')
  }
  const nothing = selected.size === 0 ? 'Select escalations first: x, or the boxes on the left.' : null
  const channels = [...new Set(data?.escalations.flatMap((each) => each.channel ?? []))]
  return (
    <>
      <div className="bar esc-bar">
        <Tabs
          label="Escalations by state"
          chosen={state}
          tabs={Object.entries(STATES).map(([key, label]) => ({
            key,
            label,
            to: `/alerts?show=escalations${key === 'open' ? '' : `&state=${key}`}`,
          }))}
        />
        {may('escalations.acknowledge') && (
          <div className="acts">
            <Button
              disabledBecause={nothing}
              onClick={() => act((ids) => api.escalations.acknowledge({ ids }), 'acknowledged: you look after it.')}
            >
              Acknowledge
            </Button>
            <Button
              disabledBecause={nothing}
              onClick={() => act((ids) => api.escalations.resend({ ids }), 'will be sent again.')}
            >
              Send again
            </Button>
            <TestChannel known={channels} />
          </div>
        )}
      </div>
      <FilterChips
        filters={
          channel === undefined
            ? []
            : [{ name: 'channel', value: channel, onRemove: () => change({ channel: undefined }) }]
        }
      />
      {error && !data && <ErrorState what="The escalations could not be read." error={error} onRetry={refetch} />}
      {!data && !error && <SkeletonRows />}
      {data && (
        <div className="panel flush">
          <DataTable
            label="Escalations, newest first"
            rows={data.escalations}
            columns={columnsOf((name) => change({ channel: name }))}
            keyOf={(row) => row.id}
            {...(may('escalations.acknowledge') && { selected, onSelect: setSelected })}
            none={
              <EmptyState title={state === 'any' ? 'Nobody has been told of anything.' : `No escalation is ${state}.`}>
                <p>
                  A job that dies in a queue with an escalation, a budget that runs out and an alert are told to people.
                </p>
              </EmptyState>
            }
          />
        </div>
      )}
      {data && data.escalations.length > 0 && (
        <Pagination
          isFirst={before === undefined}
          onFirst={() => change({})}
          onNext={data.next === null ? undefined : () => change({ before: data.next })}
        >
          {counted(data.escalations.length, 'escalation')}, newest first
        </Pagination>
      )}
    </>
  )
}

const columnsOf = (onChannel: (name: string) => void): readonly Column<Escalation>[] => [
  {
    key: 'what',
    title: 'what',
    isHead: true,
    cell: (row) => (
      <span className="two">
        <b>
          {row.summary ?? (row.kind === 'dead_job' ? `A job of type ${row.type} died` : row.kind.replaceAll('_', ' '))}
        </b>
        <span className="dim">
          {row.jobId && (
            <>
              job <JobId id={row.jobId} /> ·{' '}
            </>
          )}
          {typeof row.details.reason === 'string' && row.details.reason.slice(0, 200)}
        </span>
      </span>
    ),
  },
  {
    key: 'severity',
    title: 'severity',
    cell: (row) => <Badge tone={TONE[row.severity] ?? 'late'}>{row.severity}</Badge>,
  },
  { key: 'queue', title: 'queue', cell: (row) => row.queue && <QueueName name={row.queue} /> },
  {
    key: 'channel',
    title: 'channel',
    cell: (row) =>
      row.channel === null ? (
        <span className="faint">not chosen yet</span>
      ) : (
        <Button size="sm" variant="quiet" onClick={() => onChannel(row.channel as string)}>
          {row.channel}
        </Button>
      ),
  },
  { key: 'delivery', title: 'delivery', narrow: 'full', cell: (row) => <Delivery of={row} /> },
  { key: 'answer', title: 'answer', narrow: 'full', cell: (row) => <Response of={row} /> },
  { key: 'at', title: 'raised', align: 'right', cell: (row) => <RelativeTime at={row.createdAt} /> },
]

function Delivery({ of: { sentAt, undeliverableAt, lastError, tries, repeats, dueAt } }: { of: Escalation }) {
  if (sentAt !== null) {
    return (
      <Badge tone="ok" icon="ok">
        sent <RelativeTime at={sentAt} />
        {repeats > 0 && `, ${counted(repeats, 'repeat')}`}
      </Badge>
    )
  }
  if (undeliverableAt !== null) return <Badge tone="fail">refused: {lastError}</Badge>
  if (lastError !== null)
    return (
      <Badge tone="late">
        {counted(tries, 'try', 'tries')}: {lastError}
      </Badge>
    )
  return (
    <Badge tone="off" icon="wait">
      {dueAt === null ? (
        'waits'
      ) : (
        <>
          in the digest <RelativeTime at={dueAt} />
        </>
      )}
    </Badge>
  )
}

function Response({ of: { resolvedAt, acknowledgedAt, acknowledgedBy, respondBy, isOverdue } }: { of: Escalation }) {
  if (resolvedAt !== null) {
    return (
      <Badge tone="ok">
        resolved <RelativeTime at={resolvedAt} />
      </Badge>
    )
  }
  if (acknowledgedAt !== null) {
    return (
      <Badge tone="info" icon="ack">
        {acknowledgedBy}, <RelativeTime at={acknowledgedAt} />
      </Badge>
    )
  }
  if (respondBy === null) return <span className="faint">none asked for</span>
  return (
    <Badge tone={isOverdue ? 'fail' : 'off'} icon={isOverdue ? 'late' : 'wait'}>
      {isOverdue ? 'overdue since' : 'due'} <RelativeTime at={respondBy} {...(isOverdue && { as: 'clock' as const })} />
    </Badge>
  )
}
