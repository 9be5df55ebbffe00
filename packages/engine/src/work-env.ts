// Settings of a worker from WORKER_* variables, so that a deployment can be tuned without a build.
//
// | WORKER_FAST_THREADS, WORKER_GENERAL_THREADS | slots of the lanes `fast` and `general` |
// | WORKER_FAST_TIMEOUT_MINUTES, WORKER_SLOW_TIMEOUT_MINUTES | timeouts of those lanes |
// | WORKER_<TYPE>_TIMEOUT_MINUTES | timeout of a job type, written in capitals with _ for everything else |
// | WORKER_STUCK_JOB_TIMEOUT_MINUTES | when a run is called stuck |
// | WORKER_BATCH_SIZE, WORKER_POLL_INTERVAL_MS | jobs per claim; the longest wait while wake-ups cannot be trusted |
// | WORKER_MEMORY_THRESHOLD_PERCENT, WORKER_MEMORY_CHECK_INTERVAL_MS | when to stop claiming; how often to look |
// | WORKER_TRACES | `link` or `parent`: how the span of a run belongs to the one that enqueued its job |
import type { Duration } from './contract/duration.ts'
import type { JobContract } from './contract/job.ts'
import { suggestion } from './did-you-mean.ts'
import { InvalidDefinition } from './errors.ts'
import type { LaneOptions } from './worker/lane-plan.ts'
import type { MemoryOptions, WorkOptions } from './worker/work-options.ts'

type Env = Readonly<Record<string, string | undefined>>

/** What a program says of its workers, besides their handlers. */
export type WorkSettings = Omit<WorkOptions, 'handlers' | 'queues' | 'middleware' | 'concurrency' | 'gracePeriod'>

const LANES = {
  fast: { slots: 'WORKER_FAST_THREADS', timeout: 'WORKER_FAST_TIMEOUT_MINUTES' },
  general: { slots: 'WORKER_GENERAL_THREADS', timeout: 'WORKER_SLOW_TIMEOUT_MINUTES' },
} as const

/** The two lanes that the variables switch on where a program declares none. */
const FAST_AND_GENERAL = {
  fast: { slots: 3, takes: 'fast', timeout: '2m' },
  general: { slots: 5, timeout: '20m' },
} as const satisfies Record<string, LaneOptions>

const TYPE_TIMEOUT = /^WORKER_(.+)_TIMEOUT_MINUTES$/
const NOT_A_TYPE = new Set(['FAST', 'SLOW', 'STUCK_JOB'])

/** `declared` with what the environment says instead. Pass the result on to `work()`. */
export function workSettingsFrom(env: Env, jobs: readonly JobContract[], declared: WorkSettings = {}): WorkSettings {
  refuseMisspelt(env)
  const stuckAfter = minutes(env, 'WORKER_STUCK_JOB_TIMEOUT_MINUTES')
  const batchSize = whole(env, 'WORKER_BATCH_SIZE')
  const pollInterval = whole(env, 'WORKER_POLL_INTERVAL_MS')
  const traces = tracesFrom(env)
  const lanes = lanesFrom(env, jobs, declared.lanes)
  return {
    ...declared,
    ...(lanes === undefined ? {} : { lanes }),
    ...(stuckAfter === undefined ? {} : { stuckAfter }),
    ...(batchSize === undefined ? {} : { batchSize }),
    ...(pollInterval === undefined ? {} : { pollInterval }),
    ...(traces === undefined ? {} : { traces }),
    timeouts: { ...declared.timeouts, ...timeoutsFrom(env, jobs) },
    memory: { ...declared.memory, ...memoryFrom(env) },
  }
}

const FIXED = [
  ...Object.values(LANES).flatMap(({ slots, timeout }) => [slots, timeout]),
  'WORKER_STUCK_JOB_TIMEOUT_MINUTES',
  'WORKER_BATCH_SIZE',
  'WORKER_POLL_INTERVAL_MS',
  'WORKER_MEMORY_THRESHOLD_PERCENT',
  'WORKER_MEMORY_CHECK_INTERVAL_MS',
  'WORKER_TRACES',
]

/** Other programs may have WORKER_ variables too; one that looks almost like ours is a slip. */
function refuseMisspelt(env: Env): void {
  for (const variable of Object.keys(env)) {
    if (!variable.startsWith('WORKER_') || TYPE_TIMEOUT.test(variable) || FIXED.includes(variable)) continue
    const near = FIXED.find((known) => known.length === variable.length && isSwapped(known, variable))
    if (near !== undefined) throw new InvalidDefinition(`${variable} is set. Did you mean ${near}?`)
  }
}

/** The same letters in another order, as fingers do it. */
const isSwapped = (a: string, b: string): boolean => [...a].sort().join('') === [...b].sort().join('')

function lanesFrom(env: Env, jobs: readonly JobContract[], declared: WorkSettings['lanes']): WorkSettings['lanes'] {
  const changes = Object.entries(LANES).map(([name, { slots, timeout }]) => {
    const change: { slots?: number; timeout?: Duration } = {}
    const count = whole(env, slots)
    const limit = minutes(env, timeout)
    if (count !== undefined) change.slots = count
    if (limit !== undefined) change.timeout = limit
    return [name, change] as const
  })
  const isAsked = changes.some(([, change]) => Object.keys(change).length > 0)
  if (!isAsked) return declared
  const lanes: Record<string, LaneOptions> = { ...(declared ?? FAST_AND_GENERAL) }
  for (const [name, change] of changes) {
    const lane = lanes[name]
    const isUnchanged = Object.keys(change).length === 0
    if (lane !== undefined) lanes[name] = { ...lane, ...change }
    else if (!isUnchanged) throw noSuchLane(name as keyof typeof LANES, Object.keys(lanes))
    // Nobody asked for the fast lane, and nothing could run in it.
    if (name === 'fast' && declared === undefined && isUnchanged && !jobs.some(({ speed }) => speed === 'fast'))
      delete lanes.fast
  }
  return lanes
}

function noSuchLane(name: keyof typeof LANES, declared: readonly string[]): InvalidDefinition {
  const { slots, timeout } = LANES[name]
  return new InvalidDefinition(
    `${slots} or ${timeout} is set, but this program declares no lane "${name}", only ${declared.join(', ')}. Unset it, or change the program.`,
  )
}

function timeoutsFrom(env: Env, jobs: readonly JobContract[]): Record<string, Duration> {
  const types = new Map<string, string[]>()
  for (const { type } of jobs) {
    const name = type.toUpperCase().replace(/[^A-Z0-9]/g, '_')
    types.set(name, [...(types.get(name) ?? []), type])
  }
  const timeouts: Record<string, Duration> = {}
  for (const variable of Object.keys(env)) {
    const name = TYPE_TIMEOUT.exec(variable)?.[1]
    if (name === undefined || NOT_A_TYPE.has(name)) continue
    const timeout = minutes(env, variable)
    if (timeout === undefined) continue
    const named = types.get(name)
    if (named === undefined) {
      const known = [...types.keys()].map((each) => `WORKER_${each}_TIMEOUT_MINUTES`)
      throw new InvalidDefinition(
        `${variable} is set, but no job type of this worker is written like that.${suggestion(variable, known)} Unset it, or correct its name.`,
      )
    }
    for (const type of named) timeouts[type] = timeout
  }
  return timeouts
}

function memoryFrom(env: Env): MemoryOptions {
  const thresholdPercent = whole(env, 'WORKER_MEMORY_THRESHOLD_PERCENT')
  const checkInterval = whole(env, 'WORKER_MEMORY_CHECK_INTERVAL_MS')
  return {
    ...(thresholdPercent === undefined ? {} : { thresholdPercent }),
    ...(checkInterval === undefined ? {} : { checkInterval }),
  }
}

function tracesFrom(env: Env): WorkOptions['traces'] {
  const text = env.WORKER_TRACES?.trim()
  if (!text) return undefined
  if (text === 'link' || text === 'parent') return text
  throw new InvalidDefinition(`WORKER_TRACES is "${text}": expected link or parent.`)
}

function whole(env: Env, variable: string): number | undefined {
  return numberFrom(env, variable, { pattern: /^[1-9]\d{0,9}$/, expected: 'a whole number from 1' })
}

function minutes(env: Env, variable: string): Duration | undefined {
  const expected = 'minutes above 0, like 20 or 0.5'
  const count = numberFrom(env, variable, { pattern: /^\d{1,6}(\.\d+)?$/, expected })
  return count === undefined ? undefined : Math.round(count * 60_000)
}

/** An empty variable counts as unset, as shells and containers have it. */
function numberFrom(env: Env, variable: string, rule: { pattern: RegExp; expected: string }): number | undefined {
  const text = env[variable]?.trim()
  if (!text) return undefined
  if (!rule.pattern.test(text) || Number(text) === 0)
    throw new InvalidDefinition(`${variable} is "${text}": expected ${rule.expected}.`)
  return Number(text)
}
