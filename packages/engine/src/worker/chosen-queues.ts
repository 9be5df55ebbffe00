// A worker that serves some of its program's queues: the others are left to other processes.
import { suggestion } from '../did-you-mean.ts'
import { InvalidDefinition } from '../errors.ts'
import type { LaneOptions } from './lane-plan.ts'
import type { WorkOptions } from './work-options.ts'

/** The options without the handlers, lanes and settings of queues that were not chosen. */
export function onlyChosen(options: WorkOptions): WorkOptions {
  const { queues, handlers, lanes, concurrency, timeouts } = options
  if (queues === undefined) return options
  const known = new Set(handlers.map(({ contract }) => contract.queue.name))
  if (queues.length === 0) throw new InvalidDefinition('work({ queues }) names no queue: leave it out for all.')
  const unknown = queues.find((name) => !known.has(name))
  if (unknown !== undefined)
    throw new InvalidDefinition(
      `work({ queues }) names queue "${unknown}", but no handler's job runs in it.${suggestion(unknown, [...known])} Queues here: ${[...known].join(', ')}.`,
    )
  const chosen = new Set(queues)
  const left = handlers.filter(({ contract }) => chosen.has(contract.queue.name))
  const types = new Set(left.map(({ contract }) => contract.type))
  const isQuick = (queue: string) =>
    left.some(({ contract }) => contract.queue.name === queue && contract.speed === 'fast')
  return {
    ...options,
    handlers: left,
    ...(concurrency && { concurrency: pick(concurrency, chosen) }),
    ...(timeouts && { timeouts: pick(timeouts, types) }),
    ...(lanes && { lanes: lanesOf(lanes, chosen, isQuick) }),
  }
}

/** A lane keeps the chosen ones of its queues, and goes if it would have nothing to take. */
function lanesOf(
  lanes: Readonly<Record<string, LaneOptions>>,
  chosen: ReadonlySet<string>,
  isQuick: (queue: string) => boolean,
): Record<string, LaneOptions> {
  const kept: Record<string, LaneOptions> = {}
  for (const [name, lane] of Object.entries(lanes)) {
    const served = queuesOf(lane, chosen)
    const names = Array.isArray(served) ? (served as readonly string[]) : Object.keys(served)
    const takesSome = lane.takes === 'fast' ? names.some(isQuick) : names.length > 0
    if (takesSome) kept[name] = { ...lane, queues: served }
  }
  return kept
}

function queuesOf({ queues }: LaneOptions, chosen: ReadonlySet<string>): NonNullable<LaneOptions['queues']> {
  if (queues === undefined) return [...chosen]
  if (Array.isArray(queues)) return (queues as readonly string[]).filter((name) => chosen.has(name))
  return pick(queues as Readonly<Record<string, number>>, chosen)
}

function pick<Value>(values: Readonly<Record<string, Value>>, names: ReadonlySet<string>): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)))
}
