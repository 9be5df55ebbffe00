// Audit: who changed what, from where, and what it was before.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTenant } from '../../app/address.ts'
import { CsvLink } from '../../app/csv-link.tsx'
import { useTitle } from '../../app/title.ts'
import { type Answer, ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Button } from '../../ui/button.tsx'
import { JsonBlock } from '../../ui/code-block.tsx'
import { FilterChips } from '../../ui/filter-chips.tsx'
import { TenantName } from '../../ui/names.tsx'
import { Pagination } from '../../ui/pagination.tsx'
import { Loaded } from '../../ui/screen-state.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { counted } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { Verdict } from '../../ui/verdict.tsx'
import { changeOf } from './change.ts'
import type { AuditSearch } from './route.ts'
import './audit.css'

type Entry = Answer<'audit', 'list'>['entries'][number]
const PAGE = 100

export function AuditScreen() {
  useTitle('Audit')
  const tenant = useTenant()
  const { by, action, target, before } = useSearch({ strict: false }) as AuditSearch
  const filter = { by, action, target, before, tenant }
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
  const list = useLive(ask('audit', 'list', { ...given, limit: PAGE }), {
    every: before === undefined ? 10_000 : 60_000,
  })
  return (
    <Loaded of={list} what="the audit log">
      {(page) => <Page page={page} search={{ ...given } as AuditSearch} />}
    </Loaded>
  )
}

function Page({ page: { entries, next }, search }: { page: Answer<'audit', 'list'>; search: AuditSearch }) {
  const navigate = useNavigate()
  const change = (part: Partial<Record<keyof AuditSearch, string | undefined>>) =>
    navigate({ to: '.', search: ((old: object) => ({ ...old, before: undefined, ...part })) as never })
  const filters = (['by', 'action', 'target'] as const).flatMap((name) =>
    search[name] === undefined ? [] : [{ name, value: search[name], onRemove: () => change({ [name]: undefined }) }],
  )
  const people = new Set(entries.map((entry) => entry.by))
  return (
    <>
      <Verdict
        facts={[
          entries[0] && (
            <>
              last change <RelativeTime at={entries[0].at} /> by {entries[0].by}
            </>
          ),
        ]}
      >
        {entries.length === 0
          ? 'Nobody has changed anything here.'
          : `${counted(people.size, 'person or program', 'people or programs')} made the ${search.before ? '' : 'last '}${counted(entries.length, 'change')}.`}
      </Verdict>
      <Filter onChoose={change} />
      <FilterChips filters={filters} onClear={() => change({ by: undefined, action: undefined, target: undefined })} />
      <div className="panel flush">
        <DataTable
          label="Changes, newest first"
          rows={entries}
          columns={COLUMNS}
          keyOf={(row) => row.id}
          none={
            <EmptyState title="No change matches.">
              <p>
                Every change that a person or program makes by the dashboard, the API or the command line stands here.
              </p>
            </EmptyState>
          }
        />
      </div>
      <Pagination
        isFirst={search.before === undefined}
        onFirst={() => change({})}
        onNext={next === null ? undefined : () => change({ before: next })}
      >
        {counted(entries.length, 'change')}, newest first{' '}
        <CsvLink operation="audit.csv" input={{ ...search, before: undefined }} of="these changes" />
      </Pagination>
    </>
  )
}

function Filter({ onChoose }: { onChoose: (part: Partial<Record<'by' | 'action' | 'target', string>>) => void }) {
  const [name, setName] = useState<'by' | 'action' | 'target'>('by')
  const [value, setValue] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (value.trim() !== '') onChoose({ [name]: value.trim() })
    setValue('')
  }
  return (
    <form className="audit-filter" onSubmit={submit} aria-label="Filter the changes">
      <select
        className="inp"
        aria-label="Filter by"
        value={name}
        onChange={(event) => setName(event.target.value as 'by' | 'action' | 'target')}
      >
        <option value="by">who</option>
        <option value="action">action</option>
        <option value="target">target</option>
      </select>
      <input
        className="inp"
        aria-label="Value of the filter"
        placeholder={{ by: 'ann', action: 'queue.pause', target: 'mail' }[name]}
        value={value}
        onChange={(event) => setValue(event.target.value)}
      />
      <Button type="submit">Filter</Button>
    </form>
  )
}

const COLUMNS: readonly Column<Entry>[] = [
  {
    key: 'at',
    title: 'when',
    cell: (row) => (
      <span className="nw">
        <RelativeTime at={row.at} as="clock" />{' '}
        <span className="faint">
          <RelativeTime at={row.at} />
        </span>
      </span>
    ),
  },
  {
    key: 'what',
    title: 'what',
    isHead: true,
    cell: (row) => (
      <span className="two">
        <b className="mono">{row.action}</b>
        {row.target && <span className="dim">{row.target}</span>}
      </span>
    ),
  },
  { key: 'by', title: 'who', cell: (row) => row.by },
  { key: 'change', title: 'before → after', narrow: 'full', cell: (row) => <Change details={row.details} /> },
  { key: 'tenant', title: 'tenant', cell: (row) => (row.tenant === null ? '' : <TenantName name={row.tenant} />) },
  {
    key: 'from',
    title: 'from',
    narrow: 'hide',
    cell: (row) => (
      <span className="two">
        <span>{row.source ?? 'the library'}</span>
        {row.requestId && <span className="dim mono">{row.requestId}</span>}
      </span>
    ),
  },
]

function Change({ details }: { details: unknown }) {
  const { changes, rest } = changeOf(details)
  return (
    <span className="change">
      {changes.map(({ name, before, after }) => (
        <span key={name}>
          <span className="faint">{name}</span> <del>{before}</del> <span aria-hidden="true">→</span>
          <span className="vh">became</span> <ins>{after}</ins>
        </span>
      ))}
      {rest.map(([name, value]) => (
        <span key={name}>
          <span className="faint">{name}</span> {value}
        </span>
      ))}
      {typeof details === 'object' && details !== null && Object.keys(details).length > 4 && (
        <details>
          <summary>All of it</summary>
          <JsonBlock value={details} label="Details of the change" />
        </details>
      )}
    </span>
  )
}
