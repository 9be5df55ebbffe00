// Workflows of jobs that say what they did, and do what the test tells them to.
import {
  defineJob,
  defineQueues,
  type Handler,
  type Implementation,
  implement,
  type WorkflowDefinition,
} from 'millrace'
import { z } from 'zod'
import { type Setup, setup, shortLease } from '../support/setup.ts'

export const queues = defineQueues({ steps: { retry: { attempts: 1 } }, tenants: { tenant: 'required' } })

export const work = defineJob({
  type: 'work',
  queue: queues.steps,
  payload: z.object({ name: z.string() }),
  result: z.object({ did: z.string() }),
})
export const undo = defineJob({ type: 'undo', queue: queues.steps, payload: z.object({ name: z.string() }) })

export interface Deeds {
  /** In the order in which they were done. */
  readonly done: string[]
  work?: Handler<typeof work>
  undo?: Handler<typeof undo>
}

export const named = (name: string) => ({ payload: () => ({ name }) })

export const undone = {
  undo: { job: undo, payload: ({ result }: { result: { did: string } }) => ({ name: result.did }) },
}

export function handlersOf(deeds: Deeds): Implementation[] {
  return [
    implement(work, async (payload, ctx) => {
      const result = (await deeds.work?.(payload, ctx)) ?? { did: payload.name }
      deeds.done.push(payload.name)
      return result as { did: string }
    }),
    implement(undo, async (payload, ctx) => {
      const result = await deeds.undo?.(payload, ctx)
      deeds.done.push(`undo ${payload.name}`)
      return result
    }),
  ]
}

/** A client with a worker, and these workflows. */
export async function running(workflows: readonly WorkflowDefinition[], deeds: Deeds, made?: Setup) {
  const t = made ?? (await setup())
  const millrace = t.client([work, undo], { workflows })
  const worker = await millrace.work({ handlers: handlersOf(deeds), lease: shortLease, gracePeriod: '5s' })
  return {
    ...t,
    millrace,
    worker,
    workflows: millrace.workflows,
    [Symbol.asyncDispose]: () => t[Symbol.asyncDispose](),
  }
}

/** What became of each step. */
export async function statuses(
  workflows: { get(id: string): Promise<{ steps: { name: string; status: string }[] } | undefined> },
  id: string,
): Promise<Record<string, string>> {
  const found = await workflows.get(id)
  return Object.fromEntries(found?.steps.map(({ name, status }) => [name, status]) ?? [])
}
