// What a screen shows instead of data: while it loads, when there is none, and when reading it failed.
import { AdminError } from '@millrace/admin/contract'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

/** In the size of what comes, so that nothing moves when it does. */
export const Skeleton = ({ height = 16, width = '100%' }: { height?: number | string; width?: number | string }) => (
  <span className="skeleton" style={{ height, width }} aria-hidden="true" />
)

/** Lines of a table or list that is loading. */
export function SkeletonRows({ rows = 6, height = 20 }: { rows?: number; height?: number }) {
  return (
    <div role="status" style={{ display: 'grid', gap: 14, padding: 16 }}>
      <span className="vh">Loading</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
        <Skeleton key={row} height={height} width={`${94 - ((row * 17) % 30)}%`} />
      ))}
    </div>
  )
}

export interface EmptyStateProps {
  /** What is so: "No jobs match." */
  title: string
  /** Why that may be, and what to do. */
  children?: ReactNode
  action?: ReactNode
}

export const EmptyState = ({ title, children, action }: EmptyStateProps) => (
  <div className="empty">
    <h2>{title}</h2>
    {children}
    {action}
  </div>
)

export interface ErrorStateProps {
  error: unknown
  /** What could not be done: "The failures could not be read." */
  what: string
  onRetry?: () => unknown
}

/** The server's own sentence, which says what happened and what to do. */
export function ErrorState({ error, what, onRetry }: ErrorStateProps) {
  const requestId = error instanceof AdminError ? error.requestId : null
  return (
    <div className="trouble" role="alert">
      <Icon name="fail" />
      <p>
        <b>{what}</b>
      </p>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
      <p>{sentenceOf(error)}</p>
      {requestId && (
        <p className="note">
          Request <span className="mono">{requestId}</span>
        </p>
      )}
    </div>
  )
}

/** For people: problem+json carries a sentence, a failed fetch does not. */
export function sentenceOf(error: unknown): string {
  if (error instanceof AdminError) return error.message
  if (error instanceof TypeError) return 'The server did not answer. See whether it runs and whether you are online.'
  return error instanceof Error ? error.message : String(error)
}
