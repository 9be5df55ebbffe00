// The workflows that are raced. What each part of one does is in the workflow's input.
import { defineJob, defineQueues, defineWorkflow, type WorkflowDefinition } from 'millrace'

interface FlowInput {
  /** The workflow's number, as whoever starts it made it up. */
  n: string
  /** Names of the steps that fail. */
  fails: readonly string[]
  ms: number
  /** Its parts end when others do. */
  isTogether: boolean
}

export interface Part {
  /** Of which there must be one job: the workflow, the step, the item, and whether it is undone. */
  n: string
  ms: number
  isTogether: boolean
  isFailing: boolean
}

const shapeOf = <Value>() => ({
  '~standard': {
    version: 1 as const,
    vendor: 'millrace-faults',
    validate: (value: unknown) => ({ value: value as Value }),
    types: undefined as unknown as { input: Value; output: Value },
  },
})

const { parts: queue } = defineQueues({
  parts: { concurrency: 12, pollInterval: '250ms', retry: { attempts: 1 }, timeout: '60s' },
})
export const part = defineJob({ type: 'part', queue, payload: shapeOf<Part>() })

const input = shapeOf<FlowInput>()
const work =
  (step: string) =>
  ({ input: { n, fails, ms, isTogether }, index = 0 }: { input: FlowInput; index?: number }): Part => ({
    n: `${n}/${step}/${index}/do`,
    ms,
    isTogether,
    // Of a step with many jobs one fails: there is something to undo and something that is not.
    isFailing: fails.includes(step) && index === 0,
  })
const undo = {
  job: part,
  payload: ({ payload }: { payload: Part }): Part => ({
    n: payload.n.replace(/do$/, 'undo'),
    ms: 0,
    isTogether: payload.isTogether,
    isFailing: false,
  }),
}

const diamond = defineWorkflow('diamond', { input })
  .step('top', part, { payload: work('top'), undo })
  .step('left', part, { payload: work('left'), after: 'top', undo })
  .step('right', part, { payload: work('right'), after: 'top', undo })
  .step('bottom', part, { payload: work('bottom'), after: ['left', 'right'], undo })
  .step('end', part, { payload: work('end'), after: 'bottom' })

const ROOMS = 5
const saga = defineWorkflow('saga', { input })
  .each('rooms', part, { over: () => Array.from({ length: ROOMS }), payload: work('rooms'), undo })
  .step('extra', part, { payload: work('extra'), after: 'rooms', undo })
  .step('mail', part, { payload: work('mail'), after: { extra: 'skip' }, onFailure: 'continue' })
  .step('pay', part, { payload: work('pay'), after: { rooms: 'fail', extra: 'continue' } })

/** As a library's user would build it, step by step. */
interface Growing extends WorkflowDefinition {
  step(name: string, job: typeof part, options: object): Growing
}

/** Their number is of no interest to the compiler. */
function wide(parents: number): WorkflowDefinition<typeof input> {
  const names = Array.from({ length: parents }, (_, i) => `parent-${i}`)
  let flow = defineWorkflow('wide', { input, onFailure: 'stop' }) as unknown as Growing
  for (const name of names) flow = flow.step(name, part, { payload: work(name) })
  return flow.step('last', part, { payload: work('last'), after: names }) as never
}

const FAN_IN = 20
export const flows = { diamond, saga, wide: wide(FAN_IN) }
export type FlowName = keyof typeof flows

/** Which steps may be told to fail. */
export const mayFail: Record<FlowName, readonly string[]> = {
  diamond: ['right', 'bottom', 'end'],
  saga: ['rooms', 'extra', 'mail', 'pay'],
  wide: ['parent-7'],
}
