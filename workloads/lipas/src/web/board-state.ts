// How the work stands now: lanes with their slots, what waits, breakers, and what the outside world has received last.
import type { Breaker, Millrace, WorkerState } from 'millrace'
import { services } from '../contracts.ts'
import { readSandbox, type Trouble } from '../sandbox/trouble.ts'
import type { LipasSystem } from '../system.ts'
import { latestDeliveries } from '../utp/deliveries.ts'

export interface Lane {
  readonly name: string
  readonly slots: number
  readonly running: number
}

export interface Waiting {
  readonly type: string
  readonly due: number
  /** Not due yet: for their retry, or held by a breaker. */
  readonly later: number
  readonly running: number
  readonly dead: number
  readonly oldestDueAt: Date | null
}

export interface Lamp {
  readonly service: string
  readonly state: Breaker['state']
  /** In a row. */
  readonly failures: number
  /** How many open it. */
  readonly limit: number
  readonly nextTryAt: Date | null
}

export interface Received {
  readonly at: Date
  readonly what: string
  readonly note: string
}

export interface BoardState {
  readonly workers: number
  readonly lanes: readonly Lane[]
  readonly waiting: readonly Waiting[]
  readonly lamps: readonly Lamp[]
  /** Undefined: mails go to a real server. */
  readonly mails: readonly Received[] | undefined
  readonly partner: readonly Received[]
  /** Undefined: there is no sandbox. */
  readonly troubles: ReadonlyMap<Trouble, boolean> | undefined
}

const SHOWN = 4

export async function boardState(system: LipasSystem, millrace: Millrace): Promise<BoardState> {
  const [workers, stats, breakers, sandbox] = await Promise.all([
    millrace.workers.list(),
    millrace.stats(),
    millrace.breakers.list(),
    sandboxState(system),
  ])
  return {
    workers: workers.length,
    lanes: lanesOf(workers),
    waiting: stats.types.flatMap(({ type, queue, due, waiting, running, dead, oldestDueAt }) =>
      type === null || queue !== 'lipas' ? [] : [{ type, due, later: waiting - due, running, dead, oldestDueAt }],
    ),
    lamps: Object.values(services).flatMap(({ name }) =>
      breakers.filter(({ service }) => service === name).map(lampOf),
    ),
    mails: sandbox?.mails.slice(0, SHOWN).map(({ at, to, subject }) => ({ at: new Date(at), what: subject, note: to })),
    partner: sandbox === undefined ? await deliveries(system) : sandbox.partner.slice(0, SHOWN).map(partnerCall),
    troubles: sandbox?.troubles,
  }
}

/** Undefined also while the sandbox does not answer: the rest of the board is still true. */
async function sandboxState({ sandboxUrl, logger }: LipasSystem) {
  if (sandboxUrl === undefined) return undefined
  return readSandbox(sandboxUrl).catch((error: unknown) => {
    logger.warn({ err: error }, 'the sandbox could not be asked what it received')
    return undefined
  })
}

/** Of all processes together, in the order in which the first one declares them. */
function lanesOf(workers: readonly WorkerState[]): Lane[] {
  const lanes = new Map<string, Lane>()
  for (const { name, slots, running } of workers.flatMap(({ report }) => report?.lanes ?? [])) {
    const sum = lanes.get(name) ?? { name, slots: 0, running: 0 }
    lanes.set(name, { name, slots: sum.slots + slots, running: sum.running + running })
  }
  return [...lanes.values()]
}

const lampOf = ({ service, state, failureCount, settings, nextProbeAt }: Breaker): Lamp => ({
  ...{ service, state, failures: failureCount, limit: settings.failures, nextTryAt: nextProbeAt },
})

async function deliveries({ database }: LipasSystem): Promise<Received[]> {
  const rows = await latestDeliveries(database, SHOWN)
  return rows.map(({ sentAt, objects, operationType, jobId, status }) => ({
    at: sentAt,
    what: `${objects} ${objects === 1 ? 'object' : 'objects'}, ${operationType ?? 'no operation named'}`,
    note: `job ${jobId}, answered ${status}`,
  }))
}

const partnerCall = ({
  at,
  webhookId,
  objects,
  deliveries: times,
}: {
  at: string
  webhookId: string
  objects: string[]
  deliveries: number
}): Received => ({
  at: new Date(at),
  what: objects.length > 3 ? `${objects.slice(0, 3).join(', ')} and ${objects.length - 3} more` : objects.join(', '),
  note: times > 1 ? `job ${webhookId}, delivered ${times} times, counted once` : `job ${webhookId}`,
})
