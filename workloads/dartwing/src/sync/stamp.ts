// Stamps of a hybrid logical clock, as text: `ms-counter-device`. Of fixed width, so that their order is that of the text.

const STAMP = /^(\d{15})-([0-9a-f]{4})-([a-z0-9-]{1,40})$/

export interface Stamp {
  readonly ms: number
  readonly counter: number
  readonly device: string
}

export const stampText = ({ ms, counter, device }: Stamp): string =>
  `${String(ms).padStart(15, '0')}-${counter.toString(16).padStart(4, '0')}-${device}`

/** Undefined: the text is no stamp. */
export function readStamp(text: string): Stamp | undefined {
  const [, ms, counter, device] = STAMP.exec(text) ?? []
  if (ms === undefined || counter === undefined || device === undefined) return undefined
  return { ms: Number(ms), counter: Number.parseInt(counter, 16), device }
}

let last: Stamp = { ms: 0, counter: 0, device: 'server' }

/** For changes that the server makes: later than all of this process before. */
export function serverStamp(nowMs = Date.now()): string {
  const isLater = nowMs > last.ms
  last = isLater ? { ...last, ms: nowMs, counter: 0 } : { ...last, counter: last.counter + 1 }
  if (last.counter > 0xffff) last = { ...last, ms: last.ms + 1, counter: 0 }
  return stampText(last)
}
