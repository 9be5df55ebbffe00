// The worker's part of ctx.breaker in an isolated handler: it knows how the breaker stands, the handler's process calls.
import type { RunningContext } from '../context.ts'
import { decodeThrown } from './encoding.ts'
import type { AboutRun } from './protocol.ts'

export async function passBreaker(
  context: RunningContext,
  { service, step }: AboutRun & { kind: 'breaker' },
): Promise<void> {
  const door = context.door(typeof service === 'string' ? service : { ...service, counts: () => true })
  if (step.kind === 'enter') await door.enter()
  else if (step.kind === 'succeeded') await door.succeeded()
  else await door.failed(decodeThrown(step.error))
}
