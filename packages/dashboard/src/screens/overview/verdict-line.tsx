// The verdict on the platform, in a sentence.
import type { ReactNode } from 'react'
import { capitalised, counted, formatDuration, spelt } from '../../ui/text/format.ts'
import { Em, Verdict } from '../../ui/verdict.tsx'
import { becauseOf, type QueueState } from './queue-state.ts'

export interface VerdictLineProps {
  states: readonly QueueState[]
  /** How many things need attention, besides the queues. */
  others: number
  facts: readonly ReactNode[]
}

export function VerdictLine({ states, others, facts }: VerdictLineProps) {
  const late = states.filter(({ state }) => state === 'late' || state === 'unserved')
  const paused = states.filter(({ state, vitals }) => state === 'paused' && vitals.due > 0)
  return (
    <Verdict facts={facts}>
      {late.length > 0 ? <Late late={late} of={states.length} /> : calm(states, paused, others)}
    </Verdict>
  )
}

/** So many are named; the others are counted. */
const NAMED = 2

function Late({ late, of }: { late: readonly QueueState[]; of: number }) {
  const named = late.slice(0, NAMED)
  const rest = late.length - named.length
  return (
    <>
      {of === 1
        ? 'The only queue is late'
        : `${capitalised(spelt(late.length))} of ${spelt(of)} queues ${late.length === 1 ? 'is' : 'are'} late`}
      {': '}
      {named.map(({ vitals, cause, state }, index) => (
        <span key={vitals.queue}>
          {index > 0 && (rest > 0 ? ', ' : ', and ')}
          <Em tone={state === 'unserved' ? 'fail' : 'late'}>{vitals.queue}</Em> waits{' '}
          {formatDuration(vitals.oldestDueMs ?? vitals.latencyP95Ms ?? 0)} {becauseOf(cause)}
        </span>
      ))}
      {rest > 0 && `, and ${counted(rest, 'other')}`}.
    </>
  )
}

function calm(states: readonly QueueState[], paused: readonly QueueState[], others: number): ReactNode {
  const all =
    states.length === 1
      ? 'The queue is'
      : states.length === 2
        ? 'Both queues are'
        : `All ${spelt(states.length)} queues are`
  const [first] = paused
  if (first !== undefined) {
    const rest = states.length - paused.length
    return (
      <>
        <Em>{first.vitals.queue}</Em> {paused.length > 1 && `and ${counted(paused.length - 1, 'other queue')} `}
        {paused.length > 1 ? 'are' : 'is'} paused with {counted(first.vitals.due, 'job')} due;{' '}
        {rest === 0 ? 'no other queue is open' : `the other ${rest === 1 ? 'queue is' : `${spelt(rest)} are`} on time`}.
      </>
    )
  }
  if (others > 0) {
    return (
      <>
        {all} on time, but <Em>{others === 1 ? 'one thing needs' : `${spelt(others)} things need`} attention</Em>.
      </>
    )
  }
  return (
    <>
      {all} <Em tone="ok">on time</Em>, and nothing needs you.
    </>
  )
}
