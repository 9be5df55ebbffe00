// Code of the program around every run: tracing, error reports, dependencies.
import type { JobContract } from '../contract/job.ts'
import { outcomeKind } from '../contract/outcome.ts'
import { InvalidDefinition } from '../errors.ts'
import type { JobRef } from '../events.ts'
import type { JobContext } from './context.ts'
import type { Ending } from './verdict.ts'

export interface MiddlewareRun {
  readonly job: JobRef
  readonly contract: JobContract
  readonly ctx: JobContext
}

/**
 * Called around a run. `next()` calls the next middleware, and the last one's the handler: it resolves to what the handler
 * returned and rejects with what it threw, and the run ends so whatever this function returns. Only an outcome that it returns
 * (`snooze`, `cancel`, `discard`), or an error that it throws, takes its place.
 */
export type Middleware = (run: MiddlewareRun, next: () => Promise<unknown>) => unknown

/** Calls a handler with everything around it. */
export type Around = (run: MiddlewareRun, handler: () => unknown) => Promise<unknown>

/** The first is the outermost. Undefined: there is none, and a run costs nothing more. */
export function aroundOf(middleware: readonly Middleware[]): Around | undefined {
  const wrong = middleware.findIndex((each) => typeof each !== 'function')
  if (wrong !== -1)
    throw new InvalidDefinition(`middleware[${wrong}] is no function: expected (run, next) => …, which calls next().`)
  if (middleware.length === 0) return undefined
  return (run, handler) => resultOf(endingFrom(middleware, 0, { run, handler }))
}

type Call = { run: MiddlewareRun; handler: () => unknown }

async function endingFrom(middleware: readonly Middleware[], place: number, call: Call): Promise<Ending> {
  const current = middleware[place]
  if (current === undefined) return endingOf(call.handler)
  let inner: Promise<Ending> | undefined
  const next = (): Promise<unknown> => {
    if (inner !== undefined) return Promise.reject(misuse(place, 'called next() twice: call it once'))
    inner = endingFrom(middleware, place + 1, call)
    const result = resultOf(inner)
    // A middleware that does not wait for it must not end the process by that.
    result.catch(() => {})
    return result
  }
  const own = await endingOf(() => current(call.run, next))
  // Also where it did not wait: a run that is settled while its handler goes on could be running twice.
  const within = await (inner as Promise<Ending> | undefined)
  if ('thrown' in own || outcomeKind(own.value) !== undefined) return own
  return (
    within ?? { thrown: misuse(place, 'did not call next(): call it, return an outcome such as snooze(), or throw') }
  )
}

async function resultOf(ended: Promise<Ending>): Promise<unknown> {
  const ending = await ended
  if ('thrown' in ending) throw ending.thrown
  return ending.value
}

async function endingOf(work: () => unknown): Promise<Ending> {
  try {
    return { value: await work() }
  } catch (thrown) {
    return { thrown }
  }
}

const misuse = (place: number, what: string): InvalidDefinition =>
  new InvalidDefinition(`middleware[${place}] ${what}.`)
