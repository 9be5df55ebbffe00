// Single dead letters.
import type { Answer } from '../../data/queries.ts'
import { JobId, TenantName, TypeName } from '../../ui/names.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { type Column, DataTable, type DataTableProps } from '../../ui/table/data-table.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { firstLine } from './group-table.tsx'

export type Letter = Answer<'deadLetters', 'list'>['letters'][number]

const COLUMNS: Column<Letter>[] = [
  { key: 'job', title: 'job', isHead: true, sort: ({ jobId }) => jobId, cell: ({ jobId }) => <JobId id={jobId} /> },
  { key: 'type', title: 'type', cell: ({ type }) => <TypeName name={type} /> },
  { key: 'tenant', title: 'tenant', sort: ({ tenant }) => tenant, cell: ({ tenant }) => <TenantName name={tenant} /> },
  {
    key: 'state',
    title: 'state',
    sort: ({ status }) => status,
    cell: ({ status, acknowledged }) => (
      <StatusBadge status={status === 'pending' && acknowledged ? 'acknowledged' : status} />
    ),
  },
  {
    key: 'error',
    title: 'error',
    isWide: true,
    narrow: 'full',
    cell: ({ errorMessage }) => <span className="mono">{firstLine(errorMessage)}</span>,
  },
  {
    key: 'new',
    title: 'new job',
    cell: ({ redrivenJobId }) => (redrivenJobId ? <JobId id={redrivenJobId} /> : <span className="faint">–</span>),
  },
  {
    key: 'by',
    title: 'decided by',
    narrow: 'hide',
    cell: ({ acknowledgedBy }) => acknowledgedBy ?? <span className="faint">–</span>,
  },
  {
    key: 'died',
    title: 'died',
    align: 'right',
    sort: ({ diedAt }) => +new Date(diedAt),
    cell: ({ diedAt }) => <RelativeTime at={diedAt} />,
  },
]

type LetterTableProps = Pick<DataTableProps<Letter>, 'label' | 'rows' | 'none' | 'onOpen' | 'selected' | 'onSelect'> & {
  /** Columns to leave out. */
  without?: readonly string[]
}

export const LetterTable = ({ without = [], ...props }: LetterTableProps) => (
  <DataTable columns={COLUMNS.filter(({ key }) => !without.includes(key))} keyOf={({ id }) => id} {...props} />
)
