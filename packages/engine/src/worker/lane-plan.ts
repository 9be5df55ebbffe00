// From what the program asks for to the lanes of a worker.
import { type Duration, toMs } from '../contract/duration.ts'
import type { JobContract } from '../contract/job.ts'
import { checkSlots } from '../contract/queue.ts'
import { suggestion } from '../did-you-mean.ts'
import { InvalidDefinition } from '../errors.ts'
import { Lane, LaneQueue, type LaneType } from './lane.ts'

export interface LaneOptions {
  /** How many of its jobs run at once in this process. */
  slots: number
  /** 'fast': only job types declared `speed: 'fast'`, so that slow work never takes its slots. Default 'any'. */
  takes?: 'any' | 'fast'
  /** The queues it serves, as names, or with their shares of the slots: { critical: 3, bulk: 1 }. Default: all. */
  queues?: readonly string[] | Readonly<Record<string, number>>
  /** For job types that neither say one themselves nor have one from their queue. Default 5 min. */
  timeout?: Duration
}

export interface LanePlan {
  /** Lanes by name. Default: one per queue, with the queue's own concurrency. */
  lanes?: Readonly<Record<string, LaneOptions>>
  /** Slots per queue, instead of the queue's own concurrency. Only without `lanes`. */
  concurrency?: Readonly<Record<string, number>>
  /** Jobs per claim of a lane at most. Default: its free slots, and what is worth prefetching. */
  batchSize?: number
  /** The longest wait before work is noticed while wake-ups cannot be trusted. Default: the queue's own. */
  pollInterval?: Duration
  /** Timeouts by job type, whatever the contracts say. */
  timeouts?: Readonly<Record<string, Duration>>
  /** When a run is called stuck. Default: at twice its timeout. */
  stuckAfter?: Duration
}

const DEFAULT_TIMEOUT: Duration = '5m'
const MAX_WEIGHT = 1_000

export function planLanes(plan: LanePlan, contracts: readonly JobContract[]): Lane[] {
  if (contracts.length === 0) throw new InvalidDefinition('work({ handlers }) got no handlers: nothing would run.')
  checkTypes(plan, contracts)
  if (plan.lanes === undefined) return lanePerQueue(plan, contracts)
  if (plan.concurrency !== undefined && Object.keys(plan.concurrency).length > 0)
    throw new InvalidDefinition(
      'work() got both lanes and concurrency: a lane says its slots itself. Pass one of them.',
    )
  const lanes = Object.entries(plan.lanes).map(([name, options]) => declaredLane(name, options, { plan, contracts }))
  demandAllTaken(lanes, contracts)
  return lanes
}

function lanePerQueue(plan: LanePlan, contracts: readonly JobContract[]): Lane[] {
  const types = laneTypes(plan, contracts, DEFAULT_TIMEOUT)
  const concurrency = plan.concurrency ?? {}
  const queues = new Map(contracts.map(({ queue }) => [queue.name, queue]))
  const unknown = Object.keys(concurrency).find((name) => !queues.has(name))
  if (unknown !== undefined)
    throw new InvalidDefinition(`work({ concurrency }) names queue "${unknown}", but no handler's job runs in it.`)
  return [...queues.values()].map(({ name, concurrency: own, pollIntervalMs, isCritical }) => {
    const slots = concurrency[name] ?? own
    checkSlots(slots, `work({ concurrency }) gives queue "${name}"`)
    const queue = laneQueue(plan, { name, weight: 1, pollIntervalMs, isCritical })
    return new Lane({ name, slots, queues: [queue], types, isSelective: false, batchSize: batchSizeOf(plan) })
  })
}

interface Planning {
  plan: LanePlan
  contracts: readonly JobContract[]
}

function declaredLane(name: string, options: LaneOptions, { plan, contracts }: Planning): Lane {
  checkSlots(options.slots, `Lane "${name}" has slots`)
  const { takes = 'any' } = options
  if (takes !== 'any' && takes !== 'fast')
    throw new InvalidDefinition(`Lane "${name}" takes ${JSON.stringify(takes)}: expected 'any' or 'fast'.`)
  const weights = weightsOf(name, options, contracts)
  const inReach = contracts.filter(({ queue }) => weights.has(queue.name))
  const taken = takes === 'fast' ? inReach.filter(({ speed }) => speed === 'fast') : inReach
  if (taken.length === 0) {
    throw new InvalidDefinition(
      `Lane "${name}" takes only fast job types, and none of its queues has one. Declare speed: 'fast' on a contract, or leave the lane out.`,
    )
  }
  const queues = new Map(taken.map(({ queue }) => [queue.name, queue]))
  return new Lane({
    name,
    slots: options.slots,
    queues: [...queues.values()].map(({ name: queue, pollIntervalMs, isCritical }) =>
      laneQueue(plan, { name: queue, weight: weights.get(queue) as number, pollIntervalMs, isCritical }),
    ),
    types: laneTypes(plan, taken, options.timeout ?? DEFAULT_TIMEOUT),
    isSelective: inReach.some((contract) => queues.has(contract.queue.name) && !taken.includes(contract)),
    batchSize: batchSizeOf(plan),
  })
}

/** The lane's queues and their shares. */
function weightsOf(lane: string, { queues }: LaneOptions, contracts: readonly JobContract[]): Map<string, number> {
  const known = [...new Set(contracts.map(({ queue }) => queue.name))]
  const named = queues === undefined ? known : Array.isArray(queues) ? (queues as string[]) : undefined
  const weights = new Map(named?.map((name) => [name, 1]) ?? Object.entries(queues as Record<string, number>))
  for (const [name, weight] of weights) {
    if (!known.includes(name)) {
      throw new InvalidDefinition(
        `Lane "${lane}" names queue "${name}", but no handler's job runs in it.${suggestion(name, known)}`,
      )
    }
    if (!Number.isInteger(weight) || weight < 1 || weight > MAX_WEIGHT) {
      throw new InvalidDefinition(
        `Lane "${lane}" gives queue "${name}" the share ${weight}: expected an integer from 1 to ${MAX_WEIGHT}.`,
      )
    }
  }
  if (weights.size === 0) throw new InvalidDefinition(`Lane "${lane}" names no queue: leave \`queues\` out for all.`)
  return weights
}

function laneQueue(plan: LanePlan, options: ConstructorParameters<typeof LaneQueue>[0]): LaneQueue {
  if (plan.pollInterval === undefined) return new LaneQueue(options)
  const pollIntervalMs = toMs(plan.pollInterval, 'pollInterval')
  if (pollIntervalMs < 10) throw new InvalidDefinition(`pollInterval is ${pollIntervalMs} ms: 10 ms is the least.`)
  return new LaneQueue({ ...options, pollIntervalMs })
}

function laneTypes(plan: LanePlan, contracts: readonly JobContract[], fallback: Duration): LaneType[] {
  return contracts.map(({ type, timeoutMs: declared }) => {
    const own = plan.timeouts?.[type]
    const timeoutMs =
      own === undefined ? (declared ?? toMs(fallback, 'A lane’s timeout')) : toMs(own, `timeouts["${type}"]`)
    if (timeoutMs === 0) throw new InvalidDefinition(`The timeout of job "${type}" is 0: expected a time above 0.`)
    const stuckAfterMs = plan.stuckAfter === undefined ? timeoutMs * 2 : toMs(plan.stuckAfter, 'stuckAfter')
    if (stuckAfterMs <= timeoutMs) {
      throw new InvalidDefinition(
        `stuckAfter is ${stuckAfterMs} ms, but job "${type}" may take ${timeoutMs} ms: it must be longer than every timeout.`,
      )
    }
    return { type, timeoutMs, stuckAfterMs }
  })
}

function batchSizeOf({ batchSize }: LanePlan): number {
  if (batchSize === undefined) return Number.POSITIVE_INFINITY
  if (!Number.isInteger(batchSize) || batchSize < 1)
    throw new InvalidDefinition(`batchSize is ${batchSize}: expected an integer from 1.`)
  return batchSize
}

function checkTypes({ timeouts = {} }: LanePlan, contracts: readonly JobContract[]): void {
  const known = contracts.map(({ type }) => type)
  const twice = known.find((type, i) => known.indexOf(type) !== i)
  if (twice !== undefined) throw new InvalidDefinition(`Job type "${twice}" has two handlers in work({ handlers }).`)
  const unknown = Object.keys(timeouts).find((type) => !known.includes(type))
  if (unknown !== undefined) {
    throw new InvalidDefinition(
      `work({ timeouts }) names job type "${unknown}", which has no handler here.${suggestion(unknown, known)}`,
    )
  }
}

/** A type that no lane takes would wait for ever, and nobody would know why. */
function demandAllTaken(lanes: readonly Lane[], contracts: readonly JobContract[]): void {
  const taken = new Set(lanes.flatMap((lane) => lane.types.map(({ type }) => type)))
  const left = contracts.find(({ type }) => !taken.has(type))
  if (left === undefined) return
  throw new InvalidDefinition(
    `No lane takes job "${left.type}" of queue "${left.queue.name}": it would never run. Give a lane that takes any type this queue.`,
  )
}
