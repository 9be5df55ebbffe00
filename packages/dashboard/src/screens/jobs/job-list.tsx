// The list. Only the rows that can be seen are in the page, so that it stays quick however far one scrolls.
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useKeys } from '../../ui/keys.ts'
import { Link } from '../../ui/link.tsx'
import { QueueName, TenantName, TypeName } from '../../ui/names.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Duration } from '../../ui/text/figures.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { reasonOf } from '../failures/groups.ts'
import type { Job, Row } from './use-jobs.ts'

export interface JobListProps {
  rows: readonly Row[]
  /** The job beside the list. */
  peeked: string | undefined
  onPeek: (id: string | undefined) => void
  onOpen: (id: string) => void
  selected: ReadonlySet<string>
  /** Undefined: this caller can change nothing. */
  onSelect: ((selected: ReadonlySet<string>) => void) | undefined
  /** More rows are wanted. */
  onEnd: () => void
}

const NARROW = '(max-width: 860px)'
const ROW = { wide: 34, narrow: 92 }

export function JobList(props: JobListProps) {
  const { rows, peeked, onSelect, selected, onEnd } = props
  const isNarrow = useMedia(NARROW)
  const list = useRef<HTMLDivElement>(null)
  const top = useTop(list)
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => (isNarrow ? ROW.narrow : ROW.wide),
    overscan: 12,
    scrollMargin: top,
    getItemKey: (index) => rows[index]?.job.id ?? index,
  })
  const items = virtual.getVirtualItems()
  const lastShown = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (lastShown >= rows.length - 20) onEnd()
  }, [lastShown, rows.length, onEnd])
  const cursor = useRowKeys(props, (index) => virtual.scrollToIndex(index, { align: 'auto' }))
  const isAll = rows.length > 0 && rows.every(({ job }) => selected.has(job.id))
  return (
    <div className={onSelect ? 'jobs can-pick' : 'jobs'} role="table" aria-label="Jobs" aria-rowcount={rows.length + 1}>
      <div className="jobs-head" role="row" aria-rowindex={1}>
        {onSelect && (
          <span role="cell" className="pick">
            <input
              type="checkbox"
              aria-label="Select all jobs that are shown"
              checked={isAll}
              onChange={() => onSelect(isAll ? new Set() : new Set(rows.map(({ job }) => job.id)))}
            />
          </span>
        )}
        {['state', 'job', 'type', 'queue', 'tenant', 'try', 'created', 'took', 'error, or why it ended'].map(
          (title) => (
            <span key={title} role="columnheader">
              {title}
            </span>
          ),
        )}
      </div>
      <div ref={list} role="rowgroup" className="jobs-body" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index]
          if (row === undefined) return null
          return (
            <JobRow
              key={item.key}
              row={row}
              index={item.index}
              style={{ height: item.size, transform: `translateY(${item.start - top}px)` }}
              isPeeked={row.job.id === peeked}
              isCursor={row.job.id === cursor.id}
              isPicked={selected.has(row.job.id)}
              onPick={onSelect && ((isRange) => cursor.pick(row.job.id, isRange))}
              onPeek={() =>
                isNarrow ? props.onOpen(row.job.id) : props.onPeek(row.job.id === peeked ? undefined : row.job.id)
              }
            />
          )
        })}
      </div>
    </div>
  )
}

interface JobRowProps {
  row: Row
  index: number
  style: React.CSSProperties
  isPeeked: boolean
  isCursor: boolean
  isPicked: boolean
  onPick: ((isRange: boolean) => void) | undefined
  onPeek: () => void
}

function JobRow({ row: { job, isGone }, index, style, isPeeked, isCursor, isPicked, onPick, onPeek }: JobRowProps) {
  const names = ['jobs-row', isPeeked && 'open', isCursor && 'cursor', isPicked && 'sel', isGone && 'gone']
  return (
    <div
      className={names.filter(Boolean).join(' ')}
      role="row"
      aria-rowindex={index + 2}
      style={style}
      title={isGone ? 'It has changed, and fits the search no more.' : undefined}
      {...(isCursor && { 'aria-current': true })}
      onClick={(event) => {
        if (!(event.target instanceof Element) || event.target.closest('a, input, button') === null) onPeek()
      }}
    >
      {onPick && (
        <span role="cell" className="pick">
          <input
            type="checkbox"
            aria-label={`Select job ${job.id}`}
            checked={isPicked}
            onChange={(event) => onPick((event.nativeEvent as MouseEvent).shiftKey)}
          />
        </span>
      )}
      <span role="cell" className="c-state">
        <StatusBadge status={statusOf(job)} />
      </span>
      <span role="cell" className="c-id">
        <Link to={`/jobs/${job.id}`} className="mono">
          {job.id}
        </Link>
      </span>
      <span role="cell" className="c-type">
        <TypeName name={job.type} />
      </span>
      <span role="cell" className="c-queue">
        <QueueName name={job.queue} plain />
      </span>
      <span role="cell" className="c-tenant">
        {job.tenant !== null && <TenantName name={job.tenant} plain />}
      </span>
      <span role="cell" className="c-try" title={`Attempt ${job.attempt} of ${job.maxAttempts}`}>
        {job.attempt}/{job.maxAttempts}
      </span>
      <span role="cell" className="c-created">
        <RelativeTime at={job.createdAt} />
      </span>
      <span role="cell" className="c-took">
        <Took job={job} />
      </span>
      <span role="cell" className="c-why" title={whyOf(job) ?? undefined}>
        {whyOf(job)}
      </span>
    </div>
  )
}

/** Of a dead job the error says more than the reason of its death; viewers may see no errors. */
const whyOf = ({ status, reason, lastError }: Job): string | null =>
  status === 'dead' ? (lastError ?? (reason && reasonOf(reason))) : (reason ?? lastError)

/** A job whose time has not come is no backlog. */
const statusOf = ({ status, runAt }: Job): string =>
  status === 'pending' && Date.parse(runAt) > Date.now() ? 'scheduled' : status

function Took({ job: { startedAt, finishedAt, status } }: { job: Job }) {
  if (status === 'processing' && startedAt !== null) return <Duration since={startedAt} />
  if (startedAt === null || finishedAt === null) return null
  return <Duration ms={Date.parse(finishedAt) - Date.parse(startedAt)} />
}

function useRowKeys(
  { rows, selected, onSelect, onPeek, onOpen, peeked }: JobListProps,
  scrollTo: (index: number) => void,
) {
  const [id, setId] = useState<string | null>(peeked ?? null)
  const anchor = useRef<string | null>(null)
  const position = rows.findIndex(({ job }) => job.id === id)
  const move = (by: number) => {
    const index = Math.max(0, Math.min(rows.length - 1, position === -1 ? 0 : position + by))
    const next = rows[index]?.job.id
    if (next === undefined) return
    setId(next)
    scrollTo(index)
    // An open panel follows the keys.
    if (peeked !== undefined) onPeek(next)
  }
  const pick = (key: string, isRange: boolean) => {
    const ids = rows.map(({ job }) => job.id)
    const [from, to] = [ids.indexOf(anchor.current ?? key), ids.indexOf(key)].sort((a, b) => a - b) as [number, number]
    const next = new Set(selected)
    if (isRange && from !== -1) for (const each of ids.slice(from, to + 1)) next.add(each)
    else if (!next.delete(key)) next.add(key)
    anchor.current = key
    onSelect?.(next)
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(onSelect && {
      x: () => id !== null && pick(id, false),
      X: () => id !== null && pick(id, true),
    }),
    o: () => id !== null && onPeek(id === peeked ? undefined : id),
    Enter: () => id !== null && onOpen(id),
    Escape: () => (peeked === undefined ? onSelect?.(new Set()) : onPeek(undefined)),
  })
  return { id, pick }
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => window.matchMedia(query).matches)
  useEffect(() => {
    const media = window.matchMedia(query)
    const change = () => setMatches(media.matches)
    media.addEventListener('change', change)
    return () => media.removeEventListener('change', change)
  }, [query])
  return matches
}

/** How far below the top of the page the rows begin. */
function useTop(element: React.RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const measure = () => {
      const found = element.current
      if (found) setTop(Math.round(found.getBoundingClientRect().top + window.scrollY))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [element])
  return top
}
