// Awaiting the end of a workflow: an event of this process says it, and polling behind it at growing intervals would alone do.
import { monotonicMs } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { WorkflowNotFound, WorkflowTimeout } from '../errors.ts'
import type { Events } from '../events.ts'
import type { Database } from '../store/db.ts'
import { workflowItemList } from '../store/workflow-items.ts'
import { workflowSignalList } from '../store/workflow-waits.ts'
import { workflowStatus, workflowStepList } from '../store/workflows.ts'
import { hasEnded } from '../workflow/decide.ts'
import type { Definitions } from '../workflow/definitions.ts'
import type { WorkflowStatus } from '../workflow/graph.ts'
import { shown } from './protect.ts'

/** How a workflow ended. */
export interface EndedWorkflow {
  status: WorkflowStatus
  /** Why it did not complete. */
  reason: string | null
  /**
   * What the steps that none comes after have returned, as far as they completed; of one with many jobs, a list. Nothing
   * encrypted is decrypted.
   */
  results: Readonly<Record<string, unknown>>
}

interface EndServices {
  db: Database
  events: Events
  registry: Registry
  definitions: Definitions
}

const POLL_MS = [50, 100, 250, 500, 1_000] as const
const ENDS = [
  'workflow_completed',
  'workflow_failed',
  'workflow_cancelled',
  'workflow_rolled_back',
  'workflow_rollback_failed',
] as const

export async function awaitWorkflow(
  services: EndServices,
  id: string,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal | undefined },
): Promise<EndedWorkflow> {
  const endMs = monotonicMs() + timeoutMs
  const bell = new Bell(services.events, id, signal)
  try {
    for (let looks = 0; ; looks++) {
      signal?.throwIfAborted()
      const workflow = await workflowStatus(services.db, id)
      if (workflow === undefined) throw new WorkflowNotFound(id)
      const { name, status, reason } = workflow
      if (hasEnded(status)) return { status, reason, results: await resultsOf(services, { id, name }) }
      const leftMs = endMs - monotonicMs()
      if (leftMs <= 0) throw new WorkflowTimeout(id, timeoutMs, status)
      await bell.rung(Math.min(leftMs, POLL_MS[Math.min(looks, POLL_MS.length - 1)] as number))
    }
  } finally {
    bell.close()
  }
}

/** Rings when this process has seen the workflow's end, or nobody wants to know any more. */
class Bell {
  readonly #offs: (() => void)[]
  #wake = () => {}
  #hasRung = false

  constructor(events: Events, id: string, signal: AbortSignal | undefined) {
    const ring = () => {
      this.#hasRung = true
      this.#wake()
    }
    signal?.addEventListener('abort', ring)
    this.#offs = [
      ...ENDS.map((name) => events.on(name, ({ workflow }) => workflow.id === id && ring())),
      () => signal?.removeEventListener('abort', ring),
    ]
  }

  /** It keeps the process alive, as a pending answer should. */
  async rung(withinMs: number): Promise<void> {
    if (!this.#hasRung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#hasRung = false
  }

  close(): void {
    for (const off of this.#offs) off()
  }
}

async function resultsOf(
  services: EndServices,
  { id, name }: { id: string; name: string },
): Promise<Record<string, unknown>> {
  const { db, registry, definitions } = services
  const steps = await workflowStepList(db, id)
  const before = new Set(steps.flatMap(({ after }) => Object.keys(after)))
  const last = steps.map((step, i) => ({ ...step, position: i + 1 })).filter((step) => !before.has(step.name))
  const positions = last.filter(({ status }) => status === 'completed').map(({ position }) => position)
  const items = await workflowItemList(db, id, positions, { kind: 'do', status: 'completed' })
  const results: Record<string, unknown> = {}
  const signals = last.some(({ kind }) => kind === 'signal') ? await workflowSignalList(db, id) : []
  for (const { name: step, kind, childId, position, isList } of last.filter((each) =>
    positions.includes(each.position),
  )) {
    const type = definitions.typeOf(name, step) ?? ''
    const values = items
      .filter((each) => each.position === position)
      .map(({ result, hasResult }) => (hasResult ? shown(registry, type, result) : undefined))
    if (kind === 'workflow') {
      if (childId !== null)
        results[step] = await resultsOf(services, { id: childId, name: definitions.childOf(name, step) })
      continue
    }
    const signal = signals.find((each) => each.name === step)
    if (signal !== undefined) results[step] = shown(registry, '', signal.payload ?? undefined)
    else results[step] = isList ? values : values[0]
  }
  return results
}
