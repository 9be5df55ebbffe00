// Workflows: which run, which failed, which are being rolled back.
import { useSearch } from '@tanstack/react-router'
import { useTenant } from '../../app/address.ts'
import { useKeyHints } from '../../app/key-hints.ts'
import { useTitle } from '../../app/title.ts'
import { ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { FilterChips } from '../../ui/filter-chips.tsx'
import { Link, useGo } from '../../ui/link.tsx'
import { TenantName } from '../../ui/names.tsx'
import { Pagination } from '../../ui/pagination.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Duration } from '../../ui/text/figures.tsx'
import { capitalised, counted, spelt } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { Em, Verdict } from '../../ui/verdict.tsx'
import { LookBadge, workflowLook } from './states.tsx'
import type { Workflow } from './workflow-data.ts'
import './workflow.css'

const PAGE = 50
const HINTS = [
  { keys: 'j k', does: 'next and previous workflow' },
  { keys: 'o', does: 'open' },
]
const STATES: readonly Workflow['status'][] = [
  'running',
  'rolling back',
  'failed',
  'rollback failed',
  'rolled back',
  'cancelled',
  'completed',
]

const COLUMNS: readonly Column<Workflow>[] = [
  {
    key: 'id',
    title: 'workflow',
    isHead: true,
    cell: ({ id, name }) => (
      <>
        <Link to={`/workflows/${id}`} className="mono">
          {id}
        </Link>{' '}
        {name}
      </>
    ),
  },
  { key: 'status', title: 'state', cell: (row) => <LookBadge look={workflowLook(row)} /> },
  { key: 'tenant', title: 'tenant', cell: ({ tenant }) => <TenantName name={tenant} /> },
  { key: 'started', title: 'started', cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
  {
    key: 'took',
    title: 'took',
    align: 'right',
    cell: ({ createdAt, finishedAt }) =>
      finishedAt === null ? (
        <Duration since={createdAt} />
      ) : (
        <Duration ms={Date.parse(finishedAt) - Date.parse(createdAt)} />
      ),
  },
  {
    key: 'why',
    title: 'why',
    narrow: 'full',
    isWide: true,
    cell: ({ held, reason }) => (held === null ? reason : `held: ${held}`),
  },
]

export function WorkflowsScreen() {
  useTitle('Workflows')
  useKeyHints(HINTS)
  const { status, name, before } = useSearch({ from: '/workflows' })
  const tenant = useTenant()
  const { go } = useGo()
  const scope = tenant ? { tenant } : {}
  const list = useLive(
    ask('workflows', 'list', {
      limit: PAGE,
      ...scope,
      ...(STATES.includes(status as Workflow['status']) && { status: status as Workflow['status'] }),
      ...(name && { name }),
      ...(before && { before }),
    }),
    { every: 5_000 },
  )
  const to = (search: { status?: string | undefined; name?: string | undefined; before?: string | undefined }) => {
    const given = Object.entries(search).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const text = new URLSearchParams(given).toString()
    return `/workflows${text && `?${text}`}`
  }
  const rows = list.data?.workflows ?? []
  const next = list.data?.next
  return (
    <>
      <WorkflowsVerdict tenant={tenant} />
      <div className="bar">
        <Tabs
          label="Workflows by state"
          chosen={status ?? 'all'}
          tabs={[
            { key: 'all', label: 'All', to: to({ name }) },
            ...STATES.map((each) => ({ key: each, label: capitalised(each), to: to({ status: each, name }) })),
          ]}
        />
      </div>
      {name && <FilterChips filters={[{ name: 'name', value: name, onRemove: () => go(to({ status })) }]} />}
      {list.error && <ErrorState what="The workflows could not be read." error={list.error} onRetry={list.refetch} />}
      <Card flush>
        {list.isPending ? (
          <SkeletonRows rows={8} height={30} />
        ) : (
          <DataTable
            label="Workflows, newest first"
            rows={rows}
            columns={COLUMNS}
            keyOf={({ id }) => id}
            onOpen={({ id }) => go(`/workflows/${id}`)}
            none={status || name || before ? <EmptyState title="No workflow is like that." /> : <NoWorkflow />}
          />
        )}
      </Card>
      {rows.length > 0 && (
        <Pagination
          isFirst={before === undefined}
          onFirst={() => go(to({ status, name }))}
          onNext={next ? () => go(to({ status, name, before: next })) : undefined}
        >
          {counted(rows.length, 'workflow')}, newest first
        </Pagination>
      )}
    </>
  )
}

const SEEN = 100

/** What somebody has to decide about comes first. */
function WorkflowsVerdict({ tenant }: { tenant: string | undefined }) {
  const scope = tenant ? { tenant } : {}
  const some = (status: Workflow['status']) => ask('workflows', 'list', { status, limit: SEEN, ...scope })
  const back = useLive(some('rolling back'), { every: 5_000 }).data?.workflows
  const broken = useLive(some('rollback failed')).data?.workflows
  const failed = useLive(some('failed')).data?.workflows
  const running = useLive(some('running'), { every: 5_000 }).data?.workflows
  if (!back || !broken || !failed || !running) return <Verdict facts={['…']}>Reading the workflows</Verdict>
  const count = (rows: readonly unknown[]) => (rows.length === SEEN ? `${SEEN}+` : spelt(rows.length))
  const facts = [
    `${count(running)} running`,
    `${count(failed)} failed, nothing undone`,
    `${count(broken)} with a failed rollback`,
  ]
  if (back.length > 0)
    return (
      <Verdict facts={facts}>
        {capitalised(count(back))} {back.length === 1 ? 'workflow is' : 'workflows are'}{' '}
        <Em tone="late">rolling back</Em>: what is not undone yet can still be kept.
      </Verdict>
    )
  if (broken.length + failed.length > 0)
    return (
      <Verdict facts={facts}>
        {capitalised(count([...failed, ...broken]))} {failed.length + broken.length === 1 ? 'workflow' : 'workflows'}{' '}
        <Em tone="fail">wait for a decision</Em>: resume, or roll back.
      </Verdict>
    )
  return (
    <Verdict facts={facts}>
      No workflow <Em tone="ok">waits for a decision</Em>.
    </Verdict>
  )
}

const EXAMPLE = `const order = defineWorkflow('order')
  .step('charge', charge, { payload, undo: { job: refund, payload } })
  .step('ship', ship, { after: 'charge', payload })

await millrace.workflows.start(order, input)`

const NoWorkflow = () => (
  <EmptyState title="No workflow has been started.">
    <p>A workflow is a graph of jobs: steps that come after one another, and are undone if a later one fails.</p>
    <CodeBlock label="A workflow" text={EXAMPLE} />
  </EmptyState>
)
