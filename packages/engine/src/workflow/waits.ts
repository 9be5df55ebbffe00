// The steps of a workflow without jobs: they wait for a signal, or for a time. One that is over is a fact that whoever
// advances finds; what follows is decided as after the end of jobs.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { runAtOf } from '../client/enqueue-options.ts'
import type { Now } from '../clock.ts'
import { toMs } from '../contract/duration.ts'
import type { Session } from '../store/db.ts'
import { workflowWaitBegin, workflowWaitList } from '../store/workflow-waits.ts'
import type { StepRow } from '../store/workflows.ts'
import type { StepDefinition, StepScope, WorkflowDefinition } from './definition.ts'
import { type Delay, dueOf } from './start-rules.ts'
import type { Steps } from './steps.ts'

/** For what a step without jobs waits. */
export interface WaitDefinition {
  readonly kind: 'signal' | 'sleep' | 'workflow'
  /** Of a signal: what comes with it; undefined: nothing. */
  readonly payload: StandardSchemaV1 | undefined
  /** When a sleep is over, and when a signal has not come in time. */
  readonly due: Delay<StepScope> | undefined
  /** Of a step that is a workflow. */
  readonly workflow?: WorkflowDefinition
  readonly input?: (scope: StepScope) => unknown
}

export const isWait = ({ kind }: Pick<StepRow, 'kind'>): boolean => kind === 'signal' || kind === 'sleep'

const TOO_LATE = 'no signal came in time'

export class Waits {
  readonly #session: Session
  readonly #now: Now
  readonly #workflowId: string
  readonly #steps: Steps
  /** Of those that began to wait. */
  dueInMs: number | null = null

  constructor(session: Session, now: Now, { id, steps }: { id: string; steps: Steps }) {
    this.#session = session
    this.#now = now
    this.#workflowId = id
    this.#steps = steps
  }

  /** Takes note of those that are over, and returns them. */
  async end(): Promise<StepRow[]> {
    if (!this.#steps.rows.some((step) => isWait(step) && step.status === 'running')) return []
    const over = await workflowWaitList(this.#session, this.#now, this.#workflowId)
    const ended: StepRow[] = []
    for (const step of this.#steps.rows) {
      const found = over.find(({ position }) => position === step.position)
      if (found === undefined) continue
      if (found.hasSignal || step.kind === 'sleep') this.#complete(step)
      else Object.assign(step, { status: 'failed', reason: TOO_LATE })
      ended.push(step)
    }
    return ended
  }

  async begin(step: StepRow, due: { delayMs: number | null; at: Date | null }): Promise<void> {
    const place = { workflowId: this.#workflowId, position: step.position }
    const { dueInMs, hasSignal } = await workflowWaitBegin(this.#session, this.#now, { ...place, ...due })
    step.reason = null
    if (hasSignal || (step.kind === 'sleep' && (dueInMs ?? 0) <= 0)) return this.#complete(step)
    step.status = 'running'
    if (dueInMs !== null) this.dueInMs = Math.min(Math.max(dueInMs, 0), this.dueInMs ?? Number.POSITIVE_INFINITY)
  }

  #complete(step: StepRow): void {
    step.status = 'completed'
    step.completedAs = this.#steps.nextPlace()
  }
}

/** Until when a step waits, as its definition says. */
export function waitsUntil({ wait }: StepDefinition, scope: StepScope): { delayMs: number | null; at: Date | null } {
  const due = wait?.due
  if (due === undefined) return { delayMs: null, at: null }
  const options = dueOf(due, scope)
  if ('runAt' in options) return { delayMs: null, at: runAtOf(options) }
  return { delayMs: toMs(options.delay, 'delay'), at: null }
}
