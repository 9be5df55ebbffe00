// The statuses with how many jobs of each fit the rest of the query.
import { useQueries } from '@tanstack/react-query'
import { ask } from '../../data/queries.ts'
import { useLiveStatus } from '../../data/use-live.ts'
import { type Tab, Tabs } from '../../ui/tabs.tsx'
import { isScan, soleValue, withTerms } from './query-text.ts'

const STATUSES = [
  ['', 'All'],
  ['pending', 'Waiting'],
  ['processing', 'Running'],
  ['blocked', 'Blocked'],
  ['failed', 'Retrying'],
  ['dead', 'Dead'],
  ['completed', 'Completed'],
  ['cancelled', 'Cancelled'],
] as const

export function StatusTabs({ q, tenant }: { q: string; tenant: string | undefined }) {
  const rest = withTerms(q, 'status')
  const counts = useCounts(rest, tenant)
  const chosen = /(?:^|\s)-?status:/.test(q) ? (soleValue(q, 'status') ?? 'other') : ''
  const tabs = STATUSES.map(([status, label], index): Tab => {
    const text = status === '' ? rest : `status:${status}${rest === '' ? '' : ` ${rest}`}`
    return {
      key: status,
      label,
      count: counts[index] ?? null,
      isBad: status === 'dead',
      to: text === '' ? '/jobs' : `/jobs?q=${encodeURIComponent(text)}`,
    }
  })
  return <Tabs label="Jobs by status" tabs={tabs} chosen={chosen} />
}

/** In the order of the tabs. Each has its time on the server, so none of them can hold up the list. */
export function useCounts(rest: string, tenant: string | undefined): readonly (number | undefined)[] {
  const { state } = useLiveStatus()
  const isSlow = isScan(rest)
  return useQueries({
    queries: STATUSES.map(([status]) => {
      const q = status === '' ? rest : `status:${status} ${rest}`.trim()
      return {
        ...ask('jobs', 'count', { q, ...(tenant !== undefined && { tenant }) }),
        enabled: !isSlow,
        staleTime: 10_000,
        refetchInterval: state === 'paused' ? (false as const) : 15_000,
        retry: false,
      }
    }),
    combine: (answers) => answers.map(({ data }) => data?.count),
  })
}
