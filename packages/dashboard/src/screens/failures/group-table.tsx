// The kinds of failure, one in a row.

import { Sparkline } from '../../ui/chart/sparkline.tsx'
import { Link, useGo } from '../../ui/link.tsx'
import { QueueName, TypeName } from '../../ui/names.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Badge } from '../../ui/status-badge.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { useNow } from '../../ui/text/clock.ts'
import { Quantity } from '../../ui/text/figures.tsx'
import { counted, formatPercent } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { type Decision, GroupActions } from './group-actions.tsx'
import { type Group, reasonOf, trendOf } from './groups.ts'

export const pathOf = ({ fingerprint, type }: Pick<Group, 'fingerprint' | 'type'>) =>
  `/failures/${encodeURIComponent(fingerprint ?? 'none')}?type=${encodeURIComponent(type)}`

export interface GroupTableProps {
  groups: readonly Group[]
  onDecide: (group: Group, decision: Decision) => void
}

export function GroupTable({ groups, onDecide }: GroupTableProps) {
  const { go } = useGo()
  return (
    <DataTable
      label="Dead letters by kind of failure. The same error class, message shape and innermost frames make one group."
      showLabel
      rows={groups}
      columns={columns(onDecide)}
      keyOf={({ key }) => key}
      onOpen={(group) => go(pathOf(group))}
      rowKeys={{
        c: (group) => onDecide(group, 'redrive'),
        a: (group) => onDecide(group, 'acknowledge'),
        n: (group) => onDecide(group, 'note'),
      }}
      none={<EmptyState title="No group is in this state." />}
    />
  )
}

const columns = (onDecide: GroupTableProps['onDecide']): Column<Group>[] => [
  {
    key: 'state',
    title: 'state',
    narrow: 'full',
    sort: ({ state }) => state,
    cell: (group) => <State group={group} />,
  },
  {
    key: 'what',
    title: 'what failed',
    isHead: true,
    sort: ({ type }) => type,
    cell: (group) => <What group={group} />,
  },
  { key: 'trend', title: '24 hours', cell: (group) => <TrendCell group={group} /> },
  {
    key: 'letters',
    title: 'letters',
    align: 'right',
    sort: ({ pending }) => pending,
    cell: ({ pending }) => (
      <b>
        <Quantity value={pending} />
      </b>
    ),
  },
  {
    key: 'seen',
    title: 'last seen',
    sort: ({ lastDiedAt }) => +new Date(lastDiedAt),
    cell: (group) => <Seen group={group} />,
  },
  {
    key: 'tenants',
    title: 'tenants',
    sort: ({ facts }) => facts?.tenants ?? null,
    cell: (group) => <Tenants group={group} />,
  },
  {
    key: 'action',
    title: 'action',
    narrow: 'full',
    cell: (group) => <GroupActions group={group} onDecide={(decision) => onDecide(group, decision)} isShort />,
  },
]

export function State({ group: { state, facts } }: { group: Group }) {
  if (state === 'redriving') {
    return (
      <div className="two">
        <Badge tone="info" icon="redo">
          <b>Redriving</b>
        </Badge>
        <span>open to follow it</span>
      </div>
    )
  }
  if (state === 'acknowledged') {
    return (
      <div className="two">
        <Badge tone="late" icon="ack">
          <b>Acknowledged</b>
        </Badge>
        <span>
          {facts?.acknowledgedBy && `by ${facts.acknowledgedBy}, `}
          <RelativeTime at={facts?.acknowledgedAt} />
        </span>
      </div>
    )
  }
  const seen = facts?.acknowledged ?? 0
  return (
    <div className="two">
      <Badge tone="fail" icon="new">
        <b>New</b>
      </Badge>
      <span>{seen > 0 ? `${seen} seen before` : 'nobody has looked'}</span>
    </div>
  )
}

function What({ group }: { group: Group }) {
  const { type, fingerprint, sampleMessage, facts } = group
  return (
    <div className="what">
      <span className="name">
        <Link to={pathOf(group)}>
          <TypeName name={type} />
        </Link>
        {facts && <QueueName name={facts.queue} plain />}
      </span>
      <span className="msg">{firstLine(sampleMessage)}</span>
      <span className="at">
        {facts?.errorClass && `${facts.errorClass} · `}fp {fingerprint ?? 'none'}
        {facts && ` · ${reasonOf(facts.reason)}`}
      </span>
    </div>
  )
}

/** The rest is on the screen about the group. */
export function firstLine(message: string): string {
  const [line = ''] = message.split('\n')
  return line.length > 220 ? `${line.slice(0, 220)} …` : line
}

function TrendCell({ group: { facts, lastDiedAt, type } }: { group: Group }) {
  const now = useNow()
  if (facts === undefined) return <span className="trend" />
  const { tone, says } = trendOf(facts.byHour, new Date(lastDiedAt), now)
  const total = facts.byHour.reduce((sum, count) => sum + count, 0)
  return (
    <div className="trend">
      <Sparkline
        values={facts.byHour}
        kind="bars"
        tone={tone === 'fail' ? 'fail' : 'plain'}
        height={26}
        label={`Deaths of ${type} by the hour: ${total} in 24 hours, ${facts.byHour.at(-1) ?? 0} in the last one`}
      />
      <small className={tone === 'fail' ? 't-fail' : 'dim'}>{says}</small>
    </div>
  )
}

const Seen = ({ group: { firstDiedAt, lastDiedAt } }: { group: Group }) => (
  <div className="two nw">
    <RelativeTime at={lastDiedAt} />
    <span>
      since <RelativeTime at={firstDiedAt} as="clock" />
    </span>
  </div>
)

function Tenants({ group: { facts } }: { group: Group }) {
  const [top] = facts?.byTenant ?? []
  if (facts === undefined || top === undefined) return <span className="faint">–</span>
  const all = facts.byTenant.reduce((sum, { letters }) => sum + letters, 0)
  return (
    <div className="two">
      <span>{counted(facts.tenants, 'tenant')}</span>
      <span>
        {top.tenant === null
          ? 'no tenant'
          : facts.tenants === 1
            ? top.tenant
            : `${formatPercent(top.letters / all)} ${top.tenant}`}
      </span>
    </div>
  )
}
