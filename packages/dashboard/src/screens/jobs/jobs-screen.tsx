// Every job, live and archived: found by a query, looked at, and changed, one or many.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { useTenant } from '../../app/address.ts'
import { CsvLink } from '../../app/csv-link.tsx'
import { useKeyHints } from '../../app/key-hints.ts'
import { useTitle } from '../../app/title.ts'
import { ask } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import type { KeyHint } from '../../ui/key-hints.tsx'
import { useGo } from '../../ui/link.tsx'
import { Menu } from '../../ui/overlay/menu.tsx'
import { EmptyState, ErrorState, SkeletonRows, sentenceOf } from '../../ui/states.tsx'
import { counted, formatAbsolute, formatNumber, listed } from '../../ui/text/format.ts'
import { Verdict } from '../../ui/verdict.tsx'
import { ActOnAll, SelectionBar } from './bulk.tsx'
import { FirstJob } from './first-job.tsx'
import './jobs.css'
import { JobList } from './job-list.tsx'
import { Peek } from './peek.tsx'
import { isScan, withTerms } from './query-text.ts'
import { SavedViews } from './saved-views.tsx'
import { SearchBox } from './search-box.tsx'
import { StatusTabs, useCounts } from './status-tabs.tsx'
import { TimeStrip } from './time-strip.tsx'
import { useJobs } from './use-jobs.ts'

const HINTS: readonly KeyHint[] = [
  { keys: 'j', does: 'down' },
  { keys: 'k', does: 'up' },
  { keys: 'o', does: 'look' },
  { keys: 'Enter', does: 'open' },
  { keys: 'x', does: 'select' },
  { keys: 'X', does: 'select up to here' },
  { keys: '/', does: 'search' },
]

const route = getRouteApi('/jobs')

export function JobsScreen() {
  useTitle('Jobs')
  useKeyHints(HINTS)
  const { q = '', order, job: peeked } = route.useSearch()
  const navigate = useNavigate({ from: '/jobs' })
  const tenant = useTenant()
  const may = useMay()
  const { go } = useGo()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const { list, rows, fresh, scanned } = useJobs({ q, tenant, order })
  const { fetchNextPage, hasNextPage, isFetchingNextPage, isPlaceholderData, isPending, error } = list
  const search = (text: string) => {
    setSelected(new Set())
    navigate({ search: (before) => ({ ...before, q: text === '' ? undefined : text, job: undefined }) as never })
  }
  const peek = (id: string | undefined) =>
    navigate({ search: (before) => ({ ...before, job: id }) as never, replace: true })
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isPlaceholderData) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, isPlaceholderData, fetchNextPage])
  const isUnread = error !== null && !('code' in error && error.code === 'invalid_query')
  return (
    <div className={peeked === undefined ? 'jobs-screen' : 'jobs-screen with-peek'}>
      <div>
        <Verdict>{useVerdict(q, tenant)}</Verdict>
        <div className="query-bar">
          <SearchBox q={q} onSearch={search} error={error} />
          <Menu
            isRight
            label={order === 'oldest' ? 'Oldest first' : 'Newest first'}
            items={(['newest', 'oldest'] as const).map((each) => ({
              key: each,
              label: each === 'oldest' ? 'Oldest first' : 'Newest first',
              isChosen: (order ?? 'newest') === each,
              onChoose: () =>
                navigate({ search: (before) => ({ ...before, order: each === 'oldest' ? each : undefined }) as never }),
            }))}
          />
          <SavedViews q={q} onSearch={search} />
          <ActOnAll q={q} tenant={tenant} onDone={() => setSelected(new Set())} />
        </div>
        {error === null && (
          <>
            <StatusTabs q={q} tenant={tenant} />
            <TimeStrip q={q} tenant={tenant} onSearch={search} />
          </>
        )}
        {fresh > 0 && (
          <div className="fresh" role="status">
            <Button variant="primary" size="sm" onClick={() => list.refetch()}>
              Show {fresh >= 100 ? '100 or more new jobs' : counted(fresh, 'new job')}
            </Button>
          </div>
        )}
        {isUnread && <ErrorState what="The jobs could not be read." error={error} onRetry={list.refetch} />}
        {isPending && error === null && (
          <div aria-busy="true">
            <SkeletonRows rows={12} />
          </div>
        )}
        {list.data && error === null && rows.length === 0 && !hasNextPage && (
          <None q={q} tenant={tenant} onSearch={search} />
        )}
        {rows.length > 0 && (
          <JobList
            rows={rows}
            peeked={peeked}
            onPeek={peek}
            onOpen={(id) => go(`/jobs/${id}`)}
            selected={selected}
            onSelect={may('bulk.start') ? setSelected : undefined}
            onEnd={more}
          />
        )}
        <p className="note list-end" role="status">
          {isFetchingNextPage
            ? 'Reading more…'
            : list.isFetchNextPageError
              ? sentenceOf(list.error)
              : endOf(rows.length, hasNextPage, scanned)}
          {hasNextPage && !isFetchingNextPage && rows.length < 50 && (
            <Button size="sm" onClick={() => fetchNextPage()}>
              Look further back
            </Button>
          )}
          {rows.length > 0 && <CsvLink operation="jobs.csv" input={{ q, tenant, order }} of="the jobs that fit" />}
        </p>
        {selected.size > 0 && (
          <SelectionBar
            target={{ ids: [...selected] }}
            tenant={tenant}
            count={selected.size}
            onDone={() => setSelected(new Set())}
          />
        )}
      </div>
      {peeked !== undefined && <Peek key={peeked} id={peeked} onClose={() => peek(undefined)} />}
    </div>
  )
}

function useVerdict(q: string, tenant: string | undefined): string {
  const [all, waiting, running, , retrying, dead] = useCounts(withTerms(q, 'status'), tenant)
  const of = tenant === undefined ? '' : ` of ${tenant}`
  const found = useQuery({
    ...ask('jobs', 'count', { q, ...(tenant !== undefined && { tenant }) }),
    enabled: !isScan(q),
    retry: false,
  }).data
  if (q !== '') {
    if (found === undefined) return `Jobs${of} that fit`
    const count = `${formatNumber(found.count)}${found.isCapped ? ' or more' : ''}`
    return found.count === 1 ? `One job${of} fits.` : `${found.count === 0 ? 'No' : count} jobs${of} fit.`
  }
  if (all === undefined || waiting === undefined || running === undefined) return `All jobs${of}`
  if (all === 0) return `There are no jobs${of}.`
  const live = [
    `${formatNumber(waiting)} ${waiting === 1 ? 'waits' : 'wait'}`,
    `${formatNumber(running)} ${running === 1 ? 'runs' : 'run'}`,
    ...(retrying ? [`${formatNumber(retrying)} ${retrying === 1 ? 'is' : 'are'} tried again`] : []),
    ...(dead ? [`${formatNumber(dead)} ${dead === 1 ? 'is' : 'are'} dead`] : []),
  ]
  return `Of ${counted(all, 'job')}${of}, ${listed(live)}.`
}

/** A search that looked job by job says how far back it has come. */
function endOf(shown: number, isMore: boolean, scanned: { rows: number; from: string | null } | null): string {
  if (scanned !== null && isMore && scanned.from !== null)
    return `${counted(scanned.rows, 'job')} looked at, back to ${formatAbsolute(new Date(scanned.from), 'local')}. `
  return shown === 0 || isMore ? '' : `That is all: ${counted(shown, 'job')}.`
}

function None({ q, tenant, onSearch }: { q: string; tenant: string | undefined; onSearch: (q: string) => void }) {
  if (q === '' && tenant === undefined) return <FirstJob />
  return (
    <EmptyState title="No jobs match." action={q !== '' && <Button onClick={() => onSearch('')}>Show all jobs</Button>}>
      <p>
        {q === ''
          ? 'This tenant has no jobs that are still kept.'
          : 'Drop a term, or take a longer time. Archived jobs are found as long as their retention lasts.'}
      </p>
    </EmptyState>
  )
}
