import { createHook } from 'node:async_hooks'
import type { Worker as Thread } from 'node:worker_threads'

const WATCHED = new Set(['Timeout', 'Immediate', 'TCPWRAP'])
/** Test runners have timers of their own. */
const OURS = /packages\/engine\/dist|node_modules\/pg/

/**
 * Watches the timers, sockets and threads that the engine opens from now on, also those that would let the process
 * end; and the listeners on the process. `open()` lists what is still there,
 * `seen()` counts what ever was.
 */
export function watchLeftovers(): { open(): string[]; seen(): number } & Disposable {
  const resources = new Map<number, string>()
  const threads = new Set<Thread>()
  let seen = 0
  const before = listeners()
  const hook = createHook({
    init(id, type) {
      if (!WATCHED.has(type)) return
      const limit = Error.stackTraceLimit
      Error.stackTraceLimit = 50
      const stack = new Error(type).stack ?? ''
      Error.stackTraceLimit = limit
      if (!OURS.test(stack)) return
      resources.set(id, stack)
      seen++
    },
    destroy(id) {
      resources.delete(id)
    },
  }).enable()
  const onThread = (thread: Thread) => {
    threads.add(thread)
    thread.once('exit', () => threads.delete(thread))
  }
  process.on('worker', onThread)
  return {
    seen: () => seen,
    open: () => [
      ...resources.values(),
      ...[...threads].map((thread) => `thread ${thread.threadId}`),
      ...listeners().filter((each) => !each.startsWith('worker ') && !before.includes(each)),
    ],
    [Symbol.dispose]() {
      hook.disable()
      process.off('worker', onThread)
    },
  }
}

const listeners = (): string[] => process.eventNames().map((name) => `${String(name)} ${process.listenerCount(name)}`)
