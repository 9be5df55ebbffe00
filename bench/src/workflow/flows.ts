// The workflows that are measured: a step with many trivial jobs and one that waits for all of them, as many steps
// declared one by one, and a chain.
import { defineJob, defineQueues, defineWorkflow, type WorkflowDefinition } from 'millrace'
import { z } from 'zod'

const payload = z.object({ n: z.number() })
const { workflow: queue } = defineQueues({ workflow: { concurrency: 50 } })

/** What both the steps and the plain jobs are. */
export const trivial = defineJob({ type: 'step', queue, payload })
/** What waits for all of them. */
export const last = defineJob({ type: 'last', queue, payload })

export const fanOut = defineWorkflow('fan-out', { input: payload })
  .each('each', trivial, {
    over: ({ input }) => Array.from({ length: input.n }, (_, n) => n),
    payload: ({ item }) => ({ n: item }),
  })
  .step('last', last, { after: 'each', payload: ({ results }) => ({ n: results.each.length }) })

/** Their number is known only at run time, so the compiler cannot follow them. */
interface Growing extends WorkflowDefinition {
  step(name: string, job: object, options: object): Growing
}

const begin = (name: string): Growing => defineWorkflow(name) as unknown as Growing
const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `step-${i}`)

export function chainOf(links: number): WorkflowDefinition {
  let flow = begin(`chain-${links}`)
  for (const [n, name] of numbered(links).entries()) {
    flow = flow.step(name, trivial, { ...(n > 0 && { after: `step-${n - 1}` }), payload: () => ({ n }) })
  }
  return flow
}

/** Steps side by side, and one that waits for all of them. */
export function wideOf(steps: number): WorkflowDefinition {
  const names = numbered(steps)
  let flow = begin(`wide-${steps}`)
  for (const [n, name] of names.entries()) flow = flow.step(name, trivial, { payload: () => ({ n }) })
  return flow.step('last', last, { after: names, payload: () => ({ n: steps }) })
}
