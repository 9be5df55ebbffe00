// Loaded before everything else (`node --import`) in a process whose clock shall be wrong, and in its threads.
import { skewMs } from './skew.ts'

const byMs = skewMs()
const { now } = Date
Date.now = () => now() + byMs
globalThis.Date = new Proxy(Date, {
  apply: (target) => new target(target.now()).toString(),
  construct: (target, values, newTarget) =>
    Reflect.construct(target, values.length === 0 ? [target.now()] : values, newTarget) as object,
})
