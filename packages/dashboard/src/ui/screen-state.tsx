// A screen whose data has not come yet, or did not come.
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorState, Skeleton, SkeletonRows } from './states.tsx'

export interface LoadedProps<Data> {
  /** The query without which the screen shows nothing. */
  of: UseQueryResult<Data>
  /** What is read: 'the schedules'. */
  what: string
  children: (data: Data) => ReactNode
}

/** Old data stays while new data is read, and when reading it failed: the frame says how old it is. */
export function Loaded<Data>({ of, what, children }: LoadedProps<Data>) {
  if (of.data !== undefined) return <>{children(of.data)}</>
  if (of.error) {
    return (
      <>
        <h1 className="verdict">This screen could not be read.</h1>
        <ErrorState what={`The server did not tell ${what}.`} error={of.error} onRetry={of.refetch} />
      </>
    )
  }
  return (
    <>
      <h1 className="verdict" aria-busy="true">
        <span className="vh">Reading {what}</span>
        <Skeleton width="60%" height={26} />
      </h1>
      <div className="panel flush">
        <SkeletonRows />
      </div>
    </>
  )
}
