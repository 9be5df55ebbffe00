import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 20

/** Waits for `look` to answer with something; a deadline missed is an error that names what was awaited. */
export async function until<Found>(
  what: string,
  withinMs: number,
  look: () => Found | undefined | false | Promise<Found | undefined | false>,
): Promise<Found> {
  const found = await eventually(withinMs, look)
  if (found === undefined) throw new Error(`Waited ${withinMs} ms in vain for: ${what}`)
  return found
}

/** As `until`, for what may honestly not happen: undefined then. */
export async function eventually<Found>(
  withinMs: number,
  look: () => Found | undefined | false | Promise<Found | undefined | false>,
): Promise<Found | undefined> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline) return undefined
    await sleep(POLL_MS)
  }
}
