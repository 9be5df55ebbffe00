import { RedisUnknown } from '../errors.ts'

/** Settles as `promise` does, or fails after `ms` and calls `late`. */
export async function withDeadline<Value>(promise: Promise<Value>, ms: number, late: () => void): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new RedisUnknown(`no answer came within ${ms} ms`))
      late()
    }, ms)
  })
  // Whichever comes second is told to nobody.
  promise.catch(() => {})
  try {
    return await Promise.race([promise, deadline])
  } finally {
    clearTimeout(timer)
  }
}
