import { useState } from 'react'
import { Card } from '../ui/card.tsx'
import { JobId, QueueName, TenantName, TypeName } from '../ui/names.tsx'
import { Pagination } from '../ui/pagination.tsx'
import { StatusBadge } from '../ui/status-badge.tsx'
import { type Column, DataTable } from '../ui/table/data-table.tsx'
import { Duration } from '../ui/text/figures.tsx'
import { RelativeTime } from '../ui/text/relative-time.tsx'

interface Sample {
  id: string
  status: string
  queue: string
  tenant: string | null
  ms: number
  at: Date
}

const ROWS: Sample[] = Array.from({ length: 9 }, (_, index) => ({
  id: String(48_213_900 + index * 7),
  status: ['pending', 'processing', 'failed', 'dead', 'completed'][index % 5] ?? '',
  queue: ['HIGH', 'DEFAULT', 'SCREENSHOT', 'LOW', 'BULK'][index % 5] ?? '',
  tenant: index % 3 === 0 ? null : `org_${index}`,
  ms: 40 ** (index / 2),
  at: new Date(Date.now() - index * 91_000),
}))

const COLUMNS: Column<Sample>[] = [
  { key: 'id', title: 'job', isHead: true, cell: ({ id }) => <JobId id={id} />, sort: ({ id }) => id },
  { key: 'type', title: 'type', cell: () => <TypeName name="MESSAGE_RELAY" /> },
  { key: 'queue', title: 'queue', cell: ({ queue }) => <QueueName name={queue} />, sort: ({ queue }) => queue },
  { key: 'status', title: 'state', cell: ({ status }) => <StatusBadge status={status} /> },
  { key: 'tenant', title: 'tenant', cell: ({ tenant }) => <TenantName name={tenant} />, narrow: 'hide' },
  { key: 'ms', title: 'took', align: 'right', cell: ({ ms }) => <Duration ms={ms} />, sort: ({ ms }) => ms },
  { key: 'at', title: 'created', align: 'right', cell: ({ at }) => <RelativeTime at={at} />, sort: ({ at }) => +at },
]

export function TableSample() {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  return (
    <Card flush>
      <DataTable
        label="Jobs"
        rows={ROWS}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        sort={{ key: 'at', isDescending: true }}
        selected={selected}
        onSelect={setSelected}
        onOpen={() => undefined}
        none={null}
      />
      <div style={{ padding: '0 16px 12px' }}>
        <Pagination isFirst onNext={() => undefined}>
          {selected.size} of {ROWS.length} jobs selected
        </Pagination>
      </div>
    </Card>
  )
}
