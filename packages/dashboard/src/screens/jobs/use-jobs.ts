// The list: pages as they were read, rows that are kept up to date, and how many jobs have come since.
import { type InfiniteData, keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api } from '../../data/client.ts'
import { type Answer, ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { isScan } from './query-text.ts'

export type Job = Answer<'jobs', 'list'>['jobs'][number]
type Page = Answer<'jobs', 'list'>

export interface Asked {
  readonly q: string
  readonly tenant?: string | undefined
  readonly order?: 'oldest' | undefined
}

const PAGE = 100

function inputOf({ q, tenant, order }: Asked, cursor: string | null) {
  const of = tenant === undefined ? {} : { tenant }
  // Without a query the list by fields serves callers of several tenants, too.
  if (q === '' && order === undefined) return { ...of, limit: PAGE, ...(cursor !== null && { before: cursor }) }
  return { ...of, q, limit: PAGE, ...(order && { order }), ...(cursor !== null && { after: cursor }) }
}

export function useJobs(asked: Asked) {
  const list = useInfiniteQuery({
    queryKey: ['jobs', 'pages', asked],
    queryFn: ({ pageParam }) => api.jobs.list(inputOf(asked, pageParam)),
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page) => last.next,
    // Rows do not move by themselves: what is new is announced.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const slow = isScan(asked.q)
  const head = useLive(
    { ...ask('jobs', 'list', inputOf(asked, null)), retry: false, enabled: list.isSuccess && !list.isPlaceholderData },
    { ...(!slow && { topic: 'jobs' }), every: slow ? 30_000 : 10_000 },
  ).data
  const merged = useMemo(() => mergedOf(list.data, head, asked.order), [list.data, head, asked.order])
  return { list, ...merged, scanned: list.data?.pages.at(-1)?.scanned ?? null }
}

export interface Row {
  readonly job: Job
  /** It fits the query no more, and stays until the list is read again. */
  readonly isGone: boolean
}

function mergedOf(data: InfiniteData<Page> | undefined, head: Page | undefined, order: 'oldest' | undefined) {
  const jobs = data?.pages.flatMap((page) => page.jobs) ?? []
  if (head === undefined) return { rows: jobs.map((job): Row => ({ job, isGone: false })), fresh: 0 }
  const now = new Map(head.jobs.map((job) => [job.id, job]))
  const last = head.next === null ? null : head.jobs.at(-1)?.id
  const isCovered = (id: string) =>
    last === null ||
    (last !== undefined && (order === 'oldest' ? BigInt(id) <= BigInt(last) : BigInt(id) >= BigInt(last)))
  const rows = jobs.map((job): Row => {
    const latest = now.get(job.id)
    return { job: latest ?? job, isGone: latest === undefined && isCovered(job.id) }
  })
  const first = jobs[0]?.id
  const isNew = ({ id }: Job) => first === undefined || BigInt(id) > BigInt(first)
  return { rows, fresh: order === 'oldest' ? 0 : head.jobs.filter(isNew).length }
}
