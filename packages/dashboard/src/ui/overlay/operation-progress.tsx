// How far a change to many things is.
import { useEffect, useState } from 'react'
import { Meter } from '../chart/meter.tsx'
import { Skeleton } from '../states.tsx'
import { formatNumber } from '../text/format.ts'

export interface Progress {
  readonly changed: number
  readonly already: number
  readonly refused: number
  readonly expected: number
  readonly isOver: boolean
  /** It ended before it was done: a sentence. */
  readonly failure?: string | null
  /** Why it does not get on: a sentence. */
  readonly waits?: string | null
}

const EVERY_MS = 700

/** Asks until it is over. A failed question is asked again: the operation goes on without us. */
export function useProgress(
  id: string | null,
  follow: ((id: string) => Promise<Progress>) | undefined,
): Progress | null {
  const [progress, setProgress] = useState<Progress | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: one loop for each operation
  useEffect(() => {
    if (id === null || follow === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isCurrent = true
    const look = async () => {
      const answer = await follow(id).catch(() => null)
      if (!isCurrent) return
      if (answer !== null) setProgress(answer)
      if (answer?.isOver !== true) timer = setTimeout(look, EVERY_MS)
    }
    look()
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [id])
  return progress
}

export function OperationProgress({ progress }: { progress: Progress | null }) {
  if (progress === null) return <Skeleton height={40} />
  const { changed, already, refused, expected, isOver, failure, waits } = progress
  const done = changed + already + refused
  const share = isOver && !failure ? 1 : expected === 0 ? 0 : done / expected
  return (
    <div className="progress" role="status">
      <Meter share={share} label="Progress" tone={failure ? 'fail' : isOver ? 'ok' : 'queue'} />
      <p>
        <b>{formatNumber(changed)}</b> of {formatNumber(expected)} changed
        {already > 0 && `, ${formatNumber(already)} already so`}
        {refused > 0 && `, ${formatNumber(refused)} refused`}
        {isOver && !failure && '. Done.'}
      </p>
      {(failure ?? waits) && <p className={failure ? 't-fail' : 'note'}>{failure ?? waits}</p>}
    </div>
  )
}
