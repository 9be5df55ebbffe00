// Whether and when a step starts whose turn has come: its condition, and its delay.
import { types } from 'node:util'
import { type Duration, toMs } from '../contract/duration.ts'
import type { StepScope } from './definition.ts'

/** How long to wait, or until when. */
export type Delay<S> = Duration | ((scope: S) => Duration | Date)

export interface StartRules<S> {
  /** Asked once, when the step could start. False: it is skipped, and what needs it too. */
  when?: (scope: S) => boolean
  /** Its jobs are enqueued at once and due so much later, or at that time. */
  delay?: Delay<S>
}

export const CONDITION_NOT_MET = 'its condition was not met'

/** Why they cannot be used; undefined: they can. */
export function problemOf({ when, delay }: { when?: unknown; delay?: unknown }): string | undefined {
  if (when !== undefined && typeof when !== 'function') return 'has a condition that is no function.'
  if (delay !== undefined && typeof delay !== 'function') toMs(delay as Duration, 'delay')
  return undefined
}

export function isMet(step: string, when: (scope: StepScope) => unknown, scope: StepScope): boolean {
  const answer = when(scope)
  if (typeof answer === 'boolean') return answer
  // A promise would always pass for a yes.
  throw new Error(`\`when\` of step "${step}" returned no boolean: it computes from input and results, at once.`)
}

/** As the options of an enqueue take it. */
export function dueOf(delay: Delay<StepScope> | undefined, scope: StepScope): { delay: Duration } | { runAt: Date } {
  const due = typeof delay === 'function' ? delay(scope) : (delay ?? 0)
  return types.isDate(due) ? { runAt: due } : { delay: due }
}
