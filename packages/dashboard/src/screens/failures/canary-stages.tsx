// The three stages of a redrive with a canary.
import type { ReactNode } from 'react'
import { Meter } from '../../ui/chart/meter.tsx'
import { formatDuration, formatNumber } from '../../ui/text/format.ts'
import { canaryCounts } from './canary-words.ts'
import type { Report } from './operations.ts'

export function CanaryStages({ operation }: { operation: Report }) {
  const { canary, expected, rate, status, changed, already, refused } = operation
  if (canary === null) return <RestMeter operation={operation} />
  const isRest = canary.stage === 'passed' || canary.stage === 'skipped'
  const rest = Math.max(0, expected - canary.size)
  return (
    <ol className="stages">
      <Stage state={isRest ? 'done' : 'on'} title={`1 · Canary of ${canary.size}`}>
        <Five operation={operation} />
      </Stage>
      <Stage state={status === 'stopped' ? 'bad' : isRest ? 'done' : 'todo'} title="2 · Decide">
        {status === 'stopped'
          ? 'One has died, so the redrive stopped here.'
          : canary.stage === 'skipped'
            ? 'Somebody did not wait for the canary.'
            : canary.stage === 'passed'
              ? 'All have ended well.'
              : 'All must end well. If one dies, the redrive stops here.'}
      </Stage>
      <Stage state={isRest ? 'on' : 'todo'} title={`3 · The rest at ${rate}/s`}>
        {isRest ? (
          <>
            <RestMeter operation={operation} />
            {formatNumber(changed + already + refused)} of {formatNumber(expected)} dealt with
          </>
        ) : status !== 'running' ? (
          'It does not begin: these letters stay as they are.'
        ) : (
          `Begins by itself, takes at most ${formatDuration((rest / rate) * 1_000)}.`
        )}
      </Stage>
    </ol>
  )
}

function Stage({
  state,
  title,
  children,
}: {
  state: 'on' | 'done' | 'todo' | 'bad'
  title: string
  children: ReactNode
}) {
  return (
    <li className={state} {...(state === 'on' && { 'aria-current': 'step' })}>
      <b>{title}</b>
      {children}
    </li>
  )
}

const CELL: Record<string, string> = { completed: 'good', dead: 'bad', cancelled: 'off' }

function Five({ operation }: { operation: Report }) {
  const { canaries, canary } = operation
  const { completed, running, dead } = canaryCounts(operation)
  const cells = Array.from({ length: canary?.size ?? 0 }, (_, index) => CELL[canaries[index]?.status ?? ''] ?? 'run')
  const words = [`${completed} completed`, running > 0 && `${running} under way`, dead > 0 && `${dead} died`]
    .filter(Boolean)
    .join(', ')
  return (
    <>
      <span className="five" aria-hidden="true">
        {cells.map((cell, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the cells have no identity
          <i key={index} className={cell} />
        ))}
      </span>
      {words}
    </>
  )
}

function RestMeter({ operation: { expected, changed, already, refused } }: { operation: Report }) {
  return (
    <Meter share={expected === 0 ? 0 : (changed + already + refused) / expected} label="Letters that were dealt with" />
  )
}
