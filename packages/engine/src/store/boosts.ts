// Jobs that have waited for long come up.
import type { Now } from '../clock.ts'
import type { BoostStep } from '../contract/boost.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'

export interface QueueBoost {
  readonly queue: string
  /** Shortest wait first. */
  readonly steps: readonly BoostStep[]
}

export interface Boosted {
  queue: string
  jobs: number
}

/** `key`: of the lock under which one process at a time does this; nothing happens while another does. */
export function jobBoost(
  session: Session,
  now: Now,
  { key, queues, most }: { key: string; queues: readonly QueueBoost[]; most: number },
): Promise<Boosted[]> {
  return session.run('jobBoost', [now, key, ...columns(queues), most])
}

/** `behind`: by queue, the tenant behind which to begin; answers with where to go on. */
export function jobBoostShared(
  session: Session,
  now: Now,
  request: {
    key: string
    queues: readonly QueueBoost[]
    most: number
    behind: ReadonlyMap<string, string>
    tenants: number
  },
): Promise<(Boosted & { behind: string | null })[]> {
  const { key, queues, most, behind, tenants } = request
  const starts = queues.flatMap(({ queue, steps }) => steps.map(() => behind.get(queue) ?? ''))
  return session.run('jobBoostShared', [now, key, ...columns(queues), most, textArray(starts), tenants])
}

function columns(queues: readonly QueueBoost[]): [string, string, string, string] {
  const rows = queues.flatMap(({ queue, steps }) =>
    steps.map(({ afterMs, priority }, i) => ({
      queue,
      afterMs,
      priority,
      untilMs: steps[i + 1]?.afterMs ?? 'infinity',
    })),
  )
  return [
    textArray(rows.map(({ queue }) => queue)),
    plainArray(rows.map(({ afterMs }) => afterMs)),
    plainArray(rows.map(({ untilMs }) => untilMs)),
    plainArray(rows.map(({ priority }) => priority)),
  ]
}
