// All tenants by name, a page at a time, and the way to one of them.
import { type FormEvent, useState } from 'react'
import { type Answer, ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { useGo } from '../../ui/link.tsx'
import { TenantName } from '../../ui/names.tsx'
import { SkeletonRows } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'

type Tenant = Answer<'tenants', 'list'>['tenants'][number]

const PAGE = 25

const COLUMNS: Column<Tenant>[] = [
  { key: 'name', title: 'tenant', isHead: true, cell: ({ name }) => <TenantName name={name} /> },
  { key: 'status', title: 'state', cell: ({ status }) => <StatusBadge status={status} /> },
  { key: 'weight', title: 'weight', align: 'right', cell: ({ weight }) => weight },
  {
    key: 'slots',
    title: 'slots, in each queue',
    narrow: 'hide',
    cell: ({ minSlots, maxSlots }) =>
      minSlots === 0 && maxSlots === null ? (
        <span className="faint">as many as are free</span>
      ) : (
        `${minSlots > 0 ? `at least ${minSlots}` : ''}${minSlots > 0 && maxSlots !== null ? ', ' : ''}${maxSlots === null ? '' : `at most ${maxSlots}`}`
      ),
  },
  { key: 'reason', title: 'reason', narrow: 'hide', cell: ({ reason }) => reason ?? <span className="faint">–</span> },
  { key: 'updated', title: 'changed', narrow: 'hide', cell: ({ updatedAt }) => <RelativeTime at={updatedAt} /> },
]

export function AllTenants() {
  const [behind, setBehind] = useState<readonly string[]>([])
  const { go } = useGo()
  const last = behind.at(-1)
  const { data } = useLive(ask('tenants', 'list', { limit: PAGE, ...(last !== undefined && { behind: last }) }), {
    every: 30_000,
  })
  return (
    <Card flush title="All tenants" aside={<Find />}>
      {data === undefined ? (
        <SkeletonRows />
      ) : (
        <DataTable
          label="All tenants, by name"
          rows={data.tenants}
          columns={COLUMNS}
          keyOf={({ name }) => name}
          onOpen={({ name }) => go(`/tenants/${encodeURIComponent(name)}`)}
          isPage={false}
          onPhone="rows"
          none={<p className="note">No more tenants.</p>}
        />
      )}
      {(behind.length > 0 || data?.next) && (
        <p className="acts pages">
          <Button
            size="sm"
            disabledBecause={behind.length === 0 ? 'This is the first page.' : null}
            onClick={() => setBehind(behind.slice(0, -1))}
          >
            Previous
          </Button>
          <Button
            size="sm"
            disabledBecause={data?.next ? null : 'This is the last page.'}
            onClick={() => data?.next && setBehind([...behind, data.next])}
          >
            Next
          </Button>
        </p>
      )}
    </Card>
  )
}

/** By its whole name: there may be thousands. */
function Find() {
  const { go } = useGo()
  const [name, setName] = useState('')
  const find = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() !== '') go(`/tenants/${encodeURIComponent(name.trim())}`)
  }
  return (
    <form className="find" onSubmit={find}>
      <Field label="Go to a tenant">
        <input
          type="text"
          value={name}
          placeholder="its whole name"
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <Button size="sm" onClick={() => name.trim() !== '' && go(`/tenants/${encodeURIComponent(name.trim())}`)}>
        Show
      </Button>
    </form>
  )
}
